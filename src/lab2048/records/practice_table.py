"""Practice of endgames in the store: how well it goes with each formation, and a notebook of mistakes.

A mistake becomes a puzzle (see lab2048.records.puzzle_table), so it returns as puzzles do.
"""

from datetime import datetime
from typing import NamedTuple

from lab2048.records.puzzle_table import AGAIN, NAMES, NewPuzzle, Puzzle, PuzzleTable, time_text

_COLUMNS = "n_moves, n_good, n_ended, n_won, streak, best_streak"


class PracticeFigures(NamedTuple):
    """How practice with a formation goes."""

    n_moves: int = 0
    n_good: int = 0  # moves without a fault
    n_ended: int = 0  # endgames played to their end
    n_won: int = 0
    streak: int = 0  # good moves since the last fault
    best_streak: int = 0
    n_mistakes: int = 0  # in the notebook
    n_due: int = 0  # of them, those that return now


class PracticeTable(PuzzleTable):
    """The tables `practice` and `notebook` of a store."""

    def practice_figures(self, now: datetime | None = None) -> dict[str, PracticeFigures]:
        """Return the figures of each formation that was practised."""
        question = f"""
            SELECT formation, {_COLUMNS},
                   (SELECT count(*) FROM notebook WHERE notebook.formation = practice.formation),
                   (SELECT count(*) FROM notebook JOIN puzzles ON puzzles.id = puzzle
                    WHERE notebook.formation = practice.formation AND due <= ?)
            FROM practice
        """
        with self._read() as database:
            rows = database.execute(question, (time_text(now),)).fetchall()
        return {str(name): PracticeFigures(*map(int, counts)) for name, *counts in rows}

    def note_practice(
        self,
        formation: str,
        *,
        is_good: bool,
        has_won: bool | None = None,
        mistake: NewPuzzle | None = None,
        now: datetime | None = None,
    ) -> None:
        """Note a move; `has_won` is given if it ended the endgame, `mistake` if it goes into the notebook."""
        good, ended, won = int(is_good), int(has_won is not None), int(has_won is True)
        statement = f"""
            INSERT INTO practice (formation, {_COLUMNS}) VALUES (:name, 1, :good, :ended, :won, :good, :good)
            ON CONFLICT (formation) DO UPDATE SET
                n_moves = n_moves + 1, n_good = n_good + :good, n_ended = n_ended + :ended, n_won = n_won + :won,
                streak = :good * (streak + 1), best_streak = max(best_streak, :good * (streak + 1))
        """
        with self._change(is_durable=mistake is not None) as database:
            database.execute(statement, {"name": formation, "good": good, "ended": ended, "won": won})
            if mistake is not None:
                self.insert_puzzle(database, mistake)
                (id_,) = database.execute("SELECT id FROM puzzles WHERE key = ?", (mistake.key,)).fetchone()
                again = (time_text(now, AGAIN), id_)
                database.execute("UPDATE puzzles SET streak = 0, due = ? WHERE id = ?", again)
                database.execute("INSERT OR REPLACE INTO notebook (puzzle, formation) VALUES (?, ?)", (id_, formation))

    def due_mistake(self, formation: str, now: datetime | None = None) -> Puzzle | None:
        """Return the mistake with a formation that is due longest; None if none is due."""
        question = f"""
            SELECT {NAMES} FROM puzzles JOIN notebook ON puzzle = id
            WHERE formation = ? AND due <= ? ORDER BY due, id LIMIT 1
        """
        with self._read() as database:
            row = database.execute(question, (formation, time_text(now))).fetchone()
        return None if row is None else self.read_puzzle(row)
