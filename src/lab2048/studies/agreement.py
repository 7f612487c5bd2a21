"""Decide from the intervals alone whether two figures agree."""

import math
from dataclasses import dataclass, replace

from lab2048.arena.statistics import Interval
from lab2048.studies.measure import SUMMARIES, Measured, Unit
from lab2048.studies.model import Figure
from lab2048.studies.published import Published

AGREES, BETTER, WORSE, DIFFERS = "agrees", "better", "worse", "differs"
NOT_COMPARABLE = "not comparable"  # with the reason in `why`
UNPUBLISHED = "nothing published"  # there is no reference
NOT_MEASURED = "not measured"
WORDS = (AGREES, BETTER, WORSE, DIFFERS, NOT_COMPARABLE, UNPUBLISHED, NOT_MEASURED)
ONCE = "measured once, so there is no interval"
NO_MEAN = "an extreme or most frequent value has no interval"
MIN_GAMES = 20  # a verdict from fewer games says too little


@dataclass(frozen=True)
class Agreement:
    """How a figure compares with its reference, and why if that needs an explanation."""

    word: str
    why: str = ""
    other_method: str = ""  # how our method differs from the published one

    def __str__(self) -> str:
        if self.other_method:
            return f"{self.brief}: {self.other_method}"
        return f"{self.word}: {self.why}" if self.why else self.word

    @property
    def brief(self) -> str:
        """Return the word, and whether the method differs, for a chart."""
        return f"{self.word}, other method" if self.other_method else self.word


def find_agreement(
    figure: Figure,
    ours: Measured | None,
    theirs: Measured | None = None,
    paired: Interval | None = None,
    other_method: str = "",
) -> Agreement:
    """Compare our figure with the published one, or with another row.

    `theirs` is the figure of the other row; `paired` is the paired difference if both rows played the
    same seeds.  `other_method` says how the method of our row differs from the published one.
    """
    if ours is None:
        return Agreement(NOT_MEASURED)
    if figure.published is None and not figure.against:
        return Agreement(UNPUBLISHED)
    if figure.differs:
        return Agreement(NOT_COMPARABLE, figure.differs)
    better = figure.measure.meaning.better
    if figure.against:
        if theirs is None:
            return Agreement(NOT_COMPARABLE, f"{figure.against} is not measured")
        if few := _too_few(figure, ours) or _too_few(figure, theirs, figure.against):
            return few
        return compare(ours, theirs, better, paired)
    assert figure.published is not None
    if figure.measure.meaning.unit is Unit.SECONDS:
        return Agreement(NOT_COMPARABLE, "the time is from another machine")
    if not ours.has_interval:
        return Agreement(NOT_COMPARABLE, NO_MEAN if figure.measure.name in SUMMARIES else ONCE)
    found = _too_few(figure, ours) or _beside(ours, figure.published, better)
    return found if found.why else replace(found, other_method=other_method)


def _too_few(figure: Figure, found: Measured, row: str = "") -> Agreement | None:
    n_games = figure.measure.n_games(found.n)
    if n_games is None or n_games >= MIN_GAMES:
        return None
    of = f"{row} has " if row else ""
    return Agreement(NOT_COMPARABLE, f"{of}only {n_games} games, and a verdict needs {MIN_GAMES}")


def compare(ours: Measured, theirs: Measured, better: int, paired: Interval | None = None) -> Agreement:
    """Compare two of our figures; `better` is 1 if higher is better, -1 if lower is, else 0."""
    if not ours.has_interval or not theirs.has_interval:
        return Agreement(NOT_COMPARABLE, ONCE)
    return _word(paired or difference(ours.interval, theirs.interval), better)


def _beside(ours: Measured, published: Published, better: int) -> Agreement:
    interval = published.interval
    if interval is None:  # "at least" or "at most": any value on that side agrees
        if published.low <= ours.high and ours.low <= published.high:
            return Agreement(AGREES)
        return Agreement(_direction(-1 if ours.high < published.low else 1, better))
    return _word(difference(ours.interval, interval), better)


def difference(a: Interval, b: Interval) -> Interval:
    """Return the interval of a - b for independent figures.

    The distances to the ends are combined as the root of the sum of squares: Newcombe's hybrid score
    interval for rates, close to Welch's for means.
    """
    gap = a.value - b.value
    low = gap - math.hypot(a.value - a.low, b.high - b.value)
    high = gap + math.hypot(a.high - a.value, b.value - b.low)
    return Interval(gap, low, high)


def _word(gap: Interval, better: int) -> Agreement:
    if gap.low <= 0 <= gap.high:
        return Agreement(AGREES)
    return Agreement(_direction(1 if gap.value > 0 else -1, better))


def _direction(sign: int, better: int) -> str:
    return DIFFERS if better == 0 else BETTER if sign == better else WORSE
