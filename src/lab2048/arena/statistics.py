"""Means, rates and differences with their 95% confidence intervals."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

Z = 1.959963984540054  # the 97.5% point of the normal distribution

# The 97.5% point of Student's distribution for 1 to 9 degrees of freedom.
_STUDENT = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157)


class Interval(NamedTuple):
    """An estimate and the ends of its 95% confidence interval."""

    value: float
    low: float
    high: float


def student(degrees: int) -> float:
    """Return the 97.5% point of Student's t distribution; above 9 degrees by a series, to 4 decimals."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    fourth = (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160
    return Z + first / degrees + second / degrees**2 + third / degrees**3 + fourth / degrees**4


def mean_interval(numbers: Sequence[float]) -> Interval:
    """Return the mean with its Student interval; a single number has an infinite one."""
    n = len(numbers)
    mean = statistics.fmean(numbers)
    if n < 2:
        return Interval(mean, -math.inf, math.inf)
    half = student(n - 1) * statistics.stdev(numbers, mean) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half)


def rate_interval(hits: int, n: int) -> Interval:
    """Return a rate with its Wilson interval, which also holds near 0 and 1.

    >>> rate_interval(10, 10).low
    0.7224672001371107
    """
    rate = hits / n
    centre = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    return Interval(rate, 0.0 if hits == 0 else centre - half, 1.0 if hits == n else centre + half)


def games_to_decide(difference: Interval, n: int) -> int | None:
    """Estimate how many paired games would make this difference significant; None if it already is."""
    if difference.low > 0 or difference.high < 0 or difference.value == 0 or math.isinf(difference.low):
        return None
    half = (difference.high - difference.low) / 2
    return math.ceil(n * (half / difference.value) ** 2)
