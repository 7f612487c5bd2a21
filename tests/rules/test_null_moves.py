"""Null moves, a rule of one study and not of 2048: the kernels have them as the reference does."""

import numpy as np
import pytest
from hypothesis import given
from kernels.test_play import assert_same_game
from strategies import PACKED, boards

from lab2048.errors import IllegalMoveError, UsageError
from lab2048.kernels.board import packed
from lab2048.players.registry import fit_player
from lab2048.rules import Board, Rules, reference
from lab2048.rules.plan import make_plan

CLASSIC = Rules.from_text("4x4", null_moves=True)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("2 # # # / # # # # / # # # # / # # # #", "URDL"),  # left and up change nothing, and are null moves
        ("2 4 8 # / 4 8 2 # / 8 2 4 # / 2 4 8 #", "URD"),  # no two empty cells side by side: left is illegal
        ("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2", ""),
    ],
)
def test_two_empty_cells_side_by_side_allow_a_null_move(text: str, moves: str) -> None:
    board = Board.from_text(text)
    assert "".join("URDL"[move] for move in CLASSIC.legal_moves(board)) == moves


def test_a_null_move_leaves_the_board_and_earns_nothing() -> None:
    board = Board.from_text("2 # # # / # # # # / # # # # / # # # #")
    assert CLASSIC.slide(board, 3) == (board, 0)
    with pytest.raises(IllegalMoveError):
        Rules.from_text("4x4").slide(board, 3)


@given(boards(tuple(text for text in PACKED if "A" not in text)))  # with anchors there are none
def test_kernels_have_the_null_moves_of_the_reference(board: Board) -> None:
    plain = Board(board.shape, (0,) * board.shape.n_cells).to_text()
    plan, word = make_plan(Rules.from_text(plain, null_moves=True)), np.uint64(board.to_packed())
    for move, lines in enumerate(board.shape.lines):
        after = packed.slide(plan, word, move)
        expected = reference.slide(board.ranks, lines)[0] != board.ranks or reference.is_null_move(board.ranks, lines)
        assert packed.is_legal(plan, word, np.uint64(after), move) == expected


def test_games_with_null_moves_are_the_same_move_by_move() -> None:
    for spec in ("greedy", "lookahead:depth=2,eval=snake", "lookahead:depth=1,end=spawn,eval=snake"):
        assert_same_game(spec, Rules.from_text("3x3", goal=64, null_moves=True), seed=2)


def test_only_players_that_know_null_moves_play_with_them() -> None:
    fit_player("lookahead", CLASSIC)
    with pytest.raises(UsageError, match="cannot play with null moves"):
        fit_player("random", CLASSIC)


def test_rules_with_null_moves_survive_json() -> None:
    assert Rules.from_json(CLASSIC.to_json()) == CLASSIC
    assert "null_moves" not in Rules.from_text("4x4").to_json()
