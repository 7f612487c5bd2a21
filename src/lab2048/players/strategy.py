"""Strategies of Sauren 2022: two sides of the board to play towards, and measures of boards.

The two sides meet in a corner.  `left-down` keeps the bottom row in place, with the highest tile at its left:

     2  .  .  .      wall   down    the line at this side must not be disturbed
     8  4  2  .      along  left    tiles decrease away from this side
    16  8  4  2      back   right   the reverse shield may choose it
    256 64 32 8      away   up      only when nothing else is legal

`down-left` keeps the left column in place, with the highest tile in the same corner.

Functions take arrays of ranks, (boards, cells), and return one result per board.  They have no state, so that
training can use them on many games at once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, UnknownNameError, UsageError
from lab2048.rules.kind import SQUARES
from lab2048.rules.move import Move, move_name
from lab2048.rules.reference import Line
from lab2048.rules.shape import Shape

Ranks = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

_SIDES = {move_name(move): move for move in Move}
# The sum of two tiles of each rank; two empty cells are no pair.
_PAIR_VALUES = np.array([0, *(2 ** (rank + 1) for rank in range(1, 62))], np.int64)


def read_strategy(text: str) -> tuple[Move, Move]:
    """Return the sides that a strategy names: along and wall.

    >>> read_strategy("left-down")
    (Move.LEFT, Move.DOWN)
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
    """Two sides of a shape, and the measures of boards that depend on them."""

    shape: Shape
    along: Move
    wall: Move

    @classmethod
    def from_text(cls, text: str, shape: Shape) -> Self:
        """Return the strategy of this name; raise BoardError unless the board has square cells."""
        along, wall = read_strategy(text)
        if shape.kind != SQUARES.cells:
            raise BoardError(
                f"strategy={text} needs a board of squares: on other boards the safe moves are not defined"
            )
        return cls(shape, along, wall)

    @property
    def back(self) -> Move:
        """Return the less dangerous one of the two unsafe moves."""
        return Move((self.along + 2) % 4)

    @property
    def away(self) -> Move:
        """Return the most dangerous move: a tile may spawn between the highest tiles and the wall."""
        return Move((self.wall + 2) % 4)

    @property
    def precedence(self) -> tuple[Move, Move, Move, Move]:
        """Return the moves, safest first."""
        return self.wall, self.along, self.back, self.away

    @property
    def n_lines(self) -> int:
        """Return the largest possible state score."""
        return len(self._rows) + len(self._columns)

    def safe_moves(self, legal: Flags) -> Flags:
        """Return which moves are safe: those of the strategy; if none is legal, `back`; if not that, `away`.

        Takes and returns arrays of (boards, moves).
        """
        allowed = legal & self._is_safe
        for move in (self.back, self.away):
            allowed[:, move] |= legal[:, move] & ~allowed.any(axis=1)
        return allowed

    def horizontal_scores(self, ranks: Ranks) -> Counts:
        """Count the lines along the wall that are in order: tiles never increase, and empty cells come last."""
        return _count_ordered(_along(self._rows, ranks))

    def empty_lines(self, ranks: Ranks) -> Counts:
        """Count the lines along the wall that have no tile; they are in order."""
        n_empty: Counts = (~_along(self._rows, ranks).any(axis=2)).sum(axis=1)
        return n_empty

    def state_scores(self, ranks: Ranks) -> Counts:
        """Count the lines in order, along the wall and towards it: 0 to `n_lines`."""
        return self.horizontal_scores(ranks) + _count_ordered(_along(self._columns, ranks))

    def mergeable_values(self, ranks: Ranks) -> Counts:
        """Sum the tiles of all pairs of equal neighbours; three in a row are two pairs."""
        total = np.zeros(len(ranks), np.int64)
        for lines in (self._rows, self._columns):
            tiles = _along(lines, ranks)
            pairs = np.where(tiles[..., 1:] == tiles[..., :-1], tiles[..., 1:], 0)
            total += _PAIR_VALUES[pairs].sum(axis=(1, 2))
        return total

    def are_locked(self, ranks: Ranks) -> Flags:
        """Return where the line at the wall is locked: it is full, and no two neighbours are equal."""
        cells, first, second = self._at_wall
        is_full = (ranks[:, cells] > 0).all(axis=1)
        differs: Flags = (ranks[:, first] != ranks[:, second]).all(axis=1)
        return is_full & differs

    def are_better_back(self, safe: Ranks, back: Ranks) -> Flags:
        """Return where the unsafe move is better: algorithm 1 of Sauren 2022, on the results of both moves.

        The algorithm also compares the horizontal score after the safe move, and whether the unsafe move ends
        the game.  Neither can change the answer: if more can be merged after the unsafe move, the mergeable
        values differ and the game is not over.
        """
        better = self.are_locked(back)
        locked = np.flatnonzero(better)
        if len(locked):  # few are: the rest is computed only for them
            tiles = _along(self._rows, back[locked])
            n_empty: Counts = (~tiles.any(axis=2)).sum(axis=1)
            has_more = self.mergeable_values(back[locked]) > self.mergeable_values(safe[locked])
            better[locked] = (_count_ordered(tiles) > n_empty) & has_more
        return better

    def reverse_shield(self, moves: NDArray[np.int64], legal: Flags, boards: Ranks) -> NDArray[np.int64]:
        """Return the moves with some safe ones replaced by `back`: algorithm 2 of Sauren 2022.

        `boards` are the results of each move on each board, (boards, moves, cells); those of illegal moves
        are ignored.
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
        """Return the cells of the lines at the wall, and their pairs of neighbours.

        A line is at the wall if slides to the wall end in each of its cells.
        """
        ends = {line[0] for line in self.shape.lines[self.wall]}
        lines = [line for line in self.shape.lines[self.along] if ends.issuperset(line)]
        first = [cell for line in lines for cell in line[:-1]]
        second = [cell for line in lines for cell in line[1:]]
        cells = [cell for line in lines for cell in line]
        return np.array(cells, np.int64), np.array(first, np.int64), np.array(second, np.int64)


def _pad(lines: tuple[Line, ...], n_cells: int) -> NDArray[np.int64]:
    """Return lines as a table, padded with one more cell, `n_cells`, which is always empty."""
    length = max(len(line) for line in lines)
    return np.array([(*line, *[n_cells] * (length - len(line))) for line in lines], np.int64)


def _along(lines: NDArray[np.int64], ranks: Ranks) -> Ranks:
    """Return the ranks in the order of the lines: (boards, lines, cells of a line)."""
    padded = np.zeros((ranks.shape[0], ranks.shape[1] + 1), np.uint8)
    padded[:, :-1] = ranks
    tiles: Ranks = padded[:, lines]
    return tiles


def _count_ordered(tiles: Ranks) -> Counts:
    n_ordered: Counts = (tiles[..., 1:] <= tiles[..., :-1]).all(axis=2).sum(axis=1)
    return n_ordered
