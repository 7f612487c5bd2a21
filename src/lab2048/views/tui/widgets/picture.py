"""Boards as pictures of text, at six densities: any shape, in colour or in lines.

    5x1      2    4        7x3  ┌─────┐     10x5, 14x7   filled or with a border,
             ·  128             │  2  │                  every tile fits
                                └─────┘     18x9, 22x11  the same, with large digits

Tiles are placed as in the drawing of the shape.  If some are half a tile lower than others, there
is an empty line between two tiles of a column.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from lab2048.rules import Board
from lab2048.rules.notation import FREE_LETTER
from lab2048.rules.shape import ANCHOR, BRICK, NOTHING, Shape
from lab2048.views.tui.palette import Palette
from lab2048.views.tui.widgets import digits


class Density(NamedTuple):
    """The size of a tile in columns and lines."""

    columns: int
    lines: int


DENSITIES = (Density(22, 11), Density(18, 9), Density(14, 7), Density(10, 5), Density(7, 3), Density(5, 1))
_LARGE = 18  # columns from which numbers are written in large digits


def size_of(shape: Shape, density: Density) -> tuple[int, int]:
    """Return the size of the picture of a shape."""
    n_rows, n_columns = len(shape.drawing), len(shape.drawing[0])
    return n_columns * density.columns, _line_of(shape, n_rows - 1, density) + density.lines


def _line_of(shape: Shape, row: int, density: Density) -> int:
    """Return the first line of a row of the drawing."""
    return row * (density.lines + shape.drawing_span - 1) // shape.drawing_span


def fitting(shape: Shape, columns: int, lines: int) -> Density | None:
    """Return the largest density at which a shape fits, or None."""
    for density in DENSITIES:
        width, height = size_of(shape, density)
        if width <= columns and height <= lines:
            return density
    return None


def face(rank: int, columns: int) -> str:
    """Format the number of a tile; thousands are abbreviated if it does not fit.

    >>> face(14, 5), face(14, 4), face(17, 4), face(20, 4)
    ('16384', '16k', '131k', '1M')
    """
    text = str(2**rank)
    for unit in ("", "k", "M", "G"):
        if len(text + unit) <= columns:
            return text + unit
        text = text[:-3]
    return "?" * columns


@dataclass(frozen=True)
class Picture:
    """A board at a density; `fresh` is the cell of the tile that has just appeared."""

    board: Board
    density: Density
    palette: Palette
    fresh: int | None = None

    @cached_property
    def lines(self) -> list[list[Segment]]:
        """Return the lines of the picture, all of the same width."""
        return [list(self._line(y)) for y in range(size_of(self.board.shape, self.density)[1])]

    @cached_property
    def offsets(self) -> dict[int, tuple[int, int]]:
        """Return the first column and line of each cell."""
        return {entry: (x, y) for entry, x, y in self._entries() if entry >= 0}

    def _entries(self) -> Iterator[tuple[int, int, int]]:
        """Yield every entry of the drawing with its first column and line."""
        shape = self.board.shape
        for row, entries in enumerate(shape.drawing):
            y = _line_of(shape, row, self.density)
            for column, entry in enumerate(entries):
                if entry != NOTHING:
                    yield entry, column * self.density.columns, y

    @cached_property
    def _at(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return the entry at each column (of tiles) and line, and the line within the entry."""
        columns, lines = self.density
        return {(x // columns, y + k): (entry, k) for entry, x, y in self._entries() for k in range(lines)}

    def _line(self, y: int) -> Iterator[Segment]:
        for column in range(len(self.board.shape.drawing[0])):
            if found := self._at.get((column, y)):
                yield from self._tile(*found)
            else:
                yield Segment(" " * self.density.columns)

    def _tile(self, entry: int, k: int) -> Iterator[Segment]:
        """Yield one line of a tile, a brick, an anchor or an empty cell."""
        if entry == BRICK:
            yield Segment("▒" * (self.density.columns - 1) + " ", self.palette.brick)
            return
        if entry == ANCHOR:
            columns, lines = self.density
            text = "A" if k == lines // 2 else ""
            yield Segment(f"{text:▒^{columns - 1}} ", self.palette.brick)
            return
        rank = self.board.ranks[entry]
        if rank == 0:
            yield from self._cell(k, "·", self.palette.empty, is_slab=self.palette.empty.bgcolor is not None)
            return
        style = self.palette.fresh(rank) if entry == self.fresh else self.palette.tile(rank)
        yield from self._cell(k, self._face(rank), style, is_slab=True)

    @property
    def _has_large_digits(self) -> bool:
        """Return True if large digits fit and the terminal can show them."""
        return self.density.columns >= _LARGE and not self.palette.is_ascii

    def _face(self, rank: int) -> str:
        """Return the number of a tile, as wide as fits."""
        columns, lines = self.density
        if rank == self.board.shape.free_rank:
            return FREE_LETTER
        if self._has_large_digits:
            return face(rank, (columns - 1) // (digits.WIDTH + 1))
        return face(rank, 4 if lines == 1 else columns - 2)

    def _cell(self, k: int, text: str, style: Style, *, is_slab: bool) -> Iterator[Segment]:
        """Return a line of a tile with a centred text."""
        columns, lines = self.density
        inner, written = columns - 2, [text]
        if self._has_large_digits and text != "·":
            written = digits.large(text)
            if style.underline:  # marked on its own line
                written, style = [*written, "▀" * digits.width_of(text)], style + Style(underline=False)
        first = (lines - min(len(written), digits.HEIGHT)) // 2
        shown = written[k - first] if 0 <= k - first < len(written) else ""
        if lines == 1:
            # No empty lines between tiles: empty cells without a background separate them.
            yield Segment(text.rjust(columns - 1), style if text != "·" else Style(color=style.color, dim=style.dim))
            yield Segment(" ")
        elif not is_slab:
            yield Segment(f" {shown:^{inner}} ", style)
        elif self.palette.has_slabs:
            yield from _slab_line(k, lines, shown.center(inner) if text != "·" else " " * inner, style)
        else:
            yield Segment(_box_line(k, lines, shown.center(inner)), style)


def _slab_line(k: int, lines: int, inner: str, style: Style) -> Iterator[Segment]:
    """Return a line of a filled tile with a margin of half a column and half a line.

    Letters that fill their space have the colour of the tile as their ink: a line without a number is
    one segment then, which saves output.
    """
    edge = Style(color=style.bgcolor)
    if k in (0, lines - 1):
        left, middle, right = "▗▄▖" if k == 0 else "▝▀▘"
        yield Segment(left + middle * len(inner) + right, edge)
        return
    text = inner.strip()
    if not text:
        yield Segment(f"▐{'█' * len(inner)}▌", edge)
        return
    yield Segment("▐", edge)
    if style.underline:  # the number, not what is beside it
        before, _, after = inner.partition(text)
        air = style + Style(underline=False)
        yield from (Segment(before, air), Segment(text, style), Segment(after, air))
    else:
        yield Segment(inner, style)
    yield Segment("▌", edge)


def _box_line(k: int, lines: int, inner: str) -> str:
    if k == 0:
        return f"┌{'─' * len(inner)}┐"
    if k == lines - 1:
        return f"└{'─' * len(inner)}┘"
    return f"│{inner}│"
