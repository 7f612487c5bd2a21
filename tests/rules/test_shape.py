"""Shapes: cells, lines and symmetries of every kind of board."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import PACKED, WIDE, boards

from lab2048.errors import BoardError
from lab2048.rules import Board, HexMove, Move, hexagon, rectangle
from lab2048.rules.shape import BRICK


def test_lines_of_a_rectangle_start_at_the_wall() -> None:
    lines = rectangle(2, 3).lines
    assert lines[Move.UP] == ((0, 3), (1, 4), (2, 5))
    assert lines[Move.RIGHT] == ((2, 1, 0), (5, 4, 3))
    assert lines[Move.DOWN] == ((3, 0), (4, 1), (5, 2))
    assert lines[Move.LEFT] == ((0, 1, 2), (3, 4, 5))


def test_lines_of_a_hexagon() -> None:
    #    2            columns 0 1 / 2 3 4 / 5 6
    #  0   5
    #    3
    #  1   6
    #    4
    lines = hexagon(1).lines
    assert set(lines[HexMove.UP]) == {(0, 1), (2, 3, 4), (5, 6)}
    assert set(lines[HexMove.UP_RIGHT]) == {(2, 0), (5, 3, 1), (6, 4)}
    assert set(lines[HexMove.DOWN_LEFT]) == {(0, 2), (1, 3, 5), (4, 6)}
    assert set(lines[HexMove.UP_LEFT]) == {(0, 3, 6), (1, 4), (2, 5)}


@pytest.mark.parametrize(("radius", "n_cells"), [(1, 7), (2, 19), (3, 37), (4, 61)])
def test_hexagons_have_the_known_number_of_cells(radius: int, n_cells: int) -> None:
    assert hexagon(radius).n_cells == n_cells


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4x4", 8),
        ("3x3", 8),
        ("2x4", 4),
        ("1x2", 2),
        ("hex1", 12),
        ("hex2", 12),
        ("####|#xx#|#xx#|####", 8),
        ("x###|####|####|####", 2),  # one brick in a corner: only the diagonal mirror is left
        ("#x##|####|####|####", 1),
        ("x##x|####|####|x##x", 8),
        ("###x|###x|###x|xxxx", 8),  # the open cells are a square
        ("hex1:x#|###|##", 2),
        ("hex1:x#|###|#x", 4),
    ],
)
def test_a_shape_has_only_the_symmetries_that_it_really_has(text: str, count: int) -> None:
    assert len(Board.from_text(text).shape.symmetries) == count


@pytest.mark.parametrize("text", PACKED + WIDE)
def test_symmetries_form_a_group(text: str) -> None:
    symmetries = Board.from_text(text).shape.symmetries
    cells = {symmetry.cells for symmetry in symmetries}
    assert symmetries[0].cells == tuple(range(len(symmetries[0].cells)))
    assert symmetries[0].moves == tuple(range(len(symmetries[0].moves)))
    assert cells == {tuple(a[b[i]] for i in range(len(a))) for a in cells for b in cells}


@given(boards(PACKED + WIDE), st.data())
def test_a_symmetry_carries_the_result_too(board: Board, data: st.DataObject) -> None:
    symmetry = data.draw(st.sampled_from(board.shape.symmetries))
    for move, (after, reward) in board.slides():
        carried = board.carry(symmetry).slide(symmetry.moves[move])
        assert carried == (after.carry(symmetry), reward)
    assert board.carry(symmetry).canonical() == board.canonical()


@pytest.mark.parametrize("text", PACKED + WIDE)
def test_a_drawing_holds_every_place_once(text: str) -> None:
    shape = Board.from_text(text).shape
    drawn = sorted(cell for row in shape.drawing for cell in row if cell >= 0)
    assert drawn == list(range(shape.n_cells))
    bricks = sum(row.count(BRICK) for row in shape.rows)
    assert sum(row.count(BRICK) for row in shape.drawing) == bricks
    assert len({len(row) for row in shape.drawing}) == 1


@pytest.mark.parametrize("text", PACKED + WIDE)
def test_neighbours_are_one_apart(text: str) -> None:
    shape = Board.from_text(text).shape
    centre_of = {
        cell: centre
        for row, centres in zip(shape.rows, shape.centres, strict=True)
        for cell, centre in zip(row, centres, strict=True)
    }
    for lines in shape.lines:
        for line in lines:
            for cell, other in pairwise(line):
                assert math.dist(centre_of[cell], centre_of[other]) == pytest.approx(1)
    points = [point for centres in shape.centres for point in centres]
    assert (min(x for x, _ in points), min(y for _, y in points)) == (0, 0)


def test_centres_of_hexagons_stand_in_columns() -> None:
    half = math.sqrt(3) / 2
    assert hexagon(1).centres == (
        ((0, 0.5), (0, 1.5)),
        ((half, 0), (half, 1), (half, 2)),
        ((2 * half, 0.5), (2 * half, 1.5)),
    )


@pytest.mark.parametrize(("text", "is_rectangle"), [("4x4", True), ("1x2", True), ("##|#x", False), ("hex1", False)])
def test_a_rectangle_has_neither_bricks_nor_hexagons(text: str, is_rectangle: bool) -> None:
    assert Board.from_text(text).shape.is_rectangle == is_rectangle


@pytest.mark.parametrize(("rows", "columns"), [(0, 4), (1, 1), (9, 4), (4, 9)])
def test_a_rectangle_out_of_range_is_refused(rows: int, columns: int) -> None:
    with pytest.raises(BoardError, match="expected 1x2 to 8x8"):
        rectangle(rows, columns)
