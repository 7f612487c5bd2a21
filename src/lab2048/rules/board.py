"""Boards as values.

A Board knows its shape and its tiles, and nothing else: not the score, not whose
turn it is, not how it came about.  Games and episodes remember those.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from lab2048.errors import BoardError, IllegalMoveError
from lab2048.rules import reference
from lab2048.rules.move import AnyMove, move_name
from lab2048.rules.notation import read_board, write_board
from lab2048.rules.reference import Ranks
from lab2048.rules.shape import Shape, Symmetry

PACKED_CELLS = 16  # a nibble a cell in 64 bits
PACKED_RANK = 15


class Slide(NamedTuple):
    """What a move leads to: the afterstate and the reward."""

    board: "Board"
    reward: int


@dataclass(frozen=True, slots=True)
class Board:
    """The tiles on a shape.

    >>> from lab2048.rules import Move
    >>> Board.from_text("2 2 . . / . . . . / . . . . / . . . 4").slide(Move.LEFT).reward
    4
    """

    shape: Shape
    ranks: Ranks

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a board as lab2048.rules.notation describes it."""
        return cls(*read_board(text))

    def to_text(self, *, spaced: bool = False) -> str:
        """The shortest text that reads as this board; `spaced`, one that has the same form whatever the tiles are."""
        return write_board(self.shape, self.ranks, spaced=spaced)

    @classmethod
    def from_packed(cls, shape: Shape, packed: int) -> Self:
        """The board in a 64-bit word: cell 0 is the lowest nibble."""
        return cls(shape, tuple(packed >> 4 * cell & 15 for cell in range(shape.n_cells)))

    def to_packed(self) -> int:
        """The 64-bit word of this board; only boards of at most 16 cells and no tile above 32768 have one."""
        if not self.is_packable:
            raise BoardError(f"board {self.to_text()} does not fit 64 bits: expected at most 16 cells, tiles to 32768")
        return sum(rank << 4 * cell for cell, rank in enumerate(self.ranks))

    @property
    def is_packable(self) -> bool:
        return self.shape.n_cells <= PACKED_CELLS and max(self.ranks) <= PACKED_RANK

    @property
    def tiles(self) -> tuple[int, ...]:
        """The faces of the tiles, 0 where a cell is empty."""
        return tuple(2**rank if rank else 0 for rank in self.ranks)

    @property
    def max_tile(self) -> int:
        return max(self.tiles)

    @property
    def tile_sum(self) -> int:
        """The sum of the faces; it grows with every spawn and with nothing else."""
        return sum(self.tiles)

    @property
    def n_empty(self) -> int:
        return self.ranks.count(0)

    @property
    def potential(self) -> int:
        """The score that it takes to build these tiles from nothing."""
        return reference.potential(self.ranks)

    def slide(self, move: int) -> Slide:
        """Push the tiles towards `move`, merging equal neighbours once.

        The result is an afterstate: nothing spawns.  Raises IllegalMoveError if
        nothing would change.
        """
        if not 0 <= move < len(self.shape.moves):
            raise IllegalMoveError(f"move {move} is unknown: expected 0 to {len(self.shape.moves) - 1}")
        ranks, reward = reference.slide(self.ranks, self.shape.lines[move])
        if ranks == self.ranks:
            raise IllegalMoveError(f"{move_name(self.shape.moves[move])} changes nothing on {self.to_text()}")
        return Slide(Board(self.shape, ranks), reward)

    def slides(self) -> Iterator[tuple[AnyMove, Slide]]:
        """Every legal move with what it leads to."""
        for move, lines in zip(self.shape.moves, self.shape.lines, strict=True):
            ranks, reward = reference.slide(self.ranks, lines)
            if ranks != self.ranks:
                yield move, Slide(Board(self.shape, ranks), reward)

    def legal_moves(self) -> tuple[AnyMove, ...]:
        """The moves that change something; none of them: the game is over."""
        return tuple(move for move, _ in self.slides())

    def put(self, cell: int, rank: int) -> "Board":
        """The board with a tile on one more cell."""
        if self.ranks[cell]:
            raise BoardError(f"cell {cell} of {self.to_text()} is taken: expected an empty cell")
        return Board(self.shape, reference.put(self.ranks, cell, rank))

    def carry(self, symmetry: Symmetry) -> "Board":
        """The board turned or mirrored."""
        ranks = [0] * len(self.ranks)
        for cell, rank in zip(symmetry.cells, self.ranks, strict=True):
            ranks[cell] = rank
        return Board(self.shape, tuple(ranks))

    def canonical(self) -> "Board":
        """The one board that stands for all its turned and mirrored copies."""
        return min((self.carry(symmetry) for symmetry in self.shape.symmetries), key=lambda board: board.ranks[::-1])
