"""Luck as a control variate: the mean score with a smaller interval.

The luck of a game is zero on average, so any multiple of it may be subtracted from the score.  The multiple that leaves
the least variance is estimated from the other half of the games, so that it does not depend on the game that it
is used for: the mean stays unbiased.
"""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from lab2048.arena.statistics import Interval, mean_interval


class Adjusted(NamedTuple):
    """The mean score without luck, and the variance of the scores without luck by that of the scores."""

    mean: Interval
    variance_ratio: float
    n: int


def adjust(scores: Sequence[float], lucks: Sequence[float]) -> Adjusted:
    """Return the mean of scores without their luck.

    >>> adjust([10, 20, 30, 40], [-15, -5, 5, 15]).mean.value
    25.0
    """
    halves = [range(first, len(scores), 2) for first in (0, 1)]
    adjusted = [0.0] * len(scores)
    for half, other in zip(halves, reversed(halves), strict=True):
        share = _share([scores[i] for i in other], [lucks[i] for i in other])
        for i in half:
            adjusted[i] = scores[i] - share * lucks[i]
    spread = statistics.pvariance(scores) if len(scores) > 1 else 0.0
    return Adjusted(mean_interval(adjusted), statistics.pvariance(adjusted) / spread if spread else 1.0, len(scores))


def _share(scores: Sequence[float], lucks: Sequence[float]) -> float:
    """Return the multiple of luck that explains the scores best; luck is known to have mean zero."""
    if len(scores) < 3:
        return 1.0
    mean = statistics.fmean(scores)
    spread = sum(luck * luck for luck in lucks)
    return sum((score - mean) * luck for score, luck in zip(scores, lucks, strict=True)) / spread if spread else 0.0
