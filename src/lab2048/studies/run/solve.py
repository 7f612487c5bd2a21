"""Rows of the kinds solve and regret: exact values of a board, and what players lose against them."""

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
from lab2048.solver.workers import Crew
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import Job
from lab2048.studies.run.training import learnt

MEMORY = 2**30  # for the arrays of a solve
CERTAIN = 1.0 - 1e-12
TABLE = "{table}"  # stands for the solved table in a row's player


def run_solve(job: Job) -> Result:
    """Solve a row's board."""
    begin, result, names = time.perf_counter(), job.result(), {f.measure.name for f in job.row.figures}
    table = solve_table(job, job.row.objective)
    seconds = time.perf_counter() - begin
    result.measured = {
        "states": Measured.exact(table.count.states + table.count.lost),
        "states-raw": Measured.exact(table.count.states_raw),
        "win" if job.row.objective == "win" else "worth": Measured.exact(table.manifest["value"]),
        "solve-time": Measured.once(seconds),
    }
    if "counted" in names:
        known: dict[Board, float] = {}
        search_like_document_000(job.rules.board, job.rules, known)
        result.measured["counted"] = Measured.exact(len(known))
    return result


def solve_table(job: Job, objective: str) -> Table:
    """The table of a row's board; rows of one run that need the same one share it."""
    problem = Problem.of(job.rules, objective)
    folder = _folder(job, objective)

    def told(at: object) -> None:
        job.show(f"{getattr(at, 'phase', '')}, tile sum {getattr(at, 'tile_sum', '')}")
        job.check()

    with Crew(job.n_workers) as crew:
        return Solve(problem, folder, crew, Memory(MEMORY, job.n_workers), is_kept=False, progress=told).run()


def _folder(job: Job, objective: str) -> Path:
    goal = job.rules.goal if objective == "win" else 0
    board = "".join(letter if letter.isalnum() else "-" for letter in job.rules.board.to_text())
    return job.scratch / f"{board}-{goal}"


def search_like_document_000(board: Board, rules: Rules, known: dict[Board, float]) -> float:
    """The search of document 000, which counts the states that it values.

    A board with a move that wins at once is worth 1; otherwise the moves go up, right, down,
    left, and the first that is certain to win ends the search.
    """
    if board in known:
        return known[board]
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
                spawn.probability * search_like_document_000(after.put(spawn.cell, spawn.rank), rules, known)
                for spawn in spawns
            )
            best = max(best, value)
            if value >= CERTAIN:
                break
    known[board] = best
    return best


def run_regret(job: Job) -> Result:
    """Grade a row's player, trained before if the row says so, against the exact table of its board."""
    result, spec = job.result(), job.row.player
    with ExitStack() as stack:
        if job.row.lesson is not None:
            _, spec = stack.enter_context(learnt(job, result))
        table = solve_table(job, job.row.objective)
        spec = canonical_spec(spec.replace(TABLE, str(table.folder)))

        def told(n: int) -> None:
            job.show(f"game {n} of {job.amount}")
            job.check()

        found = measure_regret(table, spec, seed=job.seed, n_games=job.amount, progress=told)
    result.measured |= {
        "loss": Measured(*found.per_game, job.amount),
        "best-moves": Measured.rate(found.n_best, found.n_moves),
        "score": Measured.mean(found.scores),
    }
    return result
