"""Many games side by side, for players that choose for all of them at once; and what became of each."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.games import vector
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afters, slide_boards
from lab2048.rules.dice import episode_seed
from lab2048.rules.plan import make_plan

Ranks = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]
Moves = NDArray[np.int64]

_SETTINGS = vector.Settings(vector.REWARD_SCORE, vector.ILLEGAL_ERROR, 0.0, vector.SAME_STEP, 0)
N_RANKS = 64  # of the counts of pairs

Weigh = Callable[[Floats, Ranks], Floats]  # rewards and the boards after them in, rewards out


class Ending(NamedTuple):
    """What a game came to."""

    score: int
    n_moves: int
    max_tile: int
    tile_sum: int
    total: float  # the sum of its rewards as its learner counts them


class Step(NamedTuple):
    """What a move of every game led to."""

    rewards: Floats
    ended: Flags
    boards: Ranks  # after the spawn; of a game that has ended, its last board


@dataclass
class Crowd:
    """Games in progress.  One that ends makes way for the next of its own series of seeds."""

    rules: Rules
    n: int
    seed: int
    n_moves: int = 0
    n_ended: int = 0
    endings: deque[Ending] = field(default_factory=deque)  # those not taken away yet, in order

    def __post_init__(self) -> None:
        """Begin all games."""
        shape = self.rules.shape
        n_cells, n_moves = shape.n_cells, len(shape.moves)
        self.plan = make_plan(self.rules)
        self._games = vector.open_games(self.n, n_cells)
        self._frames, self._finals = (vector.make_frames(self.n, n_cells, n_moves) for _ in range(2))
        self._outcome = vector.make_outcome(self.n)
        lines = [
            line for lines in shape.lines[: n_moves // 2] for line in lines
        ]  # the other moves go along the same ones
        self._neighbours = np.array([pair for line in lines for pair in pairwise(line)], np.int64)
        self.lengths = np.zeros(self.n, np.int64)  # moves made in each game
        self.totals = np.zeros(self.n, np.float32)
        self.pairs = np.zeros(N_RANKS, np.int64)  # how often two tiles of a rank lay side by side, over all states
        seeds = np.array([episode_seed(self.seed, i) for i in range(self.n)], np.uint64)
        vector.start_games(self.plan, self._games, seeds, np.ones(self.n, np.bool_), self._frames)

    @property
    def ranks(self) -> Ranks:
        """The boards, a row a game; the next step changes them."""
        return self._frames.ranks

    def slide(self) -> Afters:
        """Every move of every game."""
        return slide_boards(self.plan, self._frames.ranks)

    def pairs_now(self) -> NDArray[np.int64]:
        """How many pairs of each rank lie side by side in each game, a row a game."""
        tiles = self._frames.ranks[:, self._neighbours[:, 0]]
        games, found = np.nonzero(tiles == self._frames.ranks[:, self._neighbours[:, 1]])
        counts = np.bincount(games * N_RANKS + tiles[games, found], minlength=self.n * N_RANKS)
        return counts.reshape(self.n, N_RANKS)

    def step(self, moves: Moves, weigh: Weigh | None = None) -> Step:
        """Make a legal move in every game; `weigh` makes of rewards and boards what the learner is to count."""
        ranks = self._frames.ranks
        tiles = ranks[:, self._neighbours[:, 0]]
        self.pairs += np.bincount(tiles[tiles == ranks[:, self._neighbours[:, 1]]], minlength=N_RANKS)
        vector.step_games(self.plan, self._games, moves, _SETTINGS, self._outcome, self._frames, self._finals)
        ended = self._outcome.ended[vector.TERMINATED].copy()
        rewards = self._outcome.reward.astype(np.float32)
        boards = self._frames.ranks.copy()
        boards[ended] = self._finals.ranks[ended]
        if weigh is not None:
            rewards = weigh(rewards, boards)
        self.lengths += 1
        self.totals += rewards
        self.n_moves += self.n
        for i in np.flatnonzero(ended):
            score, highest = (int(self._finals.numbers[row, i]) for row in (vector.SCORES, vector.MAX_TILES))
            tile_sum = int((1 << boards[i].astype(np.int64))[boards[i] > 0].sum())
            self.endings.append(Ending(score, int(self.lengths[i]), highest, tile_sum, float(self.totals[i])))
            self.lengths[i], self.totals[i] = 0, 0.0
            self.n_ended += 1
        return Step(rewards, ended, boards)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All that it takes to go on."""
        counts = np.array([self.n_moves, self.n_ended], np.int64)
        arrays: dict[str, NDArray[Any]] = {
            "words": self._games.words,
            "ranks": self._games.ranks,
            "lengths": self.lengths,
        }
        return arrays | {"totals": self.totals, "pairs": self.pairs, "counts": counts}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from there; raise KeyError or ValueError if that cannot be."""
        for name, array in self.to_arrays().items():
            if arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
                raise ValueError(name)
            array[...] = arrays[name]
        self.n_moves, self.n_ended = map(int, arrays["counts"])
        vector.show(self._games, 0, self.n, self._frames)
