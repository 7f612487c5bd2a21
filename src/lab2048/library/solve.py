"""Exact solutions of small boards."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.arena.executor.choice import nodes_for
from lab2048.arena.executor.executor import Executor
from lab2048.errors import BoardError, FileError, UsageError
from lab2048.kernels.group import SOLVER
from lab2048.library.arguments import PlayerLike, RulesLike, read_board, read_rules
from lab2048.library.interrupt import interruptible
from lab2048.library.player import ReadyPlayer, player
from lab2048.library.progress import make_ready, progress_line
from lab2048.library.unsaved import delete_temporary, delete_with, temporary_path
from lab2048.rules import Board, Rules
from lab2048.rules.board import PACKED_RANK, BoardSource
from lab2048.rules.move import AnyMove
from lab2048.solver.estimate import Estimate
from lab2048.solver.estimate import estimate as estimate_solve
from lab2048.solver.memory import Memory, read_size
from lab2048.solver.problem import Problem
from lab2048.solver.sharded import Shards
from lab2048.solver.solve import Progress, Solve, check_folder
from lab2048.solver.table import Table
from lab2048.solver.workers import Workers
from lab2048.views.number import number, size

if TYPE_CHECKING:
    import plotly.graph_objects

    from lab2048.library.regret import RegretResult


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
    on_progress: Callable[[Progress], None] | None = None,
    progress: bool | None = None,
) -> "Solution":
    """Solve a board: the probability that optimal play reaches `goal`, or without a goal its expected score.

    The table of all boards is saved in the folder `out`; without `out` it is deleted with the solution.  After
    Ctrl-C the same call with the same `out` continues.  `exact` stores values in 64 bits instead of 32.
    `cluster` is a Ray cluster ("auto", "local" or an address) whose nodes make the large layers; `memory` is per node.

    >>> import lab2048 as lab
    >>> solution = lab.solve("2x2", goal=16)
    >>> round(solution.value, 6)
    0.962511
    >>> solution.probe("2 2 / # 4").move
    Move.RIGHT
    """
    problem, limits, n_workers = read_problem(rules, goal, objective, spawn, start, spawner, memory, workers)
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
        lambda: len(nodes.nodes()),
        lambda path, token: nodes.all_can(_reads, path, token),
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


def open_solution(folder: "str | Path") -> "Solution":
    """Open the folder of a solved board, written by `lab2048.solve(..., out=folder)` or `lab2048 solve --out`.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "2x2"
    >>> lab.solve("2x2", out=folder).value == lab.open_solution(folder).value
    True
    """
    return Solution(Table.open(Path(folder)))


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
    progress: bool | None = None,
) -> Estimate:
    """Predict the time, disk space and memory of a solve, and whether it fits on this machine.

    >>> import lab2048 as lab
    >>> lab.estimate("2x3", goal=64).fits
    True
    """
    problem, limits, n_workers = read_problem(rules, goal, objective, spawn, start, spawner, memory, workers)
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
) -> tuple[Problem, Memory, int]:
    """Return the problem that the arguments describe, its limits and the number of workers.

    With a goal and no objective, the objective is to reach the goal.
    """
    n_workers = workers or os.cpu_count() or 1
    kind = objective or ("score" if goal is None else "win")
    if kind == "win" and goal is None and not isinstance(rules, Rules):
        raise UsageError("objective win needs a goal: expected a tile such as 512", field="goal", code="goal.missing")
    return (
        Problem.of(read_rules(rules, goal, spawn, start, spawner), kind),
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


@dataclass(frozen=True)
class Probe:
    """The best move of a board, and the exact value of every legal move.

    >>> import lab2048 as lab
    >>> probe = lab.solve("2x2", goal=16).probe("2 2 / # 4")
    >>> probe.move, probe.value == max(probe.values.values())
    (Move.RIGHT, True)
    """

    board: Board
    move: AnyMove
    value: float  #: of the best move: the probability of winning, or the expected future score
    values: Mapping[AnyMove, float]
    losses: Mapping[AnyMove, float]  #: with a goal, the probability of missing it; precise where the value is near 1
    spawns: tuple[tuple[int, int, float], ...]  #: after the best move: cell, tile, value; the best first


class Solution:
    """A solved board: the exact value of every position that can occur.

    >>> import lab2048 as lab
    >>> lab.solve("2x2", goal=16)
    Solution(2x2, goal 16: reached with probability 0.962511254)
    """

    def __init__(self, table: Table, *, seconds: float = 0.0) -> None:
        """Use `lab2048.solve` or `lab2048.open_solution`."""
        self.table, self.seconds = table, seconds

    @property
    def rules(self) -> Rules:
        return self.table.problem.rules

    @property
    def objective(self) -> str:
        """Return "win" (reach the goal) or "score"."""
        return self.table.problem.objective.value

    @property
    def value(self) -> float:
        """Return the probability that optimal play reaches the goal, or its expected score."""
        return float(self.table.manifest["value"])

    @property
    def loss(self) -> float | None:
        """Return the probability of missing the goal, precise even if it is tiny; None without a goal."""
        return float(self.table.manifest["loss_probability"]) if self.table.problem.goal_rank else None

    @property
    def n_states(self) -> int:
        """Return the number of boards, up to symmetry."""
        return self.table.count.states

    def probe(self, board: "Board | BoardSource") -> Probe:
        """Return the best move of a board, and the exact value of every legal move.

        >>> import lab2048 as lab
        >>> probe = lab.solve("2x2", goal=16).probe("2 2 / # 4")
        >>> probe.move, round(probe.value, 4)
        (Move.RIGHT, 0.9728)
        """
        state = read_board(board)
        moves = self.table.move_values(state)
        if not moves:
            raise BoardError(f"no move is possible on {state.to_text()}: expected a board with a legal move")
        best = self.table.best(moves)
        spawns = []
        if not self.table.problem.is_decided(best.after):
            for spawn in self.rules.spawns(best.after):
                value, _ = self.table.state_value(best.after.put(spawn.cell, spawn.rank))
                spawns.append((spawn.cell, 1 << spawn.rank, value))
        return Probe(
            state,
            best.move,
            best.value,
            {each.move: each.value for each in moves},
            {each.move: each.loss for each in moves if each.loss is not None},
            tuple(sorted(spawns, key=lambda spawn: -spawn[2])),
        )

    def player(self) -> ReadyPlayer:
        """Return a player that plays optimally by this solution.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).player().ask("2 2 / # 4").move
        Move.RIGHT
        """
        ready = player("optimal", table=str(self.table.folder))
        ready.source = self  # keeps a temporary table as long as the player is used
        return ready

    def tiles(self) -> dict[int, float]:
        """Return the probability that optimal play reaches each tile.

        >>> import lab2048 as lab
        >>> round(lab.solve("2x2").tiles()[16], 4)
        0.9625
        """
        from lab2048.solver.final_tiles import tile_chances

        return tile_chances(self.table)

    def regret(self, players: "PlayerLike | Sequence[PlayerLike]", **options: Any) -> "RegretResult":
        """Return how much players lose against optimal play; options as in `lab2048.regret`.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).regret("random", games=20)["random"].per_game.value > 0
        True
        """
        from lab2048.library.regret import regret

        return regret(self, players, **options)

    def verify(self, sample: int = 100_000) -> int:
        """Check all checksums and recompute a sample of values (0 = all); return the number of recomputed values.

        Raise FileError if anything is wrong.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).verify(sample=0)
        23
        """
        from lab2048.solver.verify import verify

        make_ready(SOLVER)
        return verify(self.table, n_sample=sample, progress=lambda _: None).checked

    def save(self, folder: "str | Path") -> "Solution":
        """Copy the table to a new folder; return the solution of that folder.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> lab.solve("2x2", goal=16).save(pathlib.Path(tempfile.mkdtemp()) / "2x2")
        Solution(2x2, goal 16: reached with probability 0.962511254)
        """
        target = Path(folder)
        if target.exists():
            raise FileError(f"{target} exists already: expected a name for a new folder", code="file.exists")
        shutil.copytree(self.table.folder, target)
        return open_solution(target)

    def export(self, path: "str | Path", *, force: bool = False) -> int:
        """Write all values as .sqlite, .csv or .parquet; return the number of rows.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> lab.solve("2x2", goal=16).export(pathlib.Path(tempfile.mkdtemp()) / "2x2.csv")
        23
        """
        from lab2048.solver.export import export

        target = Path(path)
        return export(self.table, target.suffix.lstrip(".") or "sqlite", target, force=force)

    def plot(self) -> "plotly.graph_objects.Figure":
        """Return a Plotly figure: the number of boards by tile sum.

        >>> import lab2048 as lab
        >>> len(lab.solve("2x2", goal=16).plot().data) > 0
        True
        """
        from lab2048.views.charts import layer_chart

        layers = [(tile_sum, each.count.states, each.count.afterstates) for tile_sum, each in self.table.layers.items()]
        return layer_chart(sorted(layers)).to_figure()

    def __repr__(self) -> str:
        return f"Solution({self._answer()})"

    def _answer(self) -> str:
        board = self.rules.board.to_text()
        if self.objective == "win":
            return f"{board}, goal {self.rules.goal}: reached with probability {self.value:.9g}"
        return f"{board}: expected score {self.value:.9g}"

    def _repr_html_(self) -> str:
        facts = f"{escape(self._answer())}<br>{self.n_states:,} states"
        return f"<div>{self.rules.board._repr_html_()}<div>{facts}</div></div>"
