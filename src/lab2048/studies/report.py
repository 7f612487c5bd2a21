"""Reports as data: for each figure what is published, what was measured, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab2048.studies.comparison import Line, found_of, make_line
from lab2048.studies.model import Row, Study
from lab2048.studies.ranking import Ranked, rank
from lab2048.studies.result import Result, Shelf

SCHEMA = "lab2048/study-report-1"


@dataclass(frozen=True)
class Report:
    """All figures of a study, as far as there are results: one a row, or one for each training of it."""

    study: Study
    size: str
    seed: int
    lines: tuple[Line, ...]
    results: Mapping[str, Result]
    ranked: tuple[Ranked, ...]  # a table for each ranking of the study

    @property
    def n_measured(self) -> int:
        return sum(line.ours is not None for line in self.lines)

    def of(self, row: Row) -> list[Result]:
        """What there is of a row."""
        return found_of(row, self.results, self.size)

    def to_json(self) -> dict[str, Any]:
        """As plain data, curves and provenance included."""
        return {
            "schema": SCHEMA,
            **self.study.to_json(),
            "size": self.size,
            "seed": self.seed,
            "figures": [line.to_json() for line in self.lines],
            "rankings": [ranked.to_json() for ranked in self.ranked],
            "curves": {id_: result.curve for id_, result in self.results.items() if result.curve},
            "provenance": {id_: dict(result.provenance) for id_, result in self.results.items()},
        }


def make_report(shelf: Shelf) -> Report:
    """Set what is kept beside what is published."""
    study, results, size = shelf.study, shelf.results(), shelf.size
    lines = tuple(make_line(study, row, figure, results, size) for row in study.rows for figure in row.figures)
    ranked = tuple(rank(ranking, lines, results, size) for ranking in study.rankings)
    return Report(study, size, shelf.seed, lines, results, ranked)
