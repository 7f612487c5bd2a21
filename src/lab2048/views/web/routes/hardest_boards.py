"""`/api/tables/.../hardest`: boards of a table where the choice matters most."""

from functools import lru_cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from lab2048.rules import Board
from lab2048.views.web.routes.tables import TableName, open_path
from lab2048.views.web.serialize.schema import ERRORS
from lab2048.views.web.state import LabOf

if TYPE_CHECKING:
    from lab2048.solver.table import Table

SAMPLE = 400  # afterstates that are looked at for hard positions, and
SPAWNS = 6  # spawns after each

router = APIRouter(prefix="/api/tables", tags=["tables"], responses=ERRORS)


class HardPosition(BaseModel):
    """A board where the second best move is much worse than the best."""

    board: str
    ranks: list[int]
    value: float
    loss: float | None
    second: float
    second_loss: float | None
    best: int


class HardList(BaseModel):
    """The hardest of the boards that were looked at."""

    positions: list[HardPosition]
    looked_at: int


@router.get("/{table}/hardest")
def hardest(lab: LabOf, name: TableName, n: Annotated[int, Query(ge=1, le=100)] = 20) -> HardList:
    """Boards of a sample where the second best move loses most."""
    path = lab.library.table(name)
    with lab.heavy_work():
        found = _hardest(path, (path / "manifest.json").stat().st_mtime_ns)
    return HardList(positions=found[:n], looked_at=len(found))


@lru_cache(maxsize=32)
def _hardest(path: File, changed: int) -> list[HardPosition]:  # noqa: ARG001 - one that is made anew is looked at anew
    """All boards of a sample with a choice, those where the choice matters most first."""
    table = open_path(path)
    found: dict[str, HardPosition] = {}
    for after in _sample(table):
        for spawn in table.problem.rules.spawns(after)[:SPAWNS]:
            board = after.put(spawn.cell, spawn.rank).canonical()
            if table.problem.is_won(board):
                continue
            moves = sorted(table.move_values(board), key=lambda move: (-move.value, move.loss or 0.0))
            if len(moves) < 2:
                continue
            best = table.best(moves)
            found[board.to_text()] = HardPosition(
                board=board.to_text(),
                ranks=list(board.ranks),
                value=best.value,
                loss=best.loss,
                second=moves[1].value,
                second_loss=moves[1].loss,
                best=int(best.move),
            )
    return sorted(found.values(), key=lambda each: each.second - each.value)


def _sample(table: "Table") -> list[Board]:
    """Afterstates from all over a table, always the same."""
    from lab2048.kernels.board.block import GATHER

    n_all = max(1, table.count.afterstates)
    shape = table.problem.rules.shape
    found: list[Board] = []
    for layer in table.layers.values():
        keys: Any = layer.keys.map()
        n = max(1, round(SAMPLE * len(keys) / n_all)) if len(keys) else 0
        for i in range(n):
            word = int(keys[i * len(keys) // n]) * int(GATHER) % 2**64
            board = Board.from_packed(shape, word)
            if not table.problem.is_won(board) and board.n_empty:
                found.append(board)
    return found
