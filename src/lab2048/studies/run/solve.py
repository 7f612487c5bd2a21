"""Rows of kinds solve and regret: exact values of a board, and how much players lose against them."""

import time
from contextlib import ExitStack
from pathlib import Path

from lab2048.arena.regret import measure_regret
from lab2048.players import canonical_spec
from lab2048.rules import Board, Rules
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.table import Table
from lab2048.solver.workers import Workers
from lab2048.stop_flag import current
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import RowTask
from lab2048.studies.run.training import trained

MEMORY = 2**30  # bytes for the arrays of a solve
CERTAIN = 1.0 - 1e-12
TABLE = "{table}"  # placeholder for the solved table in a player spec


def run_solve(task: RowTask) -> Result:
    """Solve a row's board."""
    begin, result, names = time.perf_counter(), task.result(), {f.measure.name for f in task.row.figures}
    table = solve_table(task, task.row.objective)
    seconds = time.perf_counter() - begin
    result.measured = {
        "states": Measured.exact(table.count.states + table.count.lost),
        "states-raw": Measured.exact(table.count.states_raw),
        "win" if task.row.objective == "win" else "worth": Measured.exact(table.manifest["value"]),
        "solve-time": Measured.single(seconds),
    }
    if "counted" in names:
        known: dict[Board, float] = {}
        search_like_kuznetsov(task.rules.board, task.rules, known)
        result.measured["counted"] = Measured.exact(len(known))
    return result


def solve_table(task: RowTask, objective: str) -> Table:
    """Solve a row's board; rows of the same run share tables."""
    problem = Problem.of(task.rules, objective)
    folder = _folder(task, objective)

    def told(at: object) -> None:
        task.show(f"{getattr(at, 'phase', '')}, tile sum {getattr(at, 'tile_sum', '')}")
        task.check()

    with Workers(task.n_workers) as workers:
        return Solve(problem, folder, workers, Memory(MEMORY, task.n_workers), is_kept=False, progress=told).run()


def _folder(task: RowTask, objective: str) -> Path:
    goal = task.rules.goal if objective == "win" else 0
    board = "".join(letter if letter.isalnum() else "-" for letter in task.rules.board.to_text())
    return task.scratch / f"{board}-{goal}"


def search_like_kuznetsov(board: Board, rules: Rules, known: dict[Board, float]) -> float:
    """Search as Kuznetsov 2022 does, whose state counts include only the boards that it values.

    A board with an immediately winning move has value 1; otherwise moves are tried in the order up,
    right, down, left, and the first certain win ends the search.
    """
    if board in known:
        return known[board]
    current().check()
    slides = list(board.slides())
    if not slides:
        return 0.0
    best = 0.0
    if any(max(after.ranks) >= rules.goal_rank for _, (after, _) in slides):
        best = 1.0
    else:
        for _, (after, _) in slides:
            spawns = rules.spawns(after)
            value = sum(
                spawn.probability * search_like_kuznetsov(after.put(spawn.cell, spawn.rank), rules, known)
                for spawn in spawns
            )
            best = max(best, value)
            if value >= CERTAIN:
                break
    known[board] = best
    return best


def run_regret(task: RowTask) -> Result:
    """Measure the regret of a row's player, after training it if the row says so."""
    result, spec = task.result(), task.row.player
    with ExitStack() as stack:
        if task.row.training_spec is not None:
            _, spec = stack.enter_context(trained(task, result))
        table = solve_table(task, task.row.objective)
        spec = canonical_spec(spec.replace(TABLE, str(table.folder)))

        def told(n: int) -> None:
            task.show(f"game {n} of {task.amount}")
            task.check()

        found = measure_regret(table, spec, seed=task.seed, n_games=task.amount, progress=told)
    result.measured |= {
        "loss": Measured(*found.per_game, task.amount),
        "best-moves": Measured.rate(found.n_best, found.n_moves),
        "score": Measured.mean(found.scores),
    }
    return result
