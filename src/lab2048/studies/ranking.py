"""Rank the rows of a study, with the range of ranks that the intervals allow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.studies.agreement import BETTER, WORSE, compare
from lab2048.studies.comparison import Line, paired_difference_of
from lab2048.studies.measure import Measure, Measured
from lab2048.studies.model import Ranking
from lab2048.studies.result import Result


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


def rank(ranking: Ranking, lines: Sequence[Line], results: Mapping[str, Result], size: str) -> Ranked:
    """Sort rows by one measure; rows whose intervals overlap share ranks."""
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
