"""Backward induction: compute the value of every afterstate, from the largest tile sum down.

The value of an afterstate is the mean over its spawns, which lead to states of higher layers; the value
of a state is the maximum over its slides.  Each state is evaluated once, however many afterstates
lead to it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board.bits import U64
from lab2048.kernels.board.block import Words
from lab2048.kernels.solve import backup
from lab2048.kernels.solve.backup import KeyIndex, Values
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.workers import Workers, slices


@dataclass
class LayerValues:
    """The keys and values of a layer: in memory as one index, or in files that are read in parts."""

    keys: Column
    values: Column | None
    key_index: KeyIndex | None = None

    def key_indexes(self, largest: int) -> Iterator[KeyIndex]:
        """Yield the layer as indexes of at most about `largest` keys."""
        if self.key_index is not None:
            yield self.key_index
            return
        assert self.values is not None  # not in memory, so in a file
        n_parts = -(-self.keys.n // largest)
        if n_parts <= 1:
            yield backup.make_key_index(self.keys.read(), self.values.read())
            return
        edges = [(i << 64) // n_parts for i in range(n_parts + 1)]
        cuts = [*np.searchsorted(self.keys.map(), np.array(edges[:-1], np.uint64)).tolist(), self.keys.n]
        for i in range(n_parts):
            begin, end = cuts[i], cuts[i + 1]
            span = edges[i + 1] - edges[i] - 1
            yield backup.make_key_index(self.keys.read(begin, end), self.values.read(begin, end), edges[i], span)


@dataclass(frozen=True)
class LayerFiles:
    """The files of a layer that backward induction reads and writes."""

    tile_sum: int
    keys: Column
    states: Column
    values_path: Path
    state_values_path: Path


class Backward:
    """Compute the values of a problem's layers, from the last one down."""

    def __init__(self, problem: Problem, workers: Workers, memory: Memory, *, dtype: str) -> None:
        """Write values as `dtype`, <f4 or <f8."""
        self.problem, self.workers, self.memory, self.dtype = problem, workers, memory, dtype
        self._plan, self._measure = problem.plan, problem.measure

    def value_layer(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None]
    ) -> tuple[Column, LayerValues, dict[int, float]]:
        """Compute a layer; return the file of its values, the values of its states, and those of start boards.

        `above(tile)` returns the states of the layer whose sum is larger by `tile`.
        """
        fits = max(files.keys.n, files.states.n) <= self.memory.key_index
        values, layer_values = self._afterstates(files, above, fits)
        states, starts = self._states(files, layer_values, fits)
        if layer_values.values is not None:
            layer_values.values.path.unlink()
        return values, states, starts

    def _afterstates(
        self, files: LayerFiles, above: Callable[[int], LayerValues | None], fits: bool
    ) -> tuple[Column, LayerValues]:
        """Write the values of afterstates; return the file, and keys and values in full precision for `_states`."""
        if fits:
            keys = files.keys.read()
            exact = self.value_chunk(keys, above)
            column = write_column(files.values_path, self.dtype, [self.final(keys, exact)], is_kept=True)
            return column, LayerValues(files.keys, None, backup.make_key_index(keys, exact))
        # Does not fit in memory: keep the exact values in a temporary file.
        cuts = slices(files.keys.n, self.memory.key_index, 1)
        path = files.state_values_path.with_suffix(".exact")
        parts = (self.value_chunk(files.keys.read(*cut), above) for cut in cuts)
        waiting = write_column(path, "<f8", parts, is_kept=False)
        finals = (self.final(files.keys.read(*cut), waiting.read(*cut)) for cut in cuts)
        column = write_column(files.values_path, self.dtype, finals, is_kept=True)
        return column, LayerValues(files.keys, waiting)

    def final(self, keys: Words, exact: Values) -> NDArray[Any]:
        """Convert to what a table stores: odds, or the expected future score."""
        if self.problem.objective is Objective.SCORE:
            potentials = np.empty(len(keys))
            backup.potentials(keys, potentials)
            exact = np.maximum(exact - potentials, 0.0)  # rounding may leave less than nothing
        with np.errstate(over="ignore"):  # odds that overflow 32 bits are a certain win
            return exact.astype(self.dtype)

    def value_chunk(self, keys: Words, above: Callable[[int], LayerValues | None]) -> Values:
        """Return the exact values of afterstates."""
        wins, losses = np.zeros(len(keys)), np.zeros(len(keys))
        cuts = slices(len(keys), self.memory.chunk, self.workers.n_workers)
        for rank, chance in self.problem.spawn_chances:
            if 0 < self.problem.goal_rank <= rank:  # the spawn itself is the goal
                wins += chance * backup.states_after(self._plan, keys, rank)
                continue
            layer_values = above(2**rank)
            for key_index in layer_values.key_indexes(self.memory.key_index) if layer_values else ():
                work = partial(self._back_up, keys, wins, losses, rank, chance, key_index)
                for _ in self.workers.map(work, cuts):
                    pass
        backup.finish_afterstates(self._plan, keys, self._measure, self.problem.spawned_potential, wins, losses)
        return wins

    def _back_up(
        self,
        keys: Words,
        wins: Values,
        losses: Values,
        rank: int,
        chance: float,
        key_index: KeyIndex,
        cut: tuple[int, int],
    ) -> None:
        part = slice(*cut)
        backup.back_up_afterstates(
            self._plan, keys[part], U64(rank), chance, key_index, self._measure, wins[part], losses[part]
        )

    def _states(self, files: LayerFiles, layer_values: LayerValues, fits: bool) -> tuple[LayerValues, dict[int, float]]:
        """Compute the values of states, in memory or in a file, and those of start boards among them."""
        starts: dict[int, float] = {}
        if fits:
            keys = files.states.read()
            best = self.best(keys, layer_values, starts)
            return LayerValues(files.states, None, backup.make_key_index(keys, best)), starts
        cuts = slices(files.states.n, self.memory.key_index, 1)
        parts = (self.best(files.states.read(*cut), layer_values, starts) for cut in cuts)
        return LayerValues(files.states, write_column(files.state_values_path, "<f8", parts, is_kept=False)), starts

    def best(self, keys: Words, layer_values: LayerValues, starts: dict[int, float]) -> Values:
        """Return the values of states, and add those of start boards to `starts`."""
        best, goal = np.empty(len(keys)), U64(self.problem.goal_rank)
        cuts = slices(len(keys), self.memory.chunk, self.workers.n_workers)
        for i, key_index in enumerate(layer_values.key_indexes(self.memory.key_index)):

            def back_up(cut: tuple[int, int], is_first: bool = i == 0, on: KeyIndex = key_index) -> None:
                part = slice(*cut)
                backup.back_up_states(self._plan, keys[part], goal, on, self._measure, is_first, best[part])

            for _ in self.workers.map(back_up, cuts):
                pass
        wanted = self.problem.open_starts
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        is_here = keys[at] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
        starts.update(zip(wanted[is_here].tolist(), best[at[is_here]].tolist(), strict=True))
        return best
