"""Racing: compare moves by rollouts with the same random numbers, and eliminate those that are clearly worse."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Race:
    """The results of rollouts: results[move, j] is that of rollout j of a move.

    Rollout j has the same random numbers for all moves, so moves are compared by paired differences.
    """

    moves: NDArray[np.int64]  # still in the race
    results: NDArray[np.float64]
    n: int = 0  # rollouts of each of them
    dropped: list[tuple[int, int, int]] = field(default_factory=list)  # move, the one that beat it, after n rollouts

    def make_room(self, n: int) -> None:
        """Enlarge `results` to hold n rollouts."""
        if n > self.results.shape[1]:
            more = np.empty((len(self.results), max(n, 2 * self.results.shape[1])))
            more[:, : self.n] = self.results[:, : self.n]
            self.results = more

    def drop(self, limit: float, total: float) -> None:
        """Eliminate every move that is unlikely to be best after `total` rollouts.

        The final difference of two means is normal around the present one, d, with variance
        s^2 (1/n - 1/total).  A move is eliminated if d / s exceeds `limit` times the square root of
        the second factor: a limit of 2.05 means a chance of 2% to be best after all.
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

    def estimate(self) -> tuple[dict[int, float], dict[int, float]]:
        """Return the value of every move and its standard error; needs at least two rollouts.

        The value of an eliminated move is that of the move that beat it, less their paired difference up to
        then: later rollouts may be luckier or unluckier, for all moves alike.  So an eliminated move never
        ranks above the one that beat it.
        """
        n = self.n
        rows = self.results[self.moves, :n]
        means = rows.sum(axis=1) / n
        # The share of each rollout in the error of the mean.
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
        return dict(sorted(values.items())), errors
