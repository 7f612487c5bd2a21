"""`/api/games/...`: play a game, undo and redo, let players move."""

import random
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from lab2048.arena.open_game import OpenGame
from lab2048.errors import OutOfRangeError, UsageError
from lab2048.players import default_spec
from lab2048.rules.dice import MAX_SEED
from lab2048.views.web.errors import ConflictError
from lab2048.views.web.serialize.game import shape_data, turn_data
from lab2048.views.web.serialize.schema import (
    ERRORS,
    MAX_SPEC,
    Body,
    ChangeData,
    GameData,
    RulesBody,
    ShapeData,
    StateData,
    TurnData,
)
from lab2048.views.web.services.command_line import line, rules_options
from lab2048.views.web.state import Lab, LabOf, TabName

MAX_LETTERS = 100
MAX_FRESH = 999_999  # seeds that nobody chose are short: they are read and typed by people
MAX_TURNS = 20_000  # of one answer
MAX_SPEED, MIN_SPEED = 1000.0, 0.2

router = APIRouter(prefix="/api/games", tags=["games"], responses=ERRORS)
Id = Annotated[int, Path(alias="game", ge=1, le=2**63 - 1)]
Rev = Annotated[int | None, Field(ge=0, le=2**53)]


class NewGame(Body):
    """What to play."""

    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED)
    player: str = Field(default="human", max_length=MAX_SPEC)


class MovesBody(Body):
    """Letters of moves, made one after the other."""

    moves: str = Field(min_length=1, max_length=MAX_LETTERS)
    rev: Rev = None
    mover: str = Field(default="human", max_length=MAX_SPEC)


class StepsBody(Body):
    """How many moves to go back or forward."""

    n: int = Field(default=1, ge=1, le=1_000_000)
    rev: Rev = None


class StepBody(Body):
    """Who makes the next move."""

    player: str | None = Field(default=None, max_length=MAX_SPEC)
    rev: Rev = None


class AutoBody(Body):
    """Who plays, and how many moves a second; 0 is as fast as it goes."""

    player: str | None = Field(default=None, max_length=MAX_SPEC)
    speed: float = Field(default=8.0, ge=0, le=MAX_SPEED)
    running: bool = True


class ForkBody(Body):
    """After which move to go on in another game."""

    at: int = Field(ge=0, le=10_000_000)


class ReplayData(BaseModel):
    """The turns of a game, or some of them."""

    state: StateData
    shape: ShapeData
    first: list[int]
    score: int
    turns: list[TurnData]
    command: str


class DeletedData(BaseModel):
    """What is gone."""

    deleted: int


@router.post("")
def begin(lab: LabOf, body: NewGame) -> GameData:
    """Begin a game; the one before stays as it is."""
    seed = random.SystemRandom().randint(1, MAX_FRESH) if body.seed is None else body.seed
    return game_data(lab, lab.desk.begin(body.rules.read(), seed, _mover(lab, body.player), names=[]))


@router.get("/{game}")
def show(lab: LabOf, id_: Id) -> GameData:
    """A game with all that is needed to show it and to go on."""
    return game_data(lab, lab.desk.get(id_))


@router.post("/{game}/moves", responses={409: {"description": "The game has changed meanwhile."}})
def move(lab: LabOf, id_: Id, body: MovesBody, tab: TabName = "") -> ChangeData:
    """Make moves; those that are illegal when their turn comes are passed over."""
    mover = _mover(lab, body.mover)
    with lab.desk.changing(id_, body.rev) as opened:
        turns = opened.play_letters(body.moves, mover)
        return lab.desk.changed(opened, "moves", turns, tab=tab)


@router.post("/{game}/undo")
def undo(lab: LabOf, id_: Id, body: StepsBody, tab: TabName = "") -> ChangeData:
    """Take moves back."""
    with lab.desk.changing(id_, body.rev) as opened:
        opened.undo(body.n)
        return lab.desk.changed(opened, "undo", [], tab=tab)


@router.post("/{game}/redo")
def redo(lab: LabOf, id_: Id, body: StepsBody, tab: TabName = "") -> ChangeData:
    """Make undone moves again."""
    with lab.desk.changing(id_, body.rev) as opened:
        turns = opened.redo(body.n)
        return lab.desk.changed(opened, "redo", turns[-MAX_TURNS:], tab=tab)


@router.post("/{game}/step")
def step(lab: LabOf, id_: Id, body: StepBody, tab: TabName = "") -> ChangeData:
    """Let a player make one move."""
    opened = lab.desk.get(id_)
    player = read_player(lab, body.player, opened)
    with opened.lock:
        board, seen = opened.game.board, opened.rev
    if not board.legal_moves():
        raise ConflictError(f"game {id_} is over: no move is possible")
    if body.rev is not None and body.rev != seen:
        raise ConflictError(f"game {id_} has changed meanwhile: expected rev {seen}", state=_dump(lab, opened))
    decision = lab.players.decide(player, opened.game.rules, board, opened.game.seed)
    with lab.desk.changing(id_, seen) as opened:
        return lab.desk.changed(opened, "moves", [opened.play(decision.move, player)], tab=tab)


@router.put("/{game}/auto")
def auto(lab: LabOf, id_: Id, body: AutoBody, tab: TabName = "") -> StateData:
    """Let a player play by itself, change its speed, or pause it."""
    if 0 < body.speed < MIN_SPEED:
        raise OutOfRangeError("speed", f"{body.speed:g}", f"0, or {MIN_SPEED:g} to {MAX_SPEED:g}")
    opened = lab.desk.get(id_)
    player = read_player(lab, body.player, opened)
    return lab.desk.auto(id_, player, body.speed, is_running=body.running, tab=tab)


@router.get("/{game}/replay")
def replay(
    lab: LabOf,
    id_: Id,
    first: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    last: Annotated[int, Query(ge=0, le=10_000_000)] = 10_000_000,
) -> ReplayData:
    """The turns of a game from `first` to `last`, at most 20,000 of them."""
    opened = lab.desk.get(id_)
    with opened.lock:
        played = opened.game.turns
        first = min(first, len(played) + 1)
        turns = played[first - 1 : min(last, first - 1 + MAX_TURNS)]
        before = played[first - 2] if first > 1 else None
        return ReplayData(
            state=lab.desk.state(opened),
            shape=shape_data(opened.game.rules.board),
            first=list(before.board.ranks if before else opened.game.first_board.ranks),
            score=before.score if before else 0,
            turns=turn_data(opened, turns, lab.library, in_full=False),
            command=line(["games", "replay", str(id_)]),
        )


@router.post("/{game}/fork")
def fork(lab: LabOf, id_: Id, body: ForkBody) -> GameData:
    """A new game with the first moves of this one."""
    opened = lab.desk.get(id_)
    with opened.lock:
        game, names = opened.game, opened.names[: body.at]
        if body.at > len(game.turns):
            raise UsageError(f"game {id_} has {len(game.turns)} moves: expected at most that, not {body.at}")
        moves = game.moves_text()[: body.at]
    beginner = names[0] if names else "human"
    return game_data(lab, lab.desk.begin(game.rules, game.seed, beginner, moves=moves, names=names))


@router.delete("/{game}")
def delete(lab: LabOf, id_: Id) -> DeletedData:
    """Take a game out of the store; `restore` brings it back."""
    lab.desk.delete(id_)
    return DeletedData(deleted=id_)


@router.post("/{game}/restore")
def restore(lab: LabOf, id_: Id) -> StateData:
    """Bring a deleted game back."""
    return lab.desk.state(lab.desk.restore(id_))


def game_data(lab: Lab, opened: OpenGame) -> GameData:
    """A game in full."""
    with opened.lock:
        game = opened.game
        return GameData(
            state=lab.desk.state(opened),
            shape=shape_data(game.rules.board),
            moves=game.moves_text(),
            first=list(game.first_board.ranks),
            commands={
                "show": line(["games", "show", str(opened.id)]),
                "play": line(["play", *rules_options(game.rules), "--seed", str(game.seed)]),
            },
        )


def read_player(lab: Lab, spec: str | None, opened: OpenGame) -> str:
    """The canonical spec of a player that the page names, or of the default one."""
    return lab.library.read(spec or default_spec(opened.game.rules))


def _mover(lab: Lab, spec: str) -> str:
    return spec if spec == "human" else lab.library.read(spec)


def _dump(lab: Lab, opened: OpenGame) -> dict[str, object]:
    return lab.desk.state(opened).model_dump()
