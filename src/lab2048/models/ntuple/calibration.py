"""Calibrated values: how much a player with a network scores on average where the network says so much.

A network learns the future score of its own play without search.  A player that searches deeper scores more, so its
values are multiplied by a factor, which depends on the tile sum.  It is the same for all moves of a board, so the best
move stays the best.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lab2048.errors import FileError, UsageError

FACT = "calibration"  # the name among the facts of a network
CLOCKED = "ms"  # the search of a player that is limited by time; others are named by their depth
N_RANGES = 32
MIN_GAMES = 10  # a range that fewer games reached has no factor of its own


class Observation(NamedTuple):
    """A state of a game: the value of its best move, and the score that was still made."""

    game: int
    tile_sum: int
    value: float
    future_score: float


@dataclass(frozen=True)
class Calibration:
    """The factors of a network: for each search of a player, factors at some tile sums."""

    factors: Mapping[str, Mapping[float, float]]

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Calibration | None":
        """Read the calibration of a network; raise FileError if it is damaged."""
        found = facts.get(FACT)
        if found is None:
            return None
        try:
            factors = {
                str(search): {float(tile_sum): float(factor) for tile_sum, factor in points}
                for search, points in found.items()
            }
        except (TypeError, ValueError, AttributeError, OverflowError):
            raise FileError("its calibration is damaged", code="file.damaged") from None
        for search, points in factors.items():
            are_sound = all(0 <= tile_sum < 1e9 and 0 < factor < 1e6 for tile_sum, factor in points.items())
            is_named = search == CLOCKED or (search.isdecimal() and len(search) < 4)
            if not (points and are_sound and is_named and list(points) == sorted(points)):
                raise FileError("its calibration is damaged", code="file.damaged")
        return cls(factors)

    def to_facts(self) -> dict[str, Any]:
        """Return the entry among the facts of the network."""
        return {FACT: {search: [list(point) for point in points.items()] for search, points in self.factors.items()}}

    def factor(self, search: str, tile_sum: int) -> float:
        """Return the factor for a search, or for the deepest one below it; 1 if none was measured.

        Between two tile sums it changes evenly.
        """
        if search not in self.factors:
            depths = sorted((each for each in self.factors if each != CLOCKED), key=int)
            below = depths if search == CLOCKED else [depth for depth in depths if int(depth) <= int(search)]
            if not below:
                return 1.0
            search = below[-1]
        points = self.factors[search]
        return float(np.interp(tile_sum, list(points), list(points.values())))

    @classmethod
    def fit(cls, search: str, seen: Iterable[Observation], before: "Calibration | None" = None) -> "Calibration":
        """Measure the factors of a search: in each range of tile sums, the mean future score by the mean value.

        The factors of other searches are those of `before`.
        """
        games, tile_sums, values, scores = np.array(list(seen)).T
        ranges = (N_RANGES * tile_sums / (tile_sums.max() + 1)).astype(int)
        points = {}
        for i in range(N_RANGES):
            here = ranges == i
            value, score = values[here].sum(), scores[here].sum()
            if len(np.unique(games[here])) >= MIN_GAMES and value > 0 and score > 0:
                points[round(float(tile_sums[here].mean()), 1)] = round(float(score / value), 4)
        if not points:
            raise UsageError("too few games to calibrate: expected at least 10, with positive values", field="games")
        return cls({**(before.factors if before is not None else {}), search: points})
