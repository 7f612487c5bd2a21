"""`/api/puzzles`: find the only good move, in positions where you or a player went wrong."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from lab2048.arena.review.grade import Grade
from lab2048.arena.review.puzzle import make_puzzles
from lab2048.errors import UsageError
from lab2048.records.input_file import parse_json
from lab2048.records.puzzle_table import Progress, Puzzle
from lab2048.rules import Board, Rules
from lab2048.rules.move import move_name
from lab2048.views.web.routes.game import Id
from lab2048.views.web.routes.hint import ValueData, finite, grade
from lab2048.views.web.routes.review import done_review
from lab2048.views.web.serialize.game import shape_data
from lab2048.views.web.serialize.schema import ERRORS, Body, ShapeData
from lab2048.views.web.state import LabOf

router = APIRouter(prefix="/api", tags=["puzzles"], responses=ERRORS)
PuzzleId = Annotated[int, Path(alias="puzzle", ge=1, le=2**63 - 1)]


class AddedData(BaseModel):
    """How many puzzles a game gave, and how many of them are new."""

    found: int
    new: int


class ProgressData(BaseModel):
    """Your rating, and how many puzzles there are."""

    rating: float
    n_attempts: int
    n_right: int
    n_due: int
    n_puzzles: int


class PuzzleData(BaseModel):
    """A position to solve."""

    id: int
    shape: ShapeData
    ranks: list[int]
    legal: list[int]
    rating: float
    source: str


class NextData(BaseModel):
    """The next puzzle, if there is one."""

    puzzle: PuzzleData | None
    progress: ProgressData


class TryBody(Body):
    """The move that you would make."""

    move: int = Field(ge=0, le=5)


class TriedData(BaseModel):
    """Whether it was a good move, and what every move is worth."""

    right: bool
    best: int
    made: int  # what was played in the game
    unit: str
    reviewer: str
    values: list[ValueData]
    progress: ProgressData


@router.post("/games/{game}/puzzles")
def add(lab: LabOf, id_: Id) -> AddedData:
    """Make puzzles from the mistakes of a reviewed game."""
    found = list(make_puzzles(done_review(lab, id_, ""), f"game {id_}"))
    return AddedData(found=len(found), new=lab.store.add_puzzles(found))


@router.get("/puzzles/next")
def following(lab: LabOf) -> NextData:
    """Return the puzzle to solve next: one that returns, else a new one near your rating."""
    found = lab.store.next_puzzle()
    return NextData(puzzle=_data(found) if found else None, progress=_progress(lab.store.puzzle_progress()))


@router.post("/puzzles/{puzzle}")
def try_puzzle(lab: LabOf, id_: PuzzleId, body: TryBody) -> TriedData:
    """Try a move; the answer has the values of all moves."""
    puzzle = lab.store.puzzle(id_)
    board = _board(puzzle)
    values = {int(move): float(value) for move, value in puzzle.facts["values"].items()}
    if body.move not in values:
        legal = ", ".join(move_name(board.shape.moves[move]) for move in values)
        raise UsageError(f"move {body.move} is illegal here: expected one of {legal}", field="move")
    best, unit = max(values, key=lambda move: values[move]), str(puzzle.facts["unit"])
    is_right = grade(values[best] - values[body.move], values[best], unit) in (Grade.BEST, Grade.GOOD)
    progress = lab.store.try_puzzle(puzzle, body.move, is_right=is_right)
    return TriedData(
        right=is_right,
        best=best,
        made=int(puzzle.facts["made"]),
        unit=unit,
        reviewer=str(puzzle.facts["reviewer"]),
        values=[
            ValueData(
                move=move,
                name=move_name(board.shape.moves[move]),
                value=finite(value),
                loss=finite(values[best] - value),
                error=None,
                grade=grade(values[best] - value, values[best], unit),
            )
            for move, value in sorted(values.items(), key=lambda item: -item[1])
        ],
        progress=_progress(progress),
    )


def _board(puzzle: Puzzle) -> Board:
    rules = Rules.from_json(parse_json(puzzle.rules))
    return Board(rules.shape, Board.from_text(puzzle.board).ranks)


def _data(puzzle: Puzzle) -> PuzzleData:
    board = _board(puzzle)
    return PuzzleData(
        id=puzzle.id,
        shape=shape_data(board),
        ranks=list(board.ranks),
        legal=[int(move) for move in puzzle.facts["values"]],
        rating=round(puzzle.rating),
        source=puzzle.source,
    )


def _progress(progress: Progress) -> ProgressData:
    return ProgressData(**progress._asdict())
