"""Verdicts: whether a figure of ours agrees with another, by their intervals and nothing else."""

import math
from dataclasses import dataclass

from lab2048.arena.statistics import Interval
from lab2048.studies.measure import Measured, Unit
from lab2048.studies.published import Published
from lab2048.studies.study import Figure

AGREES, BETTER, WORSE, DIFFERS, NOT_COMPARABLE = WORDS = ("agrees", "better", "worse", "differs", "not comparable")
UNPUBLISHED = "no figure is published"


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
        return Verdict(NOT_COMPARABLE, "not measured")
    if figure.differs:
        return Verdict(NOT_COMPARABLE, figure.differs)
    better, alone = figure.measure.meaning.better, Verdict(NOT_COMPARABLE, "a single game has no interval")
    if figure.against:
        if theirs is None or not theirs.is_sure:
            return Verdict(NOT_COMPARABLE, f"{figure.against} is not measured")
        return _word(paired or difference(ours.interval, theirs.interval), better) if ours.is_sure else alone
    if figure.published is None:
        return Verdict(NOT_COMPARABLE, UNPUBLISHED)
    if figure.measure.meaning.unit is Unit.SECONDS:
        return Verdict(NOT_COMPARABLE, "a time of another machine")
    if not ours.is_sure:
        return alone
    return _beside(ours, figure.published, better)


def _beside(ours: Measured, published: Published, better: int) -> Verdict:
    interval = published.interval
    if interval is None:  # at least so many: whatever is above the lower end agrees
        return Verdict(AGREES) if ours.high >= published.low else Verdict(_direction(-1, better))
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
