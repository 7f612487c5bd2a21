"""Verdicts: whether a figure of ours agrees with another, by their intervals and nothing else."""

import math
from dataclasses import dataclass

from lab2048.arena.statistics import Interval
from lab2048.studies.measure import Measured, Unit
from lab2048.studies.model import Figure
from lab2048.studies.published import Published

AGREES, BETTER, WORSE, DIFFERS = "agrees", "better", "worse", "differs"
NOT_COMPARABLE = "not comparable"  # there is a figure, and why it cannot be set beside ours is said
UNPUBLISHED = "nothing published"  # ours stands by itself
NOT_MEASURED = "not measured"
WORDS = (AGREES, BETTER, WORSE, DIFFERS, NOT_COMPARABLE, UNPUBLISHED, NOT_MEASURED)
ONCE = "measured once, so there is no interval"


@dataclass(frozen=True)
class Verdict:
    """The word, and why if that is not plain."""

    word: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.why}" if self.why else self.word


def judge(
    figure: Figure, ours: Measured | None, theirs: Measured | None = None, paired: Interval | None = None
) -> Verdict:
    """Compare what was measured with what was published, or with another row.

    `theirs` is the figure of the row that this one is set against; `paired` their difference, if both rows
    met the same seeds.
    """
    if ours is None:
        return Verdict(NOT_MEASURED)
    if figure.published is None and not figure.against:
        return Verdict(UNPUBLISHED)
    if figure.differs:
        return Verdict(NOT_COMPARABLE, figure.differs)
    better = figure.measure.meaning.better
    if figure.against:
        if theirs is None:
            return Verdict(NOT_COMPARABLE, f"{figure.against} is not measured")
        return compare(ours, theirs, better, paired)
    assert figure.published is not None
    if figure.measure.meaning.unit is Unit.SECONDS:
        return Verdict(NOT_COMPARABLE, "a time of another machine")
    return _beside(ours, figure.published, better) if ours.is_sure else Verdict(NOT_COMPARABLE, ONCE)


def compare(ours: Measured, theirs: Measured, better: int, paired: Interval | None = None) -> Verdict:
    """Compare two figures of ours; `better` is the direction in which they improve."""
    if not ours.is_sure or not theirs.is_sure:
        return Verdict(NOT_COMPARABLE, ONCE)
    return _word(paired or difference(ours.interval, theirs.interval), better)


def _beside(ours: Measured, published: Published, better: int) -> Verdict:
    interval = published.interval
    if interval is None:  # at least, or at most so many: whatever is on that side of the end agrees
        if published.low <= ours.high and ours.low <= published.high:
            return Verdict(AGREES)
        return Verdict(_direction(-1 if ours.high < published.low else 1, better))
    return _word(difference(ours.interval, interval), better)


def difference(a: Interval, b: Interval) -> Interval:
    """The interval of a less b, of two figures that know nothing of each other.

    The distances to their ends are added in squares (Newcombe's hybrid score interval
    for rates, Welch's nearly for means); exact figures add nothing.
    """
    gap = a.value - b.value
    low = gap - math.hypot(a.value - a.low, b.high - b.value)
    high = gap + math.hypot(a.high - a.value, b.value - b.low)
    return Interval(gap, low, high)


def _word(gap: Interval, better: int) -> Verdict:
    if gap.low <= 0 <= gap.high:
        return Verdict(AGREES)
    return Verdict(_direction(1 if gap.value > 0 else -1, better))


def _direction(sign: int, better: int) -> str:
    return DIFFERS if better == 0 else BETTER if sign == better else WORSE
