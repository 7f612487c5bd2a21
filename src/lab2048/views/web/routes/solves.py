"""`/api/solves`: exact solves as jobs."""

import hashlib
import re
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import Field

from lab2048.jobs.command_line import command_line
from lab2048.jobs.job import JobData
from lab2048.jobs.needs import Needs
from lab2048.jobs.progress import SolveProgress
from lab2048.rules import Rules
from lab2048.solver.memory import write_size
from lab2048.views.charts import Chart, solve_chart
from lab2048.views.web.errors import ConflictError
from lab2048.views.web.routes.design import Objective, check_starts, estimate_of, solve_words
from lab2048.views.web.serialize.schema import (
    CSV,
    ERRORS,
    NAME,
    ChartData,
    CommandData,
    JobBody,
    RulesBody,
    RulesData,
    csv_response,
)
from lab2048.views.web.state import Gone, Lab, LabOf

router = APIRouter(prefix="/api/solves", tags=["tables"], responses=ERRORS)
MANIFEST = "manifest.json"
MEMORY = 8 * 2**30  # as without --memory
JobId = Annotated[str, Path(alias="solve", max_length=40, examples=["solve-1"])]


class SolveBody(JobBody):
    """A board to solve, and the objective."""

    rules: RulesBody
    objective: Objective = "score"
    name: str | None = Field(default=None, pattern=NAME)
    exact: bool = Field(default=False, description="Store values in 64 bits instead of 32.")
    anyway: bool = Field(default=False, description="Start even if the estimate says that it does not fit.")


@router.post("")
def begin(lab: LabOf, gone: Gone, body: SolveBody) -> JobData:
    """Start a solve and save its table; an unfinished table is resumed.

    The solve is estimated first, and refused if it does not fit on this machine.
    """
    words, name, rules = _words(lab, body)
    if (lab.library.tables / name / MANIFEST).exists():
        raise ConflictError(f"table {name} exists already: choose another name, or open that table", table=name)
    if (job := lab.jobs.find("solve", name)) and job.is_active:
        raise ConflictError(f"table {name} is being solved already: {job.id}", table=job.id)
    found = estimate_of(lab, gone, rules, body.objective)
    if not (found.fits or body.anyway):
        raise ConflictError(f"{found.verdict}; set anyway to try it: it stops before the disk is full", table=name)
    needs = Needs(0 if body.anyway else int(found.disk), min(int(found.memory), _memory(lab)))
    lab.library.tables.mkdir(parents=True, exist_ok=True)
    request = {**body.model_dump(), "name": name, "rules": RulesData.of(rules).model_dump()}
    goal = f" to {rules.goal}" if body.objective == "win" else ", score"
    title = f"{rules.board.to_text()}{goal}"
    return lab.jobs.start("solve", title, words, request=request, resume_words=words, needs=needs).data()


@router.post("/plan")
def plan(lab: LabOf, body: SolveBody) -> CommandData:
    """Return the command line of a solve without starting it."""
    return CommandData(command=command_line(_words(lab, body)[0]))


@router.get("/{solve}/chart")
def chart(lab: LabOf, id_: JobId) -> ChartData:
    """Return a chart of the layers so far."""
    return ChartData.of(_chart(lab, id_), f"/api/solves/{id_}/chart")


@router.get("/{solve}/chart/csv", **CSV)
def chart_csv(lab: LabOf, id_: JobId) -> Response:
    """Return the numbers of the chart as CSV."""
    return csv_response(_chart(lab, id_).to_csv(), f"{id_}-layers")


def _chart(lab: Lab, id_: str) -> Chart:
    progress = lab.progress_of(id_, SolveProgress)
    with lab.jobs.lock:
        return solve_chart(progress.layers, progress.valued_from)


def _words(lab: Lab, body: SolveBody) -> tuple[list[str], str, Rules]:
    from lab2048.solver.problem import Problem

    rules = body.rules.read()
    Problem.of(rules, body.objective)
    check_starts(rules)
    name = body.name or table_name(rules, body.objective)
    words = [*solve_words(rules, body.objective), "--out", str(lab.library.tables / name)]
    words += [*["--exact"] * body.exact, *body.cluster_words()]
    words += ["--memory", write_size(_memory(lab))] if _memory(lab) < MEMORY else []
    return words, name, rules


def _memory(lab: Lab) -> int:
    """Return the bytes that a solve may use."""
    return min(MEMORY, lab.jobs.memory or MEMORY)


def table_name(rules: Rules, objective: str) -> str:
    """Name a table after its board and objective.

    >>> table_name(Rules.from_text("3x3", goal=256), "win")
    '3x3-256'
    """
    board = rules.board.to_text()
    goal = str(rules.goal) if objective == "win" else "score"
    if rules.to_json() == Rules.from_text(rules.shape.size_name, goal=rules.goal).to_json():
        return f"{board}-{goal}"
    word = re.sub(r"[^a-z0-9]", "", rules.shape.size_name)
    return f"{word}-{goal}-{hashlib.sha256(rules.json_text.encode()).hexdigest()[:6]}"
