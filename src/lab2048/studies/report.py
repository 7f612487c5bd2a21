"""Reports as data: for each figure what is published, what was measured, and the verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab2048.arena.statistics import Interval
from lab2048.studies.game import measure_games, paired_difference
from lab2048.studies.measure import Measure, Measured
from lab2048.studies.result import Result, Shelf
from lab2048.studies.runner import reason_left_out
from lab2048.studies.study import Figure, Row, Study
from lab2048.studies.verdict import Verdict, judge

SCHEMA = "lab2048/study-report-1"


@dataclass(frozen=True)
class Line:
    """One figure of one row."""

    row: Row
    figure: Figure
    ours: Measured | None
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
            "difference": [end if math.isfinite(end) else None for end in self.gap] if self.gap else None,
            "verdict": self.verdict.word,
            "why": self.verdict.why,
            "left_out": self.left_out,
        }


@dataclass(frozen=True)
class Report:
    """All figures of a study, as far as there are results."""

    study: Study
    size: str
    seed: int
    lines: tuple[Line, ...]
    results: Mapping[str, Result]

    @property
    def n_measured(self) -> int:
        return sum(line.ours is not None for line in self.lines)

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
    result = results.get(row.id)
    ours = measured(result, figure.measure)
    theirs = gap = None
    if figure.against:
        other = results.get(study.row(figure.against).id)
        theirs = measured(other, figure.measure)
        if result is not None and other is not None:
            gap = paired_difference(result.games, other.games, figure.measure)
    left_out = "" if result is not None else reason_left_out(row, size) or "not run yet"
    verdict = judge(figure, ours, theirs, gap)
    if ours is None and left_out:
        verdict = Verdict(verdict.word, figure.differs if row.kind == "none" else f"left out: {left_out}")
    return Line(row, figure, ours, theirs, gap, verdict, left_out)


def measured(result: Result | None, measure: Measure) -> Measured | None:
    """A figure of a result, if it tells it."""
    if result is None:
        return None
    return result.measured.get(measure.to_text()) or measure_games(result.games, measure)
