"""`/api/shape` and `/api/design`: custom boards, and whether they can be solved on this machine."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from lab2048.errors import LabError, UsageError
from lab2048.jobs.command_line import command_line, rules_options
from lab2048.players import default_spec
from lab2048.records.disk_space import free_bytes
from lab2048.rules import Board, Rules
from lab2048.rules.kind import KINDS
from lab2048.views.number import number, size, wait
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.serialize.schema import ERRORS, MAX_TEXT, Body, RulesBody, RulesData, ShapeData
from lab2048.views.web.state import Gone, Lab, LabOf

if TYPE_CHECKING:
    from lab2048.solver.estimate import Estimate

ESTIMATE_SECONDS = 1.5
MAX_STARTS = 3  # first tiles; more give too many first boards for an interactive estimate
MAX_KEPT = 100

router = APIRouter(prefix="/api", tags=["design"], responses=ERRORS)
Objective = Literal["score", "win"]


class ParameterData(BaseModel):
    """A parameter of the size of a plain board: its values and their labels."""

    name: str
    default: int
    options: list[tuple[int, str]]


class BoardPresetData(BaseModel):
    """A board that forms propose."""

    board: str
    label: str


class KindData(BaseModel):
    """A kind of boards; the name of a plain board is the prefix and its parameters, joined by x."""

    kind: str
    prefix: str
    keys: str
    parameters: list[ParameterData]
    presets: list[BoardPresetData]


class DesignData(BaseModel):
    """A description of rules."""

    rules: RulesData
    shape: ShapeData
    ranks: list[int]
    n_empty: int
    max_tile_possible: int
    default_player: str
    commands: dict[str, str]
    can_solve: bool
    why_not: str


class EstimateBody(Body):
    """A board to solve, and the objective."""

    rules: RulesBody
    objective: Objective = "score"


class EstimateData(BaseModel):
    """The predicted time, disk space and memory of a solve."""

    afterstates: float
    states: float
    seconds: float
    disk: float
    memory: float
    free_disk: int
    free_memory: int
    is_exact: bool
    is_least: bool
    fits: bool
    how: str
    verdict: str
    command: str


@router.get("/shape")
def shape(board: Annotated[str, Query(max_length=MAX_TEXT)]) -> ShapeData:
    """Return the cells and lines of a board."""
    return shape_data(Board.from_text(board))


@router.get("/shape/kinds")
def kinds() -> list[KindData]:
    """List the kinds of boards and the parameters of their sizes."""
    return [
        KindData(
            kind=kind.cells,
            prefix=kind.prefix,
            keys=kind.keys_text,
            parameters=[
                ParameterData(
                    name=each.name,
                    default=default,
                    options=[
                        (n, str(n) if len(kind.parameters) > 1 else f"{n} ({kind.plain(n).n_cells} cells)")
                        for n in range(each.smallest, each.largest + 1)
                    ],
                )
                for each, default in zip(kind.parameters, Board.from_text(kind.example).shape.sizes, strict=True)
            ],
            presets=[BoardPresetData(board=board, label=label) for board, label in kind.presets.items()],
        )
        for kind in KINDS
    ]


@router.post("/design")
def design(body: RulesBody) -> DesignData:
    """Describe rules; return an error if they cannot be played."""
    rules = body.read()
    why_not = _why_not(rules)
    return DesignData(
        rules=RulesData.of(rules),
        shape=shape_data(rules.board),
        ranks=list(rules.board.ranks),
        n_empty=rules.board.n_empty,
        max_tile_possible=min(2**rules.max_rank, 2**52),
        default_player=default_spec(rules),
        commands={
            "play": command_line(["play", *rules_options(rules)]),
            "solve": command_line(solve_words(rules, "win")),
        },
        can_solve=not why_not,
        why_not=why_not,
    )


@router.post("/design/estimate")
def estimate(lab: LabOf, gone: Gone, body: EstimateBody) -> EstimateData:
    """Predict time, disk space and memory of a solve; takes a second or two."""
    return estimate_of(lab, gone, body.rules.read(), body.objective)


_kept: dict[tuple[str, str], "Estimate"] = {}  # estimates do not change, only the free disk space


def estimate_of(lab: Lab, gone: Gone, rules: Rules, objective: str) -> EstimateData:
    """Return the estimate of a solve, with the disk space that is free now."""
    key = (rules.json_text, objective)
    if key not in _kept:
        _kept[key] = _estimate(lab, gone, rules, objective)
        while len(_kept) > MAX_KEPT:
            _kept.pop(next(iter(_kept)))
    found = replace(_kept[key], free_disk=free_bytes(lab.folder)).to_json()
    words = [*solve_words(rules, objective), "--estimate"]
    return EstimateData(**found, verdict=_verdict(found, rules, objective), command=command_line(words))


def _estimate(lab: Lab, gone: Gone, rules: Rules, objective: str) -> "Estimate":
    from lab2048.solver.estimate import estimate as count
    from lab2048.solver.memory import Memory
    from lab2048.solver.problem import Problem
    from lab2048.solver.workers import Workers

    problem = Problem.of(rules, objective)
    check_starts(rules)
    lab.players.check_groups("solver")
    n_workers = max(1, (os.cpu_count() or 1) - 1)
    with lab.heavy_work(gone), Workers(n_workers) as workers:
        return count(problem, workers, Memory(2**29, n_workers), lab.folder, seconds=ESTIMATE_SECONDS)


def check_starts(rules: Rules) -> None:
    """Reject rules with so many first boards that listing them takes minutes."""
    if rules.n_start > MAX_STARTS:
        raise UsageError(
            f"start {rules.n_start} is too large for the page: expected at most {MAX_STARTS}", field="start"
        )


def solve_words(rules: Rules, objective: str) -> list[str]:
    """Return the command line that solves these rules."""
    goal = ["--goal", str(rules.goal)] if objective == "win" else []
    return [
        "solve",
        rules.board_text,
        *goal,
        *rules_options(rules, has_board=False, has_goal=False, has_stop=False),
    ]


def _why_not(rules: Rules) -> str:
    """Return why these rules cannot be solved for any objective, or None."""
    from lab2048.solver.problem import Problem

    why = ""
    for objective in ("win", "score"):
        try:
            Problem.of(rules, objective)
            check_starts(rules)
        except LabError as error:
            why = why or str(error)  # of the goal: a lower one may be enough
        else:
            return ""
    return why


def _verdict(found: dict[str, Any], rules: Rules, objective: str) -> str:
    lower = f"a goal below {rules.goal}" if objective == "win" else "a goal to reach"
    missing = f"; {lower}, or fewer cells, would make it smaller"
    if found["is_least"]:
        return f"cannot be solved here: more than {number(found['afterstates'])} afterstates{missing}"
    about = "" if found["is_exact"] else "about "
    seconds, disk = wait(max(1, found["seconds"])), size(found["disk"])
    what = f"{about}{number(found['afterstates'])} afterstates, about {seconds}, {disk} of disk"
    return f"can be solved here: {what}" if found["fits"] else f"cannot be solved here: {what}{missing}"
