"""Backward: the value of every afterstate, layer by layer, the largest tile sum first.

A layer's afterstates are worth the mean of the states that spawns lead to, in layers
above; with them known, its states are worth the best of their slides.  So a value is
worked out once for each state, however many afterstates lead there.
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
from lab2048.kernels.solve.backup import Shelf, Values
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.workers import Crew, slices


@dataclass
class Bookcase:
    """Keys of a layer with their values: on one shelf in memory, or in files, a shelf at a time."""

    keys: Column
    values: Column | None
    shelf: Shelf | None = None

    def shelves(self, largest: int) -> Iterator[Shelf]:
        """All of the layer, shelf by shelf of at most about `largest` keys."""
        if self.shelf is not None:
            yield self.shelf
            return
        assert self.values is not None  # what is not in memory is in a file
        n_parts = -(-self.keys.n // largest)
        if n_parts <= 1:
            yield backup.make_shelf(self.keys.read(), self.values.read())
            return
        edges = [(i << 64) // n_parts for i in range(n_parts + 1)]
        cuts = [*np.searchsorted(self.keys.map(), np.array(edges[:-1], np.uint64)).tolist(), self.keys.n]
        for i in range(n_parts):
            begin, end = cuts[i], cuts[i + 1]
            span = edges[i + 1] - edges[i] - 1
            yield backup.make_shelf(self.keys.read(begin, end), self.values.read(begin, end), edges[i], span)


@dataclass(frozen=True)
class LayerFiles:
    """The files of a layer that backward reads and writes."""

    keys: Column
    states: Column
    values_path: Path
    state_values_path: Path


class Backward:
    """Values a problem's layers from the last one down."""

    def __init__(self, problem: Problem, crew: Crew, memory: Memory, *, dtype: str) -> None:
        """Write values of the given kind: <f4 or <f8."""
        self.problem, self.crew, self.memory, self.dtype = problem, crew, memory, dtype
        self._plan, self._measure = problem.plan, problem.measure

    def value_layer(
        self, files: LayerFiles, above: Callable[[int], Bookcase | None]
    ) -> tuple[Column, Bookcase, dict[int, float]]:
        """The values of a layer, given those of the states above; also its states, and the values of first boards.

        `above(tile)` has the states of the layer whose sum is larger by one tile.
        """
        fits = max(files.keys.n, files.states.n) <= self.memory.shelf
        values, case = self._afterstates(files, above, fits)
        states, starts = self._states(files, case, fits)
        if case.values is not None:
            case.values.path.unlink()
        return values, states, starts

    def _afterstates(
        self, files: LayerFiles, above: Callable[[int], Bookcase | None], fits: bool
    ) -> tuple[Column, Bookcase]:
        """Write the values of afterstates; return the file, and keys and values with all digits, for `_states`."""
        if fits:
            keys = files.keys.read()
            exact = self._value_chunk(keys, above)
            column = write_column(files.values_path, self.dtype, [self._final(keys, exact)], is_kept=True)
            return column, Bookcase(files.keys, None, backup.make_shelf(keys, exact))
        # Too much for the memory: the exact values wait in a file of their own.
        cuts = slices(files.keys.n, self.memory.shelf, 1)
        path = files.state_values_path.with_suffix(".exact")
        parts = (self._value_chunk(files.keys.read(*cut), above) for cut in cuts)
        waiting = write_column(path, "<f8", parts, is_kept=False)
        finals = (self._final(files.keys.read(*cut), waiting.read(*cut)) for cut in cuts)
        column = write_column(files.values_path, self.dtype, finals, is_kept=True)
        return column, Bookcase(files.keys, waiting)

    def _final(self, keys: Words, exact: Values) -> NDArray[Any]:
        """What a table keeps: odds, or the expected score to come."""
        if self.problem.objective is Objective.SCORE:
            potentials = np.empty(len(keys))
            backup.potentials(keys, potentials)
            exact = exact - potentials
        with np.errstate(over="ignore"):  # odds too long for 32 bits are a certain win
            return exact.astype(self.dtype)

    def _value_chunk(self, keys: Words, above: Callable[[int], Bookcase | None]) -> Values:
        wins, losses = np.zeros(len(keys)), np.zeros(len(keys))
        cuts = slices(len(keys), self.memory.chunk, self.crew.n_workers)
        for rank, chance in self.problem.rules.spawn_table:
            if 0 < self.problem.goal_rank <= rank:  # the spawn itself is the goal
                wins += chance * self._n_empty(keys)
                continue
            case = above(2**rank)
            for shelf in case.shelves(self.memory.shelf) if case else ():
                work = partial(self._back_up, keys, wins, losses, rank, chance, shelf)
                for _ in self.crew.map(work, cuts):
                    pass
        backup.finish_afterstates(self._plan, keys, self._measure, self.problem.spawned_potential, wins, losses)
        return wins

    def _back_up(
        self, keys: Words, wins: Values, losses: Values, rank: int, chance: float, shelf: Shelf, cut: tuple[int, int]
    ) -> None:
        part = slice(*cut)
        backup.back_up_afterstates(
            self._plan, keys[part], U64(rank), chance, shelf, self._measure, wins[part], losses[part]
        )

    def _n_empty(self, keys: Words) -> Values:
        n_empty = np.empty(len(keys))
        backup.count_empty(self._plan, keys, n_empty)
        return n_empty

    def _states(self, files: LayerFiles, case: Bookcase, fits: bool) -> tuple[Bookcase, dict[int, float]]:
        """The values of states, on a shelf or in a file, and those of first boards among them."""
        starts: dict[int, float] = {}
        if fits:
            keys = files.states.read()
            best = self._best(keys, case, starts)
            return Bookcase(files.states, None, backup.make_shelf(keys, best)), starts
        cuts = slices(files.states.n, self.memory.shelf, 1)
        parts = (self._best(files.states.read(*cut), case, starts) for cut in cuts)
        return Bookcase(files.states, write_column(files.state_values_path, "<f8", parts, is_kept=False)), starts

    def _best(self, keys: Words, case: Bookcase, starts: dict[int, float]) -> Values:
        best, goal = np.empty(len(keys)), U64(self.problem.goal_rank)
        cuts = slices(len(keys), self.memory.chunk, self.crew.n_workers)
        for i, shelf in enumerate(case.shelves(self.memory.shelf)):

            def back_up(cut: tuple[int, int], is_first: bool = i == 0, on: Shelf = shelf) -> None:
                part = slice(*cut)
                backup.back_up_states(self._plan, keys[part], goal, on, self._measure, is_first, best[part])

            for _ in self.crew.map(back_up, cuts):
                pass
        wanted = self.problem.open_starts
        for key, place in zip(wanted.tolist(), np.searchsorted(keys, wanted).tolist(), strict=True):
            if place < len(keys) and int(keys[place]) == key:
                starts[key] = float(best[place])
        return best
