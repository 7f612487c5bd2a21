"""Anchors: as if large, different tiles stood there, and moves that would move one were forbidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, FREE_WIDE, PACKED, WIDE, boards

from lab2048.errors import BoardError, IllegalMoveError, UsageError
from lab2048.rules import Board, Rules, reference
from lab2048.rules.kind import without_large
from lab2048.rules.shape import ANCHOR, BRICK

ANCHORED = tuple(text for text in (*PACKED, *WIDE) if "A" in text)


def whole_board(board: Board) -> tuple[Board, list[int], list[int]]:
    """The board with a large tile in place of each anchor; the cells of these tiles, and those of all others."""
    entries = [entry for row in board.shape.rows for entry in row if entry != BRICK]
    anchors = [place for place, entry in enumerate(entries) if entry == ANCHOR]
    free = [place for place, entry in enumerate(entries) if entry != ANCHOR]
    ranks = [60 + place if entry == ANCHOR else board.ranks[entry] for place, entry in enumerate(entries)]
    return Board(without_large(board.shape), tuple(ranks)), anchors, free


@given(boards(ANCHORED))
def test_an_anchor_is_a_large_tile_that_stays(board: Board) -> None:
    whole, anchors, free = whole_board(board)
    for move, lines in enumerate(whole.shape.lines):
        slid, reward = reference.slide(whole.ranks, lines)
        stays = all(slid[place] == whole.ranks[place] for place in anchors)
        expected = (tuple(slid[place] for place in free), reward) if stays else (board.ranks, 0)
        shape = board.shape
        assert reference.slide(board.ranks, shape.lines[move], shape.holding[move]) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("2 4 A 2 2", "2 4 A 4 #"),  # the tiles behind the anchor slide to it
        ("2 2 A 2 2", None),  # the anchor would follow
        ("# 2 A 2 2", None),
        ("A # A 2 2", None),  # so would the second one
        ("A 2 A 2 2", "A 2 A 4 #"),
        ("A 2 2 A #", None),
        ("A # 2 2 #", "A 4 # # #"),
        ("x # A 2 2", None),
        ("x A # 2 2", "x A 4 # #"),
    ],
)
def test_a_row_slides_left(before: str, after: str | None) -> None:
    board = Board(before)
    if after is None:
        with pytest.raises(IllegalMoveError, match="left would move an anchor"):
            board.slide(3)
        assert 3 not in board.legal_moves()
    else:
        assert board.slide(3).board == Board(after)


@pytest.mark.parametrize("text", [*ANCHORED, "16 # A", "A#G|A##", "hex1:A#|#G#|##"])
def test_rules_with_anchors_and_goal_cells_are_read_as_they_are_written(text: str) -> None:
    rules = Rules.from_text(text)
    assert rules.board_text == text
    assert Rules.from_json(rules.to_json()) == rules
    assert rules.shape.symmetries[0].cells == tuple(range(rules.shape.n_cells))


def test_symmetries_keep_anchors_and_goal_cells() -> None:
    snake = Rules.from_text("AAAA|AAAA|####|####")
    assert [symmetry.cells for symmetry in snake.symmetries] == [(0, 1, 2, 3, 4, 5, 6, 7), (3, 2, 1, 0, 7, 6, 5, 4)]
    assert len(Rules.from_text("AAAA|AAAA|###G|####").symmetries) == 1
    assert len(Rules.from_text("AAAA|AAAA|G##G|####").symmetries) == 2
    assert len(Rules.from_text("AA##|AAG#|#G##|####").symmetries) == 2  # mirrored at the diagonal
    # A row below the large tiles and a row beside bricks are different: what is held differs.
    assert Board("AAAA|####").shape != Board("xxxx|####").shape


@given(boards((*ANCHORED, *FREE_PACKED, *FREE_WIDE)), st.data())
def test_turning_the_board_turns_the_result(board: Board, data: st.DataObject) -> None:
    symmetry = data.draw(st.sampled_from(board.shape.symmetries))
    turned = dict(board.carry(symmetry).slides())
    expected = {symmetry.moves[move]: slide.board.carry(symmetry) for move, slide in board.slides()}
    assert {int(move): slide.board for move, slide in turned.items()} == expected


def test_the_goal_counts_on_goal_cells_only() -> None:
    rules = Rules.from_text("A#G|A##", goal=8)
    assert rules.is_won(Board("A # 16 / A # #"))
    assert not rules.is_won(Board("A 8 # / A # #"))
    assert Rules.from_text("A##|A##", goal=8).is_won(Board("A 8 # / A # #"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("AA|AA", "no two cells of the map are neighbours"),
        ("A#|#A", "no two cells of the map are neighbours"),
        ("AB#|###", "tile 'B'"),
        ("AA|###", "row 2 of the board has 3 cells"),
    ],
)
def test_maps_that_make_no_sense_are_one_line(text: str, says: str) -> None:
    with pytest.raises(BoardError, match=says):
        Rules.from_text(text)


def test_goal_cells_belong_to_rules() -> None:
    with pytest.raises(BoardError, match="a board has no goal cells"):
        Board("A#G|###")
    with pytest.raises(BoardError, match="a board has no goal cells"):
        Board([["A", "G"], [0, 2]])
    board = Board("A#|2#")
    for cells in ((1, 0), (0, 0), (3,), (-1,), (1,)):
        with pytest.raises(UsageError, match="goal cells"):
            Rules(board, n_start=1, goal_cells=cells)
