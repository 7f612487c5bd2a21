"""`/api/practice`: practise endgames with exact success rates; mistakes go into a notebook and return."""

import secrets
from functools import lru_cache
from pathlib import Path as File
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from lab2048.arena.practice import UNIT, Difficulty, Outcome, Position, Practice, practice_folders
from lab2048.errors import LabError
from lab2048.jobs.command_line import command_line
from lab2048.records.practice_table import PracticeFigures
from lab2048.rules.move import move_name
from lab2048.views.web.routes.hint import ValueData, finite
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.serialize.schema import ERRORS, MAX_TEXT, Body, ShapeData
from lab2048.views.web.state import Gone, LabOf

router = APIRouter(prefix="/api/practice", tags=["practice"], responses=ERRORS)
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"  # of a formation: never a path
FormationName = Annotated[str, Path(alias="formation", pattern=NAME, examples=["snake8-64"])]
Seed = Annotated[int | None, Field(ge=0, le=2**63 - 1)]


class PracticeFiguresData(BaseModel):
    """How practice with a formation goes."""

    n_moves: int
    n_good: int
    n_ended: int
    n_won: int
    streak: int
    best_streak: int
    n_mistakes: int
    n_due: int


class FormationData(BaseModel):
    """A formation that can be practised."""

    name: str
    map: str
    shape: ShapeData
    ranks: list[int]  # of the map: where it shows free large tiles
    goal: int
    goal_cells: list[int]
    free: int
    positions: int
    rate: float  # from the start, with the best moves
    shipped: bool
    figures: PracticeFiguresData


class UnbuiltData(BaseModel):
    """A formation whose table has to be built first, and what that takes."""

    name: str
    map: str
    goal: int
    free: int
    positions: float
    bytes: float
    seconds: float
    command: str


class PracticeList(BaseModel):
    """The formations, and those that can be built."""

    formations: list[FormationData]
    unbuilt: list[UnbuiltData]


class PracticeDraw(Body):
    """Which position to practise: a given one, one from the notebook, or a random one."""

    difficulty: Difficulty = Difficulty.MEDIUM
    board: str | None = Field(default=None, max_length=MAX_TEXT)
    mistakes: bool = True  # mistakes that are due come first
    seed: Seed = None


class PracticePosition(BaseModel):
    """A position to practise."""

    board: str
    ranks: list[int]
    legal: list[int]
    puzzle: int | None  # the position returned from the notebook
    command: str


class PracticeMove(Body):
    """A move, and how hostile the spawner is: the share of tiles that are the worst possible."""

    board: str = Field(max_length=MAX_TEXT)
    move: int = Field(ge=0, le=5)
    worst: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    puzzle: int | None = Field(default=None, ge=1, le=2**63 - 1)
    seed: Seed = None


class SpawnedData(BaseModel):
    """The new tile."""

    cell: int
    rank: int


class PracticeMade(BaseModel):
    """The success rates of all moves, and the next position."""

    good: bool
    move: int
    best: int
    noted: bool  # the mistake is in the notebook
    unit: str
    values: list[ValueData]
    spawn: SpawnedData | None
    outcome: Outcome | None
    position: PracticePosition
    figures: PracticeFiguresData


@router.get("")
def formations(lab: LabOf) -> PracticeList:
    """List the formations that can be practised, and those that can be built."""
    from lab2048.solver.endgame.formation import BYTES, families

    figures = lab.store.practice_figures()
    found = []
    for name in practice_folders():
        try:
            found.append(_describe(_open(name), figures.get(name, PracticeFigures())))
        except LabError:  # a damaged table is reported where it is used; the others can be practised
            continue
    names = {each.name for each in found}
    unbuilt = [
        UnbuiltData(
            name=name,
            map=formation.rules.board_text,
            goal=goal,
            free=formation.n_cells,
            positions=afterstates,
            bytes=BYTES * afterstates,
            seconds=afterstates / formation.rate,
            command=command_line(["endgame", "build", name]),
        )
        for family, formation, goals in families()
        for goal, afterstates in goals.items()
        if (name := f"{family}-{goal}") not in names
    ]
    return PracticeList(formations=found, unbuilt=unbuilt)


@router.post("/{formation}/position")
def position(lab: LabOf, gone: Gone, name: FormationName, body: PracticeDraw) -> PracticePosition:
    """Return a position to practise."""
    practice = _open(name)
    if body.board is not None:
        return _position(practice, Position(practice.read(body.board)))
    found = practice.returning(lab.store) if body.mistakes else None
    if found is None:
        with lab.heavy_work(gone):
            found = practice.draw(body.difficulty, _rng(body.seed))
    return _position(practice, found)


@router.post("/{formation}/move")
def move(lab: LabOf, name: FormationName, body: PracticeMove) -> PracticeMade:
    """Make a move; the answer has the exact success rates of all moves, and the next position."""
    practice = _open(name)
    board = practice.read(body.board)
    puzzle = lab.store.puzzle(body.puzzle) if body.puzzle is not None else None
    made = practice.make(board, body.move, store=lab.store, rng=_rng(body.seed), worst=body.worst, puzzle=puzzle)
    best = made.moves[0].value.value
    return PracticeMade(
        good=made.is_good,
        move=made.chosen.move,
        best=made.moves[0].move,
        noted=made.is_noted,
        unit=UNIT,
        values=[
            ValueData(
                move=each.move,
                name=move_name(each.value.move),
                value=finite(each.value.value),
                loss=finite(best - each.value.value),
                error=None,
                grade=each.grade,
            )
            for each in made.moves
        ],
        spawn=SpawnedData(cell=made.spawn[0], rank=made.spawn[1]) if made.spawn else None,
        outcome=made.outcome,
        position=_position(practice, Position(made.board)),
        figures=_figures(practice.figures(lab.store)),
    )


def _open(name: str) -> Practice:
    folder = practice_folders().get(name)
    return _cached(name, folder, (folder / "manifest.json").stat().st_mtime_ns) if folder else Practice.open(name)


@lru_cache(maxsize=32)
def _cached(name: str, folder: File, changed: int) -> Practice:  # noqa: ARG001 - a changed table is opened again
    return Practice.open(name)


def _rng(seed: int | None) -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(63) if seed is None else seed)


def _position(practice: Practice, found: Position) -> PracticePosition:
    board = found.board
    return PracticePosition(
        board=board.to_text(),
        ranks=list(board.ranks),
        legal=[] if practice.problem.is_decided(board) else [int(each) for each in board.legal_moves()],
        puzzle=found.puzzle,
        command=command_line(["probe", practice.name, board.to_text()]),
    )


def _describe(practice: Practice, figures: PracticeFigures) -> FormationData:
    rules, table = practice.rules, practice.table
    return FormationData(
        name=practice.name,
        map=rules.board_text,
        shape=shape_data(rules.board),
        ranks=list(rules.board.ranks),
        goal=rules.goal,
        goal_cells=list(rules.goal_cells),
        free=practice.endgame.formation.n_cells,
        positions=table.count.afterstates,
        rate=practice.start_rate,
        shipped=practice.is_shipped,
        figures=_figures(figures),
    )


def _figures(figures: PracticeFigures) -> PracticeFiguresData:
    return PracticeFiguresData(**figures._asdict())
