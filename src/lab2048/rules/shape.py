"""Board shapes as data: cells, for each move the lines along which tiles slide, and how to draw them.

Everything outside `rules/` uses only this data, which `lab2048.rules.kind` makes.

       0  1  2        a brick has an entry in `rows` (-1) but no cell number,
       3  x  4        so that a board of at most 16 open cells fits one word;
       5  6  7        an anchor (-3) neither: it stays where it is, and nothing enters it

A free large tile moves, so it is not in `rows` but on the board, as the rank FREE.  Boards with such tiles have a
shape of their own, which says how many there are.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

from lab2048.rules.move import Direction, Moves, directions
from lab2048.rules.reference import Cells, Lines

Point = tuple[float, float]
Outline = tuple[Point, ...]
BRICK = -1
NOTHING = -2  # in a drawing: no entry of the map
ANCHOR = -3
FREE = 15  # rank of a free large tile on shapes that have some; no tile that merges may reach it there


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A rotation or reflection: cell i goes to cells[i], move m becomes moves[m]."""

    cells: tuple[int, ...]
    moves: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """Cells and lines, and how to draw them.

    `rows` is the whole map as it is written, each entry a cell, BRICK or ANCHOR; `centres`, `outlines`
    and `names` have the same rows.  x points right, y down; the unit is the distance between the
    centres of neighbours; the smallest x and y of all centres are 0.  Outlines are relative to
    their centres, clockwise.

    The kind, the rows and the number of free large tiles determine everything else.
    """

    kind: str  # what its cells are: "squares"
    rows: tuple[tuple[int, ...], ...]
    row_noun: str = field(compare=False)  # what a row is on the board: "row" or "column"
    sizes: tuple[int, ...] = field(compare=False)  # rows and columns, or a radius
    size_name: str = field(compare=False)  # the plain board of this size: 4x4, hex2
    map_prefix: str = field(compare=False)  # before a map of this size: "" or "hex2:"
    size_text: str = field(compare=False)  # the size in words: "hexagons, 5 columns"
    moves: Moves = field(compare=False)
    keys_text: str = field(compare=False)  # the letters of the moves as they lie on a keyboard
    lines: tuple[Lines, ...] = field(compare=False)  # for each move; a line starts at the wall that tiles slide to
    holding: tuple[Cells, ...] = field(compare=False)  # for each move; cells that hold anchors: see reference.slide
    centres: tuple[tuple[Point, ...], ...] = field(compare=False)
    outlines: tuple[tuple[Outline, ...], ...] = field(compare=False)
    names: tuple[tuple[str, ...], ...] = field(compare=False)  # "row 1 column 2"
    n_free: int = 0  # free large tiles on its boards

    @cached_property
    def n_cells(self) -> int:
        return sum(cell >= 0 for row in self.rows for cell in row)

    @cached_property
    def longest_line(self) -> int:
        """The number of cells of the longest line."""
        return max(len(line) for lines in self.lines for line in lines)

    @property
    def is_plain(self) -> bool:
        """Return True if there are neither bricks nor anchors."""
        return all(cell >= 0 for row in self.rows for cell in row)

    @property
    def has_anchors(self) -> bool:
        return any(ANCHOR in row for row in self.rows)

    @property
    def has_large(self) -> bool:
        """Return True if there are anchors or free large tiles."""
        return self.has_anchors or self.n_free > 0

    @property
    def free_rank(self) -> int:
        """Return the rank that never merges, of free large tiles; 0 if there are none."""
        return FREE if self.n_free else 0

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Return the label, unit vector and keys of each move."""
        return directions(type(self.moves[0]))

    @cached_property
    def letters(self) -> str:
        """Return the letters of the moves, in order, as keys and in records."""
        return "".join(direction.letter for direction in self.directions)

    @cached_property
    def is_boxed(self) -> bool:
        """Return True if every outline is an upright rectangle, so that together they fill a rectangle."""
        return all(
            len(outline) == 4 and len({x for x, _ in outline}) == len({y for _, y in outline}) == 2
            for row in self.outlines
            for outline in row
        )

    @property
    def is_rectangle(self) -> bool:
        """Return True if the cells form a rectangle without bricks and anchors, row by row."""
        return self.is_boxed and self.is_plain

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """Return the smallest rectangle around all outlines: left, top, right, bottom."""
        points = [
            (x + dx, y + dy)
            for centres, outlines in zip(self.centres, self.outlines, strict=True)
            for (x, y), outline in zip(centres, outlines, strict=True)
            for dx, dy in outline
        ]
        xs, ys = zip(*points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @cached_property
    def drawing_span(self) -> int:
        """Return the rows of the drawing per entry: 2 if some entries are half an entry lower than others."""
        return 1 if all(y == int(y) for row in self.centres for _, y in row) else 2

    @cached_property
    def drawing(self) -> tuple[tuple[int, ...], ...]:
        """Return the rows of a text drawing: each entry is a cell, BRICK, ANCHOR or NOTHING.

        There is one column per x of a centre, and `drawing_span` rows per unit of y.
        """
        across = sorted({round(x, 3) for row in self.centres for x, _ in row})
        n_rows = 1 + max(round(self.drawing_span * y) for row in self.centres for _, y in row)
        grid = [[NOTHING] * len(across) for _ in range(n_rows)]
        for row, centres in zip(self.rows, self.centres, strict=True):
            for cell, (x, y) in zip(row, centres, strict=True):
                grid[round(self.drawing_span * y)][across.index(round(x, 3))] = cell
        return tuple(map(tuple, grid))

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return the symmetries of this shape, the identity first.

        Moves are listed clockwise and evenly spaced, so a symmetry of the plane is a rotation of
        that ring, perhaps reversed.  It is a symmetry of the shape if it maps lines to lines, and
        cells that hold anchors to such cells.
        """
        n = len(self.moves)
        centres = [
            centre
            for row, row_centres in zip(self.rows, self.centres, strict=True)
            for cell, centre in zip(row, row_centres, strict=True)
            if cell >= 0
        ]
        cell_at = {point: cell for cell, point in enumerate(_aligned(centres))}
        lines, holding = [set(lines) for lines in self.lines], [set(cells) for cells in self.holding]
        first, step = math.radians(self.directions[0].angle), 2 * math.pi / n
        found: dict[tuple[int, ...], Symmetry] = {}
        for sign in (1, -1):
            for shift in range(n):
                moves = tuple((shift + sign * move) % n for move in range(n))
                # A turn by this angle, or a mirror that takes the first direction to moves[0].
                angle = shift * step + (0 if sign == 1 else 2 * first)
                cos, sin = math.cos(angle), math.sin(angle)
                images = [(cos * x - sign * sin * y, sin * x + sign * cos * y) for x, y in centres]
                cells = tuple(cell_at.get(point, BRICK) for point in _aligned(images))
                if BRICK not in cells and all(
                    {cells[cell] for cell in holding[move]} == holding[moves[move]]
                    and all(tuple(cells[cell] for cell in line) in lines[moves[move]] for line in lines[move])
                    for move in range(n)
                ):
                    found.setdefault(cells, Symmetry(cells, moves))
        return tuple(found.values())


def _aligned(points: list[Point]) -> list[Point]:
    """Shift points so that their least x and y are 0, and round them so that equal ones compare equal."""
    left, top = min(x for x, _ in points), min(y for _, y in points)
    return [(round(x - left, 3), round(y - top, 3)) for x, y in points]
