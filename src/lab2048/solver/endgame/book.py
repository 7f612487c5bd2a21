"""The book: all endgame tables that a player may use, as kernels read them."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.search import endgame as of
from lab2048.kernels.search.downgrade import downgrade
from lab2048.kernels.solve.compact import code_of, odds_of
from lab2048.rules import Board, Rules
from lab2048.rules.plan import make_plan
from lab2048.solver.endgame.compact_table import SCHEMA, CompactTable
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.endgame.probe import SHIPPED, endgames_folder
from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Problem
from lab2048.solver.table import MANIFEST, read_manifest
from lab2048.solver.table import SCHEMA as LAYERED

SURE = 0.5  # success rate from which a table chooses the move


class Answer(NamedTuple):
    """What the book says about a board and a move that keeps the large tiles."""

    move: int
    value: float  # success rate
    formation: Formation


@dataclass
class Book:
    """Several compact tables: of those that know a board and are sure enough, the first one answers.

    Formations without free large tiles come first, because there the new tile joins the chain; then those with more
    cells to play.  The arrays behind the addresses live as long as the book.
    """

    tables: list[CompactTable]
    rules: Rules
    sure: float = SURE
    words: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.tables = sorted(self.tables, key=_order)
        self._plan = make_plan(self.rules)
        self.formations = [Formation(table.problem.rules) for table in self.tables]
        self.words = np.zeros(of.TABLES + len(self.tables) * of.TABLE_SIZE, np.uint64)
        self.words[of.N_TABLES] = len(self.tables)
        self.words[of.LEAST_GOAL] = min((table.size.radix for table in self.tables), default=0)
        self.words[of.FEWEST_LARGE] = min((_n_large(each) for each in self.formations), default=0)
        for i, (table, formation) in enumerate(zip(self.tables, self.formations, strict=True)):
            self._fill(self.words[of.TABLES + i * of.TABLE_SIZE :], table, formation)

    def _fill(self, words: NDArray[np.uint64], table: CompactTable, formation: Formation) -> None:
        size, copies, n_cells = table.size, formation.copies, formation.rules.shape.n_cells
        words[of.GOAL], words[of.N_LARGE], words[of.N_CELLS] = size.radix, _n_large(formation), n_cells
        first = size.first
        if formation.n_free:  # the numbering puts the cells in order
            words[of.NUMBERING], first = address_of(table.numbering), 0
        words[of.WIDTH], words[of.N_COPIES] = size.width, len(copies)
        words[of.GROUPS], words[of.BLOCKS] = table.address("groups"), table.address("blocks")
        words[of.CODES] = table.address("codes")
        words[of.SURE] = int(code_of(self.sure / (1 - self.sure) if self.sure < 1 else math.inf))
        for i, copy in enumerate(copies):
            here = of.COPIES + i * of.COPY_SIZE
            words[here + of.ANCHORS], words[here + of.BESIDE] = _nibbles(copy.anchors), _nibbles(copy.beside_goal)
            words[here + of.GOALS] = _nibbles(copy.goals)
            for k in range(n_cells):
                words[here + of.SHIFTS + k] = 4 * copy.free[(first + k) % n_cells]

    @classmethod
    def open(cls, tables: str, rules: Rules, sure: float = SURE) -> "Book":
        """Open compact tables for boards of these rules.

        `tables` is "shipped" (those that come with lab2048), "auto" (also those that are built), or a folder of tables.
        """
        if tables not in ("shipped", "auto") and not Path(tables).is_dir():
            raise FileError(f"there is no folder {tables}: expected one with endgame tables", code="file.not_found")
        tops = {"shipped": [SHIPPED], "auto": [SHIPPED, endgames_folder()]}.get(tables, [Path(tables)])
        found: dict[Problem, CompactTable] = {}
        for top in tops:
            for path in sorted(top.glob(f"*/{MANIFEST}")):
                if read_manifest(path.parent, SCHEMA, LAYERED)["schema"] == SCHEMA:
                    table = CompactTable.open(path.parent)
                    found[table.problem] = table
        return cls([table for table in found.values() if _fits(table.problem.rules, rules)], rules, sure)

    @property
    def address(self) -> int:
        """Return the address that kernels take."""
        return address_of(self.words)

    def look_up(self, board: Board) -> Answer | None:
        """Return the best move by the first table that knows the board and is sure enough; None if there is none."""
        return self._answer(int(of.look_up(self.address, self._plan, _word(board)))) if self.tables else None

    def rate(self, board: Board, move: int) -> Answer | None:
        """Return what the same table says about a move; None if it moves a large tile."""
        return self._answer(int(of.rate_move(self.address, self._plan, _word(board), move))) if self.tables else None

    def _answer(self, found: int) -> Answer | None:
        if found < 0:
            return None
        code, move = found >> of.CODE_SHIFT & 0xFFFF, found & ((1 << of.CODE_SHIFT) - 1)
        return Answer(move, chance_of(float(odds_of(code))), self.formations[found >> of.TABLE_SHIFT])


def _fits(formation: Rules, rules: Rules) -> bool:
    """Return True if a table of a formation is right for a game: the same board, and tiles spawn alike.

    With free large tiles and goal cells, nobody can tell on a whole board which of two equal tiles is the new one.
    """
    is_alike = formation.spawn_table == rules.spawn_table and formation.spawner == rules.spawner
    is_alike &= not (formation.shape.n_free and formation.goal_cells)
    return is_alike and not rules.null_moves and Formation(formation).whole == rules.shape


def _n_large(formation: Formation) -> int:
    return len(formation.copies[0].anchors) + formation.n_free


def _order(table: CompactTable) -> tuple[bool, int, int]:
    shape = table.problem.rules.shape
    return shape.n_free > 0, shape.n_free - shape.n_cells, table.size.radix


def _word(board: Board) -> np.uint64:
    return np.uint64(downgrade(np.array(board.ranks, np.uint8)))


def _nibbles(cells: tuple[int, ...] | frozenset[int]) -> int:
    return sum(15 << 4 * cell for cell in cells)
