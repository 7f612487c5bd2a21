"""`/api/tables`: what solved boards know, and the boards where the choice matters most."""

import re
from functools import lru_cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from lab2048.errors import BoardError
from lab2048.jobs.command_line import command_line
from lab2048.rules import Board
from lab2048.rules.move import move_name
from lab2048.stop_flag import current
from lab2048.views.charts import Chart, layer_chart
from lab2048.views.web.errors import ConflictError, one_line
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.serialize.schema import (
    CSV,
    ERRORS,
    MAX_TEXT,
    NAME,
    Body,
    ChartData,
    DamagedData,
    GoneData,
    RulesData,
    ShapeData,
    csv_response,
)
from lab2048.views.web.state import Gone, Lab, LabOf

if TYPE_CHECKING:
    from lab2048.solver.probing import MoveValue
    from lab2048.solver.table import Table

NOISE = 1e-6  # relative differences of values that mean nothing
SAMPLE = 400  # afterstates in the sample, and
SPAWNS = 6  # spawns after each

router = APIRouter(prefix="/api/tables", tags=["tables"], responses=ERRORS)
TableName = Annotated[str, Path(alias="table", pattern=NAME, examples=["2x2-score"])]


class SolvedData(BaseModel):
    """A solved board."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str
    rules: RulesData
    objective: str
    value: float
    loss: float | None
    states: int
    afterstates: int
    layers: int
    bytes: int
    spec: str
    job: str | None = None


class SolvedList(BaseModel):
    """The tables of the page, and folders of tables that are unfinished or damaged."""

    tables: list[SolvedData]
    others: list[DamagedData]


class SolvedShown(SolvedData):
    """A table and its first board."""

    shape: ShapeData
    start: list[int]
    chart: ChartData


class ProbeBody(Body):
    """A board, as text or as ranks, by default the first board; and the move to follow, by default the best."""

    board: str | None = Field(default=None, max_length=MAX_TEXT)
    ranks: list[Annotated[int, Field(ge=0, le=15)]] | None = Field(default=None, max_length=64)
    move: int | None = Field(default=None, ge=0, le=5)


class MoveProbed(BaseModel):
    """The result of a move."""

    move: int
    name: str
    value: float
    loss: float | None
    reward: int
    ranks: list[int]


class SpawnProbed(BaseModel):
    """The result of a spawn after the best move."""

    cell: int
    rank: int
    probability: float
    value: float
    loss: float | None
    ranks: list[int]


class ProbeData(BaseModel):
    """The exact values of a board."""

    board: str
    ranks: list[int]
    objective: str
    value: float
    loss: float | None
    best: int | None
    over: bool
    won: bool
    moves: list[MoveProbed]
    followed: int | None  # the move whose spawns are listed
    spawns: list[SpawnProbed]
    command: str


class HardPosition(BaseModel):
    """A board where the obvious move, which merges most, is worse than the best, or where only one move is good."""

    board: str
    ranks: list[int]
    best: int
    best_name: str
    value: float
    loss: float | None
    obvious: int
    obvious_name: str
    obvious_value: float
    obvious_loss: float | None
    is_trap: bool  # else the obvious move is the best, and `obvious` is the second best


class HardList(BaseModel):
    """The hardest boards of a sample."""

    positions: list[HardPosition]
    looked_at: int


@router.get("")
def list_tables(lab: LabOf) -> SolvedList:
    """List the tables of the page."""
    tables, others = table_lists(lab)
    return SolvedList(tables=tables, others=others)


@router.get("/{table}")
def show(lab: LabOf, name: TableName) -> SolvedShown:
    """A table."""
    table = open_table(lab, name)
    return SolvedShown(
        **_describe(lab, name, table).model_dump(),
        shape=shape_data(table.problem.rules.board),
        start=list(first_board(table).ranks),
        chart=ChartData.of(_layers(table), f"/api/tables/{name}/layers"),
    )


@router.get("/{table}/layers")
def layers(lab: LabOf, name: TableName) -> ChartData:
    """Return a chart of the boards per layer."""
    return show(lab, name).chart


@router.get("/{table}/layers/csv", **CSV)
def layers_csv(lab: LabOf, name: TableName) -> Response:
    """Return the numbers of the chart as CSV."""
    return csv_response(_layers(open_table(lab, name)).to_csv(), f"{name}-layers")


@router.post("/{table}/probe")
def probe(lab: LabOf, name: TableName, body: ProbeBody) -> ProbeData:
    """Return the value of every move, and of every spawn after one of them, by default the best."""
    table = open_table(lab, name)
    rules = table.problem.rules
    if body.board is not None:
        board = Board.from_text(body.board)
    elif body.ranks is not None:
        if len(body.ranks) != rules.shape.n_cells:
            raise BoardError(f"{len(body.ranks)} ranks: expected {rules.shape.n_cells}, one for each cell")
        board = Board(rules.shape, tuple(body.ranks))
    else:
        board = first_board(table)
    moves = [] if table.problem.is_decided(board) else table.move_values(board)
    best = table.best(moves) if moves else None
    followed = next((each for each in moves if body.move is not None and int(each.move) == body.move), best)
    value, loss = table.state_value(board)
    return ProbeData(
        board=board.to_text(),
        ranks=list(board.ranks),
        objective=table.problem.objective.value,
        value=value,
        loss=loss,
        best=int(best.move) if best else None,
        over=not board.legal_moves(),
        won=table.problem.is_won(board),
        moves=[_move(each) for each in sorted(moves, key=lambda each: (-each.value, each.loss or 0.0))],
        followed=int(followed.move) if followed else None,
        spawns=_spawns(table, followed) if followed and not table.problem.is_decided(followed.after) else [],
        command=command_line(["probe", str(table.folder), board.to_text()]),
    )


@router.get("/{table}/hardest")
def hardest(lab: LabOf, gone: Gone, name: TableName, n: Annotated[int, Query(ge=1, le=100)] = 20) -> HardList:
    """List boards of a sample where the move that merges most loses most; then those with one good move."""
    path = lab.library.table(name)
    with lab.heavy_work(gone):
        found = _hardest(path, (path / "manifest.json").stat().st_mtime_ns)
    return HardList(positions=found[:n], looked_at=len(found))


def open_table(lab: Lab, name: str) -> "Table":
    """Return a complete table; raise an error if there is none."""
    return open_path(lab.library.table(name))


def open_path(path: File) -> "Table":
    """Open the table of a folder, and cache it."""
    manifest = path / "manifest.json"
    return _open(path, manifest.stat().st_mtime_ns if manifest.exists() else 0)


@lru_cache(maxsize=8)
def _open(path: File, changed: int) -> "Table":  # noqa: ARG001 - part of the cache key: a changed table is opened again
    from lab2048.solver.table import Table

    return Table.open(path)


def first_board(table: "Table") -> Board:
    """Return the most likely first board."""
    return max(table.problem.starts, key=lambda start: start.chance).board


@router.delete("/{table}")
def delete(lab: LabOf, name: TableName) -> GoneData:
    """Delete a table, or what is left of an unfinished or damaged one."""
    from lab2048.solver.table_folder import held_files

    job = lab.jobs.find("solve", name)
    if job and job.is_active:
        raise ConflictError(f"table {name} is being solved: cancel {job.id} first")
    path = lab.library.table(name)
    lab.players.forget(str(path))
    with held_files(path) as files:
        undo = lab.trash.put(name, files)
    return GoneData(deleted=name, undo=undo)


def table_lists(lab: Lab) -> tuple[list[SolvedData], list[DamagedData]]:
    """Return the complete tables by name, and the folders that are unfinished or damaged."""
    from lab2048.solver.table_folder import is_table_folder, state_of

    found, others = [], []
    folder = lab.library.tables
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        name = path.name
        if not re.fullmatch(NAME, name) or not is_table_folder(path):
            continue
        try:
            state = state_of(path)
            if state.state == "complete":
                found.append(_describe(lab, name, open_table(lab, name)))
                continue
            kind, reason = state.state, state.reason
        except Exception as error:  # whatever is wrong with one table, the others are listed
            kind, reason = "damaged", f"{type(error).__name__}: {error}"
        job = lab.jobs.find("solve", name)
        if not (job and job.is_active):
            others.append(DamagedData(name=name, state=kind, reason=one_line(reason), bytes=_size(path)))
    return found, others


def _size(folder: File) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _layers(table: "Table") -> Chart:
    layers = [(layer.tile_sum, layer.count.states, layer.count.afterstates) for layer in table.layers.values()]
    return layer_chart(sorted(layers))


def _describe(lab: Lab, name: str, table: "Table") -> SolvedData:
    job = lab.jobs.find("solve", name)
    return SolvedData(
        name=name,
        rules=RulesData.of(table.problem.rules),
        objective=table.problem.objective.value,
        value=table.manifest["value"],
        loss=table.manifest.get("loss_probability"),
        states=table.count.states,
        afterstates=table.count.afterstates,
        layers=len(table.layers),
        bytes=table.n_bytes,
        spec=f"optimal:table={name}",
        job=job.id if job else None,
    )


def _move(move: "MoveValue") -> MoveProbed:
    name = move_name(move.move)
    ranks = list(move.after.ranks)
    return MoveProbed(move=int(move.move), name=name, value=move.value, loss=move.loss, reward=move.reward, ranks=ranks)


def _spawns(table: "Table", move: "MoveValue") -> list[SpawnProbed]:
    found = []
    for spawn in table.problem.rules.spawns(move.after):
        state = move.after.put(spawn.cell, spawn.rank)
        value, loss = table.state_value(state)
        p, ranks = spawn.probability, list(state.ranks)
        found.append(SpawnProbed(cell=spawn.cell, rank=spawn.rank, probability=p, value=value, loss=loss, ranks=ranks))
    return sorted(found, key=lambda each: (-each.value, each.loss or 0.0))


@lru_cache(maxsize=32)
def _hardest(path: File, changed: int) -> list[HardPosition]:  # noqa: ARG001 - part of the cache key: a changed table is sampled again
    """Return the boards of a sample with a choice of moves, hardest first."""
    from lab2048.solver.probing import obvious_move

    table = open_path(path)
    found: dict[str, HardPosition] = {}
    for after in _sample(table):
        current().check()
        for spawn in table.problem.rules.spawns(after)[:SPAWNS]:
            board = table.problem.canonical(after.put(spawn.cell, spawn.rank))
            if table.problem.is_decided(board):
                continue
            moves = sorted(table.move_values(board), key=lambda move: (-move.value, move.loss or 0.0))
            if len(moves) < 2:
                continue
            best, obvious = table.best(moves), obvious_move(moves)
            is_trap = best.value - obvious.value > NOISE * abs(best.value)
            if not is_trap:
                obvious = moves[1]
            if best.value <= obvious.value:
                continue
            found[board.to_text()] = HardPosition(
                board=board.to_text(),
                ranks=list(board.ranks),
                best=int(best.move),
                best_name=move_name(best.move),
                value=best.value,
                loss=best.loss,
                obvious=int(obvious.move),
                obvious_name=move_name(obvious.move),
                obvious_value=obvious.value,
                obvious_loss=obvious.loss,
                is_trap=is_trap,
            )
    return sorted(found.values(), key=_ease)


def _ease(position: HardPosition) -> tuple[bool, bool, float]:
    """Sort by what the obvious move loses: traps first; what it loses at once, which everybody sees, last."""
    is_plain = position.obvious_value <= 0 or (position.loss is not None and position.value >= 1)
    return not position.is_trap, is_plain, position.obvious_value - position.value


def _sample(table: "Table") -> list[Board]:
    """Yield a fixed sample of afterstates from the whole table."""
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
