"""Reviews as data for the page: columns instead of rows, because a game may have 20,000 moves."""

from typing import Any

from pydantic import BaseModel

from lab2048.arena.review.grade import Grade
from lab2048.arena.review.review import Review

LETTERS = dict(zip(Grade, "bgimxu", strict=True))  # of grades


class PhaseData(BaseModel):
    """A part of a game, by the highest tile."""

    name: str
    first_move: int
    n_moves: int
    accuracy: float
    error_rate: float
    luck: float
    skill: float


class MilestoneData(BaseModel):
    """A new highest tile, and the move that made it."""

    tile: int
    move: int


class MomentData(BaseModel):
    """A turn that changed the value most."""

    kind: str
    move: int
    change: float


class SpawnData(BaseModel):
    """A lucky or an unlucky spawn."""

    move: int
    cell: int
    tile: int
    luck: float


class ReviewData(BaseModel):
    """The review of a game; initial_value + luck + skill + drift = final_score."""

    reviewer: str
    unit: str
    n_moves: int
    is_over: bool
    score: int
    initial_value: float
    luck: float
    skill: float
    drift: float
    final_score: float
    luck_adjusted_score: float
    accuracy: float
    error_rate: float
    grades: dict[str, int]
    phases: list[PhaseData]
    milestones: list[MilestoneData]
    key_moments: list[MomentData]
    worst_moves: list[int]
    luckiest: list[SpawnData]
    unluckiest: list[SpawnData]
    values: list[float]  # of the best move before each move, and of the last board
    losses: list[float]  # of each move
    lucks: list[float]  # of the spawn after each move
    best: list[int]  # the best move
    grade_letters: str  # a letter per move: best, good, inaccuracy, mistake, x blunder, unclear


def review_data(review: Review) -> ReviewData:
    """Return a review as data; amounts are rounded to what can be seen."""
    data: dict[str, Any] = review.summary()
    entries = review.ledger.entries
    digits = 6 if review.unit == "chance" else 1
    last = review.ledger.final_value - (review.game.score if review.unit == "score" else 0)
    return ReviewData(
        **data,
        values=[round(entry.value, digits) for entry in entries] + [round(last, digits)],
        losses=[round(entry.loss, digits) for entry in entries],
        lucks=[round(entry.luck, digits) for entry in entries],
        best=[entry.best for entry in entries],
        grade_letters="".join(LETTERS[entry.grade] for entry in entries),
    )
