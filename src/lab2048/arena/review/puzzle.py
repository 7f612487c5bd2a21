"""Puzzles from reviews: positions where a mistake was made and one move is clearly the best."""

import hashlib
from collections.abc import Iterator

from lab2048.arena.review.grade import LIMITS, Grade, share_of
from lab2048.arena.review.ledger import Entry
from lab2048.arena.review.review import Review, states
from lab2048.records.puzzle_table import NewPuzzle
from lab2048.rules import Board

CLEAR = LIMITS[Grade.INACCURACY]  # share that the second best move must give away
EASIEST, HARDEST = 1000.0, 2000.0  # ratings of new puzzles
OBVIOUS = 0.3  # share given away by the second best move of the easiest puzzles


def make_puzzles(review: Review, source: str) -> Iterator[NewPuzzle]:
    """Return the puzzles of a game: mistakes and blunders with only one good move."""
    entries = review.ledger.entries
    for entry, board in zip(entries, states(review.game, len(entries)), strict=True):
        if entry.grade in (Grade.MISTAKE, Grade.BLUNDER) and (gap := _gap(entry)) > CLEAR:
            yield NewPuzzle(
                key=_key(review, board),
                rules=review.game.rules.json_text,
                board=board.to_text(),
                source=f"{source}, move {entry.turn.number}",
                facts={
                    "values": {str(int(move)): value for move, value in entry.values.items()},
                    "unit": review.unit,
                    "reviewer": review.reviewer,
                    "made": int(entry.turn.move),
                },
                rating=HARDEST - (HARDEST - EASIEST) * min(1.0, gap / OBVIOUS),
            )


def _gap(entry: Entry) -> float:
    """Return the share that the second best move gives away."""
    best, second = sorted(entry.values.values(), reverse=True)[:2]
    return share_of(best - second, best)


def _key(review: Review, board: Board) -> str:
    text = f"{review.game.rules.json_text} {board.canonical().to_text()}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]
