"""Strategies: which sides of the board to play to, and what that makes of boards.

A strategy names two sides that meet in a corner, after document 003.  `left-down`
keeps the lowest row and, in it, the highest tile on the left:

     2  .  .  .      wall   down    the row at this side must not be disturbed
     8  4  2  .      along  left    lines fall away from this side
    16  8  4  2      back   right   the reverse shield may ask for it
    256 64 32 8      away   up      only when nothing else is legal

`down-left` keeps the left column, with the highest tile at the same corner.

Boards come as arrays of ranks, (boards, cells), a move or a number for each board comes
out; nothing here has a state, so that a training can use it on many games at once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, UnknownNameError, UsageError
from lab2048.rules.move import Move, move_name
from lab2048.rules.reference import Line
from lab2048.rules.shape import Shape

Ranks = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

_SIDES = {move_name(move): move for move in Move}
# The two tiles of a pair of each rank together; a pair of empty cells is none.
_PAIR_VALUES = np.array([0, *(2 ** (rank + 1) for rank in range(1, 62))], np.int64)


def read_strategy(text: str) -> tuple[Move, Move]:
    """The sides that a strategy names: along and wall.

    >>> read_strategy("left-down")
    (<Move.LEFT: 3>, <Move.DOWN: 2>)
    """
    sides = [_SIDES[word] for word in text.split("-") if word in _SIDES]
    if len(sides) == 2 and text.count("-") == 1:
        if (sides[0] - sides[1]) % 2 == 0:
            raise UsageError(
                f"strategy={text} has no corner: expected two sides that meet, as in left-down", field="strategy"
            )
        return sides[0], sides[1]
    known = [f"{one}-{other}" for one, a in _SIDES.items() for other, b in _SIDES.items() if (a - b) % 2]
    raise UnknownNameError("strategy", text, known)


@dataclass(frozen=True)
class Strategy:
    """Two sides of a shape, and the measures of document 003 that go with them."""

    shape: Shape
    along: Move
    wall: Move

    @classmethod
    def from_text(cls, text: str, shape: Shape) -> Self:
        """The strategy of this name, on a board of squares; a brick ends a line there as everywhere."""
        along, wall = read_strategy(text)
        if shape.is_hexagonal:
            raise BoardError(f"strategy={text} needs a board of squares: of six moves it does not say which are unsafe")
        return cls(shape, along, wall)

    @property
    def back(self) -> Move:
        """The less unsafe of the two unsafe moves."""
        return Move((self.along + 2) % 4)

    @property
    def away(self) -> Move:
        """The most unsafe move: a tile may spawn between the highest ones and their wall."""
        return Move((self.wall + 2) % 4)

    @property
    def precedence(self) -> tuple[Move, Move, Move, Move]:
        """The moves, the safest first."""
        return self.wall, self.along, self.back, self.away

    @property
    def n_lines(self) -> int:
        """The largest state score."""
        return len(self._rows) + len(self._columns)

    def safe_moves(self, legal: Flags) -> Flags:
        """Which moves a player may make that always plays safe: (boards, moves) in and out.

        Those of the strategy; if none of them is legal, `back`; if that is not either, `away`.
        """
        allowed = legal & self._is_safe
        for move in (self.back, self.away):
            allowed[:, move] |= legal[:, move] & ~allowed.any(axis=1)
        return allowed

    def horizontal_scores(self, ranks: Ranks) -> Counts:
        """How many lines along the wall are in order: no tile is higher than the one before it, empty cells last."""
        return _count_ordered(_along(self._rows, ranks))

    def state_scores(self, ranks: Ranks) -> Counts:
        """How many lines are in order, along the wall and towards it: 0 to `n_lines`."""
        return self.horizontal_scores(ranks) + _count_ordered(_along(self._columns, ranks))

    def mergeable_values(self, ranks: Ranks) -> Counts:
        """The sum of the tiles of all pairs of equal neighbours; three in a line are two pairs."""
        total = np.zeros(len(ranks), np.int64)
        for lines in (self._rows, self._columns):
            tiles = _along(lines, ranks)
            pairs = np.where(tiles[..., 1:] == tiles[..., :-1], tiles[..., 1:], 0)
            total += _PAIR_VALUES[pairs].sum(axis=(1, 2))
        return total

    def are_locked(self, ranks: Ranks) -> Flags:
        """True where no move along the wall changes the line at the wall: it is full and no neighbours are equal."""
        cells, first, second = self._at_wall
        is_full = (ranks[:, cells] > 0).all(axis=1)
        differs: Flags = (ranks[:, first] != ranks[:, second]).all(axis=1)
        return is_full & differs

    def are_better_back(self, safe: Ranks, back: Ranks) -> Flags:
        """Where the unsafe move is to be preferred: algorithm 1 of document 003, on what both moves lead to.

        What it also compares, the horizontal score after the safe move and whether the
        unsafe move ends the game, cannot change the answer: with more to merge than
        after the safe move the mergeable values differ, and the game is not over.
        """
        better = self.are_locked(back)
        locked = np.flatnonzero(better)
        if len(locked):  # few are: the rest is worked out for them alone
            tiles = _along(self._rows, back[locked])
            n_empty: Counts = (~tiles.any(axis=2)).sum(axis=1)
            has_more = self.mergeable_values(back[locked]) > self.mergeable_values(safe[locked])
            better[locked] = (_count_ordered(tiles) > n_empty) & has_more
        return better

    def reverse_shield(self, moves: NDArray[np.int64], legal: Flags, boards: Ranks) -> NDArray[np.int64]:
        """The moves with some safe ones replaced by `back`: algorithm 2 of document 003.

        `boards` are what each move of each board leads to: (boards, moves, cells).
        What it holds for a move that is not legal does not matter.
        """
        chosen = np.array(moves, np.int64)
        asked = np.flatnonzero(self._is_safe[moves] & legal[:, self.back])
        better = self.are_better_back(boards[asked, chosen[asked]], boards[asked, self.back])
        chosen[asked[better]] = self.back
        return chosen

    @cached_property
    def _is_safe(self) -> Flags:
        return np.isin(np.arange(len(Move)), (self.along, self.wall))

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return _pad(self.shape.lines[self.along], self.shape.n_cells)

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        return _pad(self.shape.lines[self.wall], self.shape.n_cells)

    @cached_property
    def _at_wall(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The cells of the lines at the wall, and their pairs of neighbours.

        Those are the lines whose every cell is where a slide to the wall ends.
        """
        ends = {line[0] for line in self.shape.lines[self.wall]}
        lines = [line for line in self.shape.lines[self.along] if ends.issuperset(line)]
        first = [cell for line in lines for cell in line[:-1]]
        second = [cell for line in lines for cell in line[1:]]
        cells = [cell for line in lines for cell in line]
        return np.array(cells, np.int64), np.array(first, np.int64), np.array(second, np.int64)


def _pad(lines: tuple[Line, ...], n_cells: int) -> NDArray[np.int64]:
    """Lines as a table; short ones go on with one more cell, `n_cells`, that is always empty."""
    length = max(len(line) for line in lines)
    return np.array([(*line, *[n_cells] * (length - len(line))) for line in lines], np.int64)


def _along(lines: NDArray[np.int64], ranks: Ranks) -> Ranks:
    """The ranks in the order of the lines: (boards, lines, cells of a line)."""
    padded = np.zeros((ranks.shape[0], ranks.shape[1] + 1), np.uint8)
    padded[:, :-1] = ranks
    tiles: Ranks = padded[:, lines]
    return tiles


def _count_ordered(tiles: Ranks) -> Counts:
    n_ordered: Counts = (tiles[..., 1:] <= tiles[..., :-1]).all(axis=2).sum(axis=1)
    return n_ordered
