"""Boards as pictures, for the render mode `rgb_array`, drawn with NumPy alone.

Images are drawn with signed distances: a pixel is inside a tile or a stroke of a digit if its distance is
negative, which makes edges smooth at any size.
"""

import math
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from lab2048.rules import Board
from lab2048.rules.drawing import EMPTY, FRAME, PAGE, STONE, Colour, tile_colours
from lab2048.rules.shape import Outline, Shape

Picture = NDArray[np.uint8]
Field = NDArray[np.float64]

TILE, GAP, CORNER = 80, 10, 5  # pixels
FRAME_TILE = TILE + 3 * GAP  # background of a tile that is not a box
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


def draw_board(board: Board) -> Picture:
    """Draw the board as height x width x 3 bytes."""
    shape = board.shape
    placed, (width, height) = _layout(shape)
    picture = np.empty((height, width, 3))
    picture[:] = PAGE
    if shape.is_boxed:
        down, across = np.mgrid[:height, :width] + 0.5
        _mix(picture, _coverage(_box(across - width / 2, down - height / 2, width / 2, height / 2, CORNER + 3)), FRAME)
    else:  # every entry brings its own piece of the frame
        for _, outline, x, y in placed:
            _blend(picture, x, y, _polygon_mask(outline, FRAME_TILE), FRAME)
    for cell, outline, x, y in placed:
        rank = 0 if cell < 0 else board.ranks[cell]
        colour, ink = tile_colours(rank) if rank else (STONE if cell < 0 else EMPTY, FRAME)
        _blend(picture, x, y, _box_mask() if shape.is_boxed else _polygon_mask(outline, TILE), colour)
        if rank:
            _blend(picture, x, y, _number_mask(2**rank), ink)
    return np.rint(picture).astype(np.uint8)


def _layout(shape: Shape) -> tuple[list[tuple[int, Outline, int, int]], tuple[int, int]]:
    """Place each entry of the map (entry, outline, x, y of its centre); also return width and height of the picture."""
    centres = list(chain.from_iterable(shape.centres))
    bounds, xs, ys = shape.bounds, [x for x, _ in centres], [y for _, y in centres]
    left, top = _margin(-bounds[0], shape), _margin(-bounds[1], shape)
    right, bottom = _margin(bounds[2] - max(xs), shape), _margin(bounds[3] - max(ys), shape)
    across, down = ([round((TILE + GAP) * each) for each in numbers] for numbers in (xs, ys))
    entries = zip(chain.from_iterable(shape.rows), chain.from_iterable(shape.outlines), across, down, strict=True)
    placed = [(entry, outline, left + x, top + y) for entry, outline, x, y in entries]
    return placed, (left + max(across) + right, top + max(down) + bottom)


def _margin(reach: float, shape: Shape) -> int:
    """Pixels between the outermost centres and the edge of the picture, where outlines reach so far."""
    if shape.is_boxed:
        return round(TILE * reach) + GAP
    return GAP * math.ceil(round((FRAME_TILE * reach + 1.5 * GAP) / GAP, 6))


def _coverage(distance: Field) -> Field:
    """Return the coverage of a pixel."""
    return np.clip(0.5 - distance, 0, 1)


def _box(x: Field, y: Field, half_width: float, half_height: float, corner: float) -> Field:
    """Return the distance from a rectangle with round corners."""
    over_x, over_y = np.abs(x) - half_width + corner, np.abs(y) - half_height + corner
    return np.hypot(np.maximum(over_x, 0), np.maximum(over_y, 0)) + np.minimum(np.maximum(over_x, over_y), 0) - corner


def _polygon(x: Field, y: Field, outline: Outline, size: int) -> Field:
    """Distance from a convex polygon around 0, 0, its corners clockwise; exact inside, sharp corners outside."""
    distance: Field = np.maximum.reduce(list(_half_planes(x, y, outline, size)))
    return distance


def _half_planes(x: Field, y: Field, outline: Outline, size: int) -> Iterator[Field]:
    for (x0, y0), (x1, y1) in pairwise([*outline, outline[0]]):
        length = math.hypot(x1 - x0, y1 - y0)
        out_x, out_y = (y1 - y0) / length, (x0 - x1) / length  # y points down: clockwise has the outside at the left
        yield (x - size * x0) * out_x + (y - size * y0) * out_y


@cache
def _polygon_mask(outline: Outline, size: int) -> Field:
    side = 2 * math.ceil(size * max(max(abs(x), abs(y)) for x, y in outline)) + 2
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return _coverage(_polygon(x, y, outline, size))


@cache
def _box_mask() -> Field:
    y, x = np.mgrid[:TILE, :TILE] - (TILE - 1) / 2
    return _coverage(_box(x, y, TILE / 2, TILE / 2, CORNER))


@cache
def _number_mask(tile: int) -> Field:
    """Draw the digits of a tile as large as possible."""
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
    """Return the distance from a line segment."""
    from_x, from_y = x - start[0], y - start[1]
    along = np.clip((from_x * way[0] + from_y * way[1]) / (way[0] ** 2 + way[1] ** 2), 0, 1)
    distance: Field = np.hypot(from_x - along * way[0], from_y - along * way[1])
    return distance


def _blend(picture: Field, x: int, y: int, mask: Field, colour: Colour) -> None:
    """Paint a mask around a point; what lies outside the picture is left out."""
    height, width = mask.shape
    top, left = y - height // 2, x - width // 2
    area = picture[max(top, 0) : top + height, max(left, 0) : left + width]
    down, right = max(-top, 0), max(-left, 0)
    _mix(area, mask[down : down + area.shape[0], right : right + area.shape[1]], colour)


def _mix(area: Field, mask: Field, colour: Colour) -> None:
    area += mask[..., None] * (np.array(colour) - area)
