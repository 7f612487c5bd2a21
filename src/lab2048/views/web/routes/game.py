"""`/api/games/...`: play a game, undo and redo, let players move."""

import random
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from lab2048.arena.daily import day_of
from lab2048.arena.session import Session
from lab2048.errors import OutOfRangeError
from lab2048.jobs.command_line import command_line, rules_options
from lab2048.players import default_spec
from lab2048.rules.dice import MAX_SEED
from lab2048.views.web.errors import ConflictError
from lab2048.views.web.serialize.game import shape_data, turn_data
from lab2048.views.web.serialize.schema import (
    ERRORS,
    MAX_SPEC,
    Body,
    ChangeData,
    DeletedData,
    GameData,
    RulesBody,
    ShapeData,
    StateData,
    TurnData,
)
from lab2048.views.web.state import Gone, Lab, LabOf, TabName

MAX_LETTERS = 100
MAX_FRESH = 999_999  # random seeds are short, because people read and type them
MAX_TURNS = 20_000  # per answer
MAX_SPEED, MIN_SPEED = 1000.0, 0.2

router = APIRouter(prefix="/api/games", tags=["games"], responses=ERRORS)
Id = Annotated[int, Path(alias="game", ge=1, le=2**63 - 1)]
Rev = Annotated[int | None, Field(ge=0, le=2**53)]


class NewGame(Body):
    """The game to start."""

    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)
    player: str = Field(default="human", max_length=MAX_SPEC)


class MovesBody(Body):
    """Moves as letters, made one after the other."""

    moves: str = Field(min_length=1, max_length=MAX_LETTERS)
    rev: Rev = None
    mover: str = Field(default="human", max_length=MAX_SPEC)


class StepsBody(Body):
    """How many moves to undo or redo."""

    n: int = Field(default=1, ge=1, le=1_000_000)
    rev: Rev = None


class StepBody(Body):
    """Who makes the next move."""

    player: str | None = Field(default=None, max_length=MAX_SPEC)
    rev: Rev = None


class AutoBody(Body):
    """Who plays, and how many moves per second; 0 = as fast as possible."""

    player: str | None = Field(default=None, max_length=MAX_SPEC)
    speed: float = Field(default=8.0, ge=0, le=MAX_SPEED)
    running: bool = True


class ForkBody(Body):
    """The number of moves that the new game takes over."""

    at: int = Field(ge=0, le=10_000_000)


class ReplayData(BaseModel):
    """The turns of a game, or some of them."""

    state: StateData
    shape: ShapeData
    first: list[int]
    score: int
    turns: list[TurnData]
    command: str


@router.post("")
def begin(lab: LabOf, body: NewGame) -> GameData:
    """Start a game."""
    seed = random.SystemRandom().randint(1, MAX_FRESH) if body.seed is None else body.seed
    return game_data(lab, lab.open_games.start(body.rules.read(), seed, _mover(lab, body.player)))


@router.get("/{game}")
def show(lab: LabOf, id_: Id) -> GameData:
    """Return a game with everything needed to show and play it."""
    return game_data(lab, lab.open_games.get(id_))


@router.post("/{game}/moves", responses={409: {"description": "The game has changed meanwhile."}})
def move(lab: LabOf, id_: Id, body: MovesBody, tab: TabName = "") -> ChangeData:
    """Make moves; skip illegal ones."""
    mover = _mover(lab, body.mover)
    with lab.open_games.changing(id_, body.rev) as session:
        turns = session.play_letters(body.moves, by=mover)
        return lab.open_games.changed(session, "moves", turns, tab=tab)


@router.post("/{game}/undo")
def undo(lab: LabOf, id_: Id, body: StepsBody, tab: TabName = "") -> ChangeData:
    """Undo moves."""
    with lab.open_games.changing(id_, body.rev) as session:
        session.undo(body.n)
        return lab.open_games.changed(session, "undo", [], tab=tab)


@router.post("/{game}/redo")
def redo(lab: LabOf, id_: Id, body: StepsBody, tab: TabName = "") -> ChangeData:
    """Redo undone moves."""
    with lab.open_games.changing(id_, body.rev) as session:
        turns = session.redo(body.n)
        return lab.open_games.changed(session, "redo", turns[-MAX_TURNS:], tab=tab)


@router.post("/{game}/step")
def step(lab: LabOf, gone: Gone, id_: Id, body: StepBody, tab: TabName = "") -> ChangeData:
    """Let a player make one move."""
    session = lab.open_games.get(id_)
    player = read_player(lab, body.player, session)
    with session.lock:
        board, seen, is_over = session.game.board, session.rev, session.game.is_over
    if is_over:
        raise ConflictError(f"game {id_} is over: no move is possible")
    if body.rev is not None and body.rev != seen:
        raise lab.open_games.conflict(session)
    decision = lab.players.decide(player, session.game.rules, board, session.game.seed, gone=gone)
    with lab.open_games.changing(id_, seen) as session:
        return lab.open_games.changed(session, "moves", [session.play(decision.move, by=player)], tab=tab)


@router.put("/{game}/auto")
def auto(lab: LabOf, id_: Id, body: AutoBody, tab: TabName = "") -> StateData:
    """Start autoplay, change its speed, or pause it."""
    if 0 < body.speed < MIN_SPEED:
        raise OutOfRangeError("speed", f"{body.speed:g}", f"0, or {MIN_SPEED:g} to {MAX_SPEED:g}")
    session = lab.open_games.get(id_)
    player = read_player(lab, body.player, session)
    return lab.open_games.autoplay(id_, player, body.speed, is_running=body.running, tab=tab)


@router.get("/{game}/replay")
def replay(
    lab: LabOf,
    id_: Id,
    first: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    last: Annotated[int, Query(ge=0, le=10_000_000)] = 10_000_000,
) -> ReplayData:
    """Return the turns of a game from `first` to `last`, at most 20,000."""
    session = lab.open_games.get(id_)
    with session.lock:
        played = session.game.turns
        first = min(first, len(played) + 1)
        turns = played[first - 1 : min(last, first - 1 + MAX_TURNS)]
        before = played[first - 2] if first > 1 else None
        return ReplayData(
            state=lab.open_games.state(session),
            shape=shape_data(session.game.rules.board),
            first=list(before.board.ranks if before else session.game.first_board.ranks),
            score=before.score if before else 0,
            turns=turn_data(session, turns, lab.library),
            command=command_line(["games", "replay", str(id_)]),
        )


@router.post("/{game}/fork")
def fork(lab: LabOf, id_: Id, body: ForkBody) -> GameData:
    """Start a game with the first moves of this one."""
    session = lab.open_games.get(id_)
    return game_data(lab, lab.open_games.branch(session.episode(), body.at))


@router.delete("/{game}")
def delete(lab: LabOf, id_: Id) -> DeletedData:
    """Delete a game; `restore` brings it back until the server stops."""
    lab.open_games.delete(id_)
    return DeletedData(deleted=id_)


@router.post("/{game}/restore")
def restore(lab: LabOf, id_: Id) -> StateData:
    """Restore a deleted game."""
    return lab.open_games.state(lab.open_games.restore(id_))


def game_data(lab: Lab, session: Session) -> GameData:
    with session.lock:
        game = session.game
        return GameData(
            state=lab.open_games.state(session),
            shape=shape_data(game.rules.board),
            moves=game.moves_text(),
            first=list(game.first_board.ranks),
            day=None if game.given else day_of(game.rules, game.seed),
            commands={
                "show": command_line(["games", "show", str(session.id)]),
                "play": command_line(["play", *rules_options(game.rules), "--seed", str(game.seed)]),
            },
        )


def read_player(lab: Lab, spec: str | None, session: Session) -> str:
    """Return the canonical spec of a player that the page names, or of the default player."""
    return lab.library.read(spec or default_spec(session.game.rules))


def _mover(lab: Lab, spec: str) -> str:
    return spec if spec == "human" else lab.library.read(spec)
