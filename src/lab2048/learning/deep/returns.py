"""Train action values on Monte Carlo returns, the method of Kuznetsov 2022: see docs/players/c51.md.

When a game ends, the target of every move is the discounted sum of the rewards that followed, minus a
penalty at the end if the goal was missed.  By default, unlike Kuznetsov 2022: one-hot inputs, Adam, gradient
clipping, a symlog scale, legal moves only and vectorized games; the preset `kuznetsov` has its own options.  The
paper's sentence about the penalty can also mean that it is the target of every move of a lost game
(`blame="every"`); with that reading nothing is learned.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.action_values import best
from lab2048.learning.deep.checkpoint_array import check_boards, check_like, check_moves
from lab2048.learning.deep.config import RETURNS_ROOM, DeepConfig, ReturnsConfig
from lab2048.learning.deep.optimizer import Adam, Sgd
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates

STEPS = 16  # moves per game and round


class ReturnsTraining(DeepTraining):
    """Train one value per move on the returns of whole games."""

    method: ClassVar[str] = "returns"
    config_class: ClassVar[type[DeepConfig]] = ReturnsConfig
    config: ReturnsConfig

    def __init__(self, config: ReturnsConfig, rules: Rules, n_threads: int = 1) -> None:
        super().__init__(config, rules, n_threads)
        self.games.is_lenient = config.illegal == "allowed"
        # The games in progress from their start: row t is move t of each.
        self._boards = np.zeros((RETURNS_ROOM, config.crowd, rules.shape.n_cells), np.uint8)
        self._moves, self._rewards = (
            np.zeros((RETURNS_ROOM, config.crowd), np.uint8),
            np.zeros((RETURNS_ROOM, config.crowd), np.float32),
        )

    def round(self) -> None:
        """Play some moves of every game, and train on the games that ended."""
        ended = []
        for _ in range(STEPS):
            ended += self._play()
        if self.config.by_game:
            for game in ended:
                self._learn(*game)
        elif ended:
            self._learn(*(np.concatenate(parts) for parts in zip(*ended, strict=True)))

    def make_optimizer(self) -> Adam:
        """Return Adam, or gradient descent with momentum."""
        config = self.config
        make = Adam if config.optimizer == "adam" else Sgd
        found = make(
            config.design(self.rules),
            config.seed,
            clip=config.clip,
            average=config.average,
            penalties=(config.l1, config.l2),
            dropout=config.dropout,
            spread=config.spread,
        )
        if isinstance(found, Sgd):
            found.momentum = config.momentum
        return found

    def _play(self) -> list[tuple[Ranks, Moves, Floats]]:
        """Play one move in every game; return the boards, moves and returns of the games that ended."""
        boards, legal, turns = self.games.ranks.copy(), self.games.slide().legal, self.games.lengths.copy()
        if self.games.is_lenient:
            legal = np.ones_like(legal)
        is_random = self.rng.random(len(boards)) < self.config.epsilon
        random_moves = best(self.rng.random(legal.shape, np.float32), legal)
        moves = np.where(is_random, random_moves, best(self.adam.live.values(boards), legal))
        if turns.max() >= len(self._boards):  # the longest game needs more rows
            for name in ("_boards", "_moves", "_rewards"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
        step = self.games.step(moves)
        games = np.arange(len(moves))
        self._boards[turns, games], self._moves[turns, games], self._rewards[turns, games] = boards, moves, step.rewards
        ended = []
        for game in np.flatnonzero(step.ended):
            n = int(turns[game]) + 1
            returns = self._returns(self._rewards[:n, game], int(step.boards[game].max()))
            ended.append((self._boards[:n, game].copy(), self._moves[:n, game].astype(np.int64), returns))
        return ended

    def _returns(self, rewards: Floats, highest: int) -> Floats:
        """Return the targets of all moves of a game that ends with a tile of rank `highest`."""
        is_won = highest >= self.rules.goal_rank
        penalty = 0.0 if is_won else self.config.penalty + self.config.tile_penalty * 2**highest
        if self.config.blame == "every" and not is_won:
            return np.full_like(rewards, -penalty)
        returns, total = np.empty_like(rewards), -penalty
        for t in reversed(range(len(rewards))):
            returns[t] = total = float(rewards[t]) + self.config.discount * total
        return returns

    def _learn(self, boards: Ranks, moves: Moves, returns: Floats) -> None:
        ranks, chosen = torch.from_numpy(boards.astype(np.int64)), torch.from_numpy(moves)
        wanted = self.adam.live.from_score(torch.from_numpy(returns))
        of = torch.nn.functional
        loss = of.mse_loss if self.config.loss == "squared" else of.smooth_l1_loss
        for _ in range(self.config.passes):
            size = len(boards) if self.config.by_game else self.config.batch
            for batch in torch.split(torch.from_numpy(self.rng.permutation(len(boards))), size):
                given = self.adam.output(ranks[batch])[torch.arange(len(batch)), chosen[batch]]
                self.learn(loss(given, wanted[batch]))

    def choose(self, network: DeepNetwork, ranks: Ranks, afterstates: Afterstates, lengths: NDArray[np.int64]) -> Moves:  # noqa: ARG002
        return best(network.values(ranks), afterstates.legal)

    def extra_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the games in progress."""
        return {"boards": self._boards, "moves": self._moves, "rewards": self._rewards}

    def restore_extra(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name, array in self.extra_arrays().items():
            check_like(name, arrays[name], array, any_length=True)
        check_boards(arrays["boards"], self.rules)
        check_moves(arrays["moves"], self.rules)
        n_rows = len(arrays["boards"])
        if not n_rows == len(arrays["moves"]) == len(arrays["rewards"]) >= max(1, int(self.games.lengths.max())):
            raise ValueError("the games in progress have other lengths")
        for name in self.extra_arrays():
            setattr(self, f"_{name}", arrays[name].copy())
