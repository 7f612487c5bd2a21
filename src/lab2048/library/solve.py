"""Exact solutions of small boards."""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab2048.arena.executor.choice import nodes_for
from lab2048.arena.executor.executor import Executor
from lab2048.errors import UsageError
from lab2048.kernels.group import SOLVER
from lab2048.library.arguments import RulesLike, read_rules
from lab2048.library.interrupt import interruptible
from lab2048.library.progress import make_ready, progress_line
from lab2048.library.solution import Solution
from lab2048.library.unsaved import delete_temporary, delete_with, temporary_path
from lab2048.rules import Rules
from lab2048.rules.board import PACKED_RANK
from lab2048.solver.estimate import Estimate
from lab2048.solver.estimate import estimate as estimate_solve
from lab2048.solver.memory import Memory, read_size
from lab2048.solver.nodes.sharded import Shards
from lab2048.solver.nodes.spread_column import Disks
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Progress, Solve
from lab2048.solver.solve_folder import check_folder
from lab2048.solver.workers import Workers
from lab2048.views.number import number, size


@interruptible()
def solve(
    rules: RulesLike,
    *,
    goal: int | None = None,
    objective: str | None = None,
    out: "str | Path | None" = None,
    memory: str = "8G",
    workers: int = 0,
    cluster: str | None = None,
    exact: bool = False,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    scattered: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    progress: bool | None = None,
) -> "Solution":
    """Solve a board: the probability that optimal play reaches `goal`, or without a goal its expected score.

    The table of all boards is saved in the folder `out`; without `out` it is deleted with the solution.  After
    Ctrl-C the same call with the same `out` continues.  `exact` stores values in 64 bits instead of 32.
    `cluster` is a Ray cluster ("auto", "local" or an address) whose nodes make the large layers; `memory` is per node.
    With `scattered`, the free large tiles (F) start on any cells, not only where the map has them.

    >>> import lab2048 as lab
    >>> solution = lab.solve("2x2", goal=16)
    >>> round(solution.value, 6)
    0.962511
    >>> solution.probe("2 2 / # 4").move
    Move.RIGHT
    """
    problem, limits, n_workers = read_problem(rules, goal, objective, spawn, start, spawner, memory, workers, scattered)
    folder = Path(out) if out is not None else None
    if folder is not None:
        check_folder(folder, problem, is_exact=exact)
    make_ready(SOLVER, progress=progress)
    table_folder = folder or temporary_path("table")
    try:
        with progress_line(progress) as show, Workers(n_workers) as pool, nodes_for(cluster, 0, "solve") as nodes:
            work = Solve(
                problem,
                table_folder,
                pool,
                limits,
                is_exact=exact,
                is_kept=folder is not None,
                shards=_shards(nodes),
                progress=on_progress or (lambda at: show(progress_text(at), progress_share(at))),
            )
            table = work.run()
    except BaseException:
        if folder is None:
            delete_temporary(table_folder)
        raise
    solution = Solution(table, seconds=work.seconds)
    if folder is None:
        delete_with(solution, table_folder)
    return solution


def _shards(nodes: Executor | None) -> Shards | None:
    """Return where a solve works on its shards: on the nodes of a cluster, or None."""
    if nodes is None:
        return None
    from lab2048.arena.executor.cluster import ClusterPool

    assert isinstance(nodes, ClusterPool)
    nodes.make_ready([], [SOLVER])
    return Shards(
        nodes.run,
        lambda: nodes.n_workers,
        lambda path, token: nodes.all_can(_reads, path, token),
        nodes.settle,
        Disks(nodes.everywhere),
    )


def _reads(path: Path, token: str) -> bool:
    """Return whether this machine sees a file of the driver; runs on a node."""
    try:
        return path.read_text() == token
    except OSError:
        return False


@dataclass(frozen=True)
class GoalChance:
    """How optimal play reaches a goal; `loss` is exact where the value rounds to 1."""

    goal: int
    value: float
    loss: float

    def to_json(self) -> dict[str, Any]:
        return {"goal": self.goal, "value": self.value, "loss_probability": self.loss}


def goal_chances(
    rules: RulesLike, *, on_progress: Callable[[Progress], None] = lambda _: None, **options: Any
) -> Iterator[GoalChance]:
    """Solve a board for rising goals, from 4 up to the first one that cannot be reached.

    The largest goal without loss can be won for certain, the largest with a value above 0 with luck.  `options` are
    those of `solve`, without a goal.

    >>> [(found.goal, round(found.value, 3)) for found in goal_chances("2x2")]
    [(4, 1.0), (8, 1.0), (16, 0.963), (32, 0.083), (64, 0.0)]
    """
    highest = read_rules(rules, **{name: options[name] for name in ("spawn", "start", "spawner") if name in options})
    for rank in range(2, min(highest.max_rank + 1, PACKED_RANK) + 1):
        solution = solve(rules, goal=1 << rank, objective="win", on_progress=on_progress, **options)
        assert solution.loss is not None
        yield GoalChance(1 << rank, solution.value, solution.loss)
        if solution.value == 0:
            return


def estimate(
    rules: RulesLike,
    *,
    goal: int | None = None,
    objective: str | None = None,
    out: "str | Path | None" = None,
    memory: str = "8G",
    workers: int = 0,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    scattered: bool = False,
    progress: bool | None = None,
) -> Estimate:
    """Predict the time, disk space and memory of a solve, and whether it fits on this machine.

    >>> import lab2048 as lab
    >>> lab.estimate("2x3", goal=64).fits
    True
    """
    problem, limits, n_workers = read_problem(rules, goal, objective, spawn, start, spawner, memory, workers, scattered)
    make_ready(SOLVER, progress=progress)
    with Workers(n_workers) as pool:
        return estimate_solve(problem, pool, limits, Path(out) if out else Path(tempfile.gettempdir()))


def read_problem(
    rules: RulesLike,
    goal: int | None,
    objective: str | None,
    spawn: str | None,
    start: int | None,
    spawner: str | None,
    memory: str,
    workers: int,
    is_scattered: bool = False,
) -> tuple[Problem, Memory, int]:
    """Return the problem that the arguments describe, its limits and the number of workers.

    With a goal and no objective, the objective is to reach the goal.
    """
    n_workers = workers or os.cpu_count() or 1
    kind = objective or ("score" if goal is None else "win")
    if kind == "win" and goal is None and not isinstance(rules, Rules):
        raise UsageError("objective win needs a goal: expected a tile such as 512", field="goal", code="goal.missing")
    return (
        Problem.of(read_rules(rules, goal, spawn, start, spawner), kind, is_scattered=is_scattered),
        Memory.within(read_size(memory), n_workers),
        n_workers,
    )


def progress_text(at: Progress) -> str:
    """Return a line of text that shows the progress of a solve."""
    n_done = at.count.afterstates + at.n_valued
    rate = n_done / at.seconds if at.seconds else 0.0
    text = f"{at.phase}, tile sum {at.tile_sum}: {number(at.count.states)} states, {number(rate)} afterstates/s"
    if at.n_all:
        left = 2 * at.count.afterstates - n_done  # forward and backward take about as long
        text += f", layer {at.n_layers} of {at.n_all}, about {left / rate if rate else 0:.0f} s left"
    return f"{text}, {size(at.n_bytes)} on disk"


def progress_share(at: Progress) -> float | None:
    """Return the finished share of the work; None in the forward pass, when it is unknown."""
    n_all = 2 * at.count.afterstates
    return (at.count.afterstates + at.n_valued) / n_all if at.n_all and n_all else None
