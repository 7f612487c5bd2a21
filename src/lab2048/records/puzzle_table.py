"""Puzzles in the store: positions to solve, your attempts and your rating.

Ratings follow Elo: you and the puzzle play a game that you win if you find the move.  A puzzle that you got wrong
returns soon; one that you solved returns after 1, 3, 7 and 21 days.
"""

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lab2048.errors import StoreError, StoreNotFoundError
from lab2048.records.input_file import parse_json
from lab2048.records.store_file import StoreFile

FIRST_RATING = 1500.0
STEP, PUZZLE_STEP = 32.0, 16.0  # how far one attempt moves a rating
AGAIN = timedelta(minutes=1)  # until a puzzle that you got wrong returns
DAYS = (1, 3, 7, 21)  # until one that you solved returns, by how often in a row
NAMES = "id, rules, board, source, facts, rating, streak, due"


class NewPuzzle(NamedTuple):
    """A puzzle to be added."""

    key: str  # the same for symmetric positions
    rules: str
    board: str
    source: str
    facts: dict[str, Any]  # the value of every move
    rating: float


class Puzzle(NamedTuple):
    """A puzzle in the store."""

    id: int
    rules: str
    board: str
    source: str
    facts: dict[str, Any]
    rating: float
    streak: int
    due: str | None  # None if it was never tried


class Progress(NamedTuple):
    """Your rating, and how many puzzles there are."""

    rating: float
    n_attempts: int
    n_right: int
    n_due: int
    n_puzzles: int


class PuzzleTable(StoreFile):
    """The tables `puzzles` and `puzzle_attempts` of a store."""

    def add_puzzles(self, puzzles: Iterable[NewPuzzle]) -> int:
        """Add puzzles that are not there yet; return how many were new."""
        with self._change(is_durable=False) as database:
            return sum(self.insert_puzzle(database, each) for each in puzzles)

    def puzzle(self, id_: int) -> Puzzle:
        """Return a puzzle; raise StoreNotFoundError if there is none."""
        with self._read() as database:
            question = f"SELECT {NAMES} FROM puzzles WHERE id = ?"
            row = database.execute(question, (id_,)).fetchone() if 0 < id_ < 2**63 else None
        if row is None:
            raise StoreNotFoundError(f"there is no puzzle {id_} in {self.path}", code="puzzle.not_found")
        return self.read_puzzle(row)

    def next_puzzle(self, now: datetime | None = None) -> Puzzle | None:
        """Return the puzzle that is due longest, else a new one near your rating; None if there is none."""
        question = f"""
            SELECT {NAMES} FROM puzzles WHERE due IS NULL OR due <= ?
            ORDER BY due IS NULL, due, abs(rating - ?), id LIMIT 1
        """
        rating = self.puzzle_progress(now).rating
        with self._read() as database:
            row = database.execute(question, (time_text(now), rating)).fetchone()
        return None if row is None else self.read_puzzle(row)

    def insert_puzzle(self, database: sqlite3.Connection, puzzle: NewPuzzle) -> bool:
        """Add a puzzle inside a transaction; return False if it is there already."""
        statement = """
            INSERT OR IGNORE INTO puzzles (key, rules, board, source, facts, rating, streak)
            VALUES (?, ?, ?, ?, ?, ?, 0)
        """
        facts = json.dumps(puzzle.facts, allow_nan=False)
        row = (puzzle.key, puzzle.rules, puzzle.board, puzzle.source, facts, puzzle.rating)
        return database.execute(statement, row).rowcount > 0

    def try_puzzle(self, puzzle: Puzzle, move: int, *, is_right: bool, now: datetime | None = None) -> Progress:
        """Note an attempt; return your progress with it."""
        before = self.puzzle_progress(now).rating
        expected = 1 / (1 + 10 ** ((puzzle.rating - before) / 400))
        change = float(is_right) - expected
        streak = puzzle.streak + 1 if is_right else 0
        wait = timedelta(days=DAYS[min(streak, len(DAYS)) - 1]) if is_right else AGAIN
        facts = (puzzle.rating - PUZZLE_STEP * change, streak, time_text(now, wait), puzzle.id)
        attempt = (puzzle.id, time_text(now), move, int(is_right), before + STEP * change)
        with self._change() as database:
            database.execute("UPDATE puzzles SET rating = ?, streak = ?, due = ? WHERE id = ?", facts)
            names = "puzzle, created, move, is_right, rating"
            database.execute(f"INSERT INTO puzzle_attempts ({names}) VALUES (?, ?, ?, ?, ?)", attempt)
        return self.puzzle_progress(now)

    def puzzle_progress(self, now: datetime | None = None) -> Progress:
        """Return your rating and the counts."""
        question = """
            SELECT (SELECT rating FROM puzzle_attempts ORDER BY id DESC LIMIT 1),
                   (SELECT count(*) FROM puzzle_attempts), (SELECT count(*) FROM puzzle_attempts WHERE is_right),
                   (SELECT count(*) FROM puzzles WHERE due <= ?), (SELECT count(*) FROM puzzles)
        """
        with self._read() as database:
            rating, *counts = database.execute(question, (time_text(now),)).fetchone()
        return Progress(FIRST_RATING if rating is None else float(rating), *map(int, counts))

    def read_puzzle(self, row: tuple[Any, ...]) -> Puzzle:
        """Read a row with the columns of NAMES."""
        id_, rules, board, source, facts, rating, streak, due = row
        try:
            return Puzzle(id_, str(rules), str(board), str(source), parse_json(facts), float(rating), int(streak), due)
        except (ValueError, TypeError) as error:
            raise StoreError(f"puzzle {id_} in {self.path} is damaged: {error}", code="puzzle.damaged") from None


def time_text(now: datetime | None, wait: timedelta = timedelta()) -> str:
    """Return the time after a wait, as it is stored."""
    return ((now or datetime.now(UTC)) + wait).isoformat(timespec="seconds")
