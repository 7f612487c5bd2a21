"""`/api/solves`: exact solves as jobs."""

import hashlib
import re
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import Field

from lab2048.jobs.command_line import command_line
from lab2048.jobs.job import JobData
from lab2048.jobs.progress import SolveProgress
from lab2048.rules import Rules
from lab2048.views.charts import Chart, solve_chart
from lab2048.views.web.errors import ConflictError
from lab2048.views.web.routes.design import Objective, check_starts, solve_words
from lab2048.views.web.serialize.schema import (
    CSV,
    ERRORS,
    NAME,
    Body,
    ChartData,
    CommandData,
    RulesBody,
    RulesData,
    csv_response,
)
from lab2048.views.web.state import Lab, LabOf

router = APIRouter(prefix="/api/solves", tags=["tables"], responses=ERRORS)
MANIFEST = "manifest.json"
JobId = Annotated[str, Path(alias="solve", max_length=40, examples=["solve-1"])]


class SolveBody(Body):
    """A board to solve, and the objective."""

    rules: RulesBody
    objective: Objective = "score"
    name: str | None = Field(default=None, pattern=NAME)
    exact: bool = Field(default=False, description="Store values in 64 bits instead of 32.")


@router.post("")
def begin(lab: LabOf, body: SolveBody) -> JobData:
    """Start a solve and save its table; an unfinished table is resumed."""
    words, name, rules = _words(lab, body)
    if (lab.library.tables / name / MANIFEST).exists():
        raise ConflictError(f"table {name} exists already: choose another name, or open that table", table=name)
    if (job := lab.jobs.find("solve", name)) and job.is_active:
        raise ConflictError(f"table {name} is being solved already: {job.id}", table=job.id)
    lab.library.tables.mkdir(parents=True, exist_ok=True)
    request = {**body.model_dump(), "name": name, "rules": RulesData.of(rules).model_dump()}
    goal = f" to {rules.goal}" if body.objective == "win" else ", score"
    return lab.jobs.start("solve", f"{rules.board.to_text()}{goal}", words, request=request, resume_words=words).data()


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
    return [*words, *(["--exact"] if body.exact else [])], name, rules


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
