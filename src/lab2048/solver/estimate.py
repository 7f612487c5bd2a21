"""Estimate the size of a problem before solving it.

Small goals are counted exactly for a few seconds; the rest is extrapolated.  Of all ways to put tiles on the cells,
only some can be built: while the k-th largest tile is built, k - 1 cells are taken, so it is smaller than the highest
possible tile by k - 1 ranks.  Such boards can be counted by a formula (`n_buildable`).  The share of them that is
reachable changes slowly from goal to goal.  For whole boards its logarithm is linear in the number of cells: _SHARE
fits 2x3, 2x4, 3x3 and 3x4 to 2%.  Between the counted goals and the whole board it is interpolated.
"""

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

_SHARE = (-0.03, -0.1785)  # the logarithm of the reachable share of a whole board: constant, and slope per cell
_SLOPE = (-0.05, 0.65)  # of the curve at the last counted goal: constant, and factor of the last step
_CALM, _CALMING = 1.5, 0.6  # states per afterstate in large layers; how fast the ratio approaches that, per goal
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
    lowest = max(problem.rules.board.max_rank, *(rank for rank, _ in problem.rules.spawn_table)) + 1
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
    return _make(row[-1], last, *_continue(row, last, problem), folder)


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


def n_buildable(n_cells: int, max_rank: int, goal_rank: int) -> int:
    """Count the boards below a goal on which the k-th largest tile is at most `max_rank` - k + 1.

    >>> n_buildable(4, 5, 6), n_buildable(9, 10, 3) == 3**9
    (1029, True)
    """
    ways = {0: 1}  # by the number of cells that are taken by larger ranks
    for rank in range(goal_rank - 1, -1, -1):
        most = n_cells if rank == 0 else min(n_cells, max_rank + 1 - rank)
        following: dict[int, int] = {}
        for n_taken, n_ways in ways.items():
            for n_new in range(max(0, most - n_taken) + 1):
                n = n_taken + n_new
                following[n] = following.get(n, 0) + n_ways * math.comb(n_cells - n_taken, n_new)
        ways = following
    return ways.get(n_cells, 0)


def _continue(row: list[_Counted], last: int, problem: Problem) -> tuple[float, str]:
    """Return the log of the growth from the last counted goal to the wanted one, and an explanation."""
    n_cells, end = problem.rules.shape.n_cells, min(problem.rules.max_rank + 1, 15)
    n_copies = len(problem.rules.symmetries) if problem.is_fair else 1
    n_free = problem.rules.shape.n_free
    n_arrangements = math.comb(n_cells, n_free)

    def n_boards(goal_rank: int) -> float:
        return n_arrangements * n_buildable(n_cells - n_free, problem.rules.max_rank, goal_rank) / n_copies

    shares = [math.log(max(each.count.afterstates, 1) / n_boards(each.goal_rank)) for each in row]
    begin, share = row[-1].goal_rank, shares[-1]
    step = shares[-1] - shares[-2] if len(shares) > 1 else 0.0
    if problem.is_fair:
        share = _between(begin, share, _SLOPE[0] + _SLOPE[1] * step, end, _SHARE[0] + _SHARE[1] * n_cells, last)
    else:  # a spawner that leaves nothing to chance reaches ever fewer boards
        share += step * (last - begin)
    growth = share - shares[-1] + math.log(n_boards(last) / n_boards(begin))
    counted = ", ".join(f"{entry.count.afterstates:,} to {2**entry.goal_rank}" for entry in row[-3:])
    how = f"afterstates counted: {counted}; extrapolated by the share of boards that is reachable on 2x4, 3x3 and 3x4"
    return max(growth, 0.0), how


def _between(begin: int, first: float, slope: float, end: int, last: float, at: int) -> float:
    """Interpolate from `first`, with a slope, to `last`, where the curve is flat (cubic Hermite)."""
    if end <= begin:
        return first
    t = (at - begin) / (end - begin)
    return (
        first * (2 * t**3 - 3 * t**2 + 1) + slope * (end - begin) * (t**3 - 2 * t**2 + t) + last * (3 * t**2 - 2 * t**3)
    )


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
