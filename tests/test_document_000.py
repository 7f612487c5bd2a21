"""The table of document 000: its state counts by its own search, its win rates by the solver.

The document does not say which boards it started from; tests/data/exact.json names those
that give its counts.  Two of its percentages (96.14 and 8.36) come from no start.
"""

import json
from pathlib import Path

import pytest
from conftest import DATA

from lab2048.rules import Board, Rules
from lab2048.solver.crew import Crew
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.studies.reading import load_study
from lab2048.studies.solve import search_like_document_000

EXACT = json.loads((DATA / "exact.json").read_text())
ROWS = EXACT["document_000"]["rows"]
MISPRINTED = (96.14, 8.36)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['board']}-{row['win']}-{row['published_unique_states']}")
def test_the_published_table(row: dict[str, object], tmp_path: Path) -> None:
    assert row["starts_that_match_URDL"]
    for i, text in enumerate(row["starts_that_match_URDL"]):  # type: ignore[arg-type, var-annotated]
        board = " / ".join(text.replace("0", "#").split("|"))
        rules = Rules.from_text(board, goal=row["win"])  # type: ignore[arg-type]
        known: dict[Board, float] = {}
        value = search_like_document_000(rules.board, rules, known)
        assert len(known) == row["published_unique_states"]
        with Crew(1) as crew:
            table = Solve(Problem.of(rules, "win"), tmp_path / str(i), crew, Memory(2**28), is_kept=False).run()
        assert table.manifest["value"] == pytest.approx(value, abs=1e-12)
        assert 100 * value == pytest.approx(row["exact_percent"][0], abs=1e-4)  # type: ignore[index]
        if row["published_percent"] not in MISPRINTED:
            assert 100 * value == pytest.approx(row["published_percent"], abs=0.005)


def test_what_the_study_quotes_from_the_independent_solver_stands_there() -> None:
    records = {(r["board"], r["win"], r["objective"]): r for r in EXACT["records"] if r["start"] == "random"}
    n_found = 0
    for row in load_study("000-optimal").rows:
        for figure in row.figures:
            if "exact.json" not in figure.where:
                continue
            record = records[row.board, row.goal if row.objective == "win" else None, row.objective]
            wanted = {
                "states": record["decision_states_canonical"] + record["loss_states_canonical"],
                "states-raw": record["decision_states"],
                "win": record["value"],
                "worth": record["value"],
            }[figure.measure.name]
            assert figure.published is not None
            assert figure.published.low <= wanted <= figure.published.high, f"{row.id}: {figure}"
            n_found += 1
    assert n_found > 20
