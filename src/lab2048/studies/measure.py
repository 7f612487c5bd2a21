"""Measures (what a figure is about) and measured values with their intervals."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Self

from lab2048.arena.statistics import Interval, mean_interval, rate_interval
from lab2048.errors import FileError, nearest, unknown


class Unit(Enum):
    """The unit of a figure, which decides its format."""

    RATE = "rate"
    NUMBER = "number"
    SECONDS = "seconds"
    TIMES = "times"
    BYTES = "bytes"


class Meaning(NamedTuple):
    """The title and unit of a measure, and whether higher is better (1), worse (-1) or neither (0)."""

    title: str
    unit: Unit
    better: int


MEANINGS = {
    # of games
    "won": Meaning("games that reach the goal", Unit.RATE, 1),
    "reached": Meaning("games that reach {tile}", Unit.RATE, 1),
    "best-of-ten": Meaning("groups of ten games whose best reaches {tile}", Unit.RATE, 1),
    "score": Meaning("mean score", Unit.NUMBER, 1),
    "tile": Meaning("mean highest tile", Unit.NUMBER, 1),
    "sum": Meaning("mean tile sum at the end", Unit.NUMBER, 1),
    "highest-sum": Meaning("highest tile sum at the end", Unit.NUMBER, 1),
    "lowest-sum": Meaning("lowest tile sum at the end", Unit.NUMBER, 1),
    "mode": Meaning("most frequent highest tile", Unit.NUMBER, 1),
    "length": Meaning("mean number of moves", Unit.NUMBER, 1),
    "move-time": Meaning("time per decision", Unit.SECONDS, -1),
    "goal-time": Meaning("time to the goal, of games that reach it", Unit.SECONDS, -1),
    "overrides": Meaning("moves overridden by mask or shield, per game", Unit.NUMBER, 0),
    "interventions": Meaning("safe moves replaced by the reverse shield, per game", Unit.NUMBER, 0),
    "accuracy": Meaning("accuracy, per cent", Unit.NUMBER, 1),
    "error-rate": Meaning("error rate: points lost per 1,000 moves", Unit.NUMBER, -1),
    "luck": Meaning("mean luck, points", Unit.NUMBER, 0),
    "adjusted-score": Meaning("mean score without luck", Unit.NUMBER, 1),
    # of solved boards
    "counted": Meaning("states as Kuznetsov 2022 counts them", Unit.NUMBER, 0),
    "states": Meaning("states and lost boards, up to symmetry", Unit.NUMBER, 0),
    "states-raw": Meaning("states without symmetry, no lost boards", Unit.NUMBER, 0),
    "win": Meaning("chance of the goal, optimal play", Unit.RATE, 0),
    "worth": Meaning("expected score, optimal play", Unit.NUMBER, 0),
    "solve-time": Meaning("time to solve", Unit.SECONDS, -1),
    "loss": Meaning("loss per game against optimal play", Unit.NUMBER, -1),
    "best-moves": Meaning("optimal moves", Unit.RATE, 1),
    "maximum": Meaning("highest possible score", Unit.NUMBER, 0),
    # of threads
    "one-thread": Meaning("time per game, one thread", Unit.SECONDS, -1),
    "many-threads": Meaning("time per game, all threads", Unit.SECONDS, -1),
    "speedup": Meaning("speedup with all threads", Unit.TIMES, 1),
    # of the evaluations in a training
    "evaluations": Meaning("evaluations in training whose best game reaches {tile}", Unit.RATE, 1),
    "evaluation-sum": Meaning("mean tile sum at the end, evaluations in training", Unit.NUMBER, 1),
    # of a cache
    "repeats": Meaning("decisions on a board that was decided before", Unit.RATE, 0),
    "table-speedup": Meaning("speedup by the transposition table", Unit.TIMES, 1),
    # of trainings
    "training-time": Meaning("training time", Unit.SECONDS, -1),
    "training-pace": Meaning("training moves per CPU second", Unit.NUMBER, 1),
    "gradient-pace": Meaning("gradient steps per CPU second", Unit.NUMBER, 1),
    "gradients": Meaning("gradient steps", Unit.NUMBER, 0),
    "digits": Meaning("handwritten digits read correctly, of those learned", Unit.RATE, 1),
    "unseen-digits": Meaning("handwritten digits read correctly, not seen before", Unit.RATE, 1),
    "pairs": Meaning("adjacent pairs of {tile}, per game", Unit.NUMBER, 1),
    "bytes": Meaning("size of the network", Unit.BYTES, -1),
}


OF_TILES = frozenset({"reached", "best-of-ten", "pairs", "evaluations"})  # with a tile: reached:512
REVIEWED = frozenset({"accuracy", "error-rate", "luck", "adjusted-score"})  # from a review of every game
COUNTED = frozenset({"overrides", "interventions"})  # from the decisions of every move
# Measures that are no mean of their games, and so have no interval.
SUMMARIES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "highest-sum": max,
    "lowest-sum": min,
    "mode": statistics.mode,
}

_BRIEF = {
    "reached": "{tile}",
    "score": "mean score",
    "move-time": "time per move",
    "loss": "loss per game",
    "best-moves": "optimal moves",
}


_NOT_OF_GAMES = frozenset(
    {
        "counted", "states", "states-raw", "win", "worth", "solve-time", "maximum", "training-time", "training-pace",
        "gradient-pace", "gradients", "bytes", "repeats", "table-speedup",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """What a figure measures: `won`, `reached:512`, or over the first 15 games only, `tile@15`."""

    name: str
    tile: int = 0
    first: int = 0  # only the first N games; 0 = all

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse a measure.

        >>> Measure.from_text("reached:512@15")
        Measure(name='reached', tile=512, first=15)
        """
        rest, at, first = text.partition("@")
        name, _, tile = rest.partition(":")
        if name not in MEANINGS:
            raise FileError(unknown("measure", text, otherwise=nearest(name, MEANINGS)))
        if (name in OF_TILES) != bool(tile) or not all(
            word.isascii() and word.isdecimal() and len(word) <= 18 for word in (tile or "0", first or "0")
        ):
            raise FileError(f"measure {text!r} is not understood: expected for example won, reached:512 or tile@15")
        if tile and (int(tile) < 2 or int(tile) & (int(tile) - 1)):
            raise FileError(f"measure {text!r}: {tile} is not a tile: expected a power of two from 2")
        if at and not int(first or 0):
            raise FileError(f"measure {text!r}: expected the number of games after @, 1 or more")
        return cls(name, int(tile or 0), int(first or 0))

    def to_text(self) -> str:
        """Return the text that `from_text` parses."""
        return self.name + (f":{self.tile}" if self.tile else "") + (f"@{self.first}" if self.first else "")

    @property
    def meaning(self) -> Meaning:
        return MEANINGS[self.name]

    def n_games(self, n: int) -> int | None:
        """Return the number of games behind a sample of size `n`; None for a measure that is not of games.

        Evaluations are taken to have ten games or more.
        """
        per_sample = 10 if self.name in ("best-of-ten", "evaluations", "evaluation-sum") else 1
        return None if self.name in _NOT_OF_GAMES else per_sample * n

    @property
    def title(self) -> str:
        """Return the title for tables and charts."""
        title = self.meaning.title.replace("{tile}", str(self.tile))
        return f"{title}, first {self.first} games" if self.first else title

    @property
    def brief(self) -> str:
        """Return a short title for narrow columns."""
        found = _BRIEF.get(self.name, self.meaning.title).replace("{tile}", str(self.tile))
        return f"{found}, first {self.first}" if self.first else found


@dataclass(frozen=True)
class Measured:
    """A measured value with its 95% interval and sample size.

    A value without an interval has infinite ends.
    """

    value: float
    low: float
    high: float
    n: int  # games or repetitions; 0 = exact, not sampled

    @classmethod
    def exact(cls, value: float) -> Self:
        """Make a value that does not depend on chance."""
        return cls(value, value, value, 0)

    @classmethod
    def mean(cls, samples: Sequence[float]) -> Self:
        """Make a mean with its interval."""
        return cls(*mean_interval(samples), len(samples))

    @classmethod
    def rate(cls, hits: int, n: int) -> Self:
        """Make a rate with its interval."""
        return cls(*rate_interval(hits, n), n)

    @classmethod
    def single(cls, value: float) -> Self:
        """Make a value that was measured only once and so has no interval."""
        return cls(value, -math.inf, math.inf, 1)

    @classmethod
    def mean_of(cls, trainings: Sequence[Self], most: float = math.inf) -> Self:
        """Average over trainings.

        The interval covers both the spread between trainings and the intervals of each, whichever is wider.
        It never goes below 0 or above `most` (1 for a rate).

        """
        if len(trainings) == 1:
            return trainings[0]
        among, k = mean_interval([each.value for each in trainings]), len(trainings)
        n = sum(each.n for each in trainings) or (0 if among.low == among.high else k)
        if not all(each.has_interval for each in trainings):
            return cls(among.value, max(0.0, among.low), min(most, among.high), n)
        below = math.hypot(*(each.value - each.low for each in trainings)) / k
        above = math.hypot(*(each.high - each.value for each in trainings)) / k
        low, high = min(among.low, among.value - below), max(among.high, among.value + above)
        return cls(among.value, max(0.0, low), min(most, high), n)

    @property
    def interval(self) -> Interval:
        return Interval(self.value, self.low, self.high)

    @property
    def has_interval(self) -> bool:
        """Return True if the interval is finite; a value measured once has none."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; infinite ends become null."""
        ends = [end if math.isfinite(end) else None for end in (self.low, self.high)]
        return {"value": self.value, "ci95": ends, "n": self.n}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse the data that `to_json` returns."""
        try:
            low, high = data["ci95"]
            ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
            value, n = float(data["value"]), int(data["n"])
            if n < 0:
                raise ValueError("n")
            return cls(value, *ends, n)
        except (TypeError, KeyError, ValueError):
            raise FileError(f"figure {str(data)[:60]!r} is not understood: expected value, ci95 and n") from None


SIZES = ("test", "quick", "full")
