"""The strategy of Sauren 2022 for vectorized games: reward shaping, action masks and the reverse shield.

lab2048.players.strategy defines them.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.players.strategy import Strategy
from lab2048.rules.afterstates import Afterstates
from lab2048.rules.shape import Shape


class StrategyConstraint:
    """How a strategy constrains the learner: not at all, by masks, or by masks and the reverse shield."""

    def __init__(self, shape: Shape, *, strategy: str, reward: str, sides: str, warm_up: int) -> None:
        """Parse `sides` if masks or reward shaping need them."""
        self.strategy, self.reward, self.warm_up = strategy, reward, warm_up
        is_strict = (strategy, reward) != ("none", "merge")
        self._sides = Strategy.from_text(sides, shape) if is_strict else None

    @property
    def is_free(self) -> bool:
        """Return True if no side of the board is special, so boards can be augmented by symmetry."""
        return self._sides is None

    def mask(self, legal: Flags) -> Flags:
        """Return the allowed moves."""
        if self._sides is None or self.strategy == "none":
            return legal
        return self._sides.safe_moves(legal)

    def shield(self, moves: Moves, afterstates: Afterstates, lengths: NDArray[np.int64]) -> tuple[Moves, Flags]:
        """Return the moves after the reverse shield, and which of them are still the learner's own."""
        if self._sides is None or self.strategy != "reverse-shield":
            return moves, np.ones(len(moves), np.bool_)
        shielded = self._sides.reverse_shield(moves, afterstates.legal, afterstates.boards)
        made: Moves = np.where(lengths >= self.warm_up, shielded, moves)
        return made, made == moves

    def shape_rewards(self, rewards: Floats, boards: Ranks) -> Floats:
        """Return the rewards, scaled by the share of ordered lines if reward shaping is on."""
        if self._sides is None or self.reward == "merge":
            return rewards
        order: NDArray[np.float64] = self._sides.state_scores(boards) / self._sides.n_lines
        return (rewards * order).astype(np.float32)
