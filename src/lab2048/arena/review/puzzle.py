"""Puzzles from reviews: positions where a mistake was made and one move is clearly the best."""

import hashlib
from collections.abc import Iterator

from lab2048.arena.review.grade import LIMITS, Grade, share_of
from lab2048.arena.review.ledger import Entry
from lab2048.arena.review.review import Review, states
from lab2048.records.puzzle_table import NewPuzzle
from lab2048.rules import Board, Rules

CLEAR = LIMITS[Grade.INACCURACY]  # share that the second best move must give away
EASIEST, HARDEST = 1000.0, 2000.0  # ratings of new puzzles
OBVIOUS = 0.3  # share given away by the second best move of the easiest puzzles


def make_puzzles(review: Review, source: str) -> Iterator[NewPuzzle]:
    """Return the puzzles of a game: mistakes and blunders with only one good move."""
    entries = review.ledger.entries
    for entry, board in zip(entries, states(review.game, len(entries)), strict=True):
        if entry.grade in (Grade.MISTAKE, Grade.BLUNDER) and (gap := _gap(entry)) > CLEAR:
            yield NewPuzzle(
                key=key_of(review.game.rules, board),
                rules=review.game.rules.json_text,
                board=board.to_text(),
                source=f"{source}, move {entry.turn.number}",
                facts={
                    "values": {str(int(move)): value for move, value in entry.values.items()},
                    "unit": review.unit,
                    "reviewer": review.reviewer,
                    "made": int(entry.turn.move),
                },
                rating=rating_of(gap),
            )


def _gap(entry: Entry) -> float:
    """Return the share that the second best move gives away."""
    best, second = sorted(entry.values.values(), reverse=True)[:2]
    return share_of(best - second, best)


def rating_of(gap: float) -> float:
    """Return the first rating of a puzzle whose second best move gives away a share.

    >>> rating_of(0.0), rating_of(0.15), rating_of(1.0)
    (2000.0, 1500.0, 1000.0)
    """
    return HARDEST - (HARDEST - EASIEST) * min(1.0, gap / OBVIOUS)


def key_of(rules: Rules, board: Board) -> str:
    """Return a key that is the same for symmetric positions."""
    text = f"{rules.json_text} {board.canonical(rules.symmetries).to_text()}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]
