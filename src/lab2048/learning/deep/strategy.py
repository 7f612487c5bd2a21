"""What a learner is held to: the strategy of document 003, its reward, its masks and its reverse shield.

What those are is said in lab2048.players.strategy; here they meet many games at once.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.players.strategy import Strategy
from lab2048.rules.afterstates import Afters
from lab2048.rules.shape import Shape


class Discipline:
    """A strategy and how strictly it is kept: not at all, by masks, or by masks that the reverse shield breaks."""

    def __init__(self, shape: Shape, *, strategy: str, reward: str, sides: str, warm_up: int) -> None:
        """Read the sides, if they play a part."""
        self.strategy, self.reward, self.warm_up = strategy, reward, warm_up
        is_strict = (strategy, reward) != ("none", "merge")
        self._sides = Strategy.from_text(sides, shape) if is_strict else None

    @property
    def is_free(self) -> bool:
        """True if all sides of the board are alike to the learner."""
        return self._sides is None

    def mask(self, legal: Flags) -> Flags:
        """The moves that may be made."""
        if self._sides is None or self.strategy == "none":
            return legal
        return self._sides.safe_moves(legal)

    def shield(self, moves: Moves, afters: Afters, lengths: NDArray[np.int64]) -> tuple[Moves, Flags]:
        """The moves that are made instead, and which are still the learner's own; it compares afterstates."""
        if self._sides is None or self.strategy != "reverse-shield":
            return moves, np.ones(len(moves), np.bool_)
        shielded = self._sides.reverse_shield(moves, afters.legal, afters.boards)
        made: Moves = np.where(lengths >= self.warm_up, shielded, moves)
        return made, made == moves

    def weigh(self, rewards: Floats, boards: Ranks) -> Floats:
        """What a reward counts: by itself, or by how many lines of the board that it led to are in order."""
        if self._sides is None or self.reward == "merge":
            return rewards
        order: NDArray[np.float64] = self._sides.state_scores(boards) / self._sides.n_lines
        return (rewards * order).astype(np.float32)
