"""Reports as data: for each figure the published value, ours, and whether they agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab2048.studies.comparison import Line, make_line, results_of
from lab2048.studies.model import Row, Study
from lab2048.studies.ranking import Ranked, rank
from lab2048.studies.result import Result, ResultFolder

SCHEMA = "lab2048/study-report-1"


@dataclass(frozen=True)
class Report:
    """All figures of a study, from the results available so far (one per row or per training)."""

    study: Study
    size: str
    seed: int
    lines: tuple[Line, ...]
    results: Mapping[str, Result]
    ranked: tuple[Ranked, ...]  # one per ranking of the study

    @property
    def n_measured(self) -> int:
        return sum(line.ours is not None for line in self.lines)

    def of(self, row: Row) -> list[Result]:
        """Return the available results of a row."""
        return results_of(row, self.results, self.size)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data, including curves and provenance."""
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


def make_report(result_folder: ResultFolder) -> Report:
    """Compare the stored results with the published figures."""
    study, results, size = result_folder.study, result_folder.results(), result_folder.size
    lines = tuple(make_line(study, row, figure, results, size) for row in study.rows for figure in row.figures)
    ranked = tuple(rank(ranking, lines, results, size) for ranking in study.rankings)
    return Report(study, size, result_folder.seed, lines, results, ranked)
