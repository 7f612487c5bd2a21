"""The table of document 000: its state counts by its own search, its win rates by the solver.

The document does not say which boards it started from; tests/data/exact.json names those
that give its counts.  Two of its percentages (96.14 and 8.36) come from no start.
"""

import json
from pathlib import Path

import pytest
from conftest import DATA

from lab2048.players.evaluator import make_evaluator
from lab2048.rules import Board, Rules
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers
from lab2048.studies.reading import load_study
from lab2048.studies.run.solve import search_like_kuznetsov

EXACT = json.loads((DATA / "exact.json").read_text())
ROWS = EXACT["document_000"]["rows"]
MISPRINTED = (96.14, 8.36)
DANGEROUS = Board.from_text("4 4 8 2 / 2 32 512 128 / 1024 64 4 . / 8 32 8 .")  # figure 11.1
ORDERED = Board.from_text("1024 512 256 128 / 2 32 256 8 / 4 8 . . / 8 . . .")  # figure 11.2
SUMS = (1908, 8546)  # of both, figure 11.3


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['board']}-{row['win']}-{row['published_unique_states']}")
def test_the_published_table(row: dict[str, object], tmp_path: Path) -> None:
    assert row["starts_that_match_URDL"]
    for i, text in enumerate(row["starts_that_match_URDL"]):  # type: ignore[arg-type, var-annotated]
        board = " / ".join(text.replace("0", "#").split("|"))
        rules = Rules.from_text(board, goal=row["win"])  # type: ignore[arg-type]
        known: dict[Board, float] = {}
        value = search_like_kuznetsov(rules.board, rules, known)
        assert len(known) == row["published_unique_states"]
        with Workers(1) as workers:
            table = Solve(Problem.of(rules, "win"), tmp_path / str(i), workers, Memory(2**28), is_kept=False).run()
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


def faces(board: Board) -> list[int]:
    return [1 << rank if rank else 0 for rank in board.ranks]


def test_the_matrix_of_order_figure_fits_but_for_one_tile() -> None:
    spec = load_study("000-lookahead").row("order-figure").player
    weights = make_evaluator(spec.partition("eval=")[2].strip("()")).weights(DANGEROUS.shape)
    sums = [float(weights @ faces(board)) for board in (DANGEROUS, ORDERED)]
    assert sums == [1914, 8546]
    lower = faces(DANGEROUS)
    lower[12] = 2  # instead of an 8
    assert (float(weights @ lower), sums[1]) == SUMS


def test_no_matrix_of_positive_integers_fits_figure_11_3() -> None:
    pairs = [pair for pair in zip(faces(DANGEROUS), faces(ORDERED), strict=True) if any(pair)]
    most = tuple(total - sum(column) for total, column in zip(SUMS, zip(*pairs, strict=True), strict=True))
    reached = {(0, 0)}  # by how much sums can be above those of a matrix of ones
    for a, b in pairs:
        front = reached
        while front:
            front = {(x + a, y + b) for x, y in front if x + a <= most[0] and y + b <= most[1]} - reached
            reached = reached | front
    assert most not in reached
