"""`/api/matches`: matches as jobs, their results and charts."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from lab2048.errors import UsageError, unknown
from lab2048.jobs.command_line import command_line, file_options, rules_options
from lab2048.jobs.job import Job, JobData
from lab2048.jobs.progress import MAX_GAMES, MatchProgress
from lab2048.rules.dice import MAX_SEED
from lab2048.views import charts
from lab2048.views.charts import Chart
from lab2048.views.number import count
from lab2048.views.web.errors import NotFoundError
from lab2048.views.web.serialize.schema import (
    CSV,
    ERRORS,
    MAX_SPEC,
    ChartData,
    CommandData,
    JobBody,
    RulesBody,
    RulesData,
    csv_response,
)
from lab2048.views.web.state import Lab, LabOf

if TYPE_CHECKING:
    from lab2048.arena.match import Match

MAX_PLAYERS = 8
MAX_COMPARED = 12

router = APIRouter(prefix="/api/matches", tags=["matches"], responses=ERRORS)
JobId = Annotated[str, Path(alias="match", max_length=40, examples=["match-1"])]
ChartName = Annotated[str, Path(alias="chart", max_length=20, examples=["scores"])]
Ids = Annotated[str, Query(max_length=500, examples=["match-1,match-2"])]

_CHARTS: "dict[str, Callable[[Match], Chart]]" = {
    "scores": charts.score_chart,
    "tiles": charts.tile_chart,
    "distribution": charts.distribution_chart,
    "paired": charts.paired_chart,
}


class MatchBody(JobBody):
    """A match to play."""

    players: list[Annotated[str, Field(max_length=MAX_SPEC)]] = Field(min_length=1, max_length=MAX_PLAYERS)
    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    games: int = Field(default=100, ge=1, le=MAX_GAMES)
    seed: int = Field(default=1, ge=0, le=MAX_SEED)


class MatchData(BaseModel):
    """A match and its results so far."""

    job: JobData
    result: dict[str, Any]


@router.post("")
def begin(lab: LabOf, body: MatchBody) -> JobData:
    """Start a match; every game is saved."""
    words, specs, rules = _words(lab, body)
    names = [lab.library.write(spec) for spec in specs]
    request = {**body.model_dump(), "specs": specs, "names": names, "rules": rules.model_dump()}
    title = f"{', '.join(names)} on {rules.board}, {count(body.games, 'game')}"
    return lab.jobs.start("match", title, words, request=request, resume_words=[*words, "--resume"]).data()


@router.post("/plan")
def plan(lab: LabOf, body: MatchBody) -> CommandData:
    """Return the command line of a match without starting it."""
    return CommandData(command=command_line(_words(lab, body)[0]))


@router.get("/compare")
def compare(lab: LabOf, ids: Ids) -> ChartData:
    """Compare the mean scores of several matches."""
    return ChartData.of(_compared(lab, ids), f"/api/matches/compare?ids={ids}")


@router.get("/compare/csv", **CSV)
def compare_csv(lab: LabOf, ids: Ids) -> Response:
    """Return the comparison as CSV."""
    return csv_response(_compared(lab, ids).to_csv(), "compare")


@router.get("/{match}")
def show(lab: LabOf, id_: JobId) -> MatchData:
    """Show a match as `lab2048 match --json` prints it."""
    progress = lab.progress_of(id_, MatchProgress)
    with lab.jobs.lock:
        return MatchData(job=progress.job.data(), result=progress.to_json())


@router.get("/{match}/csv", **CSV)
def show_csv(lab: LabOf, id_: JobId) -> Response:
    """Return the results of the players as CSV."""
    from lab2048.views.match_table import match_csv

    _, match = find(lab, id_)
    with lab.jobs.lock:
        return csv_response(match_csv(match), id_)


@router.get("/{match}/charts/{chart}")
def chart(lab: LabOf, id_: JobId, name: ChartName) -> ChartData:
    """Return a chart: scores, tiles, distribution or paired."""
    return ChartData.of(_chart(lab, id_, name), f"/api/matches/{id_}/charts/{name}")


@router.get("/{match}/charts/{chart}/csv", **CSV)
def chart_csv(lab: LabOf, id_: JobId, name: ChartName) -> Response:
    """Return the numbers of a chart as CSV."""
    return csv_response(_chart(lab, id_, name).to_csv(), f"{id_}-{name}")


def find(lab: Lab, id_: str) -> "tuple[Job, Match]":
    """Return a match with its games so far; hold `lab.jobs.lock` while you read them."""
    progress = lab.progress_of(id_, MatchProgress)
    with lab.jobs.lock:
        return progress.job, progress.match


def _chart(lab: Lab, id_: str, name: str) -> Chart:
    if name not in _CHARTS:
        raise NotFoundError(unknown("chart", name, _CHARTS))
    _, match = find(lab, id_)
    with lab.jobs.lock:
        return _CHARTS[name](match)


def _compared(lab: Lab, ids: str) -> Chart:
    found = [find(lab, id_) for id_ in ids.split(",") if re.fullmatch(r"[a-z0-9-]+", id_)]
    if not 1 <= len(found) <= MAX_COMPARED:
        raise UsageError(f"{len(found)} matches: expected 1 to {MAX_COMPARED} ids, such as match-1,match-2")
    rows = []
    with lab.jobs.lock:
        for job, match in found:
            board = match.rules.board.to_text()
            rows += [[f"{row[0]} ({board}, {job.id})", *row[1:]] for row in charts.score_chart(match).rows]
    return charts.means_chart("Mean scores", rows)


def _words(lab: Lab, body: MatchBody) -> tuple[list[str], list[str], RulesData]:
    """Return the command line of a match, its canonical players and its rules."""
    specs = [lab.library.read(player) for player in body.players]
    if len(set(specs)) < len(specs):
        raise UsageError("a player is named twice: expected each player once")
    rules = body.rules.read()
    words = ["match", *specs, "--games", str(body.games), "--seed", str(body.seed), *file_options(specs)]
    words += [*rules_options(rules, has_classic=False), *body.cluster_words()]
    return words, specs, RulesData.of(rules)
