"""Boards as values.

A Board has a shape and tiles, and nothing else: no score and no history.  Games and
episodes have those.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from lab2048.errors import BoardError, IllegalMoveError, unknown
from lab2048.rules import reference
from lab2048.rules.drawing import draw_svg, draw_text
from lab2048.rules.move import AnyMove, move_name
from lab2048.rules.notation import read_board, read_ranks, read_tiles, write_board
from lab2048.rules.reference import Ranks
from lab2048.rules.shape import FREE, Shape, Symmetry

if TYPE_CHECKING:
    import numpy as np

# What a board can be made of: its text, rows of tiles, or a flat sequence of ranks.
BoardSource: TypeAlias = "str | Iterable[Iterable[Any]] | Iterable[int] | np.ndarray[Any, Any]"

PACKED_CELLS = 16  # a nibble a cell in 64 bits
PACKED_RANK = 15


class Slide(NamedTuple):
    """The result of a move: the afterstate and the reward."""

    board: "Board"
    reward: int


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Board:
    """The tiles on a shape.

    A board is made from its text, from rows of tiles (lists or a two-dimensional array, 0 for an empty cell),
    or from the 16 ranks of a classic board:

    >>> from lab2048 import Move
    >>> board = Board("2 2 . . / . . . . / . . . . / . . . 4")
    >>> board == Board([[2, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]])
    True
    >>> board == Board([1, 1] + 13 * [0] + [2]) == Board("1100000000000002")
    True
    >>> board.slide(Move.LEFT).reward
    4
    """

    shape: Shape
    ranks: Ranks

    def __init__(self, source: "Shape | BoardSource", ranks: Ranks | None = None) -> None:
        """Read a board; a shape takes the rank of each of its cells.  By default free large tiles come first."""
        if isinstance(source, Shape):
            n_others = source.n_cells - source.n_free
            shape, ranks = source, ranks if ranks is not None else (FREE,) * source.n_free + (0,) * n_others
        elif isinstance(source, str):
            shape, ranks = read_board(source)
        elif isinstance(source, Board):
            shape, ranks = source.shape, source.ranks
        else:
            shape, ranks = _read_numbers(source)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "ranks", ranks)

    def __repr__(self) -> str:
        return f"Board({self.to_text()!r})"

    def __str__(self) -> str:
        return draw_text(self.shape, self.ranks)

    def _repr_html_(self) -> str:
        return draw_svg(self.shape, self.ranks, f"board {self.to_text()}")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a board from text, in any notation of lab2048.rules.notation.

        >>> Board.from_text("2#|#4") == Board.from_text("2 # / # 4")
        True
        """
        return cls(*read_board(text))

    @classmethod
    def from_tiles(cls, rows: "Iterable[Iterable[Any]] | np.ndarray[Any, Any]") -> Self:
        """Read rows of tiles: 0 or None is an empty cell, "x" a brick, "A" an anchor, "F" a free large tile.

        >>> Board.from_tiles([[2, 0], [None, 1024]])
        Board('2 # / # 1024')
        """
        return cls(*read_tiles(rows))

    @classmethod
    def from_ranks(
        cls, ranks: "Iterable[int] | Iterable[Iterable[int]] | np.ndarray[Any, Any]", shape: str = ""
    ) -> Self:
        """Read ranks (exponents), such as an observation of an environment, on a shape (default: by their rows).

        >>> Board.from_ranks([[1, 0], [0, 10]])
        Board('2 # / # 1024')
        >>> Board.from_ranks([1, 0, 0, 2, 0, 0, 0], "hex1")
        Board('hex1:2#|#4#|##')
        """
        return cls(*read_ranks(ranks, shape))

    def to_text(self, *, spaced: bool = False) -> str:
        """Return the shortest text of this board; with `spaced`, always separate cells by spaces.

        >>> Board([[2, 0], [0, 4]]).to_text(), Board([[2, 0], [0, 4]]).to_text(spaced=True)
        ('2#|#4', '2 # / # 4')
        """
        return write_board(self.shape, self.ranks, spaced=spaced)

    @classmethod
    def from_packed(cls, shape: Shape, packed: int) -> Self:
        """Unpack a board from a 64-bit word; cell 0 is the lowest nibble.

        >>> import lab2048 as lab
        >>> lab.Board.from_packed(lab.Board("2x2").shape, 0x2001)
        Board('2#|#4')
        """
        return cls(shape, tuple(packed >> 4 * cell & 15 for cell in range(shape.n_cells)))

    def to_packed(self) -> int:
        """Pack the board into a 64-bit word; raise BoardError above 16 cells or for a tile above 32768.

        >>> board = Board("2 # / # 4")
        >>> hex(board.to_packed()), Board.from_packed(board.shape, 0x2001) == board
        ('0x2001', True)
        """
        if not self.is_packable:
            raise BoardError(f"board {self.to_text()} does not fit 64 bits: expected at most 16 cells, tiles to 32768")
        return sum(rank << 4 * cell for cell, rank in enumerate(self.ranks))

    @property
    def is_packable(self) -> bool:
        return self.shape.n_cells <= PACKED_CELLS and max(self.ranks) <= PACKED_RANK

    @property
    def tiles(self) -> tuple[int, ...]:
        """Return the tiles, 0 for an empty cell and for a free large tile.

        >>> Board("2 # / 4 8").tiles
        (2, 0, 4, 8)
        """
        free = self.shape.free_rank
        return tuple(2**rank if rank and rank != free else 0 for rank in self.ranks)

    @property
    def max_tile(self) -> int:
        return max(self.tiles)

    @property
    def max_rank(self) -> int:
        """Return the rank of the highest tile, apart from free large tiles.

        >>> Board("F # / 4 8").max_rank, Board("F # / F #").max_rank
        (3, 0)
        """
        free = self.shape.free_rank
        return max((rank for rank in self.ranks if rank != free), default=0)

    @property
    def tile_sum(self) -> int:
        """Return the sum of the tiles without free large tiles, which only spawns change.

        >>> Board("2 # / 4 8").tile_sum
        14
        """
        return sum(self.tiles)

    @property
    def n_empty(self) -> int:
        return self.ranks.count(0)

    @property
    def potential(self) -> int:
        """Return the score of building these tiles by merging 2s: the sum of v(log2 v - 1).

        >>> Board("2 # / 4 8").potential  # an 8 takes two merges to 4 and one to 8
        20
        """
        return reference.potential(self.ranks)

    def slide(self, move: int) -> Slide:
        """Push the tiles towards `move`, merging equal neighbours once.

        Return the afterstate, without a new tile, and the reward.  Raise IllegalMoveError if
        nothing would change.

        >>> Board("2 2 4 / # # #").slide(1)
        Slide(board=Board('#44|###'), reward=4)
        """
        if not 0 <= move < len(self.shape.moves):
            raise IllegalMoveError(unknown("move", move, otherwise=f"expected 0 to {len(self.shape.moves) - 1}"))
        shape = self.shape
        ranks, reward = reference.slide(self.ranks, shape.lines[move], shape.holding[move], shape.free_rank)
        if ranks == self.ranks:
            moves_anchor = reference.slide(self.ranks, shape.lines[move], (), shape.free_rank)[0] != ranks
            why = "would move an anchor" if moves_anchor else "changes nothing"
            raise IllegalMoveError(f"{move_name(self.shape.moves[move])} {why} on {self.to_text()}")
        return Slide(Board(self.shape, ranks), reward)

    def slides(self) -> Iterator[tuple[AnyMove, Slide]]:
        """Return every legal move with its afterstate and reward.

        >>> [(move, slide.reward) for move, slide in Board("2 2 / # #").slides()]
        [(Move.RIGHT, 4), (Move.DOWN, 0), (Move.LEFT, 4)]
        """
        shape = self.shape
        for move, lines, holding in zip(shape.moves, shape.lines, shape.holding, strict=True):
            ranks, reward = reference.slide(self.ranks, lines, holding, shape.free_rank)
            if ranks != self.ranks:
                yield move, Slide(Board(shape, ranks), reward)

    def legal_moves(self) -> tuple[AnyMove, ...]:
        """Return the moves that change the board; if there are none, the game is over.

        >>> Board("2 2 / # #").legal_moves()
        (Move.RIGHT, Move.DOWN, Move.LEFT)
        """
        return tuple(move for move, _ in self.slides())

    def put(self, cell: int, rank: int) -> "Board":
        """Return a copy with a tile of this rank on an empty cell.

        >>> Board("2 # / # #").put(3, 2)
        Board('2#|#4')
        """
        if self.ranks[cell]:
            raise BoardError(f"cell {cell} of {self.to_text()} is taken: expected an empty cell")
        return Board(self.shape, reference.put(self.ranks, cell, rank))

    def carry(self, symmetry: Symmetry) -> "Board":
        """Return the rotated or mirrored board.

        >>> board = Board("2 # / # #")
        >>> len({board.carry(symmetry) for symmetry in board.shape.symmetries})
        4
        """
        ranks = [0] * len(self.ranks)
        for cell, rank in zip(symmetry.cells, self.ranks, strict=True):
            ranks[cell] = rank
        return Board(self.shape, tuple(ranks))

    def canonical(self, symmetries: tuple[Symmetry, ...] | None = None) -> "Board":
        """Return the board that represents all its rotated and mirrored copies (default: by all symmetries).

        >>> Board("2 # / # #").canonical() == Board("# # / # 2").canonical()
        True
        """
        copies = (self.carry(symmetry) for symmetry in symmetries or self.shape.symmetries)
        return min(copies, key=lambda board: board.ranks[::-1])


def _read_numbers(source: Any) -> tuple[Shape, Ranks]:
    """Read rows of tiles, or a flat sequence of ranks."""
    try:
        entries = list(source)
    except TypeError:
        raise BoardError(
            f"board {source!r} is not understood: expected text, rows of tiles or 16 ranks", code="board.invalid"
        ) from None
    is_flat = all(not hasattr(entry, "__len__") or isinstance(entry, str) for entry in entries)
    return read_ranks(entries, "4x4") if is_flat else read_tiles(entries)
