"""Compact tables of formations, at most 3 bytes per position, in a folder.

    manifest.json   the problem, the answer, the counts and the checksums of the columns
    groups.npy      which blocks have positions; see lab2048.kernels.solve.compact for the columns
    blocks.npy      which positions a block has
    codes.npy       the odds of each position, as 16-bit logarithms
    solved.json     when and how the table was made

A table is solved with all digits first (lab2048.solver.solve), then made compact: the odds are rounded to a multiple of
exp(1/1600), which changes a success rate by at most 0.00008.
"""

import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, LabError
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.solve import compact as kernels
from lab2048.kernels.solve.position_index import index_of
from lab2048.records.atomic_file import replacing
from lab2048.rules import Board
from lab2048.solver.column_file import Array, Column, write_column
from lab2048.solver.endgame.numbering import make_numbering, n_indexes
from lab2048.solver.forward import LayerCount
from lab2048.solver.probing import Probing
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.table import COMPACT_SCHEMA, MANIFEST, Layer, Table, read_manifest
from lab2048.solver.verify import Verified
from lab2048.stop_flag import current

SCHEMA = COMPACT_SCHEMA
COLUMNS = {"groups": "<u8", "blocks": "<u8", "codes": "<u2"}
MAX_ERROR = 0.25 / 2 / kernels.STEPS  # of a success rate, by rounding
RAREST = 1 / (1 + math.exp(kernels.EVEN / kernels.STEPS))  # probability of the last code before certainty
SMALL = 4_000_000  # positions
MAX_GROUP_BYTES = 1 << 28  # plus a byte per position


class Size(NamedTuple):
    """The sizes of a compact table: ranks of a cell, indexes of a block, and groups of blocks.

    `first` is the cell whose rank is the lowest digit of an index.
    """

    first: int
    radix: int
    width: int
    n_groups: int

    @classmethod
    def of(cls, problem: Problem, first: int = 0) -> Self:
        """Return the sizes of a problem's table."""
        n, radix = n_indexes(problem), problem.goal_rank
        width = min(kernels.MAX_WIDTH - kernels.MAX_WIDTH % radix, n)  # whole values of the first cell
        return cls(first, radix, width, -(-n // (64 * width)))


class CompactTable(Probing):
    """A compact table, opened for probing; its columns are memory-mapped."""

    def __init__(self, folder: Path, problem: Problem, columns: dict[str, Column], manifest: dict[str, Any]) -> None:
        """Use `open`."""
        self.folder, self.problem, self.columns, self.manifest = folder, problem, columns, manifest
        self.size = Size.of(problem, manifest["first"])
        self.numbering = make_numbering(problem, manifest["first"])  # must be kept as long as its address is used
        self._maps: dict[str, Array] = {}

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a table by reading its manifest."""
        data, path = read_manifest(folder, SCHEMA), folder / MANIFEST
        try:
            LayerCount.from_json(data)
            problem = Problem.from_json(data["problem"])
            columns = {}
            for name, dtype in COLUMNS.items():
                n, checksum = data["columns"][name]
                if type(n) is not int or n < 0:
                    raise ValueError(f"{name} {n!r}")
                columns[name] = Column(folder / f"{name}.npy", dtype, n, str(checksum))
            if not all(type(data[name]) in (int, float) and 0 <= data[name] <= 1 for name in _ANSWER):
                raise ValueError("its value is not a probability")
            if problem.objective is not Objective.WIN or not problem.is_fair:
                raise ValueError("it is not solved for a goal")
            if columns["groups"].n != 2 * Size.of(problem).n_groups or columns["codes"].n != data["afterstates"]:
                raise ValueError("its columns do not fit its problem")
            if type(data["layers"]) is not int:
                raise ValueError(f"layers {data['layers']!r}")
            if type(data["first"]) is not int or not 0 <= data["first"] < problem.rules.shape.n_cells:
                raise ValueError(f"first {data['first']!r}")
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path} is damaged: {type(error).__name__}: {error}", code="file.damaged") from None
        except LabError as error:
            raise FileError(f"{path} is damaged: {error}", code="file.damaged") from None
        return cls(folder, problem, columns, data)

    @property
    def count(self) -> LayerCount:
        """Return the number of positions of each kind."""
        return LayerCount.from_json(self.manifest)

    @property
    def all_columns(self) -> list[Column]:
        return list(self.columns.values())

    @property
    def n_bytes(self) -> int:
        """Return the size of the columns on disk."""
        return sum(column.n_bytes for column in self.all_columns)

    def array(self, name: str) -> Array:
        """Return a column, mapped into memory; it must be kept as long as its address is used."""
        if name not in self._maps:
            self._maps[name] = np.asarray(self.columns[name].map())
        return self._maps[name]

    def address(self, name: str) -> int:
        """Return the address of a column."""
        return address_of(self.array(name))

    def code(self, after: Board) -> int:
        """Return the code of an afterstate's odds; -1 if the table does not have it."""
        if after.is_packable and after.max_rank < self.size.radix:
            index = index_of(address_of(self.numbering), np.uint64(self.problem.canonical_word(after)))
            found = int(
                kernels.position_at(self.address("groups"), self.address("blocks"), self.size.width, int(index))
            )
            if 0 <= found < self.columns["codes"].n:
                return int(self.array("codes")[found])
        return kernels.MISSING

    def stored_value(self, after: Board) -> float:
        """Return the odds of an afterstate."""
        self.check_shape(after)
        if (code := self.code(after)) < 0:
            raise self.missing(after)
        return float(kernels.odds_of(code))

    def boards(self, chosen: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the packed boards of positions, given by their numbers in ascending order."""
        found, size = np.zeros(len(chosen), np.uint64), self.size
        groups, blocks = self.address("groups"), self.address("blocks")
        kernels.list_boards(groups, blocks, size.n_groups, address_of(self.numbering), size.width, chosen, found)
        return found


_ANSWER = ("value", "loss_probability")


def is_compactable(table: Table) -> bool:
    """Return True if a table is one of a formation, and its positions are not too sparse for groups of blocks."""
    problem = table.problem
    if problem.objective is not Objective.WIN or not problem.is_fair or not table.layers:
        return False
    return 16 * Size.of(problem).n_groups <= MAX_GROUP_BYTES + table.count.afterstates


def compact(table: Table) -> CompactTable:
    """Replace the layers of a table by compact columns; raise StoppedError if the stop flag is set.

    The manifest comes last and makes the compact table complete.  Until then the layers are there, and the same call
    begins again.
    """
    folder, n = table.folder, table.count.afterstates
    layers = [table.layers[tile_sum] for tile_sum in sorted(table.layers) if table.layers[tile_sum].keys.n]
    # Which cell comes first decides how full blocks are.  A small table tries all, a large one the best of most tables.
    firsts = range(table.problem.rules.shape.n_cells) if n <= SMALL else (0,)
    sizes = [Size.of(table.problem, first) for first in firsts]
    marked = (_mark_groups(layers, make_numbering(table.problem, size.first), size) for size in sizes)
    n_blocks, size, groups = min(marked, key=lambda found: found[0])
    numbering = make_numbering(table.problem, size.first)
    numbers = address_of(numbering), size.width
    blocks, codes = np.zeros(2 * n_blocks, np.uint64), np.zeros(n, np.uint16)
    for layer in layers:
        current().check()
        kernels.mark_blocks(layer.keys.read(), *numbers, address_of(groups), address_of(blocks))
    if int(kernels.count_blocks(address_of(blocks), n_blocks)) != n:
        raise FileError(f"{folder} is damaged: expected {n} distinct positions", code="file.damaged")
    addresses = address_of(groups), address_of(blocks), address_of(codes)
    for layer in layers:
        current().check()
        odds = layer.values.read().astype(np.float32)
        kernels.write_codes(layer.keys.read(), odds, *numbers, *addresses)
    columns = {
        name: write_column(folder / f"{name}.npy", COLUMNS[name], [numbers], is_kept=True)
        for name, numbers in (("groups", groups), ("blocks", blocks), ("codes", codes))
    }
    manifest = {
        "schema": SCHEMA,
        "problem": table.problem.to_json(),
        "measure": "odds",
        **{name: table.manifest[name] for name in _ANSWER},
        **table.count.to_json(),
        "layers": len(table.layers),
        "first": size.first,
        "columns": {name: [column.n, column.checksum] for name, column in columns.items()},
    }
    if hasattr(os, "sync"):
        os.sync()  # the files must be on disk before the manifest, in case the power fails
    with replacing(folder / MANIFEST, force=True) as file:
        file.write(json.dumps(manifest, indent=1) + "\n")
    delete_layers(folder)
    return CompactTable.open(folder)


def _mark_groups(
    layers: list[Layer], numbering: NDArray[np.uint64], size: Size
) -> tuple[int, Size, NDArray[np.uint64]]:
    """Return how many blocks there are with these sizes, and their groups."""
    groups = np.zeros(2 * size.n_groups, np.uint64)
    for layer in layers:
        current().check()
        kernels.mark_groups(layer.keys.read(), address_of(numbering), size.width, address_of(groups))
    return int(kernels.count_groups(address_of(groups), size.n_groups)), size, groups


def verify_compact(table: CompactTable, *, n_sample: int = 100_000) -> Verified:
    """Raise FileError, naming the file, if the table is wrong; `n_sample` 0 checks every position.

    A code is computed again from those of the positions that follow.  Theirs and its own are rounded, so the two may
    differ by 1.
    """
    for column in table.columns.values():
        column.check()
    n_all, size, problem = table.count.afterstates, table.size, table.problem
    rng = np.random.default_rng(n_all)  # the same sample every time
    chosen = np.arange(n_all) if n_sample == 0 or n_sample >= n_all else np.sort(rng.choice(n_all, n_sample, False))
    boards, odds = table.boards(chosen), np.empty(len(chosen))
    ranks, chances = (np.array(each) for each in zip(*problem.spawn_chances, strict=True))
    addresses = table.address("groups"), table.address("blocks"), table.address("codes")
    n_missing = kernels.recompute(
        problem.plan,
        boards,
        ranks.astype(np.uint64),
        chances.astype(float),
        address_of(table.numbering),
        size.width,
        *addresses,
        odds,
    )
    path = table.columns["codes"].path
    if n_missing:
        raise FileError(f"{path.with_name('blocks.npy')} lacks positions: expected all successors", code="file.damaged")
    with np.errstate(divide="ignore"):
        right = np.clip(kernels.EVEN + kernels.STEPS * np.log(odds), kernels.NEVER, kernels.CERTAIN)
    # Beyond the range of codes, a probability of winning or losing is wrong by up to that of the last code.
    rare = 1 / (1 + np.exp(np.abs(right - kernels.EVEN) / kernels.STEPS))
    allowed = 1.001 + 2 * kernels.STEPS * RAREST / rare
    off = np.abs(table.array("codes")[chosen].astype(float) - right) / allowed
    worst = float(off.max()) if len(off) else 0.0
    if worst > 1:
        raise FileError(f"{path}: value {chosen[off.argmax()]} differs from the recomputed one", code="file.damaged")
    return Verified(0, n_all, len(chosen), worst)


def delete_layers(folder: Path) -> None:
    """Delete the layers that a compact table replaces, also those that an earlier call could not delete."""
    for pattern in ("keys-*.npy*", "values-*.npy*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def open_table(folder: Path) -> Table | CompactTable:
    """Open the table in a folder, compact or not."""
    from lab2048.solver.table import SCHEMA as LAYERED

    is_compact = read_manifest(folder, LAYERED, SCHEMA)["schema"] == SCHEMA
    return CompactTable.open(folder) if is_compact else Table.open(folder)
