"""`/api/games/.../values`: analyse a game: the value of its boards, from any player."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from lab2048.rules import Board
from lab2048.views.web.routes.game import Id, read_player
from lab2048.views.web.routes.hint import finite, grade
from lab2048.views.web.routes.players import unit_of_player
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, Body
from lab2048.views.web.state import LabOf

MAX_ASKED = 20  # boards per request; clients send several requests, so that they can stop

router = APIRouter(prefix="/api/games", tags=["games"], responses=ERRORS)


class JudgeBody(Body):
    """The turns to analyse, 0 for the first board; and the player to ask."""

    turns: list[Annotated[int, Field(ge=0, le=10_000_000)]] = Field(min_length=1, max_length=MAX_ASKED)
    player: str | None = Field(default=None, max_length=MAX_SPEC)


class JudgedData(BaseModel):
    """The value of a board, its best move, and the loss of the move that was made."""

    turn: int
    score: int
    value: float
    best: int
    made: int | None
    loss: float
    grade: str


class JudgedList(BaseModel):
    """The values of boards; boards without a legal move are left out."""

    player: str
    unit: str
    points: list[JudgedData]


@router.post("/{game}/values")
def values(lab: LabOf, id_: Id, body: JudgeBody) -> JudgedList:
    """Ask a player for the values of boards of a game."""
    opened = lab.open_games.get(id_)
    spec = read_player(lab, body.player, opened)
    unit = unit_of_player(spec)
    with opened.lock:
        game = opened.game
        turns = [turn for turn in dict.fromkeys(body.turns) if turn <= len(game.turns)]
        boards: list[tuple[int, Board, int, int | None]] = []
        for turn in turns:
            at = game.turns[turn - 1] if turn else None
            made = int(game.turns[turn].move) if turn < len(game.turns) else None
            boards.append((turn, at.board if at else game.first_board, at.score if at else 0, made))
    points = []
    for turn, board, score, made in boards:
        if not board.legal_moves():
            continue
        decision = lab.players.decide(spec, game.rules, board, game.seed)
        best = finite(decision.values[decision.move])
        loss = max(0.0, best - finite(decision.values[made])) if made is not None else 0.0
        errors = [decision.errors.get(move, 0.0) for move in (decision.move, made) if move is not None]
        word = grade(loss, best, unit, 2 * sum(error**2 for error in errors) ** 0.5)
        points.append(
            JudgedData(turn=turn, score=score, value=best, best=decision.move, made=made, loss=loss, grade=word)
        )
    return JudgedList(player=lab.library.write(spec), unit=unit, points=points)
