"""A solve on many machines: its layers are made and valued in shards (lab2048.solver.shard).

The driver's folder gets every finished layer, in the same files as without shards, and the journal tells them.  So a
solve can go on with other nodes, or without any, and what a lost node had is read from the folder.  Between two layers
the nodes keep what the next layers need, and hand it to each other.  Small layers are made by the driver itself.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lab2048.cluster.data import Handle, LostDataError, get
from lab2048.errors import LabError, StoppedError
from lab2048.kernels.board.block import Words
from lab2048.solver.backward import Backward, LayerFiles, LayerValues
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.shard import Ask, Best, FileSlice, LookUp, Merge, ShardUnit, Slide, Source, Spawn, Value, edges
from lab2048.solver.workers import Workers

T = TypeVar("T")
LEAST = 1 << 20  # keys; smaller layers take less time than messages
PER_WORKER = 4  # shards, so that a slow node is not waited for long
# Every shard sends to every other one, so there are about as many as nodes, with several threads for each.  More than
# the most cost the command more time for messages than the nodes save (benchmarks/cluster_solve.py).
MIN_SHARDS, MAX_SHARDS = 32, 64
MAX_TRIALS = 20  # of a layer, when nodes are lost


@dataclass
class Shards:
    """Where the shards of a solve are worked on."""

    run: Callable[[Iterable[Any]], Iterator[tuple[int, Any]]]  # of an executor
    n_workers: Callable[[], int]
    n_nodes: Callable[[], int] = lambda: 1
    can_read: Callable[[Path, str], bool] = lambda *_: True  # whether all nodes can read a file of the driver
    # A factory reads it when a solve begins: tests lower it.
    least: int = field(default_factory=lambda: LEAST)
    n_shards: int = 0
    n_threads: int = 1  # that work on a shard
    _is_shared: bool | None = None
    _held: dict[int, list[Handle]] = field(default_factory=dict)  # afterstates of the last layers, by tile sum

    def begin(self) -> None:
        """Choose the number of shards, and of threads for each."""
        n_workers = max(1, self.n_workers())
        most = min(max(self.n_nodes(), MIN_SHARDS), MAX_SHARDS)
        self.n_shards = self.n_shards or min(PER_WORKER * n_workers, most)
        self.n_threads = -(-n_workers // self.n_shards)

    def each(self, make: Callable[[int], ShardUnit]) -> list[Any]:
        """Work on all shards; return the results in their order."""
        found = dict(self.run(make(i) for i in range(self.n_shards)))
        if len(found) < self.n_shards:
            raise StoppedError("the solve was stopped")
        return [found[i] for i in range(self.n_shards)]

    def until_done(self, work: Callable[[], T], forget: Callable[[], None]) -> T:
        """Do the work for a layer, again if a node is lost in it; `forget` drops what may be gone."""
        for _ in range(MAX_TRIALS):
            try:
                return work()
            except LostDataError:
                forget()
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

    def _sees(self, folder: Path) -> bool:
        if self._is_shared is None:
            path, token = folder / f".shared-{secrets.token_hex(4)}", secrets.token_hex(16)
            path.write_text(token)
            try:
                self._is_shared = self.can_read(path.absolute(), token)
            finally:
                path.unlink()
        return self._is_shared

    def hold(self, tile_sum: int, handles: list[Handle], reach: int) -> None:
        """Remember afterstates that the next layers need."""
        self._held = {far: held for far, held in self._held.items() if far > tile_sum - reach} | {tile_sum: handles}

    def held(self, tile_sum: int) -> list[Handle] | None:
        return self._held.get(tile_sum)

    def forget(self) -> None:
        """Drop what nodes hold, because one was lost."""
        self._held = {}


class _Common:
    """What both passes need."""

    problem: Problem
    memory: Memory
    shards: Shards

    def common(self, i: int) -> tuple[str, Memory, int, int]:
        n_threads = min(self.shards.n_threads, self.memory.n_workers)
        memory = Memory(self.memory.bytes // self.memory.n_workers * n_threads, n_threads)
        return json.dumps(self.problem.to_json()), memory, self.shards.n_shards, i


class ShardedForward(Forward, _Common):
    """Creates large layers on nodes."""

    def __init__(self, problem: Problem, workers: Workers, memory: Memory, work: Path, shards: Shards) -> None:
        super().__init__(problem, workers, memory, work)
        self.shards = shards
        self._reach = 1 << max(rank for rank, _ in problem.rules.spawn_table)

    def make_layer(
        self,
        tile_sum: int,
        afterstates: Callable[[int], Column | None],
        push: Callable[[Iterator[Words]], Column],
        keys_path: Path,
    ) -> tuple[LayerCount, Column, Column]:
        columns = {tile_sum - 2**rank: afterstates(tile_sum - 2**rank) for rank, _ in self.problem.rules.spawn_table}
        if sum(column.n for column in columns.values() if column is not None) < self.shards.least:
            return super().make_layer(tile_sum, afterstates, push, keys_path)
        sources = {each: column for each, column in columns.items() if column is not None and column.n}
        return self.shards.until_done(lambda: self._make(tile_sum, sources, push, keys_path), self.shards.forget)

    def _make(
        self,
        tile_sum: int,
        columns: dict[int, Column],
        push: Callable[[Iterator[Words]], Column],
        keys_path: Path,
    ) -> tuple[LayerCount, Column, Column]:
        shards = self.shards
        sources: dict[int, Sequence[Source]] = {
            each: shards.held(each) or shards.sources(column, shards.cuts(column)) for each, column in columns.items()
        }
        found = shards.each(
            lambda i: Spawn(*self.common(i), tile_sum, {each: parts[i] for each, parts in sources.items()})
        )
        slid = shards.each(lambda i: Slide(*self.common(i), [parts[i] for parts in found]))
        merged = shards.each(
            lambda i: Merge(*self.common(i), [each[1][i] for each in slid], [each[2][i] for each in slid])
        )
        states = push(get(each[0]) for each in slid)
        keys = write_column(keys_path, "<u8", (get(handle) for handle, _ in merged), is_kept=True)
        shards.hold(tile_sum, [handle for handle, _ in merged], self._reach)
        count = sum((each[3] for each in slid), LayerCount()) + sum((each for _, each in merged), LayerCount())
        return count, states, keys


class ShardedBackward(Backward, _Common):
    """Values large layers on nodes."""

    def __init__(self, problem: Problem, workers: Workers, memory: Memory, *, dtype: str, shards: Shards) -> None:
        super().__init__(problem, workers, memory, dtype=dtype)
        self.shards = shards

    def value_layer(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None]
    ) -> tuple[Column, LayerValues, dict[int, float]]:
        if files.keys.n + files.states.n < self.shards.least:
            return super().value_layer(files, above)
        return self.shards.until_done(lambda: self._value(files, above), self.shards.forget)

    def _value(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None]
    ) -> tuple[Column, LayerValues, dict[int, float]]:
        shards = self.shards
        keys = shards.sources(files.keys, shards.cuts(files.keys))
        states = shards.sources(files.states, shards.cuts(files.states))
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
        best = shards.each(lambda i: Best(*self.common(i), states[i], (asked[i][1], slides[i])))
        path = files.state_values_path
        values = write_column(path, "<f8", (get(handle) for handle, _ in best), is_kept=False)
        starts = {key: value for _, found in best for key, value in found.items()}
        return column, LayerValues(files.states, values), starts

    def _look_up(self, layer_values: LayerValues, asked: Sequence[Sequence[Handle]]) -> list[list[Handle]]:
        """Return the values that each shard asked for, by the shard that knows them."""
        cuts = self.shards.cuts(layer_values.keys)
        keys = self.shards.sources(layer_values.keys, cuts)
        if layer_values.key_index is not None:
            values: list[Source] = [layer_values.key_index.values[begin:end] for begin, end in cuts]
        else:
            assert layer_values.values is not None  # not in memory, so in a file
            values = self.shards.sources(layer_values.values, cuts)
        return self._answers(keys, values, asked)

    def _answers(
        self, keys: Sequence[Source], values: Sequence[Source], asked: Sequence[Sequence[Handle]]
    ) -> list[list[Handle]]:
        answered = self.shards.each(lambda i: LookUp(*self.common(i), keys[i], values[i], [each[i] for each in asked]))
        return [[answered[owner][i] for owner in range(self.shards.n_shards)] for i in range(len(asked))]
