"""Kinds of boards: squares, hexagons and triangles.

A kind defines where the entries of a map are, which are neighbours, and the names of its
boards.  `make_shape` turns this into a Shape, the only thing that the rest of the program uses.
To add a kind, write a class here, list it in KINDS, and give its moves names and letters in
`lab2048.rules.move`.
"""

import math
from abc import ABC, abstractmethod
from functools import cache
from typing import ClassVar, NamedTuple

from lab2048.errors import BoardError
from lab2048.rules.move import HexMove, Move, Moves, TriangleMove
from lab2048.rules.shape import ANCHOR, BRICK, Outline, Point, Shape

MAX_SIDE = 8
CELL = 0  # an entry of a map; the others are BRICK and ANCHOR
Coordinates = tuple[int, int]  # row of the map, entry in it
Lengths = tuple[int, ...]  # entries in each row of the map
_HALF = math.sqrt(3) / 2


class Parameter(NamedTuple):
    """A number that sets the size of a board."""

    name: str
    smallest: int
    largest: int


class Kind(ABC):
    """A family of boards."""

    cells: ClassVar[str]  # "squares"
    prefix: ClassVar[str]  # "hex" in hex2; "" for squares, whose names are rows x columns
    example: ClassVar[str]  # a board of this kind, in messages
    misspelt: ClassVar[str] = "(?!)"  # a pattern for what people type instead of the prefix
    row_noun: ClassVar[str] = "row"
    moves: ClassVar[Moves]
    keys_text: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    presets: ClassVar[dict[str, str]]  # boards that views offer, with their labels

    @abstractmethod
    def lengths(self, *sizes: int) -> Lengths:
        """Return the length of each row of the plain board of this size; the sizes are in range."""

    @abstractmethod
    def neighbour(self, lengths: Lengths, at: Coordinates, move: int) -> Coordinates:
        """Return the coordinates one step away in the direction of a move; they may be off the map."""

    @abstractmethod
    def centre(self, lengths: Lengths, at: Coordinates) -> Point:
        """Return the centre of an entry, in the units of Shape."""

    @abstractmethod
    def outline(self, at: Coordinates) -> Outline:
        """Return the corners of an entry relative to its centre, clockwise."""

    def name(self, *sizes: int) -> str:
        """Return the name of the plain board of this size."""
        return self.prefix + "x".join(map(str, sizes))

    def sizes(self, lengths: Lengths) -> tuple[int, ...]:
        """Return the parameters of a plain board; the inverse of `lengths`."""
        return (len(lengths),)

    def describe(self, lengths: Lengths) -> str:
        """Return the size as text for people."""
        return f"{self.cells}, {len(lengths)} {self.row_noun}s"

    def cell_name(self, at: Coordinates) -> str:
        return f"{self.row_noun} {at[0] + 1} cell {at[1] + 1}"

    def plain(self, *sizes: int) -> Shape:
        """Make the board of this size without bricks; raise BoardError if the size is out of range."""
        return make_shape(self, tuple((CELL,) * n for n in self.checked_lengths(*sizes)))

    def checked_lengths(self, *sizes: int) -> Lengths:
        """Return `lengths`; raise BoardError if a size is out of range."""
        limits = [(each.smallest, each.largest) for each in self.parameters]
        if not all(low <= size <= high for size, (low, high) in zip(sizes, limits, strict=True)):
            first, last = (self.name(*(limit[end] for limit in limits)) for end in (0, 1))
            raise BoardError(
                f"board {self.name(*sizes)} is out of range: expected {first} to {last}", code="board.too_large"
            )
        return self.lengths(*sizes)


class Squares(Kind):
    """Rows of squares; tiles slide along rows and columns."""

    cells, prefix, example = "squares", "", "4x4"
    moves, keys_text = tuple(Move), "w a s d"
    parameters = (Parameter("rows", 1, MAX_SIDE), Parameter("columns", 1, MAX_SIDE))
    presets: ClassVar[dict[str, str]] = {
        "4x4": "4x4, classic",
        **{name: name for name in ("3x3", "5x5", "2x2", "2x3", "3x4", "8x8")},
        "####|#xx#|####": "ring",
        "xx#xx|x###x|#####|x###x|xx#xx": "diamond",
    }
    _steps = ((-1, 0), (0, 1), (1, 0), (0, -1))
    _outline = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))

    def lengths(self, *sizes: int) -> Lengths:
        n_rows, n_columns = sizes
        return (n_columns,) * n_rows

    def sizes(self, lengths: Lengths) -> tuple[int, ...]:
        return len(lengths), lengths[0]

    def checked_lengths(self, *sizes: int) -> Lengths:
        n_rows, n_columns = sizes
        if not (1 <= n_rows <= MAX_SIDE and 1 <= n_columns <= MAX_SIDE) or n_rows * n_columns < 2:
            raise BoardError(
                f"board {self.name(*sizes)} is out of range: expected 1x2 to {MAX_SIDE}x{MAX_SIDE}",
                code="board.too_large",
            )
        return self.lengths(*sizes)

    def neighbour(self, lengths: Lengths, at: Coordinates, move: int) -> Coordinates:  # noqa: ARG002
        down, right = self._steps[move]
        return at[0] + down, at[1] + right

    def centre(self, lengths: Lengths, at: Coordinates) -> Point:  # noqa: ARG002
        return float(at[1]), float(at[0])

    def outline(self, at: Coordinates) -> Outline:  # noqa: ARG002
        return self._outline

    def describe(self, lengths: Lengths) -> str:
        return f"{len(lengths)} by {lengths[0]}"

    def cell_name(self, at: Coordinates) -> str:
        return f"row {at[0] + 1} column {at[1] + 1}"


class Hexagons(Kind):
    """A hexagon of hexagons that stand on a flat side, written column by column.

    Column q and diagonal r are axial coordinates with (0, 0) in the middle of the board.
    """

    cells, prefix, example = "hexagons", "hex", "hex2"
    misspelt = "h(?:e?xx?|exa|exagon|exagonal)?"
    row_noun = "column"
    moves, keys_text = tuple(HexMove), "q w e / a s d"
    parameters = (Parameter("radius", 1, 4),)
    presets: ClassVar[dict[str, str]] = {"hex1": "7 hexagons", "hex2": "19 hexagons", "hex3": "37 hexagons"}
    _steps = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
    _corners = ((-0.25, -0.5), (0.25, -0.5), (0.5, 0.0), (0.25, 0.5), (-0.25, 0.5), (-0.5, 0.0))
    _outline = tuple((x / _HALF, y) for x, y in _corners)

    def lengths(self, *sizes: int) -> Lengths:
        (radius,) = sizes
        return tuple(2 * radius + 1 - abs(q) for q in range(-radius, radius + 1))

    def sizes(self, lengths: Lengths) -> tuple[int, ...]:
        return (len(lengths) // 2,)

    def neighbour(self, lengths: Lengths, at: Coordinates, move: int) -> Coordinates:
        # Column q begins at r = max(-radius, -radius - q).
        radius, column, (q, r) = len(lengths) // 2, at[0], self._steps[move]
        return column + q, at[1] - min(column, radius) + r + min(column + q, radius)

    def centre(self, lengths: Lengths, at: Coordinates) -> Point:
        column, entry = at
        return column * _HALF, entry + abs(column - len(lengths) // 2) / 2

    def outline(self, at: Coordinates) -> Outline:  # noqa: ARG002
        return self._outline


class Triangles(Kind):
    r"""A large triangle of side n, cut into n * n small ones, written row by row from the top.

           /\            Row i (from 0) has 2i + 1 triangles.  The even ones stand on a side, the
          /0_\           odd ones on a tip.
         /\2 /\
        /1_\/3_\         A tile slides along a strip between two parallels to a side of the board,
       /\5 /\7 /\        through the sides of the triangles.  There are three sides, and two ways
      /4_\/6_\/8_\       along each: six moves, and every triangle is in three strips.

    On this board of side 3, from the wall that tiles slide to, the lines of "right" are 0, 3 2 1
    and 8 7 6 5 4; of "up-right" 0 2 1 5 4, 3 7 6 and 8; of "up-left" 0 2 3 7 8, 1 5 6 and 4.
    The opposite moves have the same lines reversed.
    """

    cells, prefix, example = "triangles", "tri", "tri3"
    misspelt = "tri(?:angles?|angular)?"
    moves, keys_text = tuple(TriangleMove), "q e / a d / z c"
    parameters = (Parameter("side", 2, MAX_SIDE),)
    presets: ClassVar[dict[str, str]] = {"tri3": "9 triangles", "tri4": "16 triangles", "tri5": "25 triangles"}
    _standing = ((0.0, -1.0), (_HALF, 0.5), (-_HALF, 0.5))
    # For each move the step from a triangle that stands on a side, and from one that stands on a tip.
    _steps = (
        ((0, 1), (-1, -1)),
        ((0, 1), (0, 1)),
        ((1, 1), (0, 1)),
        ((1, 1), (0, -1)),
        ((0, -1), (0, -1)),
        ((0, -1), (-1, -1)),
    )

    def lengths(self, *sizes: int) -> Lengths:
        return tuple(2 * i + 1 for i in range(sizes[0]))

    def neighbour(self, lengths: Lengths, at: Coordinates, move: int) -> Coordinates:  # noqa: ARG002
        down, right = self._steps[move][at[1] % 2]
        return at[0] + down, at[1] + right

    def centre(self, lengths: Lengths, at: Coordinates) -> Point:
        row, entry = at
        return (len(lengths) - 1 - row + entry) * _HALF, 1.5 * row - 0.5 * (entry % 2)

    def outline(self, at: Coordinates) -> Outline:
        return tuple((-x, -y) for x, y in self._standing) if at[1] % 2 else self._standing


SQUARES, HEXAGONS, TRIANGLES = Squares(), Hexagons(), Triangles()
KINDS: tuple[Kind, ...] = (SQUARES, HEXAGONS, TRIANGLES)


@cache
def make_shape(kind: Kind, entries: tuple[tuple[int, ...], ...], n_free: int = 0) -> Shape:
    """Make the shape of a map; each entry is CELL, BRICK or ANCHOR, and `n_free` large tiles move on the cells."""
    lengths = tuple(map(len, entries))
    mark_at = {(i, j): mark for i, row in enumerate(entries) for j, mark in enumerate(row)}
    cell_at = {at: cell for cell, at in enumerate(at for at, mark in mark_at.items() if mark == CELL)}
    lines_of_moves, holding_of_moves, n_moves = [], [], len(kind.moves)
    for move in kind.moves:
        lines, holding, back = [], set[int](), (move + n_moves // 2) % n_moves
        for start, cell in cell_at.items():
            if kind.neighbour(lengths, start, move) in cell_at:
                continue
            line, at = [cell], start
            while (at := kind.neighbour(lengths, at, back)) in cell_at:
                line.append(cell_at[at])
            lines.append(tuple(line))
        for at in (at for at, mark in mark_at.items() if mark == ANCHOR):
            # From the anchor to the wall; cells before another anchor hold both.
            while mark_at.get(at := kind.neighbour(lengths, at, move), BRICK) != BRICK:
                holding |= {cell_at[at]} if at in cell_at else set()
        lines_of_moves.append(tuple(lines))
        holding_of_moves.append(tuple(sorted(holding)))
    if all(len(line) < 2 for lines in lines_of_moves for line in lines):
        raise BoardError("no two cells of the map are neighbours: expected at least two where tiles can meet")

    rows = [[(i, j) for j in range(n)] for i, n in enumerate(lengths)]
    sizes = kind.sizes(lengths)
    name = kind.name(*sizes)
    return Shape(
        kind=kind.cells,
        rows=tuple(tuple(cell_at.get(at, mark_at[at]) for at in row) for row in rows),
        row_noun=kind.row_noun,
        sizes=sizes,
        size_name=name,
        map_prefix=f"{name}:" if kind.prefix else "",
        size_text=kind.describe(lengths),
        moves=kind.moves,
        keys_text=kind.keys_text,
        lines=tuple(lines_of_moves),
        holding=tuple(holding_of_moves),
        centres=tuple(tuple(kind.centre(lengths, at) for at in row) for row in rows),
        outlines=tuple(tuple(kind.outline(at) for at in row) for row in rows),
        names=tuple(tuple(kind.cell_name(at) for at in row) for row in rows),
        n_free=n_free,
    )


def without_large(shape: Shape) -> Shape:
    """Return the shape on which an ordinary tile stands in place of each anchor and each free large tile."""
    kind = next(kind for kind in KINDS if kind.cells == shape.kind)
    return make_shape(kind, tuple(tuple(BRICK if cell == BRICK else CELL for cell in row) for row in shape.rows))


def rectangle(n_rows: int, n_columns: int) -> Shape:
    """Make a rectangle, 1x2 to 8x8."""
    return SQUARES.plain(n_rows, n_columns)


def hexagon(radius: int) -> Shape:
    """Make a hexagonal board; radius 1, 2, 3, 4 has 7, 19, 37, 61 cells."""
    return HEXAGONS.plain(radius)


def triangle(side: int) -> Shape:
    """Make a triangular board; side 2, 3, 4, ..., 8 has 4, 9, 16, ..., 64 cells."""
    return TRIANGLES.plain(side)
