"""A replay of another program: a first board, and a move and a spawn per turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lab2048.errors import BoardError, FileError
from lab2048.rules import Board, Game, Rules
from lab2048.rules.move import Move

MAX_TURNS = 1_000_000  # no game on a board of 16 cells is as long
SIZES = ("4x4", "3x4", "3x3", "2x4")  # boards of these programs


class Step(NamedTuple):
    """A move, and the cell and the rank of the tile that spawned after it."""

    move: Move
    cell: int
    rank: int


@dataclass(frozen=True)
class Replay:
    """A game as another program recorded it; `to_game` proves it by the rules."""

    program: str
    size: str  # of the board, such as 4x4
    first: tuple[tuple[int, int], ...]  # cell and rank of each tile of the first board
    steps: Sequence[Step]

    def to_game(self) -> Game:
        """Play the replay; raise FileError, with the number of the move, if it breaks a rule.

        First tiles that may have spawned are spawns like others, so that the game is one of the plain board.
        """
        rules = Rules.from_text(self.size)
        ranks = {rank for rank, _ in rules.spawn_table}
        try:
            if len(self.first) == rules.n_start and all(rank in ranks for _, rank in self.first):
                game = Game(rules, 0, given=list(self.first))
            else:
                game = Game(Rules(self._first_board(rules.board), n_start=0), 0)
        except BoardError as error:
            raise FileError(f"the first board is impossible: {error}", code="game.invalid") from None
        for number, (move, cell, rank) in enumerate(self.steps, 1):
            try:
                game.play_recorded(move, (cell, rank))
            except BoardError as error:
                raise FileError(f"move {number} is impossible: {error}", code="game.invalid") from None
        return game

    def _first_board(self, board: Board) -> Board:
        for cell, rank in self.first:
            if not 0 <= cell < board.shape.n_cells:
                raise BoardError(f"there is no cell {cell}: expected 0 to {board.shape.n_cells - 1}")
            board = board.put(cell, rank)
        return board


def check_length(n_turns: int) -> None:
    """Raise FileError if a replay is longer than any game."""
    if n_turns > MAX_TURNS:
        raise FileError(f"the replay has {n_turns:,} moves: expected at most {MAX_TURNS:,}")


def columns_of(size: str) -> int:
    """Return the number of columns of a board.

    >>> columns_of("3x4")
    4
    """
    return int(size.partition("x")[2])
