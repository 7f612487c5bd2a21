"""Board shapes as data: cells, and for each move the lines along which tiles slide.

A shape is built from the places of its cells on a lattice and one step of the
lattice for each move.  This file is the only one that knows geometry; everything
else sees cells and lines.

    squares: (column, row), steps up, right, down, left
    hexagons, flat side down: axial (q, r), a column shares q

       0  1  2        a brick has a place in `rows` (as -1) but no cell number,
       3  x  4        so that a board of at most 16 open cells fits one word
       5  6  7
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property

from lab2048.errors import BoardError
from lab2048.rules.move import HexMove, Move, Moves
from lab2048.rules.reference import Lines

Place = tuple[int, int]
Point = tuple[float, float]
BRICK = -1
NOTHING = -2  # in a drawing: no place of the board
MAX_SIDE = 8
MAX_RADIUS = 4

_STEPS: dict[int, tuple[Place, ...]] = {
    len(Move): ((0, -1), (1, 0), (0, 1), (-1, 0)),
    len(HexMove): ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)),
}


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A way to turn or mirror the board: cell i goes to cells[i], move m becomes moves[m]."""

    cells: tuple[int, ...]
    moves: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """Cells and lines, and how to draw them.

    `places` are the cells on the lattice, `rows` the whole map as it is written
    (rows of squares, columns of hexagons), each entry a cell or BRICK.
    """

    places: tuple[Place, ...]
    rows: tuple[tuple[int, ...], ...]
    moves: Moves

    @property
    def n_cells(self) -> int:
        return len(self.places)

    @property
    def is_hexagonal(self) -> bool:
        return len(self.moves) == len(HexMove)

    @property
    def has_bricks(self) -> bool:
        return any(BRICK in row for row in self.rows)

    @property
    def is_rectangle(self) -> bool:
        """True if the cells are all the entries of a table, row by row."""
        return not self.is_hexagonal and not self.has_bricks

    @property
    def size_name(self) -> str:
        """The name of the plain board of this size: 4x4 (rows x columns), hex2 (radius)."""
        if self.is_hexagonal:
            return f"hex{len(self.rows) // 2}"
        return f"{len(self.rows)}x{len(self.rows[0])}"

    @cached_property
    def drawing(self) -> tuple[tuple[int, ...], ...]:
        """The board as rows of text see it: cells, BRICK, or NOTHING.

        A column of hexagons stands half a hexagon lower than its taller neighbour, so
        hexagons fill every other row.
        """
        if not self.is_hexagonal:
            return self.rows
        radius = len(self.rows) // 2
        grid = [[NOTHING] * len(self.rows) for _ in range(4 * radius + 1)]
        for i, column in enumerate(self.rows):
            for j, cell in enumerate(column):
                grid[2 * j + abs(i - radius)][i] = cell
        return tuple(map(tuple, grid))

    @cached_property
    def centres(self) -> tuple[tuple[Point, ...], ...]:
        """Where the middle of each entry of `rows` lies: (x, y), y downwards, the least of both 0.

        The unit is the distance of neighbours: the width of a square, the height of a
        hexagon, which stands on a flat side.
        """
        if not self.is_hexagonal:
            return tuple(tuple((float(j), float(i)) for j, _ in enumerate(row)) for i, row in enumerate(self.rows))
        radius, across = len(self.rows) // 2, math.sqrt(3) / 2  # from column to column
        return tuple(
            tuple((i * across, j + abs(i - radius) / 2) for j, _ in enumerate(column))
            for i, column in enumerate(self.rows)
        )

    @cached_property
    def lines(self) -> tuple[Lines, ...]:
        """For each move its lines; a line lists its cells from the wall that the tiles slide to."""
        cell_at = {place: cell for cell, place in enumerate(self.places)}
        lines_of_moves = []
        for x, y in _STEPS[len(self.moves)]:
            lines = []
            for (column, row), cell in cell_at.items():
                if (column + x, row + y) in cell_at:
                    continue
                line, place = [cell], (column - x, row - y)
                while place in cell_at:
                    line.append(cell_at[place])
                    place = (place[0] - x, place[1] - y)
                lines.append(tuple(line))
            lines_of_moves.append(tuple(lines))
        return tuple(lines_of_moves)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The turns and mirrors that this shape really has, the identity first.

        Moves are listed clockwise, so a symmetry of the plane is a rotation of that
        ring, perhaps reversed.  It is kept if it carries the cells onto themselves.
        """
        n = len(self.moves)
        corner = _corner(self.places)
        cell_at = {(x - corner[0], y - corner[1]): cell for cell, (x, y) in enumerate(self.places)}
        found: dict[tuple[int, ...], Symmetry] = {}
        for sign in (1, -1):
            for shift in range(n):
                moves = tuple((shift + sign * move) % n for move in range(n))
                images = [_carry(place, moves) for place in self.places]
                left, top = _corner(tuple(images))
                cells = tuple(cell_at.get((x - left, y - top), BRICK) for x, y in images)
                if BRICK not in cells:
                    found.setdefault(cells, Symmetry(cells, moves))
        return tuple(found.values())


def _corner(places: tuple[Place, ...]) -> Place:
    return min(x for x, _ in places), min(y for _, y in places)


def _carry(place: Place, moves: tuple[int, ...]) -> Place:
    """Where the linear map that turns each step into the step of its image carries a place."""
    steps = _STEPS[len(moves)]
    (a, b), (c, d) = steps[0], steps[1]  # a basis of the lattice: its determinant is 1 or -1
    determinant = a * d - b * c
    x, y = place
    s, t = (x * d - y * c) * determinant, (y * a - x * b) * determinant  # place = s steps[0] + t steps[1]
    (e, f), (g, h) = steps[moves[0]], steps[moves[1]]
    return s * e + t * g, s * f + t * h


@cache
def make_shape(moves_of: type[Move] | type[HexMove], bricks: tuple[tuple[bool, ...], ...]) -> Shape:
    """The shape of a map: `bricks` says for each row (column of hexagons) which entries are bricks."""
    places: list[Place] = []
    rows = []
    radius = len(bricks) // 2
    for i, line in enumerate(bricks):
        row = []
        for j, is_brick in enumerate(line):
            if is_brick:
                row.append(BRICK)
                continue
            row.append(len(places))
            # Column q of a hexagonal board begins at r = max(-radius, -radius - q).
            places.append((j, i) if moves_of is Move else (i - radius, j - min(i, radius)))
        rows.append(tuple(row))
    shape = Shape(tuple(places), tuple(rows), tuple(moves_of))
    if all(len(line) < 2 for lines in shape.lines for line in lines):
        raise BoardError("no two cells of the map are neighbours: expected at least two where tiles can meet")
    return shape


def rectangle(n_rows: int, n_columns: int) -> Shape:
    """A plain rectangle, 1x2 to 8x8."""
    if not (1 <= n_rows <= MAX_SIDE and 1 <= n_columns <= MAX_SIDE) or n_rows * n_columns < 2:
        raise BoardError(
            f"board {n_rows}x{n_columns} is out of range: expected 1x2 to {MAX_SIDE}x{MAX_SIDE}", code="board.too_large"
        )
    return make_shape(Move, ((False,) * n_columns,) * n_rows)


def hexagon_columns(radius: int) -> tuple[int, ...]:
    """How many cells the columns of a hexagonal board have: radius 1 is 2, 3, 2."""
    if not 1 <= radius <= MAX_RADIUS:
        raise BoardError(f"board hex{radius} is out of range: expected hex1 to hex{MAX_RADIUS}", code="board.too_large")
    return tuple(2 * radius + 1 - abs(q) for q in range(-radius, radius + 1))


def hexagon(radius: int) -> Shape:
    """A plain hexagonal board: radius 1, 2, 3, 4 has 7, 19, 37, 61 cells."""
    return make_shape(HexMove, tuple((False,) * n for n in hexagon_columns(radius)))
