"""Shards of a layer, and the units of work of a sharded solve.

A shard is a range of keys; keys are spread evenly, so equal ranges hold about equally many.  Every shard has a home,
the node that owns its range.  A unit works on one shard, and hands what belongs to other shards to their owners, as
sorted arrays.  What later layers need is kept on its disk.  All results are the same as without shards, bit by bit.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from lab2048.cluster import node_disk
from lab2048.cluster.data import Handle, get, get_all, put
from lab2048.cluster.node_disk import NodeFile
from lab2048.kernels.board.block import Words
from lab2048.kernels.solve import backup, layer
from lab2048.kernels.solve.backup import KeyIndex, Values
from lab2048.solver.backward import Backward, LayerValues
from lab2048.solver.column_file import Column
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.memory import Memory
from lab2048.solver.nodes.spread_column import KEYS, STATE_VALUES, STATES, file_name
from lab2048.solver.problem import Problem
from lab2048.solver.sorted_run import Runs, merge_all
from lab2048.solver.workers import Workers

_NO_KEYS = np.empty(0, np.uint64)
_NO_SUM = -(2**40)  # stands for the tile sum of a layer; no start board has it


class FileSlice(NamedTuple):
    """A range of numbers in a file of the driver that nodes can read, too."""

    column: Column
    begin: int
    end: int


Source = Handle | FileSlice | NodeFile


def read(source: Source) -> Any:
    """Return the numbers of a source."""
    if isinstance(source, NodeFile):
        return node_disk.read(source)
    return source.column.read(source.begin, source.end) if isinstance(source, FileSlice) else get(source)


def edges(n_shards: int) -> Words:
    """Return the first key of each shard but the first one."""
    return np.array([(i << 64) // n_shards for i in range(1, n_shards)], np.uint64)


def cut(keys: Words, n_shards: int) -> list[tuple[int, int]]:
    """Return where each shard begins and ends in sorted keys."""
    cuts = [0, *np.searchsorted(keys, edges(n_shards)).tolist(), len(keys)]
    return list(pairwise(cuts))


@cache
def _problem(text: str) -> Problem:
    return Problem.from_json(json.loads(text))


@dataclass(frozen=True)
class ShardUnit(ABC):
    """Work on one shard of a layer, for executors."""

    problem_text: str
    memory: Memory
    n_shards: int
    folder: str  # of the node, for what is kept
    home: int  # the number of the shard

    @property
    def problem(self) -> Problem:
        return _problem(self.problem_text)

    @property
    def specs(self) -> tuple[str, ...]:
        return ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    @property
    def is_compiled(self) -> bool:
        return True

    def moved(self, where: Mapping[str, str]) -> Self:  # noqa: ARG002
        return self

    def run(self, is_stopped: Callable[[], bool]) -> tuple[int, Any]:  # noqa: ARG002
        """Return the number of the shard and the result of the work."""
        with node_disk.temporary(self.folder) as runs, Workers(self.memory.n_workers) as workers:
            return self.home, self.work(workers, runs)

    @abstractmethod
    def work(self, workers: Workers, folder: Path) -> Any:
        """Do the work; `folder` is temporary."""

    def keep(self, kind: str, tile_sum: int, numbers: Any) -> NodeFile:
        """Keep numbers of this shard on the disk of the node."""
        return node_disk.write(self.folder, file_name(kind, tile_sum, self.home), numbers)

    def share(self, keys: Words) -> list[Handle]:
        """Return handles of the parts of sorted keys, one for each shard."""
        return [put(keys[begin:end]) for begin, end in cut(keys, self.n_shards)]

    def together(self, runs: Runs, workers: Workers) -> Words:
        """Return all distinct keys of runs."""
        found = np.concatenate([*runs.merged(workers, self.memory.part), _NO_KEYS])
        runs.drop()
        return found


@dataclass(frozen=True)
class Spawn(ShardUnit):
    """The states that follow the afterstates of a shard; `sources` are afterstates by tile sum."""

    tile_sum: int
    sources: Mapping[int, Source]

    def work(self, workers: Workers, folder: Path) -> list[Handle]:
        """Return the states by shard."""
        columns = {tile_sum: _column(read(source)) for tile_sum, source in self.sources.items()}
        forward = Forward(self.problem, workers, self.memory, folder)
        return self.share(self.together(forward.states(self.tile_sum, columns.get), workers))


@dataclass(frozen=True)
class Slide(ShardUnit):
    """The states of a shard, merged from what all shards found, and their slides."""

    tile_sum: int
    found: Sequence[Handle]

    def work(self, workers: Workers, folder: Path) -> tuple[NodeFile, list[Handle], list[Handle], LayerCount]:
        """Keep the states; return the afterstates and the won ones by shard, and the counts of the states."""
        states = merge_all(get_all(self.found))
        forward = Forward(self.problem, workers, self.memory, folder)
        after, won, count = forward.afterstates(_column(states), states)
        afterstates, wins = self.together(after, workers), self.together(won, workers)
        return self.keep(STATES, self.tile_sum, states), self.share(afterstates), self.share(wins), count


@dataclass(frozen=True)
class Restore(ShardUnit):
    """The states of a shard, once more because they are gone, merged from what all shards found."""

    tile_sum: int
    found: Sequence[Handle]

    def work(self, workers: Workers, folder: Path) -> NodeFile:  # noqa: ARG002
        """Keep the states."""
        return self.keep(STATES, self.tile_sum, merge_all(get_all(self.found)))


@dataclass(frozen=True)
class Merge(ShardUnit):
    """The afterstates of a shard, merged from what all shards found."""

    tile_sum: int
    found: Sequence[Handle]
    won: Sequence[Handle]

    def work(self, workers: Workers, folder: Path) -> tuple[NodeFile, LayerCount]:  # noqa: ARG002
        """Keep the afterstates, and count them."""
        keys, won = (merge_all(get_all(some)) for some in (self.found, self.won))
        plan = self.problem.plan
        counts = (len(keys), int(layer.count_raw(plan, keys)), len(won), int(layer.count_raw(plan, won)))
        return self.keep(KEYS, self.tile_sum, keys), LayerCount(0, 0, 0, 0, *counts)


@dataclass(frozen=True)
class Ask(ShardUnit):
    """The keys whose values a shard needs: those that follow its afterstates, and the slides of its states."""

    keys: Source
    states: Source

    def work(self, workers: Workers, folder: Path) -> tuple[dict[int, list[Handle]], list[Handle]]:
        """Return the states that follow, by spawned tile and shard, and the afterstates by shard."""
        forward, keys = Forward(self.problem, workers, self.memory, folder), _column(read(self.keys))
        following = {}
        for rank, _ in self.problem.rules.spawn_table:
            if not 0 < self.problem.goal_rank <= rank:
                runs = forward.states(_NO_SUM + 2**rank, {_NO_SUM: keys}.get)
                following[2**rank] = self.share(self.together(runs, workers))
        states = read(self.states)
        after, won, _ = forward.afterstates(_column(states), states)
        won.drop()
        return following, self.share(self.together(after, workers))


@dataclass(frozen=True)
class LookUp(ShardUnit):
    """The values of keys of a shard, as several shards ask for them."""

    keys: Source
    values: Source
    asked: Sequence[Handle]

    def work(self, workers: Workers, folder: Path) -> list[Handle]:  # noqa: ARG002
        """Return the values in the order of each question; NaN for a key that the shard does not have."""
        keys, values = read(self.keys), read(self.values)
        answers = []
        for wanted in get_all(self.asked):
            at = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            found = np.full(len(wanted), np.nan)
            if len(keys):
                is_there = keys[at] == wanted
                found[is_there] = values[at[is_there]]
            answers.append(put(found))
        return answers


@dataclass(frozen=True)
class Value(ShardUnit):
    """The values of the afterstates of a shard, from those of the states that follow."""

    keys: Source
    answers: Mapping[int, tuple[Sequence[Handle], Sequence[Handle]]]  # by spawned tile: keys and values by shard
    dtype: str

    def work(self, workers: Workers, folder: Path) -> tuple[Handle, Handle]:  # noqa: ARG002
        """Return the exact values, and those that the table stores."""
        above = {tile: _known(*each) for tile, each in self.answers.items()}
        backward, keys = Backward(self.problem, workers, self.memory, dtype=self.dtype), read(self.keys)
        exact = backward.value_chunk(keys, above.get)
        return put(exact), put(backward.final(keys, exact))


@dataclass(frozen=True)
class Best(ShardUnit):
    """The values of the states of a shard, from those of their slides."""

    tile_sum: int
    states: Source
    answers: tuple[Sequence[Handle], Sequence[Handle]]

    def work(self, workers: Workers, folder: Path) -> tuple[NodeFile, dict[int, float]]:  # noqa: ARG002
        """Keep the values; return those of start boards."""
        backward, starts = Backward(self.problem, workers, self.memory, dtype="<f8"), dict[int, float]()
        best = backward.best(read(self.states), _known(*self.answers), starts)
        return self.keep(STATE_VALUES, self.tile_sum, best), starts


def _column(keys: Words) -> Column:
    return Column(Path(), "<u8", len(keys), array=keys)


def _known(keys: Sequence[Handle], values: Sequence[Handle]) -> LayerValues:
    """Return an index of the keys that have a value."""
    all_keys: Words = np.concatenate([*get_all(keys), _NO_KEYS])
    all_values: Values = np.concatenate([*get_all(values), np.empty(0)])
    is_there = ~np.isnan(all_values)
    if not is_there.all():
        all_keys, all_values = all_keys[is_there], all_values[is_there]
    key_index: KeyIndex = backup.make_key_index(all_keys, all_values)
    return LayerValues(_column(all_keys), None, key_index)
