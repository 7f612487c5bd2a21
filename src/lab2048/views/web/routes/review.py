"""`/api/games/.../review`: review a game, look at its positions, try other moves, take the review with you."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from lab2048.arena.review.review import Review
from lab2048.arena.review.reviewer import Reviewer, default_reviewer, groups_of_reviewer
from lab2048.arena.session import Session
from lab2048.errors import UsageError
from lab2048.jobs.command_line import command_line
from lab2048.records.episode import Episode
from lab2048.rules import Game, Turn
from lab2048.rules.move import move_name
from lab2048.views.web.errors import NotFoundError
from lab2048.views.web.review_page import make_page
from lab2048.views.web.routes.game import MAX_LETTERS, Id
from lab2048.views.web.routes.hint import ValueData, finite, grade
from lab2048.views.web.routes.players import own_reviewers
from lab2048.views.web.serialize.review import ReviewData, review_data
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, Body, TurnData
from lab2048.views.web.services.reviews import Reviewing
from lab2048.views.web.state import Lab, LabOf

N_LINE = 6  # moves of the best line
JSON_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}

router = APIRouter(prefix="/api/games", tags=["reviews"], responses=ERRORS)
Spec = Annotated[str, Query(max_length=MAX_SPEC)]


class ReviewBody(Body):
    """The player that reviews; the default is the best one for the board."""

    reviewer: str = Field(default="", max_length=MAX_SPEC)


class ReviewState(BaseModel):
    """How far a review is; the review itself is left out if the client has it already."""

    game: int
    state: str  # none, running, done, stopped, failed
    reviewer: str
    n_done: int
    n_moves: int
    error: str
    version: str
    review: ReviewData | None
    command: str


class BranchBody(Body):
    """A position of a game: the moves that are taken over, and other moves after them."""

    at: int = Field(ge=0, le=10_000_000)
    moves: str = Field(default="", max_length=MAX_LETTERS)
    reviewer: str = Field(default="", max_length=MAX_SPEC)


class PositionData(BaseModel):
    """A position: the moves that lead to it, the value of every legal move, and the best line on the same dice."""

    ranks: list[int]
    score: int
    over: bool
    turns: list[TurnData]  # the other moves
    values: list[ValueData]
    unit: str
    line: list[TurnData]


@router.post("/{game}/review")
def begin(lab: LabOf, id_: Id, body: ReviewBody) -> ReviewState:
    """Start the review of a game, or continue it."""
    session = lab.open_games.get(id_)
    episode, game = _record(session)
    spec = _spec(lab, body.reviewer, game)
    return _state(lab, lab.reviews.begin(id_, spec, episode, game), "")


@router.get("/{game}/review")
def show(lab: LabOf, id_: Id, reviewer: Spec = "", known: Annotated[str, Query(max_length=600)] = "") -> ReviewState:
    """Return the review of a game as it stands; `known` is the version that the client has."""
    session = lab.open_games.get(id_)
    episode, game = _record(session)
    spec = _named(lab, reviewer, game)
    found = lab.reviews.find(id_, spec, episode, game)
    if found is None:
        found = Reviewing(id_, spec, len(episode.moves), episode.checksum, "none")
    return _state(lab, found, known)


@router.delete("/{game}/review")
def stop(lab: LabOf, id_: Id, reviewer: Spec = "") -> ReviewState:
    """Stop the review of a game; what is reviewed is kept."""
    session = lab.open_games.get(id_)
    episode, game = _record(session)
    spec = _named(lab, reviewer, game)
    lab.reviews.stop(id_, spec)
    found = lab.reviews.find(id_, spec, episode, game)
    return _state(lab, found or Reviewing(id_, spec, len(episode.moves), episode.checksum, "none"), "")


@router.get(
    "/{game}/review.json",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
def export_json(lab: LabOf, id_: Id, reviewer: Spec = "") -> Response:
    """Return a review as `lab2048 review --json` prints it."""
    data = {"schema": "lab2048/review-1", **done_review(lab, id_, reviewer).to_json()}
    return _attachment(json.dumps(data), "application/json", f"review-{id_}.json")


@router.get("/{game}/review.html", response_class=Response, responses={200: {"content": {"text/html": {}}}})
def export_page(lab: LabOf, id_: Id, reviewer: Spec = "") -> Response:
    """Return a review as one HTML file that needs no server."""
    return _attachment(make_page(done_review(lab, id_, reviewer), f"Game {id_}"), "text/html", f"review-{id_}.html")


@router.post("/{game}/position")
def position(lab: LabOf, id_: Id, body: BranchBody) -> PositionData:
    """Return the values of all moves of a position, after other moves if you like, and the best line."""
    session = lab.open_games.get(id_)
    with session.lock:
        if body.at > len(session.game.turns):
            raise NotFoundError(f"game {id_} has no move {body.at}: expected 0 to {len(session.game.turns)}")
        branch = Session.branch(session.episode(), body.at).game
    spec = _spec(lab, body.reviewer, branch)
    alphabet = branch.rules.shape.letters
    for letter in body.moves:
        if letter not in alphabet:
            raise UsageError(f"move {letter!r} is not known: expected letters of {alphabet}", field="moves")
        branch.play(alphabet.index(letter))
    turns = branch.turns[body.at :]
    with lab.reviews.using.question():
        reviewer = lab.reviews.reviewer(spec, branch.rules)
        values = _values(reviewer, branch)
        line = _line(reviewer, branch)
    return PositionData(
        ranks=list(branch.board.ranks),
        score=branch.score,
        over=branch.is_over,
        turns=[_turn(turn) for turn in turns],
        values=values,
        unit=reviewer.unit,
        line=line,
    )


def _record(session: Session) -> tuple[Episode, Game]:
    """Return the record and a copy of the game of a session, which goes on meanwhile."""
    with session.lock:
        game = session.game
        copy = Game(game.rules, game.seed, given=list(game.given))
        copy.turns.extend(game.turns)
        return session.episode(), copy


def _named(lab: Lab, reviewer: str, game: Game) -> str:
    """Return the spec of a reviewer; without one, what suits the board best among all that is here."""
    if reviewer:
        return lab.library.read(reviewer)
    return default_reviewer(game.rules, own_reviewers(lab, game.rules.board))


def _spec(lab: Lab, reviewer: str, game: Game) -> str:
    spec = _named(lab, reviewer, game)
    lab.players.check_groups(*groups_of_reviewer(spec, game.rules))
    return spec


def done_review(lab: Lab, id_: int, reviewer: str) -> Review:
    """Return the review of a game; raise NotFoundError if it is not done."""
    session = lab.open_games.get(id_)
    episode, game = _record(session)
    found = lab.reviews.find(id_, _named(lab, reviewer, game), episode, game)
    if found is None or found.review is None or found.state != "done":
        raise NotFoundError(f"game {id_} is not reviewed yet: POST /api/games/{id_}/review starts it")
    return found.review


def _state(lab: Lab, found: Reviewing, known: str) -> ReviewState:
    review = found.review if found.version != known else None
    words = ["review", str(found.game), *(["--reviewer", found.reviewer] if found.reviewer != "ntuple" else [])]
    return ReviewState(
        game=found.game,
        state=found.state,
        reviewer=lab.library.write(found.reviewer),
        n_done=found.n_done,
        n_moves=found.n_moves,
        error=found.error,
        version=found.version,
        review=review_data(review) if review else None,
        command=command_line(words),
    )


def _values(reviewer: Reviewer, game: Game) -> list[ValueData]:
    if not game.legal_moves():
        return []
    values = reviewer.values(game.board)
    best = max(values.values())
    return [
        ValueData(
            move=move,
            name=move_name(game.rules.shape.moves[move]),
            value=finite(value),
            loss=finite(best - value),
            error=None,
            grade=grade(best - value, best, reviewer.unit),
        )
        for move, value in sorted(values.items(), key=lambda item: -item[1])
    ]


def _line(reviewer: Reviewer, game: Game) -> list[TurnData]:
    """Return the best moves from here, with the spawns of the seed; the game is left after them."""
    n = len(game.turns)
    while len(game.turns) < n + N_LINE and game.legal_moves():
        values = reviewer.values(game.board)
        game.play(max(values, key=lambda move: values[move]))
    line = [_turn(turn) for turn in game.turns[n:]]
    while len(game.turns) > n:
        game.undo()
    return line


def _turn(turn: Turn) -> TurnData:
    cell, rank = turn.spawn
    return TurnData(number=turn.number, move=int(turn.move), mover="", reward=turn.reward, cell=cell, rank=rank)


def _attachment(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
