"""Endgame tables: solved formations, probed with boards of the whole game."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab2048.errors import FileError
from lab2048.records.database import data_folder
from lab2048.rules import Board
from lab2048.rules.move import AnyMove
from lab2048.solver.endgame.compact_table import CompactTable, open_table
from lab2048.solver.endgame.formation import Formation, formation_names
from lab2048.solver.probing import MoveValue
from lab2048.solver.table import Table

SHIPPED = Path(__file__).with_name("shipped")  # tables that come with lab2048


def endgames_folder() -> Path:
    """Return the folder where endgame tables are built by default."""
    return data_folder() / "endgames"


def table_folder(name: Path) -> Path:
    """Return the folder of a table; the name of a formation stands for its table, built or shipped."""
    if name.exists():
        return name
    if str(name) not in formation_names():
        raise FileError(
            f"there is no folder {name}: expected the folder of a solved board, or a formation",
            code="file.not_found",
            hint="lab2048 endgame list shows all formations",
        )
    if (found := find_table(str(name))) is None:
        raise FileError(f"the formation {name} is not built yet: expected lab2048 endgame build {name} before")
    return found


def find_table(name: str) -> Path | None:
    """Return the folder of a known formation's table, built or shipped; None if there is none."""
    for top in (endgames_folder(), SHIPPED):
        if (top / name).exists():
            return top / name
    return None


@dataclass(frozen=True)
class Probed:
    """What an endgame table knows about a board."""

    position: Board  # the cells of the formation, as they are in the table
    moves: tuple[MoveValue, ...]  # that keep the anchors where they are
    leaving: tuple[AnyMove, ...]  # other legal moves


class Endgame:
    """The table of a formation, for boards of the whole game."""

    def __init__(self, table: Table | CompactTable) -> None:
        self.table = table

    @classmethod
    def open(cls, folder: Path) -> "Endgame":
        """Open a table; raise FileError if it is not one of a formation."""
        table = open_table(folder)
        if not is_endgame(table):
            raise FileError(
                f"{folder} holds the table of {table.problem.rules.board_text}: expected one of a formation",
                code="file.wrong_kind",
            )
        return cls(table)

    @cached_property
    def formation(self) -> Formation:
        return Formation(self.table.problem.rules)

    def probe(self, board: Board) -> Probed:
        """Return the value of every move that keeps the large tiles; raise BoardError if the board does not fit."""
        position, symmetry = self.formation.fit(board)
        values = {int(each.move): each for each in self.table.move_values(position)}
        moves, leaving = [], []
        for move, (after, reward) in board.slides():
            value = values.get(symmetry.moves[move])
            if value is None:
                leaving.append(move)
            else:
                moves.append(MoveValue(move, after, reward, value.value, value.loss))
        return Probed(position, tuple(moves), tuple(leaving))

    def best(self, moves: tuple[MoveValue, ...]) -> MoveValue:
        """Return the move with the highest value; ties go to the first."""
        return max(moves, key=lambda each: (each.value, -(each.loss or 0.0)))


def is_endgame(table: Table | CompactTable) -> bool:
    """Return True if a table is one of a formation."""
    return table.problem.rules.shape.has_large
