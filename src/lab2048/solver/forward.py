"""Forward pass: find all reachable boards, layer by layer of the tile sum.

afterstates of smaller sums --spawn--> states --slide--> afterstates of this sum
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board.bits import U64
from lab2048.kernels.board.block import BLOCK, Words
from lab2048.kernels.solve import layer
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.sorted_run import Runs
from lab2048.solver.workers import Workers, slices

MAX_COUNT = 2**60  # boards, more than any disk holds
_NEAR = 1 << 20  # keys
_phases = itertools.count(1)  # of all passes: several may share the same workers
_SEEN = 1 << 15  # keys that a worker remembers to skip duplicates: 256 KB, to stay in the L2 cache


@dataclass(frozen=True)
class LayerCount:
    """The size of a layer, up to symmetry and raw (counting all symmetric copies).

    States have a legal move, lost states have none; afterstates are below the goal, won ones have reached it.
    """

    states: int = 0
    states_raw: int = 0
    lost: int = 0
    lost_raw: int = 0
    afterstates: int = 0
    afterstates_raw: int = 0
    won: int = 0
    won_raw: int = 0

    def __add__(self, other: "LayerCount") -> "LayerCount":
        return LayerCount(*(a + b for a, b in zip(self.numbers, other.numbers, strict=True)))

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(vars(self).values())

    def to_json(self) -> dict[str, int]:
        return dict(vars(self))

    @classmethod
    def from_json(cls, data: Any) -> "LayerCount":
        """Read the fields of `to_json`, and ignore others; raise KeyError, TypeError or ValueError if one is wrong."""
        count = cls(**{name: data[name] for name in vars(cls())})
        if not all(type(number) is int and 0 <= number < MAX_COUNT for number in count.numbers):
            raise ValueError("a count is out of range")
        return count


class Forward:
    """Create the layers one after the other, in files."""

    def __init__(self, problem: Problem, workers: Workers, memory: Memory, work: Path) -> None:
        """Store runs that do not fit in memory in the folder `work`."""
        self.problem, self.workers, self.memory, self.work = problem, workers, memory, work
        self._phase = 0  # number of the step; a worker's seen keys are only valid within one step

    def states(self, tile_sum: int, afterstates: Callable[[int], Column | None]) -> Runs:
        """Find the states of a layer, given the afterstates of lower layers."""
        runs = Runs(self.work, "run", self.memory.run_room)
        runs.add(self.problem.start_keys(tile_sum))
        tasks = []
        for rank, _ in self.problem.rules.spawn_table:
            source = afterstates(tile_sum - 2**rank)
            if source is not None and not 0 < self.problem.goal_rank <= rank:
                # A chunk yields several times as many states; the kernel stops when its array is full.
                cuts = slices(source.n, self.memory.chunk, self.workers.n_workers)
                tasks += [(source, rank, begin, end) for begin, end in cuts]
        self._phase = next(_phases)

        def spawn(task: tuple[Column, int, int, int]) -> None:
            source, rank, begin, end = task
            seen, found, _ = self._arrays()
            keys, at = source.read(begin, end), 0
            while at < len(keys):
                at, n = layer.spawn_all(self.problem.plan, keys, at, U64(rank), seen, found)
                runs.add(found[:n])

        for _ in self.workers.map(spawn, tasks):
            pass
        return runs

    def state_parts(self, tile_sum: int, afterstates: Callable[[int], Column | None]) -> Iterator[Words]:
        """Yield the states of a layer in parts."""
        runs = self.states(tile_sum, afterstates)
        yield from runs.merged(self.workers, self.memory.part)
        runs.drop()

    def afterstates(self, states: Column, kept: Words | None) -> tuple[Runs, Runs, LayerCount]:
        """Return the afterstates of a layer, the won ones, and the counts of its states.

        `kept` are the states, if they are in memory.
        """
        runs, won_runs = (Runs(self.work, name, self.memory.run_room // 2) for name in ("run", "won"))
        goal_rank = U64(self.problem.goal_rank)
        self._phase = next(_phases)

        def slide(cut: tuple[int, int]) -> NDArray[np.int64]:
            seen, found, won = self._arrays()
            keys = states.read(*cut) if kept is None else kept[cut[0] : cut[1]]
            counts = np.zeros(layer.N_COUNTS, np.int64)
            at = 0
            while at < len(keys):
                at, n, n_won = layer.slide_all(self.problem.plan, keys, at, goal_rank, seen, found, won, counts)
                runs.add(found[:n])
                won_runs.add(won[:n_won])
            return counts

        total = np.zeros(layer.N_COUNTS, np.int64)
        for counts in self.workers.map(slide, slices(states.n, self.memory.chunk, self.workers.n_workers)):
            total += counts
        return runs, won_runs, LayerCount(*total.tolist())

    def make_layer(
        self,
        tile_sum: int,
        afterstates: Callable[[int], Column | None],
        push: Callable[[Iterator[Words]], Column],
        keys_path: Path,
    ) -> tuple[LayerCount, Column, Column]:
        """Create a layer: push its states for the backward pass, and write the file of its afterstates."""
        runs = self.states(tile_sum, afterstates)
        kept: list[Words] | None = [] if runs.n_keys <= self.memory.run_room else None
        states = push(self._pass(runs, kept))
        runs.drop()
        together = None if kept is None else kept[0] if len(kept) == 1 else np.concatenate([*kept, _NOTHING])
        after, won, count = self.afterstates(states, together)
        n_after_raw, n_won_raw = [0], [0]
        near: list[Words] = []  # the next layers read these keys, from memory if they are few
        keys = write_column(keys_path, "<u8", self._counted(after, n_after_raw, near), is_kept=True)
        if near:
            keys = replace(keys, array=np.concatenate([*near, _NOTHING]))
        n_won = sum(map(len, self._counted(won, n_won_raw)))
        after.drop()
        won.drop()
        count += LayerCount(afterstates=keys.n, afterstates_raw=n_after_raw[0], won=n_won, won_raw=n_won_raw[0])
        return count, states, keys

    def _counted(self, runs: Runs, n_raw: list[int], near: list[Words] | None = None) -> Iterator[Words]:
        """Yield the merged keys in parts; add the raw count to n_raw[0], and append to `near` if they are few."""
        is_near = near is not None and runs.n_keys <= _NEAR
        for part in runs.merged(self.workers, self.memory.part):
            cuts = slices(len(part), len(part), self.workers.n_workers)
            n_raw[0] += sum(self.workers.map(partial(self._count_raw, part), cuts))
            if near is not None and is_near:
                near.append(part)
            yield part

    def _count_raw(self, keys: Words, cut: tuple[int, int]) -> int:
        return int(layer.count_raw(self.problem.plan, keys[cut[0] : cut[1]]))

    def _pass(self, runs: Runs, kept: list[Words] | None) -> Iterator[Words]:
        for part in runs.merged(self.workers, self.memory.part):
            if kept is not None:
                kept.append(part)
            yield part

    def _arrays(self) -> tuple[Words, Words, Words]:
        """Return a worker's own arrays: keys seen in this step, and buffers for results."""
        own = self.workers.own
        if not hasattr(own, "found"):
            own.seen = np.zeros(_SEEN, np.uint64)
            own.found = np.empty(max(self.memory.run, 16 * BLOCK), np.uint64)
            own.won = np.empty(max(self.memory.run // 4, 16 * BLOCK), np.uint64)
            own.phase = self._phase
        if own.phase != self._phase:
            own.seen.fill(0)
            own.phase = self._phase
        return own.seen, own.found, own.won


_NOTHING = np.empty(0, np.uint64)
