"""Rankings: rows of a study from the best to the worst, and how sure their places are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.studies.comparison import Line, paired_gap
from lab2048.studies.measure import Measure, Measured
from lab2048.studies.model import Ranking
from lab2048.studies.result import Result
from lab2048.studies.verdict import BETTER, WORSE, compare


@dataclass(frozen=True)
class Standing:
    """Where a row stands among the others.

    Its places are those that the intervals leave it: one more than there are rows clearly better, to so many as
    are not clearly worse.
    """

    line: Line  # of the figure that is ranked by
    ours: Measured
    first: int
    last: int
    others: Mapping[Measure, Line]  # the other figures of the row


@dataclass(frozen=True)
class Ranked:
    """The rows of a ranking that are measured, the best value first."""

    ranking: Ranking
    standings: tuple[Standing, ...]

    @property
    def measures(self) -> list[Measure]:
        """What else is known of the rows, in the order in which it comes."""
        return list(dict.fromkeys(measure for standing in self.standings for measure in standing.others))

    def to_json(self) -> dict[str, Any]:
        """As plain data; figures stand in the report."""
        return {
            "title": self.ranking.title,
            "measure": self.ranking.by.to_text(),
            "rules": self.ranking.board,
            "places": [
                {"row": each.line.row.id, "title": each.line.row.title, "best": each.first, "worst": each.last}
                for each in self.standings
            ],
        }


def rank(ranking: Ranking, lines: Sequence[Line], results: Mapping[str, Result], size: str) -> Ranked:
    """Put rows in order; those that the intervals do not tell apart share places."""
    by, better = ranking.by, ranking.by.meaning.better
    found = [
        (line, line.ours)
        for line in lines
        if line.row.board == ranking.board and line.figure.measure == by and line.ours
    ]
    found.sort(key=lambda pair: -better * pair[1].value)
    standings = []
    for line, ours in found:
        words = [
            compare(ours, theirs, better, paired_gap(line.row, other.row, by, results, size)).word
            for other, theirs in found
            if other is not line
        ]
        first, last = 1 + words.count(WORSE), len(found) - words.count(BETTER)
        others = {each.figure.measure: each for each in lines if each.row is line.row and each.figure.measure != by}
        standings.append(Standing(line, ours, first, last, others))
    return Ranked(ranking, tuple(standings))
