"""Estimate the size of a problem before solving it.

Small goals are counted exactly for a few seconds.  Each doubling of the goal multiplies the number of
afterstates by a smaller factor than the one before.  On 2x4, 3x3 and 3x4, where all goals are known, the
logarithm of that factor shrinks similarly from goal to goal, by _SHRINK, which is used to extrapolate.
"""

import itertools
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab2048.records.disk_space import free_bytes
from lab2048.records.memory import free_memory
from lab2048.solver.count import count_layers, with_goal
from lab2048.solver.forward import LayerCount
from lab2048.solver.memory import BASE, Memory
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.workers import Workers

_SHRINK = (0.73, 0.76, 0.785, 0.80, 0.81, 0.82, 0.83)  # from the second factor on; the last one repeats
_FIRST = (0.41, -0.5)  # the logarithm of the first factor: slope per cell, and intercept
_CALM, _CALMING = 1.4, 0.6  # states per afterstate in large layers; how fast the ratio approaches that, per goal
_BACKWARD = 2.5  # time of a whole solve relative to the forward pass
_A_STATE = 5e-7  # forward seconds per state, if too few were counted to measure it


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of a solve."""

    is_exact: bool  # counted, not estimated
    afterstates: float
    states: float  # including lost ones
    seconds: float
    disk: float  # peak bytes
    memory: float  # bytes with which no layer has to be split
    free_disk: int
    free_memory: int  # 0 = unknown
    how: str
    is_least: bool = False  # only a lower bound

    @property
    def fits(self) -> bool:
        """Return True if the disk is large enough; too little memory only makes the solve slower."""
        return self.disk < self.free_disk and not self.is_least

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "fits": self.fits}


@dataclass(frozen=True)
class _Counted:
    goal_rank: int
    count: LayerCount
    largest: int  # states of the largest layer
    seconds: float


def estimate(problem: Problem, workers: Workers, memory: Memory, folder: Path, *, seconds: float = 5.0) -> Estimate:
    """Count small goals for some seconds, and extrapolate."""
    is_win = problem.objective is Objective.WIN
    last = min(problem.goal_rank, problem.rules.max_rank + 1) if is_win else problem.rules.max_rank + 1
    last = min(last, 15)
    lowest = max(*problem.rules.board.ranks, *(rank for rank, _ in problem.rules.spawn_table)) + 1
    to_win = replace(problem, objective=Objective.WIN)
    deadline, row = time.monotonic() + seconds, []
    for goal_rank in range(min(lowest, last), last + 1):
        counted = _count(with_goal(to_win, goal_rank), workers, memory, deadline)
        if counted is None:
            break
        row.append(counted)
    if row and row[-1].goal_rank == last:
        return _make(row[-1], last, 0.0, f"all boards were counted in {row[-1].seconds:.1f} s", folder)
    if not row:
        counted = _count(
            with_goal(to_win, min(lowest, last)), workers, memory, time.monotonic() + seconds, is_part=True
        )
        assert counted is not None
        how = "even the smallest goal could not be counted in a few seconds: these numbers are lower bounds"
        return replace(_make(counted, last, 0.0, how, folder), is_exact=False, is_least=True)
    return _make(row[-1], last, *_continue(row, last, lowest, problem.rules.shape.n_cells), folder)


def _count(
    problem: Problem, workers: Workers, memory: Memory, deadline: float, *, is_part: bool = False
) -> _Counted | None:
    begin, total, largest = time.monotonic(), LayerCount(), 0
    for _, count in count_layers(problem, workers, memory):
        total += count
        largest = max(largest, count.states + count.lost)
        if time.monotonic() > deadline:
            if is_part:
                break
            return None
    return _Counted(problem.goal_rank, total, largest, time.monotonic() - begin)


def _continue(row: list[_Counted], last: int, lowest: int, n_cells: int) -> tuple[float, str]:
    """Return the log of the growth from the last counted goal to the wanted one, and an explanation."""
    steps = [math.log(max(b.count.afterstates, 2) / max(a.count.afterstates, 1)) for a, b in itertools.pairwise(row)]
    step, total = steps[-1] if steps else 0.0, 0.0
    for goal_rank in range(row[-1].goal_rank, last):
        i = goal_rank - lowest - 1  # index of the factor, from the second one
        step = step * _SHRINK[min(i, len(_SHRINK) - 1)] if i >= 0 else n_cells * _FIRST[0] + _FIRST[1]
        total += step
    counted = ", ".join(f"{entry.count.afterstates:,} to {2**entry.goal_rank}" for entry in row[-3:])
    how = f"afterstates counted: {counted}; extrapolated by the growth on 2x4, 3x3 and 3x4, less reliable with distance"
    return total, how


def _make(entry: _Counted, last: int, growth: float, how: str, folder: Path) -> Estimate:
    n_states = entry.count.states + entry.count.lost
    factor = math.exp(growth)
    afterstates = entry.count.afterstates * factor
    ratio = n_states / max(1, entry.count.afterstates)
    if growth > 0:
        ratio = _CALM + max(0.0, ratio - _CALM) * _CALMING ** (last - entry.goal_rank)
    states = afterstates * ratio
    a_state = entry.seconds / n_states if n_states > 100_000 else _A_STATE
    # The largest layer grows more slowly than the total, because there are more layers.
    largest = entry.largest * math.sqrt(factor)
    return Estimate(
        growth == 0,
        afterstates,
        states,
        _BACKWARD * a_state * states if growth else _BACKWARD * entry.seconds,
        12 * afterstates + 8 * states,
        BASE + 6 * 24 * largest,
        free_bytes(folder),
        free_memory(),
        how,
    )
