"""A replay buffer: the last steps of vectorized games, sampled in random order.

    step      t-3   t-2   t-1   t     t+1   ...   the oldest is overwritten
    game 0     .     .     .    .     .           a row of the buffer is one step of all games
    game 1     .     .     .    .     .

A step holds the board, the move, the reward and whether the game ended.  The board some steps later is
read from the following rows, so every board is stored once.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.checkpoint_array import check_boards, check_like, check_moves, count_of
from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.rules import Rules


class Sample(NamedTuple):
    """A batch of moves and their n-step outcomes."""

    boards: Ranks
    moves: Moves
    rewards: Floats  # n-step return without the bootstrap value
    next_boards: Ranks  # the boards after n steps
    discounts: Floats  # factors of the bootstrap value; 0 if the game ended


@dataclass
class ReplayBuffer:
    """The last `n_rows` steps of all games; the oldest row is overwritten."""

    n_rows: int
    n_games: int
    n_cells: int

    def __post_init__(self) -> None:
        size = (self.n_rows, self.n_games)
        self.boards = np.zeros((*size, self.n_cells), np.uint8)
        self.moves, self.rewards = np.zeros(size, np.uint8), np.zeros(size, np.float32)
        self.ended, self.is_own = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.n_added = 0  # rows, including overwritten ones

    def add(self, boards: Ranks, moves: Moves, rewards: Floats, ended: Flags, is_own: Flags) -> None:
        """Store a step of every game; steps that are not `is_own` are not sampled and end n-step returns."""
        row = self.n_added % self.n_rows
        self.boards[row], self.moves[row], self.rewards[row] = boards, moves, rewards
        self.ended[row], self.is_own[row] = ended, is_own
        self.n_added += 1

    def n_ready(self, n_ahead: int) -> int:
        """Return the number of rows with enough following rows to be sampled."""
        return max(0, min(self.n_added, self.n_rows) - n_ahead)

    def draw(self, rng: np.random.Generator, n: int, n_ahead: int, discount: float) -> Sample | None:
        """Sample up to n moves with n-step returns; None if there are none yet."""
        n_ready = self.n_ready(n_ahead)
        if n_ready == 0:
            return None
        # Oversample, because some may not be the learner's own.
        spare = n + (0 if self.is_own.all() else 3 * n)
        age = rng.integers(n_ahead, n_ahead + n_ready, spare)  # 0 is the newest row
        games = rng.integers(0, self.n_games, spare)
        rows = (self.n_added - 1 - age) % self.n_rows
        own = np.flatnonzero(self.is_own[rows, games])[:n]
        if len(own) == 0:
            return None
        rows, games = rows[own], games[own]
        return self._look_ahead(rows, games, n_ahead, discount)

    def _look_ahead(self, rows: NDArray[np.int64], games: NDArray[np.int64], n_ahead: int, discount: float) -> Sample:
        """Sum rewards until the game ends or a move is not the learner's own."""
        total, factor = np.zeros(len(rows), np.float32), np.ones(len(rows), np.float32)
        is_open, at = np.ones(len(rows), np.bool_), rows.copy()
        for step in range(n_ahead):
            if step:
                is_open &= self.is_own[at, games]
            total += np.where(is_open, factor * self.rewards[at, games], 0)
            factor = np.where(is_open, factor * np.float32(discount), factor)
            factor[is_open & self.ended[at, games]] = 0
            is_open &= ~self.ended[at, games]
            at = np.where(is_open, (at + 1) % self.n_rows, at)
        return Sample(
            self.boards[rows, games], self.moves[rows, games].astype(np.int64), total, self.boards[at, games], factor
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything needed to resume: the rows in use."""
        n = min(self.n_added, self.n_rows)
        names = ("boards", "moves", "rewards", "ended", "is_own")
        return {name: getattr(self, name)[:n] for name in names} | {"n_added": np.array([self.n_added], np.int64)}

    def restore(self, arrays: dict[str, NDArray[Any]], rules: Rules) -> None:
        """Restore what `to_arrays` returned; raise KeyError or ValueError if it does not fit."""
        self.n_added = count_of(arrays["n_added"])
        for name, array in self.to_arrays().items():
            check_like(name, arrays[name], array)
        check_boards(arrays["boards"], rules)
        check_moves(arrays["moves"], rules)
        for name, array in self.to_arrays().items():
            array[...] = arrays[name]
