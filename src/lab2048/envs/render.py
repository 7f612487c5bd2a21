"""A board as text, for the render mode `ansi`, and as a picture, for `rgb_array`; drawn with NumPy alone.

In a picture everything is a distance: a pixel belongs to a tile, or to a stroke of a digit, as far as
its distance from it is negative, so that all edges come out smooth at any size.
"""

import math
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lab2048.rules import Board
from lab2048.rules.shape import BRICK, NOTHING, Shape

Picture = NDArray[np.uint8]
Field = NDArray[np.float64]
Colour = tuple[int, int, int]

TILE, GAP, CORNER = 80, 10, 5  # pixels
PAGE, FRAME, EMPTY, STONE = (250, 248, 239), (187, 173, 160), (205, 193, 180), (143, 122, 102)
DARK_INK, LIGHT_INK = (31, 26, 20), (249, 246, 242)
# The hues of the original game, 2 to 2048, and one for all beyond.
COLOURS: tuple[Colour, ...] = (
    (238, 228, 218), (237, 224, 200), (242, 177, 121), (245, 149, 99), (246, 124, 95), (246, 94, 59),
    (237, 207, 114), (237, 204, 97), (237, 200, 80), (237, 197, 63), (237, 194, 46),
)  # fmt: skip
BEYOND: Colour = (60, 58, 50)

# Digits as strokes between points (x, y), 4 wide and 6 high, y downwards.
_STROKES: dict[str, list[list[tuple[float, float]]]] = {
    "0": [[(1, 0), (3, 0), (4, 1), (4, 5), (3, 6), (1, 6), (0, 5), (0, 1), (1, 0)]],
    "1": [[(0.7, 1.3), (2.2, 0), (2.2, 6)]],
    "2": [[(0, 1.2), (1, 0), (3, 0), (4, 1), (4, 2.2), (0, 6), (4, 6)]],
    "3": [
        [(0, 0.8), (1, 0), (3, 0), (4, 1), (4, 2.1), (3, 2.9), (1.6, 2.9)],
        [(3, 2.9), (4, 3.8), (4, 5), (3, 6), (1, 6), (0, 5.2)],
    ],
    "4": [[(3, 6), (3, 0), (0, 4.2), (4.2, 4.2)]],
    "5": [[(3.8, 0), (0.4, 0), (0.2, 2.7), (1.2, 2.3), (3, 2.3), (4, 3.3), (4, 5), (3, 6), (1, 6), (0, 5.2)]],
    "6": [
        [(3.6, 0.5), (2.8, 0), (1.2, 0), (0, 1.4), (0, 5), (1, 6), (3, 6), (4, 5)],
        [(4, 5), (4, 3.6), (3, 2.6), (1, 2.6), (0, 3.6)],
    ],
    "7": [[(0, 0), (4, 0), (1.6, 6)]],
    "8": [
        [(1, 0), (3, 0), (3.8, 0.8), (3.8, 2.1), (3, 2.9), (1, 2.9), (0.2, 2.1), (0.2, 0.8), (1, 0)],
        [(1, 2.9), (0, 3.8), (0, 5), (1, 6), (3, 6), (4, 5), (4, 3.8), (3, 2.9)],
    ],
    "9": [
        [(0.4, 5.5), (1.2, 6), (2.8, 6), (4, 4.6), (4, 1), (3, 0), (1, 0), (0, 1)],
        [(0, 1), (0, 2.4), (1, 3.4), (3, 3.4), (4, 2.4)],
    ],
}  # fmt: skip
_ADVANCE = 5.9  # from one digit to the next, in the same units
_STROKE = 1.05  # how thick


def write_board(board: Board) -> str:
    """The tiles in rows, aligned; hexagons stand in columns, each half a tile lower than its neighbours.

    >>> print(write_board(Board.from_text("2 16 . / . x 4")))
     2 16  .
     .  x  4
    >>> print(write_board(Board.from_text("hex1:2 .|. 16 .|. 4")))
        .
     2     .
       16
     .     4
        .
    """
    faces = {cell: str(tile or ".") for cell, tile in enumerate(board.tiles)} | {BRICK: "x", NOTHING: ""}
    width = max(map(len, faces.values()))
    lines = (" ".join(faces[cell].rjust(width) for cell in row) for row in board.shape.drawing)
    return "\n".join(line.rstrip() for line in lines)


def draw_board(board: Board) -> Picture:
    """The board as height x width x 3 bytes."""
    shape = board.shape
    placed, (width, height) = _layout(shape)
    picture = np.empty((height, width, 3))
    picture[:] = PAGE
    if shape.is_hexagonal:  # every cell brings its own piece of the frame
        for _, x, y in placed:
            _blend(picture, x, y, _tile_mask(True, TILE + 3 * GAP), FRAME)
    else:
        down, across = np.mgrid[:height, :width] + 0.5
        _mix(picture, _coverage(_box(across - width / 2, down - height / 2, width / 2, height / 2, CORNER + 3)), FRAME)
    for cell, x, y in placed:
        rank = 0 if cell == BRICK else board.ranks[cell]
        colour = STONE if cell == BRICK else EMPTY if rank == 0 else _colour(rank)
        _blend(picture, x, y, _tile_mask(shape.is_hexagonal, TILE), colour)
        if rank:
            _blend(picture, x, y, _number_mask(2**rank), LIGHT_INK if rank > len(COLOURS) else DARK_INK)
    return np.rint(picture).astype(np.uint8)


def _colour(rank: int) -> Colour:
    return COLOURS[rank - 1] if rank <= len(COLOURS) else BEYOND


def _layout(shape: Shape) -> tuple[list[tuple[int, int, int]], tuple[int, int]]:
    """Where the middle of each entry of the map lies (entry, x, y), and how large the picture is (width, height)."""
    step = TILE + GAP
    left, top = (TILE // 2 + 4 * GAP, TILE // 2 + 3 * GAP) if shape.is_hexagonal else (TILE // 2 + GAP,) * 2
    placed = [
        (entry, left + round(step * x), top + round(step * y))
        for row, centres in zip(shape.rows, shape.centres, strict=True)
        for entry, (x, y) in zip(row, centres, strict=True)
    ]
    return placed, (max(x for _, x, _ in placed) + left, max(y for _, _, y in placed) + top)


def _coverage(distance: Field) -> Field:
    """How much of a pixel is inside."""
    return np.clip(0.5 - distance, 0, 1)


def _box(x: Field, y: Field, half_width: float, half_height: float, corner: float) -> Field:
    """Distance from a rectangle with round corners."""
    over_x, over_y = np.abs(x) - half_width + corner, np.abs(y) - half_height + corner
    return np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0)) + np.minimum(np.maximum(over_x, over_y), 0) - corner


def _hexagon(x: Field, y: Field, half_height: float) -> Field:
    """Distance from a hexagon that stands on a flat side."""
    x, y = np.abs(x), np.abs(y)
    return np.maximum(y, x * math.sqrt(3) / 2 + y / 2) - half_height


@cache
def _tile_mask(is_hexagonal: bool, size: int) -> Field:
    side = size + size // 4  # a hexagon is wider than high
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    half = size / 2
    return _coverage(_hexagon(x, y, half) if is_hexagonal else _box(x, y, half, half, CORNER))


@cache
def _number_mask(tile: int) -> Field:
    """The digits of a tile, as large as they fit."""
    text = str(tile)
    n_units = _ADVANCE * (len(text) - 1) + 4 + _STROKE
    unit = min(TILE * 0.4 / 6, TILE * 0.78 / n_units)
    y, x = np.mgrid[:TILE, :TILE] - (TILE - 1) / 2
    distance = np.full((TILE, TILE), np.inf)
    left = -(_ADVANCE * (len(text) - 1) + 4) / 2 * unit
    for digit in text:
        for stroke in _STROKES[digit]:
            for (x0, y0), (x1, y1) in pairwise(stroke):
                start = left + x0 * unit, (y0 - 3) * unit
                distance = np.minimum(distance, _segment(x, y, start, ((x1 - x0) * unit, (y1 - y0) * unit)))
        left += _ADVANCE * unit
    return _coverage(distance - _STROKE * unit / 2)


def _segment(x: Field, y: Field, start: tuple[float, float], way: tuple[float, float]) -> Field:
    """Distance from a straight stroke."""
    from_x, from_y = x - start[0], y - start[1]
    along = np.clip((from_x * way[0] + from_y * way[1]) / (way[0] ** 2 + way[1] ** 2), 0, 1)
    distance: Field = np.hypot(from_x - along * way[0], from_y - along * way[1])
    return distance


def _blend(picture: Field, x: int, y: int, mask: Field, colour: Colour) -> None:
    """Paint a mask around a point."""
    height, width = mask.shape
    top, left = y - height // 2, x - width // 2
    _mix(picture[top : top + height, left : left + width], mask, colour)


def _mix(area: Field, mask: Field, colour: Colour) -> None:
    area += mask[..., None] * (np.array(colour) - area)
