"""Reports as data: for each figure what is published, what was measured, and the verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.arena.statistics import Interval
from lab2048.studies.game import measure_games, paired_difference
from lab2048.studies.measure import Measure, Measured, Unit
from lab2048.studies.result import Result, Shelf
from lab2048.studies.runner import reason_left_out
from lab2048.studies.study import Figure, Row, Study
from lab2048.studies.trained import is_trained
from lab2048.studies.verdict import NOT_COMPARABLE, NOT_MEASURED, Verdict, judge

SCHEMA = "lab2048/study-report-1"
NOT_YET = "not run yet"


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


@dataclass(frozen=True)
class Report:
    """All figures of a study, as far as there are results: one a row, or one for each training of it."""

    study: Study
    size: str
    seed: int
    lines: tuple[Line, ...]
    results: Mapping[str, Result]

    @property
    def n_measured(self) -> int:
        return sum(line.ours is not None for line in self.lines)

    def of(self, row: Row) -> list[Result]:
        """What there is of a row."""
        return _found(row, self.results, self.size)

    def to_json(self) -> dict[str, Any]:
        """As plain data, curves and provenance included."""
        return {
            "schema": SCHEMA,
            **self.study.to_json(),
            "size": self.size,
            "seed": self.seed,
            "figures": [line.to_json() for line in self.lines],
            "curves": {id_: result.curve for id_, result in self.results.items() if result.curve},
            "provenance": {id_: dict(result.provenance) for id_, result in self.results.items()},
        }


def make_report(shelf: Shelf) -> Report:
    """Set what is kept beside what is published."""
    study, results = shelf.study, shelf.results()
    lines = tuple(_line(study, row, figure, results, shelf.size) for row in study.rows for figure in row.figures)
    return Report(study, shelf.size, shelf.seed, lines, results)


def _line(study: Study, row: Row, figure: Figure, results: Mapping[str, Result], size: str) -> Line:
    found = _found(row, results, size)
    each = measured(found, figure.measure)
    theirs = gap = None
    if figure.against:
        other = study.row(figure.against)
        others = _found(other, results, size)
        theirs = _over(measured(others, figure.measure), figure.measure)
        # In pairs only if both met the same seeds.
        if len(found) == len(others) == 1 and is_trained(row.player) == is_trained(other.player):
            gap = paired_difference(found[0].games, others[0].games, figure.measure)
    ours = _over(each, figure.measure)
    left_out = "" if found else reason_left_out(row, size) or NOT_YET
    verdict = judge(figure, ours, theirs, gap)
    if row.kind == "none":
        verdict = Verdict(NOT_COMPARABLE, figure.differs)
    elif ours is None and left_out:
        verdict = Verdict(NOT_MEASURED, left_out)
    is_several = len(row.parts(size)) > 1
    return Line(row, figure, ours, tuple(each) if is_several else (), theirs, gap, verdict, left_out)


def _found(row: Row, results: Mapping[str, Result], size: str) -> list[Result]:
    return [results[part.id] for part in row.parts(size) if part.id in results]


def _over(each: Sequence[Measured], measure: Measure) -> Measured | None:
    most = 1.0 if measure.meaning.unit is Unit.RATE else math.inf
    return Measured.over(each, most) if each else None


def measured(results: Sequence[Result], measure: Measure) -> list[Measured]:
    """A figure of each result that tells it."""
    found = [result.measured.get(measure.to_text()) or measure_games(result.games, measure) for result in results]
    return [each for each in found if each is not None]
