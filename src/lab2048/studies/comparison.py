"""Lines of a report: a figure, what it is set beside, and the verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.arena.statistics import Interval
from lab2048.studies.game_figures import measure_games, paired_difference
from lab2048.studies.measure import Measure, Measured, Unit
from lab2048.studies.model import Figure, Row, Study
from lab2048.studies.result import Result
from lab2048.studies.run.runner import reason_left_out
from lab2048.studies.run.trained_games import is_trained
from lab2048.studies.verdict import NOT_COMPARABLE, NOT_MEASURED, Verdict, judge

NOT_YET = "not run yet"
# Why games may not tell a figure.
REASONS = {"goal-time": "no game reached the goal", "best-of-ten": "there are fewer than ten games"}


@dataclass(frozen=True)
class Line:
    """One figure of one row."""

    row: Row
    figure: Figure
    ours: Measured | None
    each: tuple[Measured, ...]  # ours, training by training, if a row has several
    theirs: Measured | None  # of the row that this one is set against
    gap: Interval | None  # ours less theirs, if both met the same seeds
    verdict: Verdict
    left_out: str

    @property
    def beside(self) -> Interval | None:
        """What ours is set beside, as far as it is a number."""
        if self.figure.against:
            return self.theirs.interval if self.theirs else None
        return self.figure.published.interval if self.figure.published else None

    @property
    def bound(self) -> tuple[float, int] | None:
        """The one end that is published, if no more is: at least so much (1), or at most (-1)."""
        published = self.figure.published
        if published is None or published.value is not None:
            return None
        return (published.low, 1) if math.isfinite(published.low) else (published.high, -1)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        published = self.figure.published
        return {
            "row": self.row.id,
            "title": self.row.title,
            "player": self.row.player or None,
            "rules": self.row.board,
            "measure": self.figure.measure.to_text(),
            "where": self.figure.where,
            "published": published.text if published else None,
            "against": self.figure.against or None,
            "ours": self.ours.to_json() if self.ours else None,
            "trainings": [each.value for each in self.each],
            "difference": [end if math.isfinite(end) else None for end in self.gap] if self.gap else None,
            "verdict": self.verdict.word,
            "why": self.verdict.why,
            "left_out": self.left_out,
        }


def make_line(study: Study, row: Row, figure: Figure, results: Mapping[str, Result], size: str) -> Line:
    """Set a figure beside what it is compared with."""
    found = found_of(row, results, size)
    each = measured(found, figure.measure)
    theirs = gap = None
    if figure.against:
        other = study.row(figure.against)
        theirs = _over(measured(found_of(other, results, size), figure.measure), figure.measure)
        gap = paired_gap(row, other, figure.measure, results, size)
    ours = _over(each, figure.measure)
    left_out = "" if found else reason_left_out(row, size) or NOT_YET
    verdict = judge(figure, ours, theirs, gap)
    if row.kind == "none":
        verdict = Verdict(NOT_COMPARABLE, figure.differs)
    elif ours is None and left_out:
        verdict = Verdict(NOT_MEASURED, left_out)
    elif ours is None:
        verdict = Verdict(NOT_MEASURED, REASONS.get(figure.measure.name, ""))
    is_several = len(row.parts(size)) > 1
    return Line(row, figure, ours, tuple(each) if is_several else (), theirs, gap, verdict, left_out)


def paired_gap(row: Row, other: Row, measure: Measure, results: Mapping[str, Result], size: str) -> Interval | None:
    """The difference of two rows in pairs of games; None unless both met the same seeds."""
    ours, theirs = found_of(row, results, size), found_of(other, results, size)
    if len(ours) != 1 or len(theirs) != 1 or is_trained(row.player) != is_trained(other.player):
        return None
    return paired_difference(ours[0].games, theirs[0].games, measure)


def found_of(row: Row, results: Mapping[str, Result], size: str) -> list[Result]:
    """What there is of a row: one result, or one for each training of it."""
    return [results[part.id] for part in row.parts(size) if part.id in results]


def _over(each: Sequence[Measured], measure: Measure) -> Measured | None:
    most = 1.0 if measure.meaning.unit is Unit.RATE else math.inf
    return Measured.over(each, most) if each else None


def measured(results: Sequence[Result], measure: Measure) -> list[Measured]:
    """A figure of each result that tells it."""
    found = [result.measured.get(measure.to_text()) or measure_games(result.games, measure) for result in results]
    return [each for each in found if each is not None]
