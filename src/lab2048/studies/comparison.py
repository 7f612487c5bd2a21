"""Lines of a report: a figure, its reference and whether the two agree."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import variance
from typing import Any

from lab2048.arena.statistics import Interval, Z
from lab2048.studies.agreement import NOT_COMPARABLE, NOT_MEASURED, Agreement, find_agreement
from lab2048.studies.game_figures import measure_evaluations, measure_games, paired_difference
from lab2048.studies.measure import Measure, Measured, Unit
from lab2048.studies.model import Figure, Row, Study
from lab2048.studies.result import Result
from lab2048.studies.run.runner import reason_to_skip
from lab2048.studies.run.trained_games import is_trained

NOT_YET = "not run yet"
# Why the games of a row may have no value for a measure.
REASONS = {
    "goal-time": "no game reached the goal",
    "best-of-ten": "there are fewer than ten games",
    "evaluations": "the training had no evaluations",
    "evaluation-sum": "the training had no evaluations",
}


@dataclass(frozen=True)
class Line:
    """One figure of one row, compared with its reference."""

    row: Row
    figure: Figure
    ours: Measured | None
    each: tuple[Measured, ...]  # our value per training, if the row has several
    theirs: Measured | None  # the value of the row it is compared with
    gap: Interval | None  # paired difference, ours minus theirs, if both rows played the same seeds
    agreement: Agreement
    skip_reason: str

    @property
    def reference(self) -> Interval | None:
        """Return the value to compare with, or None if there is none or only a bound."""
        if self.figure.against:
            return self.theirs.interval if self.theirs else None
        return self.figure.published.interval if self.figure.published else None

    @property
    def bound(self) -> tuple[float, int] | None:
        """Return a published bound and its side: 1 for "at least", -1 for "at most"; None for any other figure."""
        published = self.figure.published
        if published is None or published.value is not None:
            return None
        return (published.low, 1) if math.isfinite(published.low) else (published.high, -1)

    def to_json(self) -> dict[str, Any]:
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
            "verdict": self.agreement.word,
            "why": self.agreement.why,
            "other_method": self.agreement.other_method,
            "left_out": self.skip_reason,
        }


def make_line(study: Study, row: Row, figure: Figure, results: Mapping[str, Result], size: str) -> Line:
    """Compare one figure with its reference."""
    found = results_of(row, results, size)
    each = measured(found, figure.measure)
    theirs = gap = None
    if figure.against:
        other = study.row(figure.against)
        theirs = _over(measured(results_of(other, results, size), figure.measure), figure.measure)
        gap = paired_difference_of(row, other, figure.measure, results, size)
    ours = _over(each, figure.measure)
    skip_reason = "" if found else reason_to_skip(row, size) or NOT_YET
    if figure.published and figure.games and each:
        figure = replace(figure, published=figure.published.with_spread(spread_of_mean(each, figure.games)))
    agreement = find_agreement(figure, ours, theirs, gap, row.other_method)
    if row.kind == "none":
        agreement = Agreement(NOT_COMPARABLE, figure.differs)
    elif ours is None and skip_reason:
        agreement = Agreement(NOT_MEASURED, skip_reason)
    elif ours is None:
        agreement = Agreement(NOT_MEASURED, REASONS.get(figure.measure.name, ""))
    is_several = len(row.parts(size)) > 1
    return Line(row, figure, ours, tuple(each) if is_several else (), theirs, gap, agreement, skip_reason)


def spread_of_mean(each: Sequence[Measured], n: int) -> float:
    """Return half the 95% interval of a mean of `n` games of one training, judged by our own games.

    For a published mean whose spread is not given: games and trainings are taken to vary as much as ours do.
    """
    known = [found for found in each if found.has_interval]
    of_games = sum(((found.high - found.low) / 2) ** 2 * found.n / n for found in known) / max(1, len(known))
    of_trainings = Z**2 * variance([found.value for found in each]) if len(each) > 1 else 0.0
    return math.sqrt(of_games + of_trainings)


def paired_difference_of(
    row: Row, other: Row, measure: Measure, results: Mapping[str, Result], size: str
) -> Interval | None:
    """Return the paired difference of two rows, or None unless both played the same seeds."""
    ours, theirs = results_of(row, results, size), results_of(other, results, size)
    if len(ours) != 1 or len(theirs) != 1 or is_trained(row.player) != is_trained(other.player):
        return None
    return paired_difference(ours[0].games, theirs[0].games, measure)


def results_of(row: Row, results: Mapping[str, Result], size: str) -> list[Result]:
    """Return the available results of a row: one, or one per training."""
    return [results[part.id] for part in row.parts(size) if part.id in results]


def _over(each: Sequence[Measured], measure: Measure) -> Measured | None:
    most = 1.0 if measure.meaning.unit is Unit.RATE else math.inf
    return Measured.mean_of(each, most) if each else None


def measured(results: Sequence[Result], measure: Measure) -> list[Measured]:
    """Return the figure for each result that contains it."""
    found = [
        result.measured.get(measure.to_text())
        or measure_games(result.games, measure)
        or measure_evaluations(result.curve, measure)
        for result in results
    ]
    return [each for each in found if each is not None]
