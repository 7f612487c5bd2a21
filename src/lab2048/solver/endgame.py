"""Endgame tables: solved formations, probed with boards of the whole game."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab2048.errors import BoardError, FileError
from lab2048.records.database import data_folder
from lab2048.rules import Board
from lab2048.rules.move import AnyMove
from lab2048.solver.formation import Formation, formation_names
from lab2048.solver.table import MANIFEST, MoveValue, Table


def endgames_folder() -> Path:
    """Return the folder where endgame tables are built by default."""
    return data_folder() / "endgames"


def table_folder(name: Path) -> Path:
    """Return the folder of a table; the name of a formation stands for its table in the default folder."""
    if name.exists() or str(name) not in formation_names():
        return name
    if not (built := endgames_folder() / name).exists():
        raise FileError(f"the formation {name} is not built yet: expected lab2048 endgame build {name} before")
    return built


@dataclass(frozen=True)
class Probed:
    """What an endgame table knows about a board."""

    position: Board  # the free cells, as they are in the table
    moves: tuple[MoveValue, ...]  # that keep the large tiles where they are
    leaving: tuple[AnyMove, ...]  # other legal moves


class Endgame:
    """The table of a formation, for boards of the whole game."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @classmethod
    def open(cls, folder: Path) -> "Endgame":
        """Open a table; raise FileError if it is not one of a formation."""
        table = Table.open(folder)
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

    def look_up(self, board: Board) -> MoveValue | None:
        """Return the best move that keeps the large tiles, or None if the table does not know the board.

        The smallest of the large tiles must be the goal, so that the next one joins the chain.
        """
        goal_rank = self.formation.rules.goal_rank
        if goal_rank not in board.ranks or (found := self.formation.find(board)) is None:
            return None
        try:
            values = self.table.move_values(found.board)
        except BoardError:  # reached by moving a large tile
            return None
        if not values:
            return None
        best = self.best(tuple(values))
        move = board.shape.moves[found.symmetry.moves.index(int(best.move))]
        return MoveValue(move, best.after, best.reward, best.value, best.loss)


def is_endgame(table: Table) -> bool:
    return table.problem.rules.shape.has_anchors


class Endgames:
    """Several endgame tables: of those that know a board, the one with the most free cells answers."""

    def __init__(self, endgames: list[Endgame]) -> None:
        self.endgames = sorted(endgames, key=lambda each: -each.formation.rules.shape.n_cells)

    @classmethod
    def open(cls, folder: Path | None = None) -> "Endgames":
        """Open all complete tables of formations in a folder (default: where they are built)."""
        top = folder or endgames_folder()
        if folder is not None and not top.is_dir():
            raise FileError(f"there is no folder {top}: expected one with endgame tables", code="file.not_found")
        paths = sorted(path.parent for path in top.glob(f"*/{MANIFEST}")) if top.is_dir() else []
        return cls([Endgame(table) for path in paths if is_endgame(table := Table.open(path))])

    def look_up(self, board: Board, at_least: float = 0.0) -> MoveValue | None:
        """Return the best move by the first table that knows the board and promises `at_least` this rate."""
        for endgame in self.endgames:
            found = endgame.look_up(board)
            if found is not None and found.value >= at_least:
                return found
        return None
