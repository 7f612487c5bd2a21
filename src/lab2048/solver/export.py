"""Export tables to SQLite, Parquet or CSV, one row per afterstate; SQLite also has the best action of every state.

sum        tile sum
ranks      the cells in order, one hexadecimal digit each: 0 empty, 1 the tile 2, b 2048
n_empty    empty cells
max_tile   the highest tile
value      the probability of reaching the goal, or the expected future score
loss       with a goal: the probability of missing it, precise where the value is near 1
action     of a state: the name of the best move

Boards stand for all their symmetric copies, and an action is that of the board as it is written.
"""

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lab2048.errors import FileError, TargetExistsError, UnknownNameError
from lab2048.extras import load
from lab2048.kernels.board.bits import U64
from lab2048.kernels.board.block import GATHER, Words
from lab2048.kernels.solve import backup, policy
from lab2048.kernels.solve.backup import Values
from lab2048.rules.move import move_name
from lab2048.solver.column_file import Array
from lab2048.solver.final_tiles import key_index_of
from lab2048.solver.problem import Objective
from lab2048.solver.table import Layer, Table
from lab2048.solver.verify import states_after

_CHUNK = 1 << 16
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
NAMES = ("sum", "ranks", "n_empty", "max_tile", "value", "loss")


def export(table: Table, kind: str, path: Path, *, force: bool) -> int:
    """Write the table atomically; return the number of rows."""
    writers: dict[str, Callable[[Table, Path], None]] = {
        "sqlite": _write_sqlite,
        "parquet": _write_parquet,
        "csv": _write_csv,
    }
    if kind not in writers:
        raise UnknownNameError("format", kind, writers)
    if path.exists() and not (force and path.is_file()):
        raise TargetExistsError(f"{path} exists already")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        writers[kind](table, part)
        part.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise FileError(f"{path} cannot be written: {error}", code="file.unwritable") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return table.count.afterstates


def _chunks(table: Table) -> Iterator[dict[str, Array]]:
    """Yield the columns of the table in chunks of rows."""
    for layer in table.layers.values():
        for begin in range(0, layer.keys.n, _CHUNK):
            yield _columns(table, layer, begin, min(begin + _CHUNK, layer.keys.n))


def _columns(table: Table, layer: Layer, begin: int, end: int) -> dict[str, Array]:
    values = layer.values.read(begin, end).astype(np.float64)
    return _facts(table, layer.tile_sum, layer.keys.read(begin, end) * GATHER, values)


def _facts(table: Table, tile_sum: int, boards: Words, values: Values) -> dict[str, Array]:
    """Return the columns of boards with these odds or scores."""
    n_cells = table.problem.rules.shape.n_cells
    ranks = np.stack([(boards >> np.uint64(4 * cell)) & np.uint64(15) for cell in range(n_cells)], 1).astype(np.uint8)
    columns: dict[str, Array] = {
        "sum": np.full(len(boards), tile_sum),
        "ranks": _DIGITS[ranks].view(f"S{n_cells}").ravel().astype(f"U{n_cells}"),
        "n_empty": (ranks == 0).sum(1),
        "max_tile": np.int64(1) << ranks.max(1).astype(np.int64),
        "value": values,
    }
    if table.problem.objective is Objective.WIN:
        loss = 1 / (1 + values)
        with np.errstate(invalid="ignore"):
            columns["value"] = np.where(values > 1, 1 - loss, values * loss)
        columns["loss"] = loss
    return columns


def _state_columns(table: Table, tile_sum: int) -> dict[str, Array]:
    """Return the states of one tile sum that have a move, and the best one."""
    problem = table.problem
    parts = [problem.start_keys(tile_sum)]
    for rank, _ in problem.rules.spawn_table:
        before = table.layers.get(tile_sum - 2**rank)
        if before is not None and not 0 < problem.goal_rank <= rank:
            parts += states_after(table, before.keys.read(), rank)
    keys = np.unique(np.concatenate(parts))
    moves, values = np.empty(len(keys), np.int64), np.empty(len(keys))
    policy.best_moves(problem.plan, keys, U64(problem.goal_rank), key_index_of(table, tile_sum), moves, values)
    keys, moves, values = keys[moves >= 0], moves[moves >= 0], values[moves >= 0]
    if problem.objective is Objective.SCORE:
        potentials = np.empty(len(keys))
        backup.potentials(keys, potentials)
        values -= potentials
    names = np.array([move_name(move) for move in problem.rules.shape.moves])
    return _facts(table, tile_sum, keys * GATHER, values) | {"action": names[moves]}


def _rows(columns: dict[str, Array]) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.tolist() for column in columns.values()), strict=True)


def _names(table: Table) -> tuple[str, ...]:
    return NAMES if table.problem.objective is Objective.WIN else NAMES[:-1]


def _write_sqlite(table: Table, path: Path) -> None:
    names = _names(table)
    kinds = ("INTEGER", "TEXT", "INTEGER", "INTEGER", "REAL", "REAL")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("PRAGMA synchronous = OFF")
        store.execute("PRAGMA journal_mode = OFF")  # the file is renamed only when complete
        columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in zip(names, kinds, strict=False))
        store.execute(f"CREATE TABLE afterstates ({columns})")
        store.execute("CREATE TABLE problem (name TEXT, value TEXT)")
        facts = {**table.problem.to_json()["rules"], "objective": table.problem.objective.value}
        facts["answer"] = table.manifest["value"]
        store.executemany("INSERT INTO problem VALUES (?, ?)", [(name, str(value)) for name, value in facts.items()])
        store.execute("BEGIN")
        insert = f"INSERT INTO afterstates VALUES ({', '.join('?' * len(names))})"
        for columns_of in _chunks(table):
            store.executemany(insert, _rows(columns_of))
        store.execute("CREATE INDEX by_ranks ON afterstates (ranks)")
        store.execute(f"CREATE TABLE states ({columns}, action TEXT NOT NULL)")
        insert = f"INSERT INTO states VALUES ({', '.join('?' * (len(names) + 1))})"
        tiles = [0, *(2**rank for rank, _ in table.problem.rules.spawn_table)]
        for tile_sum in sorted({tile_sum + tile for tile_sum in table.layers for tile in tiles}):
            store.executemany(insert, _rows(_state_columns(table, tile_sum)))
        store.execute("CREATE INDEX state_by_ranks ON states (ranks)")
        store.execute("COMMIT")


def _write_csv(table: Table, path: Path) -> None:
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(",".join(_names(table)) + "\n")
        for columns in _chunks(table):
            file.writelines(",".join(map(str, row)) + "\n" for row in _rows(columns))


def _write_parquet(table: Table, path: Path) -> None:
    arrow, parquet = load("pyarrow"), load("pyarrow.parquet")
    writer = None
    for columns in _chunks(table):
        rows = arrow.table(columns)
        writer = writer or parquet.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    if writer is None:
        raise FileError(f"{table.folder} has no rows to export")
    writer.close()
