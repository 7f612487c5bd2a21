"""Parse published figures as papers print them into values with intervals."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import FileError

_COUNT = re.compile(r"(at least )?(\d+) of (\d+)")
_RANGE = re.compile(r"(\d[\d,]*(?:\.\d+)?)-(\d[\d,]*(?:\.\d+)?) ?(%|ms|s|x)?")
_ROUNDED_UP = re.compile(r"above (\d[\d,]*), up to (\d[\d,]*)")
_NUMBER = re.compile(r"(about |at least |at most |exactly )?(\d[\d,]*(?:\.(\d+))?) ?(%|ms|s|x)?")
_PARTS = {"%": 100, "ms": 1000, "s": 1, "x": 1, None: 1}  # per whole, or per second
_MAX_TEXT = 60  # characters; the numbers in it are far from the limits of floats
EXPECTED = (
    "expected for example 15 of 100, at least 1 of 15, 96.26%, 20-25%, above 6, up to 7, 3,932,156, exactly 0, "
    "about 30 s, at most 1 s, or samples"
)


@dataclass(frozen=True)
class Published:
    """A published value.

    A count of games gets the interval of its rate, samples that of their mean; a plain number
    gets half a unit in its last digit for rounding.  `at least` sets only the lower end, `at
    most` only the upper one.  `above 6, up to 7` is a 7 that was rounded up.
    """

    text: str
    value: float | None
    low: float
    high: float

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse a published figure.

        >>> Published.from_text("96.26%").value, Published.from_text("at least 1 of 15").value
        (0.9626, None)
        """
        if len(text) > _MAX_TEXT or not text.isascii():
            raise FileError(f"published {text[:40]!r} is not understood: {EXPECTED}")
        if found := _COUNT.fullmatch(text):
            hits, n = int(found[2]), int(found[3])
            if not 0 <= hits <= n or n == 0:
                raise FileError(f"published {text!r} is not understood: expected at most as many hits as games")
            rate = rate_interval(hits, n)
            return cls(text, None, rate.low, 1.0) if found[1] else cls(text, *rate)
        if found := _RANGE.fullmatch(text) or _ROUNDED_UP.fullmatch(text):
            parts = _PARTS[found[3]] if found.re is _RANGE else 1
            low, high = (_number(end) / parts for end in found.groups()[:2])
            if low > high:
                raise FileError(f"published {text!r} is not understood: expected the lower number first")
            return cls(text, (low + high) / 2, low, high)
        if found := _NUMBER.fullmatch(text):
            parts = _PARTS[found[4]]
            value = _number(found[2]) / parts
            if found[1] == "at least ":
                return cls(text, None, value, math.inf)
            if found[1] == "at most ":
                return cls(text, None, -math.inf, value)
            if found[1] == "exactly ":
                return cls(text, value, value, value)
            half = value / 2 if found[1] else 0.5 * 10.0 ** -len(found[3] or "") / parts
            return cls(text, value, value - half, value + half)
        raise FileError(f"published {text!r} is not understood: {EXPECTED}")

    @classmethod
    def from_samples(cls, samples: Sequence[float]) -> Self:
        """Average values that are published individually."""
        mean = mean_interval(samples)
        return cls(f"{mean.value:,.5g}, mean of {len(samples)}", *mean)

    def with_spread(self, spread: float) -> Self:
        """Return the value with a wider interval: `spread` is added at both ends."""
        return replace(self, low=max(0.0, self.low - spread), high=self.high + spread)

    @property
    def interval(self) -> Interval | None:
        """Return value and ends, or None if only one end is known."""
        return None if self.value is None else Interval(self.value, self.low, self.high)


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))
