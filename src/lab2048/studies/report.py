"""Reports as data: for each figure the published value, ours and whether they agree; and rankings of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.studies.agreement import BETTER, WORSE, compare
from lab2048.studies.comparison import Line, make_line, paired_difference_of, results_of
from lab2048.studies.measure import Measure, Measured
from lab2048.studies.model import Ranking, Row, Study
from lab2048.studies.result import Result, ResultFolder

SCHEMA = "lab2048/study-report-1"


@dataclass(frozen=True)
class RankedRow:
    """The position of a row in a ranking.

    It ranges from `first` (one more than the number of clearly better rows) to `last` (the number of rows
    that are not clearly worse).
    """

    line: Line  # of the ranked measure
    ours: Measured
    first: int
    last: int
    others: Mapping[Measure, Line]  # the row's other figures


@dataclass(frozen=True)
class Ranked:
    """The measured rows of a ranking, best value first."""

    ranking: Ranking
    rows: tuple[RankedRow, ...]

    @property
    def measures(self) -> list[Measure]:
        """Return the other measures of the rows, in order of appearance."""
        return list(dict.fromkeys(measure for ranked_row in self.rows for measure in ranked_row.others))

    def to_json(self) -> dict[str, Any]:
        """Return JSON data without the figures, which are in the report."""
        return {
            "title": self.ranking.title,
            "measure": self.ranking.by.to_text(),
            "rules": self.ranking.board,
            "places": [
                {"row": each.line.row.id, "title": each.line.row.title, "best": each.first, "worst": each.last}
                for each in self.rows
            ],
        }


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


def rank(ranking: Ranking, lines: Sequence[Line], results: Mapping[str, Result], size: str) -> Ranked:
    """Sort rows by one measure; rows whose intervals overlap share places."""
    by, better = ranking.by, ranking.by.meaning.better
    found = [
        (line, line.ours)
        for line in lines
        if line.row.board == ranking.board and line.figure.measure == by and line.ours
    ]
    found.sort(key=lambda pair: -better * pair[1].value)
    rows = []
    for line, ours in found:
        words = [
            compare(ours, theirs, better, paired_difference_of(line.row, other.row, by, results, size)).word
            for other, theirs in found
            if other is not line
        ]
        first, last = 1 + words.count(WORSE), len(found) - words.count(BETTER)
        others = {each.figure.measure: each for each in lines if each.row is line.row and each.figure.measure != by}
        rows.append(RankedRow(line, ours, first, last, others))
    return Ranked(ranking, tuple(rows))
