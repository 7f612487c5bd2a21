"""A race: moves are tried on the same dice, and those that are clearly worse drop out."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Race:
    """What rollouts of every move came to: results[move, j] is rollout j of a move.

    Rollout j has the same dice for all moves, so moves are compared by the differences
    of their results, rollout by rollout.
    """

    moves: NDArray[np.int64]  # still in the race
    results: NDArray[np.float64]
    n: int = 0  # rollouts of each of them
    dropped: list[tuple[int, int, int]] = field(default_factory=list)  # move, the one that beat it, after n rollouts

    def make_room(self, n: int) -> None:
        """Have room for n rollouts."""
        if n > self.results.shape[1]:
            more = np.empty((len(self.results), max(n, 2 * self.results.shape[1])))
            more[:, : self.n] = self.results[:, : self.n]
            self.results = more

    def drop(self, limit: float, total: float) -> None:
        """Drop every move that would hardly win if the race went on to `total` rollouts.

        If the rest is like what was seen, the difference of two means at the end is normal
        around that of now, d, with the variance s^2 (1/n - 1/total).  So d / s must exceed
        `limit` times the root of that: a chance of 2% to win after all is a limit of 2.05.
        """
        rows = self.results[self.moves, : self.n]
        leader = int(rows.sum(axis=1).argmax())
        behind = rows[leader] - rows
        margin = behind.sum(axis=1) / self.n
        still = margin <= limit * behind.std(axis=1, ddof=1) * math.sqrt(max(0.0, 1 / self.n - 1 / total))
        if not still.all():
            rival = int(self.moves[leader])
            losers = self.moves[~still & (margin > 0)]
            self.dropped += [(int(move), rival, self.n) for move in losers]
            self.moves = self.moves[still | (margin <= 0)]

    def judge(self) -> tuple[dict[int, float], dict[int, float]]:
        """The value of every move and its standard error; there are at least two rollouts.

        A move that dropped out is worth what its rival is worth, less the difference
        between the two while both were in the race: the rollouts that it did not see were
        perhaps luckier or unluckier than those that it saw, for all moves alike.  So no
        move that dropped out comes before the one that beat it.
        """
        n = self.n
        rows = self.results[self.moves, :n]
        means = rows.sum(axis=1) / n
        # What each rollout adds to a value's distance from the truth.
        parts = (rows - means[:, None]) / n
        squares = (parts * parts).sum(axis=1)
        moves, scale = self.moves.tolist(), n / (n - 1)
        values = dict(zip(moves, means.tolist(), strict=True))
        errors = {move: math.sqrt(scale * square) for move, square in zip(moves, squares.tolist(), strict=True)}
        shares = dict(zip(moves, parts, strict=True))
        for move, rival, seen in reversed(self.dropped):
            behind = self.results[rival, :seen] - self.results[move, :seen]
            margin = float(behind.mean())
            share = shares[rival].copy()
            share[:seen] -= (behind - margin) / seen
            values[move], shares[move] = values[rival] - margin, share
            errors[move] = math.sqrt(scale * float(share @ share))
        return values, errors
