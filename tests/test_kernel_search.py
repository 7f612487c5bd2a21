"""The search is the plain recursion, only faster; and it keeps to its clock."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import boards

from lab2048.kernels import evaluate
from lab2048.players.evaluator import Evaluator, evaluator_names, make_evaluator
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules
from lab2048.rules.plan import make_plan

SHAPES = ("4x4", "3x3", "2x4", "1x8", "##x|#x#|###", "hex1", "xx#xx|x###x|#####|x###x|xx#xx")
WIDE = ("5x5", "hex2")
ANYWHERE = [name for name in evaluator_names() if name != "weighted-002"]  # its matrix is one of 4x4


def plain_rules(board: Board, spawn: str = "2:0.9,4:0.1") -> Rules:
    return Rules.from_text(Board(board.shape, (0,) * len(board.ranks)).to_text(), spawn=spawn)


def judge(evaluator: Evaluator, rules: Rules, board: Board) -> float:
    ranks, terms = np.array(board.ranks, np.uint8), evaluate.make_terms(evaluator.terms)
    return float(evaluate.judge_bytes(terms, evaluator.weights(board.shape), make_plan(rules), ranks))


def plain_chance(evaluator: Evaluator, rules: Rules, after: Board, depth: int) -> float:
    """Expectimax as a book has it."""
    if depth == 0:
        return judge(evaluator, rules, after)
    total = 0.0
    for cell, rank, p in rules.spawns(after):
        state = after.put(cell, rank)
        values = [plain_chance(evaluator, rules, slid, depth - 1) for _, (slid, _) in state.slides()]
        lost = judge(evaluator, rules, state) if evaluator.lost is None else evaluator.lost
        total += p * max(values, default=lost)
    return total


@given(boards(SHAPES + WIDE), st.sampled_from(ANYWHERE))
def test_tables_judge_like_the_terms(board: Board, name: str) -> None:
    rules, evaluator = plain_rules(board), make_evaluator(name)
    searcher = Searcher(rules, evaluator)
    if searcher.is_packed:
        found = float(evaluate.judge_packed(searcher.address, np.uint64(board.to_packed())))
        assert found == pytest.approx(judge(evaluator, rules, board), rel=1e-4, abs=0.5)


@settings(max_examples=25)
@given(
    boards(("3x3", "2x4", "hex1", "##x|#x#|###", "2x2", "4x4"), max_rank=6), st.sampled_from(["rows", "score", "snake"])
)
def test_search_is_the_plain_recursion(board: Board, name: str) -> None:
    if not board.legal_moves() or board.n_empty > 5:
        return
    rules, evaluator = plain_rules(board, "2:0.7,4:0.2,8:0.1"), make_evaluator(name)
    searcher = Searcher(rules, evaluator)
    for depth in (1, 2, 3):
        if depth == 3 and board.n_empty > 2:
            break
        values = searcher.root_values(board, depth)
        assert values is not None
        for move, (after, _) in board.slides():
            assert values[move] == pytest.approx(plain_chance(evaluator, rules, after, depth - 1), rel=1e-4, abs=0.5)


@pytest.mark.parametrize("text", ["2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 # #"])
def test_wide_boards_are_searched_too(text: str) -> None:
    board = Board.from_text(text)
    rules, evaluator = plain_rules(board), make_evaluator("rows")
    values = Searcher(rules, evaluator).root_values(board, 2)
    assert values is not None
    for move, (after, _) in board.slides():
        assert values[move] == pytest.approx(plain_chance(evaluator, rules, after, 1), rel=1e-4)
