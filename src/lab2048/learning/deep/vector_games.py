"""Vectorized games, for networks that choose moves in batches."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.games import vector
from lab2048.learning.deep.checkpoint_array import MAX_COUNT, check_games, check_like
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates, slide_boards
from lab2048.rules.dice import episode_seed
from lab2048.rules.plan import make_plan

Ranks = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Moves = NDArray[np.int64]

_SETTINGS = vector.Settings(vector.REWARD_SCORE, vector.ILLEGAL_ERROR, 0.0, vector.SAME_STEP, 0)
_LENIENT = _SETTINGS._replace(illegal=vector.ILLEGAL_IGNORE)
N_RANKS = 64  # in the counts of adjacent pairs

RewardShaping = Callable[[Floats, Ranks], Floats]  # (rewards, boards after them) -> rewards


class FinishedGame(NamedTuple):
    """The result of a finished game."""

    score: int
    n_moves: int
    max_tile: int
    tile_sum: int
    total: float  # sum of the shaped rewards


class Step(NamedTuple):
    """The outcome of one move in every game."""

    rewards: Floats
    ended: Flags
    boards: Ranks  # after the spawn; the final board of a game that ended


@dataclass
class VectorGames:
    """Games in progress.  A finished game is replaced by the next one of its own sequence of seeds."""

    rules: Rules
    n: int
    seed: int
    n_moves: int = 0
    n_ended: int = 0
    is_lenient: bool = False  # True: an illegal move changes nothing and earns 0
    finished: deque[FinishedGame] = field(default_factory=deque)  # not yet collected, in order

    def __post_init__(self) -> None:
        shape = self.rules.shape
        n_cells, n_moves = shape.n_cells, len(shape.moves)
        self.plan = make_plan(self.rules)
        self._games = vector.open_games(self.n, n_cells)
        self._frames, self._finals = (vector.make_frames(self.n, n_cells, n_moves) for _ in range(2))
        self._outcome = vector.make_outcome(self.n)
        # Opposite moves share their lines, so the first half covers all.
        lines = [line for lines in shape.lines[: n_moves // 2] for line in lines]
        self._neighbours = np.array([pair for line in lines for pair in pairwise(line)], np.int64)
        self.lengths = np.zeros(self.n, np.int64)  # moves played per game
        self.totals = np.zeros(self.n, np.float32)
        self.pairs = np.zeros(N_RANKS, np.int64)  # adjacent pairs of each rank, summed over all states
        seeds = np.array([episode_seed(self.seed, i) for i in range(self.n)], np.uint64)
        vector.start_games(self.plan, self._games, seeds, np.ones(self.n, np.bool_), self._frames)

    @property
    def ranks(self) -> Ranks:
        """Return the boards, one row per game; the next step overwrites them."""
        return self._frames.ranks

    def slide(self) -> Afterstates:
        """Return the afterstates of every move in every game."""
        return slide_boards(self.plan, self._frames.ranks)

    def pairs_now(self) -> NDArray[np.int64]:
        """Count the adjacent pairs of each rank, one row per game."""
        tiles = self._frames.ranks[:, self._neighbours[:, 0]]
        games, found = np.nonzero(tiles == self._frames.ranks[:, self._neighbours[:, 1]])
        counts = np.bincount(games * N_RANKS + tiles[games, found], minlength=self.n * N_RANKS)
        return counts.reshape(self.n, N_RANKS)

    def step(self, moves: Moves, shape_rewards: RewardShaping | None = None) -> Step:
        """Play a move in every game, with optional reward shaping."""
        ranks = self._frames.ranks
        tiles = ranks[:, self._neighbours[:, 0]]
        self.pairs += np.bincount(tiles[tiles == ranks[:, self._neighbours[:, 1]]], minlength=N_RANKS)
        settings = _LENIENT if self.is_lenient else _SETTINGS
        vector.step_games(self.plan, self._games, moves, settings, self._outcome, self._frames, self._finals)
        ended = self._outcome.ended[vector.TERMINATED].copy()
        rewards = self._outcome.reward.astype(np.float32)
        boards = self._frames.ranks.copy()
        boards[ended] = self._finals.ranks[ended]
        if shape_rewards is not None:
            rewards = shape_rewards(rewards, boards)
        self.lengths += 1
        self.totals += rewards
        self.n_moves += self.n
        for i in np.flatnonzero(ended):
            score, highest = (int(self._finals.numbers[row, i]) for row in (vector.SCORES, vector.MAX_TILES))
            tile_sum = int((1 << boards[i].astype(np.int64))[boards[i] > 0].sum())
            self.finished.append(FinishedGame(score, int(self.lengths[i]), highest, tile_sum, float(self.totals[i])))
            self.lengths[i], self.totals[i] = 0, 0.0
            self.n_ended += 1
        return Step(rewards, ended, boards)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything needed to resume."""
        counts = np.array([self.n_moves, self.n_ended], np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "words": self._games.words,
            "ranks": self._games.ranks,
            "lengths": self.lengths,
        }
        return arrays | {"totals": self.totals, "pairs": self.pairs, "counts": counts}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `to_arrays` returned; raise KeyError or ValueError if it does not fit."""
        for name, array in self.to_arrays().items():
            check_like(name, arrays[name], array)
        check_games(arrays["words"], arrays["ranks"], self.rules)
        for name in ("lengths", "pairs", "counts"):
            if (arrays[name] < 0).any() or (arrays[name] >= MAX_COUNT).any():
                raise ValueError(f"{name} is out of range")
        for name, array in self.to_arrays().items():
            array[...] = arrays[name]
        self.n_moves, self.n_ended = map(int, arrays["counts"])
        vector.show(self._games, 0, self.n, self._frames)
