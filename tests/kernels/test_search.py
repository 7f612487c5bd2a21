"""The search is the plain recursion, only faster; and it keeps to its clock."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_evaluator import plain_parts
from strategies import boards

from lab2048.kernels.search import evaluate
from lab2048.players import make_player
from lab2048.players.evaluator import TERMS, Evaluator, evaluator_names, make_evaluator
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules, Spawner
from lab2048.rules.plan import make_plan

SHAPES = ("4x4", "3x3", "2x4", "1x8", "##x|#x#|###", "hex1", "xx#xx|x###x|#####|x###x|xx#xx")
WIDE = ("5x5", "hex2")
HOMES = "{empty = 90, corner = 9, second = 7, third = 5, fourth = 3, stuck = -8, lost = 0}"
ANYWHERE = [name for name in evaluator_names() if not make_evaluator(name).matrix]  # a matrix is for 4x4


def plain_rules(board: Board, spawn: str = "2:0.9,4:0.1") -> Rules:
    return Rules.from_text(Board(board.shape, (0,) * len(board.ranks)).to_text(), spawn=spawn)


def judge(evaluator: Evaluator, rules: Rules, board: Board) -> float:
    ranks, terms = np.array(board.ranks, np.uint8), evaluator.make_terms(board.shape)
    return float(evaluate.evaluate_bytes(terms, evaluator.weights(board.shape), make_plan(rules), ranks))


def plain_chance(evaluator: Evaluator, rules: Rules, after: Board, depth: int, end: str = "move") -> float:
    """Expectimax as a book has it."""
    if depth == 0 and end == "move":
        return judge(evaluator, rules, after)
    total = 0.0
    for cell, rank, p in rules.spawns(after):
        state = after.put(cell, rank)
        if depth == 0:
            total += p * evaluator.value(state, rules)
            continue
        values = [plain_chance(evaluator, rules, slid, depth - 1, end) for _, (slid, _) in state.slides()]
        lost = judge(evaluator, rules, state) if evaluator.lost is None else evaluator.lost
        total += p * max(values, default=lost)
    return total


@given(boards(("4x4",), max_rank=11))
@settings(max_examples=20)
def test_the_terms_of_a_board_add_up_to_its_value(board: Board) -> None:
    rules = plain_rules(board)
    for name in evaluator_names():
        evaluator = make_evaluator(name)
        found = sum(each.value for each in evaluator.explain(board, rules))
        assert found == pytest.approx(evaluator.value(board, rules), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("spawner", ["first", "worst"])
@pytest.mark.parametrize("name", ["score", "empty", "rows", "weighted-001"])
@given(
    board=boards(("4x4", "3x3", "2x4", "5x5"), max_rank=6),
    depth=st.integers(1, 3),
    end=st.sampled_from(["move", "spawn"]),
)
@settings(max_examples=10)
def test_a_deterministic_spawner_is_searched_as_it_is(
    spawner: str, name: str, board: Board, depth: int, end: str
) -> None:
    rules = dataclasses.replace(plain_rules(board), spawner=Spawner(spawner))
    evaluator = make_evaluator(name)
    searcher = Searcher(rules, evaluator, is_state_evaluated=end == "spawn")
    found = searcher.root_values(board, depth + (end == "spawn"))
    expected = {move: plain_chance(evaluator, rules, after, depth - 1, end) for move, (after, _) in board.slides()}
    assert found == pytest.approx(expected, rel=1e-5, abs=0.5)


@st.composite
def evaluators(draw: st.DrawFn) -> Evaluator:
    """A few terms of any weight, and cells weighted along a path or not at all."""
    terms = draw(
        st.sets(st.sampled_from([term for term in TERMS if not term.endswith(("_power", "_cell"))]), min_size=1)
    )
    table = {term: draw(st.integers(-100, 100)) for term in sorted(terms)}
    powers = {f"{term}_power": draw(st.sampled_from([0.5, 1, 2.5])) for term in ("sum", "monotone")}
    words = [f"{term} = {weight}" for term, weight in (table | powers).items()]
    path = draw(st.sampled_from(["", "snake", "gradient"]))
    return make_evaluator("{" + ", ".join([*words, f'path = "{path}"']) + "}")


@given(boards((*SHAPES, *WIDE, "1x2", "##x##|##x##")), evaluators())
def test_terms_are_what_they_are_in_plain_words(board: Board, evaluator: Evaluator) -> None:
    rules, parts = plain_rules(board), plain_parts(evaluator, board)
    near = 1e-5 * sum(map(abs, parts))  # tables are of single precision
    assert judge(evaluator, rules, board) == pytest.approx(sum(parts), abs=near)
    searcher = Searcher(rules, evaluator)
    if searcher.is_packed:
        found = float(evaluate.evaluate_packed(searcher.address, np.uint64(board.to_packed())))
        assert found == pytest.approx(sum(parts), abs=near)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16 8 4 2 / # # # # / # # # # / # # # 2", 7 * 8 + 5 * 4 + 3 * 2),  # all where they belong
        ("8 16 4 2 / # # # # / # # # # / # # # #", -7 * 8 + 5 * 4 + 3 * 2),  # the second is not
        ("16 16 4 2 / # # # # / # # # # / # # # #", 7 * 16 + 5 * 4 + 3 * 2),  # of equal tiles each counts
        ("16 8 4 # / # # # 2 / # # # # / # # # #", 7 * 8 + 5 * 4 - 3 * 2),  # the fourth is not there, and nothing else
        ("16 8 4 2 / # # # 4 / # # # # / # # # #", 7 * 8 + 5 * 4 - 3 * 4 - 8 * 4),  # a 2 stuck where a 4 belongs
        ("16 8 4 16 / # # # 2 / # # # # / # # # #", -7 * 16 - 5 * 8 - 3 * 4 - 8 * 4),  # a higher tile is wrong, too
        ("16 8 # # / # # # # / # # # # / # # # #", 7 * 8),  # there is no third
        ("16 8 4 / # # 2 / # # #", 7 * 8 + 5 * 4 + 3 * 2),  # the snake turns at the end of the row
        ("16 8 4 x / x x 2 # / # # # #", 7 * 8 + 5 * 4 - 3 * 2),  # and steps over bricks
        ("16 8", 7 * 8),
    ],
)
def test_the_highest_tiles_belong_along_the_snake(text: str, value: int) -> None:
    board = Board.from_text(text)
    evaluator = make_evaluator("{second = 7, third = 5, fourth = 3, stuck = -8}")
    assert sum(plain_parts(evaluator, board)) == value
    assert evaluator.value(board, plain_rules(board)) == value


@given(boards(SHAPES + WIDE), st.sampled_from(ANYWHERE))
def test_tables_judge_like_the_terms(board: Board, name: str) -> None:
    rules, evaluator = plain_rules(board), make_evaluator(name)
    searcher = Searcher(rules, evaluator)
    if searcher.is_packed:
        found = float(evaluate.evaluate_packed(searcher.address, np.uint64(board.to_packed())))
        assert found == pytest.approx(judge(evaluator, rules, board), rel=1e-4, abs=0.5)


@settings(max_examples=25)
@given(
    boards(("3x3", "2x4", "hex1", "##x|#x#|###", "2x2", "4x4"), max_rank=6),
    st.sampled_from(["rows", "score", "snake", HOMES]),
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


@pytest.mark.parametrize("name", ["rows", HOMES])
@pytest.mark.parametrize("text", ["2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 # #"])
def test_wide_boards_are_searched_too(text: str, name: str) -> None:
    board = Board.from_text(text)
    rules, evaluator = plain_rules(board), make_evaluator(name)
    values = Searcher(rules, evaluator).root_values(board, 2)
    assert values is not None
    for move, (after, _) in board.slides():
        assert values[move] == pytest.approx(plain_chance(evaluator, rules, after, 1), rel=1e-4)


@settings(max_examples=25)
@given(
    boards(("3x3", "2x4", "hex1", "##x|#x#|###", "4x4"), max_rank=6),
    st.sampled_from(["rows", "score", "snake", "weighted-001"]),
)
def test_a_search_may_end_with_a_spawn(board: Board, name: str) -> None:
    if not board.legal_moves() or board.n_empty > 4:
        return
    rules, evaluator = plain_rules(board, "2:0.7,4:0.2,8:0.1"), make_evaluator(name)
    for depth in (1, 2):
        player = make_player(f"lookahead:depth={depth},eval={name},end=spawn")
        player.start(rules, 1)
        decision = player.choose(board)
        assert decision.depth == depth
        for move, (after, _) in board.slides():
            expected = plain_chance(evaluator, rules, after, depth - 1, "spawn")
            assert decision.values[move] == pytest.approx(expected, rel=1e-4, abs=0.5)


def test_a_search_of_a_wide_board_may_end_with_a_spawn() -> None:
    board = Board.from_text("2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 4 2 / 4 2 4 2 4 / 2 4 2 # #")
    rules, evaluator = plain_rules(board), make_evaluator("snake")
    player = make_player("lookahead:depth=2,eval=snake,end=spawn")
    player.start(rules, 1)
    values = player.choose(board).values
    for move, (after, _) in board.slides():
        assert values[move] == pytest.approx(plain_chance(evaluator, rules, after, 1, "spawn"), rel=1e-4)
