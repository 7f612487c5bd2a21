"""Searching players: whole games, tiles too high for a word, and the clock."""

import itertools
import time
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernels.test_play import assert_same_game
from kernels.test_search import HOMES, plain_rules
from plain_network import lowered
from strategies import boards

from lab2048.errors import UsageError
from lab2048.kernels.function_pointer import CHANCE, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search import downgrade, evaluate, expectimax, root
from lab2048.kernels.search.leaf import NONE
from lab2048.players import canonical_spec, make_player, searcher
from lab2048.players.evaluator import make_evaluator
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules


@given(boards(("4x4",)), st.sampled_from(["rows", "snake", "score", "empty"]))
def test_the_classic_board_is_judged_the_same(board: Board, name: str) -> None:
    searcher = Searcher(plain_rules(board), make_evaluator(name))
    word = np.uint64(board.to_packed())
    generic = evaluate.evaluate_packed(searcher.address, word)
    assert evaluate.evaluate_classic(searcher.address, word) == pytest.approx(generic, rel=1e-5, abs=0.5)


@given(boards(("4x4", "3x3"), max_rank=8))
def test_the_table_changes_nothing_but_the_time(board: Board) -> None:
    if not board.legal_moves():
        return
    rules = plain_rules(board)
    fresh = Searcher(rules, make_evaluator("rows"), cut=1e-2)
    small = Searcher(rules, make_evaluator("rows"), cut=1e-2, table_bits=1)
    used = Searcher(rules, make_evaluator("rows"), cut=1e-2)
    used.root_values(board, 2)
    assert fresh.root_values(board, 3) == small.root_values(board, 3) == used.root_values(board, 3)


# Two entries of this search fall into one slot of the table.
@example(Board.from_text("# # # 16 / # # 8 32 / 32 # 8 16 / # # 8 8"), 0.03, "rows")
@given(
    boards(("4x4",), max_rank=11), st.sampled_from([0.0, 0.03, 1e-2, None]), st.sampled_from(["rows", "order", "score"])
)
def test_the_classic_search_is_the_packed_one(board: Board, cut: float | None, name: str) -> None:
    if not board.legal_moves() or (cut == 0 and board.n_empty > 6):
        return
    rules = plain_rules(board, "2:0.8,4:0.15,8:0.05")
    fast, general = (Searcher(rules, make_evaluator(name), cut=cut) for _ in range(2))
    general.context[of.CHANCE] = function_address(expectimax.chance_packed, CHANCE)
    found, expected = fast.root_values(board, 3), general.root_values(board, 3)
    assert found == pytest.approx(expected, rel=1e-5, abs=0.5)
    assert fast.n_states == general.n_states


@given(boards(("4x4", "3x3"), max_rank=9), st.integers(2, 5), st.sampled_from(["rows", "score"]))
def test_threads_change_nothing_but_the_time(board: Board, n_threads: int, name: str) -> None:
    if not board.legal_moves():
        return
    rules = plain_rules(board)
    alone = Searcher(rules, make_evaluator(name), cut=None)
    together = Searcher(rules, make_evaluator(name), cut=None, n_threads=n_threads)
    with patch.object(searcher, "LARGE", 0):  # small ones too
        assert together.root_values(board, 4) == alone.root_values(board, 4)


def test_a_mode_says_what_the_options_do_not() -> None:
    board = Board.from_text("2 4 8 16 / # # 2 # / # 64 # # / # # # 2")
    full = Board.from_text("2 4 8 16 / 4 2 2 8 / 8 64 4 2 / # # # 2")
    for spec, depths in [
        ("expectimax:mode=fast", (2, 2)),
        ("expectimax:mode=normal", (3, 3)),
        ("expectimax:mode=optimal", (2, 3)),
        ("expectimax:mode=optimal,depth=3", (3, 4)),
        ("expectimax:mode=optimal,deepen=no", (2, 2)),
    ]:
        player = make_player(spec)
        player.start(Rules.from_text("4x4"), 1)
        assert (player.choose(board).depth, player.choose(full).depth) == depths, spec


@pytest.mark.parametrize(
    ("spec", "canonical"), [("lookahead:steps=2", "lookahead:depth=3"), ("lookahead:steps=1", "lookahead")]
)
def test_steps_are_one_less_than_the_depth(spec: str, canonical: str) -> None:
    assert canonical_spec(spec) == canonical


def test_steps_and_another_depth_are_refused() -> None:
    with pytest.raises(UsageError, match="2 steps are depth 3, and the depth is 4"):
        make_player("lookahead:depth=4,steps=2")


@pytest.mark.parametrize("end", ["move", "spawn"])
def test_lookahead_on_threads_makes_the_same_choices(end: str) -> None:
    rules, decisions = Rules.from_text("4x4"), []
    for n_threads in (1, 3):
        player = make_player(f"lookahead:depth=3,eval=kuznetsov,end={end},threads={n_threads}")
        player.start(rules, 1)
        decisions.append(player.choose(Board.from_text("2 4 8 16 / # # 2 # / # 64 # # / # # # 2")))
    assert decisions[0].values == decisions[1].values


def test_games_in_one_call_are_the_games_move_by_move() -> None:
    for spec in (
        "greedy",
        "lookahead",
        "expectimax:depth=2,cut=0.01",
        "expectimax:depth=4",
        "lookahead:eval=weighted-001",
        f"lookahead:eval=({HOMES})",
    ):
        assert_same_game(spec, Rules.from_text("3x3", goal=64), seed=2)
    assert_same_game("greedy", Rules.from_text("hex1"), seed=2)
    assert_same_game("greedy:eval=score", Rules.from_text("32768 32768 # # / 65536 # # # / # # # # / # # # #"), seed=1)


@pytest.mark.parametrize(
    "text",
    [
        "65536 32768 2 # / # # # # / # # # # / # # # #",
        "131072 131072 4 2 / # # # # / # # # # / # # # #",
        "2048 4 # # / # # # # / # # # # / # # # #",
    ],
)
def test_tiles_too_high_are_lowered_together(text: str) -> None:
    shown = downgrade.downgrade(np.array(Board.from_text(text).ranks, np.uint8))
    ranks = Board.from_packed(Board.from_text("4x4").shape, int(shown)).ranks
    before = Board.from_text(text)
    assert max(ranks) <= 14
    # The order of the tiles, and which of them are equal, are as before.
    pairs = list(zip(before.ranks, ranks, strict=True))
    for a, b in pairs:
        for c, d in pairs:
            assert (a < c) == (b < d)


@given(boards(("4x4", "3x3", "hex1")), st.integers(3, 14))
@settings(max_examples=100)
def test_a_lowered_board_has_the_same_moves(board: Board, top: int) -> None:
    shown = Board.from_packed(board.shape, int(downgrade.downgrade_packed(np.uint64(board.to_packed()), top)))
    assert shown == lowered(board, top)
    assert [move for move, _ in shown.slides()] == [move for move, _ in board.slides()]


@pytest.mark.parametrize("ms", [0.1, 1.0, 5.0])
def test_a_clock_never_costs_the_move(ms: float) -> None:
    player = make_player(f"expectimax:ms={ms}")
    board = Board.from_text("2 4 8 16 / # # 2 # / # 64 # # / # # # 2")
    player.start(Rules.from_text("4x4"), 1)
    decision = player.choose(board)
    assert decision.move in board.legal_moves()
    assert decision.depth >= 1
    assert decision.nodes >= 0


@given(st.lists(st.lists(st.sampled_from([0.0, 10.0, 20.0, 35.0, NONE]), min_size=4, max_size=4), max_size=6))
def test_a_leader_is_ahead_of_all_others_for_some_depths_in_a_row(depths: list[list[float]]) -> None:
    ahead, times, leaders = -1, 0, []
    for values in depths:
        ahead, times = root.leader(np.array(values, np.float32), np.float32(12), ahead, times)
        first, second = sorted(values, reverse=True)[:2]
        leaders.append(values.index(first) if first - second > 12 else -1)
        in_a_row = list(itertools.takewhile(lambda move: move == leaders[-1], reversed(leaders)))
        assert (ahead, times) == (leaders[-1], len(in_a_row) if leaders[-1] >= 0 else 0)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_settled_move_is_made_before_the_time_is_up(monkeypatch: pytest.MonkeyPatch, n_threads: int) -> None:
    monkeypatch.setattr(Searcher, "_lead", 1.0)
    board = Board.from_text("128 64 32 16 / # # # 2 / # # # # / # # # 2")
    searcher = Searcher(Rules.from_text("4x4"), make_evaluator("rows"), cut=None, n_threads=n_threads)
    minute = 60 * 10**9
    values, depth = searcher.deepen_until(time.monotonic_ns() + minute, board)
    assert depth == 1 + root.STEADY
    first, second = sorted(values.values(), reverse=True)[:2]
    assert first - second > 1


def test_the_context_has_room() -> None:
    searcher = Searcher(Rules.from_text("8x8"), make_evaluator("rows"))
    assert len(searcher.context) == of.SIZE
