"""A solve on many machines: its layers are made and valued in shards (lab2048.solver.nodes.shard).

Layers live on the disks of the nodes: afterstates, states, and the values of states.  The driver's folder gets what the
table needs, in the same files as without shards, and the journal tells which node has which shard.  So a solve can go
on with other nodes, or without any: the afterstates that a lost node had are read from the driver's folder, its states
are made again from the afterstates of the layers before, and values from the last checkpoint on.  Small layers are made
by the driver itself.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lab2048.cluster.data import Handle, LostDataError, get
from lab2048.cluster.node_disk import FOLDER_NAME
from lab2048.errors import LabError, StoppedError
from lab2048.kernels.board.block import Words
from lab2048.solver.backward import Backward, LayerFiles, LayerValues
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.memory import Memory
from lab2048.solver.nodes.shard import (
    Ask,
    Best,
    FileSlice,
    LookUp,
    Merge,
    Restore,
    ShardUnit,
    Slide,
    Source,
    Spawn,
    Value,
    edges,
)
from lab2048.solver.nodes.spread_column import KEYS, STATE_VALUES, STATES, Disks, SpreadColumn
from lab2048.solver.problem import Problem
from lab2048.solver.workers import Workers

T = TypeVar("T")


class LostValuesError(LostDataError):
    """The values of a layer above are gone with a node: the solve has to go back to its last checkpoint."""


LEAST = 1 << 20  # keys; smaller layers take less time than messages
PER_WORKER = 4  # shards, so that a slow node is not waited for long
# Every shard sends to every other one.  More shards cost the command more time for messages than the nodes save
# (benchmarks/cluster_solve.py); with more workers than shards, several threads work on each.
MOST_SHARDS = 32
MAX_TRIALS = 20  # of a layer, when nodes are lost
NODES = "nodes"  # the line of the journal that tells where nodes keep shards, and how many shards there are


def check_nodes_line(line: Mapping[str, Any]) -> None:
    """Raise ValueError unless the journal names a folder of nodes: it will be deleted."""
    if not re.fullmatch(FOLDER_NAME, line["folder"]) or not 1 <= line["n_shards"] <= PER_WORKER * MOST_SHARDS:
        raise ValueError("the folder of the nodes has an impossible name")


@dataclass
class Shards:
    """Where the shards of a solve are worked on."""

    run: Callable[[Iterable[Any]], Iterator[tuple[int, Any]]]  # of an executor
    n_workers: Callable[[], int]
    can_read: Callable[[Path, str], bool] = lambda *_: True  # whether all nodes can read a file of the driver
    settle: Callable[[Mapping[int, str]], None] = lambda _: None  # gives shards to worker processes
    disks: Disks = field(default_factory=Disks)
    # A factory reads it when a solve begins: tests lower it.
    least: int = field(default_factory=lambda: LEAST)
    n_shards: int = 0
    n_threads: int = 1  # that work on a shard
    _is_shared: bool | None = None
    _keys: dict[int, SpreadColumn] = field(default_factory=dict)  # afterstates on the nodes, by tile sum

    def begin(self) -> None:
        """Choose the number of shards, and of threads for each."""
        self.n_shards = self.n_shards or min(PER_WORKER * max(1, self.n_workers()), MOST_SHARDS)
        self._share_threads()

    def go_on(self, folder: str, n_shards: int) -> None:
        """Go on with the files of an earlier session."""
        self.disks.folder, self.n_shards = folder, n_shards
        self._share_threads()
        self.look()

    def _share_threads(self) -> None:
        self.n_threads = -(-max(1, self.n_workers()) // self.n_shards)

    def look(self) -> None:
        """Find out which node has which file, and have each shard worked on where its files are."""
        self.disks.look()
        self.settle(self.disks.owners(self.n_shards))

    def each(self, make: Callable[[int], ShardUnit], some: Iterable[int] | None = None) -> list[Any]:
        """Work on shards, or on all; return the results in their order."""
        wanted = list(range(self.n_shards) if some is None else some)
        found = dict(self.run(make(i) for i in wanted))
        if len(found) < len(wanted):
            raise StoppedError("the solve was stopped")
        return [found[i] for i in wanted]

    def until_done(self, work: Callable[[], T]) -> T:
        """Do the work for a layer, again if a node is lost in it."""
        for _ in range(MAX_TRIALS):
            try:
                return work()
            except LostValuesError:
                raise
            except LostDataError:
                self.look()
        raise LabError(f"nodes were lost {MAX_TRIALS} times in one layer: progress is saved", code="cluster.node_lost")

    def cuts(self, column: Column) -> list[tuple[int, int]]:
        """Return where each shard begins and ends in a sorted column."""
        keys = column.array if column.array is not None else column.map()
        cuts = [0, *np.searchsorted(keys, edges(self.n_shards)).tolist(), column.n]
        return list(pairwise(cuts))

    def sources(self, column: Column, cuts: Sequence[tuple[int, int]]) -> list[Source]:
        """Return the shards of a column: ranges of its file if the nodes can read it, else the numbers."""
        if column.array is None and self._sees(column.path.parent):
            there = replace(column, path=column.path.absolute())
            return [FileSlice(there, begin, end) for begin, end in cuts]
        return [column.read(begin, end) for begin, end in cuts]

    def key_sources(self, tile_sum: int, column: Column) -> list[Source]:
        """Return the shards of afterstates: the files of the nodes, and what they lack from the driver's file."""
        spread = self._keys.get(tile_sum)
        if spread is None:
            return self.sources(column, self.cuts(column))
        missing = spread.missing
        if not missing:
            return list(spread.files())
        lacking = dict(zip(missing, self.sources(column, [spread.cuts[i] for i in missing]), strict=True))
        return [spread.file(i) or lacking[i] for i in range(self.n_shards)]

    def _sees(self, folder: Path) -> bool:
        if self._is_shared is None:
            path, token = folder / f".shared-{secrets.token_hex(4)}", secrets.token_hex(16)
            path.write_text(token)
            try:
                self._is_shared = self.can_read(path.absolute(), token)
            finally:
                path.unlink()
        return self._is_shared

    def hold(self, keys: SpreadColumn) -> None:
        """Remember the afterstates of a layer that the nodes have."""
        self._keys[keys.tile_sum] = keys

    def to_json(self, states: SpreadColumn) -> dict[str, Any]:
        """Return where a layer is, for the journal: the node, size and checksum of each shard."""
        columns = {KEYS: self._keys[states.tile_sum], STATES: states}
        return {
            "on": states.hosts,
            **{kind: [list(each) for each in column.shards] for kind, column in columns.items()},
        }

    def drop(self, tile_sum: int) -> None:
        """Delete what no layer needs any more: layers from a tile sum on."""
        self.disks.drop(tile_sum)
        self._keys = {each: keys for each, keys in self._keys.items() if each < tile_sum}


class _Common:
    """What both passes need."""

    problem: Problem
    memory: Memory
    shards: Shards

    def common(self, i: int) -> tuple[str, Memory, int, str, int]:
        n_threads = min(self.shards.n_threads, self.memory.n_workers)
        memory = Memory(self.memory.bytes // self.memory.n_workers * n_threads, n_threads)
        return json.dumps(self.problem.to_json()), memory, self.shards.n_shards, self.shards.disks.folder, i

    def spawn(self, tile_sum: int, afterstates: Callable[[int], Column | None]) -> list[list[Handle]]:
        """Return the states of a layer that each shard finds, by the shard that owns them."""
        sums = [tile_sum - 2**rank for rank, _ in self.problem.rules.spawn_table]
        sources = {
            each: self.shards.key_sources(each, column)
            for each in sums
            if (column := afterstates(each)) is not None and column.n
        }
        return self.shards.each(
            lambda i: Spawn(*self.common(i), tile_sum, {each: parts[i] for each, parts in sources.items()})
        )


class ShardedForward(Forward, _Common):
    """Creates large layers on nodes."""

    def __init__(self, problem: Problem, workers: Workers, memory: Memory, work: Path, shards: Shards) -> None:
        super().__init__(problem, workers, memory, work)
        self.shards = shards

    def make_layer(
        self,
        tile_sum: int,
        afterstates: Callable[[int], Column | None],
        push: Callable[[Iterator[Words]], Column],
        keys_path: Path,
    ) -> tuple[LayerCount, Column, Column]:
        columns = [afterstates(tile_sum - 2**rank) for rank, _ in self.problem.rules.spawn_table]
        if sum(column.n for column in columns if column is not None) < self.shards.least:
            return super().make_layer(tile_sum, afterstates, push, keys_path)
        return self.shards.until_done(lambda: self._make(tile_sum, afterstates, keys_path))

    def _make(
        self, tile_sum: int, afterstates: Callable[[int], Column | None], keys_path: Path
    ) -> tuple[LayerCount, Column, Column]:
        shards = self.shards
        found = self.spawn(tile_sum, afterstates)
        slid = shards.each(lambda i: Slide(*self.common(i), tile_sum, [parts[i] for parts in found]))
        merged = shards.each(
            lambda i: Merge(*self.common(i), tile_sum, [each[1][i] for each in slid], [each[2][i] for each in slid])
        )
        states = SpreadColumn.made(STATES, tile_sum, [each[0] for each in slid], shards.disks)
        spread = SpreadColumn.made(KEYS, tile_sum, [file for file, _ in merged], shards.disks)
        keys = write_column(keys_path, "<u8", spread.parts(), is_kept=True)
        shards.hold(spread)
        count = sum((each[3] for each in slid), LayerCount()) + sum((each for _, each in merged), LayerCount())
        return count, states, keys


class ShardedBackward(Backward, _Common):
    """Values large layers on nodes."""

    def __init__(
        self,
        problem: Problem,
        workers: Workers,
        memory: Memory,
        *,
        dtype: str,
        shards: Shards,
        afterstates: Callable[[int], Column | None],
    ) -> None:
        """`afterstates(tile_sum)` returns those of a layer, from the driver's folder."""
        super().__init__(problem, workers, memory, dtype=dtype)
        self.shards, self._afterstates_of = shards, afterstates

    def value_layer(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None]
    ) -> tuple[Column, LayerValues, dict[int, float]]:
        ranks = [rank for rank, _ in self.problem.rules.spawn_table]
        layers = [found for rank in ranks if (found := above(2**rank)) is not None]
        is_small = files.keys.n + files.states.n < self.shards.least

        def work() -> tuple[Column, LayerValues, dict[int, float]]:
            for states in (files.states, *(layer_values.keys for layer_values in layers)):
                self._complete(states)
            for layer_values in layers:
                if isinstance(layer_values.values, SpreadColumn) and layer_values.values.missing:
                    raise LostValuesError("values are gone with a node")
            return super(ShardedBackward, self).value_layer(files, above) if is_small else self._value(files, above)

        return self.shards.until_done(work)

    def _complete(self, states: Column) -> None:
        """Make the states again that are gone with a node."""
        missing = states.missing if isinstance(states, SpreadColumn) else []
        if not isinstance(states, SpreadColumn) or not missing:
            return
        found = self.spawn(states.tile_sum, self._afterstates_of)
        again = self.shards.each(
            lambda i: Restore(*self.common(i), states.tile_sum, [parts[i] for parts in found]), missing
        )
        for i, file in zip(missing, again, strict=True):
            if (file.n, file.checksum) != states.shards[i]:
                raise LabError(f"layer {states.tile_sum} was made again with another result", code="cluster.failed")
            self.shards.disks.note(file)

    def _value(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None]
    ) -> tuple[Column, LayerValues, dict[int, float]]:
        shards = self.shards
        keys = shards.key_sources(files.tile_sum, files.keys)
        states = self._shards_of(files.states)
        asked = shards.each(lambda i: Ask(*self.common(i), keys[i], states[i]))
        answers = {
            tile: self._look_up(layer_values, [following[tile] for following, _ in asked])
            for tile in asked[0][0]
            if (layer_values := above(tile)) is not None
        }
        valued = shards.each(
            lambda i: Value(
                *self.common(i),
                keys[i],
                {tile: (asked[i][0][tile], each[i]) for tile, each in answers.items()},
                self.dtype,
            )
        )
        column = write_column(files.values_path, self.dtype, (get(final) for _, final in valued), is_kept=True)
        slides = self._answers(keys, [exact for exact, _ in valued], [after for _, after in asked])
        best = shards.each(lambda i: Best(*self.common(i), files.tile_sum, states[i], (asked[i][1], slides[i])))
        values = SpreadColumn.made(STATE_VALUES, files.tile_sum, [file for file, _ in best], shards.disks)
        starts = {key: value for _, found in best for key, value in found.items()}
        return column, LayerValues(files.states, values), starts

    def _shards_of(self, column: Column) -> list[Source]:
        """Return the shards of states or of their values."""
        if isinstance(column, SpreadColumn):
            return list(column.files())
        return self.shards.sources(column, self.shards.cuts(column))

    def _look_up(self, layer_values: LayerValues, asked: Sequence[Sequence[Handle]]) -> list[list[Handle]]:
        """Return the values that each shard asked for, by the shard that knows them."""
        states, values = layer_values.keys, layer_values.values
        keys = self._shards_of(states)
        if isinstance(values, SpreadColumn):
            return self._answers(keys, values.files(), asked)
        cuts = states.cuts if isinstance(states, SpreadColumn) else self.shards.cuts(states)
        if layer_values.key_index is not None:
            return self._answers(keys, [layer_values.key_index.values[begin:end] for begin, end in cuts], asked)
        assert values is not None  # not in memory, so in a file
        return self._answers(keys, self.shards.sources(values, cuts), asked)

    def _answers(
        self, keys: Sequence[Source], values: Sequence[Source], asked: Sequence[Sequence[Handle]]
    ) -> list[list[Handle]]:
        answered = self.shards.each(lambda i: LookUp(*self.common(i), keys[i], values[i], [each[i] for each in asked]))
        return [[answered[owner][i] for owner in range(self.shards.n_shards)] for i in range(len(asked))]
