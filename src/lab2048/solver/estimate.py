"""How large a problem is, before it is solved.

Small goals are counted exactly for a few seconds.  Every further doubling of the goal
multiplies the boards by less than the one before: on all boards that were counted the
logarithm of that factor shrinks by nearly the same part each time, and so it is
continued.
"""

import itertools
import math
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab2048.solver.count import count_layers, with_goal
from lab2048.solver.crew import Crew
from lab2048.solver.forward import LayerCount
from lab2048.solver.memory import BASE, Memory, free_memory
from lab2048.solver.problem import Objective, Problem

_SHRINK = (0.6, 0.75, 0.9)  # of the logarithm of the factor: least, without better knowledge, most
_BACKWARD = 2.5  # a whole solve takes so many times as long as forward alone


@dataclass(frozen=True)
class Estimate:
    """What a solve will take."""

    is_exact: bool  # counted, not estimated
    afterstates: float
    states: float  # the lost ones included
    seconds: float
    disk: float  # bytes, at most at one time
    memory: float  # bytes with which no layer has to be cut
    free_disk: int
    free_memory: int  # 0: the system does not say
    how: str

    @property
    def fits(self) -> bool:
        """True if the disk will do; less memory than would be best only makes it slower."""
        return self.disk < self.free_disk

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "fits": self.fits}


@dataclass(frozen=True)
class _Counted:
    goal_rank: int
    count: LayerCount
    largest: int  # states of the largest layer
    seconds: float


def estimate(problem: Problem, crew: Crew, memory: Memory, folder: Path, *, seconds: float = 5.0) -> Estimate:
    """Count small goals for some seconds, and continue the row."""
    is_win = problem.objective is Objective.WIN
    last = min(problem.goal_rank, problem.rules.max_rank + 1) if is_win else problem.rules.max_rank + 1
    last = min(last, 15)
    lowest = max(*problem.rules.board.ranks, *(rank for rank, _ in problem.rules.spawn_table)) + 1
    to_win = replace(problem, objective=Objective.WIN)
    deadline, row = time.monotonic() + seconds, []
    for goal_rank in range(min(lowest, last), last + 1):
        counted = _count(with_goal(to_win, goal_rank), crew, memory, deadline)
        if counted is None:
            break
        row.append(counted)
    there = _place(folder)
    if row and row[-1].goal_rank == last:
        return _make(row[-1], 1.0, there, f"all boards were counted in {row[-1].seconds:.1f} s")
    if not row:
        row = [_Counted(lowest, LayerCount(1, 1, 0, 0, 1, 1), 1, 1.0)]
    factor, how = _continue(row, last)
    return _make(row[-1], factor, there, how)


def _count(problem: Problem, crew: Crew, memory: Memory, deadline: float) -> _Counted | None:
    begin, total, largest = time.monotonic(), LayerCount(), 0
    for _, count in count_layers(problem, crew, memory):
        total += count
        largest = max(largest, count.states + count.lost)
        if time.monotonic() > deadline:
            return None
    return _Counted(problem.goal_rank, total, largest, time.monotonic() - begin)


def _continue(row: list[_Counted], last: int) -> tuple[float, str]:
    """By how much the last goal has more boards than the last one counted, and how that was found."""
    steps = [math.log(max(b.count.afterstates, 2) / max(a.count.afterstates, 1)) for a, b in itertools.pairwise(row)]
    least, usual, most = _SHRINK
    shrink = min(most, max(least, steps[-1] / steps[-2])) if len(steps) > 1 and steps[-2] > 0 else usual
    step, total = steps[-1] if steps else 3.0, 0.0
    for _ in range(row[-1].goal_rank, last):
        step *= shrink
        total += step
    counted = ", ".join(f"{entry.count.afterstates:,} to {2**entry.goal_rank}" for entry in row[-3:])
    how = (
        f"afterstates counted: {counted}; the logarithm of the factor from goal to goal is taken to shrink by "
        f"{shrink:.2f} each time; expect to be off by a factor of two for every two goals left out"
    )
    return math.exp(total), how


def _make(entry: _Counted, factor: float, there: Path, how: str) -> Estimate:
    afterstates = entry.count.afterstates * factor
    states = (entry.count.states + entry.count.lost) * factor
    # Layers grow more slowly than the whole, because there are more of them.
    largest = entry.largest * math.sqrt(factor) if factor > 1 else entry.largest
    return Estimate(
        factor == 1.0,
        afterstates,
        states,
        _BACKWARD * entry.seconds * factor,
        12 * afterstates + 8 * states,
        BASE + 6 * 24 * largest,
        shutil.disk_usage(there).free,
        free_memory(),
        how,
    )


def _place(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return folder
