"""Practise an endgame: positions of a formation, the success rate of every move, and a notebook of mistakes.

Success rates are exact for a fair spawner, also while you practise against one that is not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lab2048.arena.review.grade import FAULTS, Grade, grade_of, share_of
from lab2048.arena.review.puzzle import key_of, rating_of
from lab2048.errors import BoardError, LabError, UnknownNameError, UsageError
from lab2048.records.practice_table import PracticeFigures
from lab2048.records.puzzle_table import NewPuzzle, Puzzle
from lab2048.records.store import Store
from lab2048.rules import Board, Rules
from lab2048.rules.move import move_name
from lab2048.solver.endgame.formation import formation_names
from lab2048.solver.endgame.probe import SHIPPED, Endgame, endgames_folder
from lab2048.solver.probing import MoveValue, obvious_move
from lab2048.solver.table import MANIFEST
from lab2048.stop_flag import current

SLIPS = 0.1  # share of random moves in the games from which positions are drawn
MOST_GAMES = 60  # played until a position of the wanted difficulty turns up
UNIT = "chance"  # of the values of moves


class Difficulty(StrEnum):
    """How hard it is to find a good move."""

    START = "start"  # the first tiles of the endgame
    EASY = "easy"  # the obvious move is good
    MEDIUM = "medium"  # it is slightly wrong, or the only good one
    HARD = "hard"  # it is a mistake


class Outcome(StrEnum):
    """How an endgame ended."""

    WON = "won"
    LOST = "lost"  # no move is left that keeps the large tiles
    MISPLACED = "misplaced"  # the goal was made on a cell where it does not count


class Position(NamedTuple):
    """A position to practise, and the puzzle if it returns from the notebook."""

    board: Board
    puzzle: int | None = None


@dataclass(frozen=True)
class RatedMove:
    """A move, its success rate, and its grade."""

    value: MoveValue
    grade: Grade

    @property
    def move(self) -> int:
        return int(self.value.move)


@dataclass(frozen=True)
class Made:
    """What came of a move: the rates of all moves (best first), and the next position."""

    chosen: RatedMove
    moves: list[RatedMove]
    spawn: tuple[int, int] | None  # cell and rank; None if the move ended the endgame
    board: Board
    outcome: Outcome | None
    is_noted: bool  # the mistake is in the notebook

    @property
    def is_good(self) -> bool:
        return self.chosen.grade not in FAULTS


class Practice:
    """The endgame of one formation, to practise; mistakes are noted in the store."""

    def __init__(self, name: str, endgame: Endgame) -> None:
        """Use `open`."""
        self.name, self.endgame, self.table = name, endgame, endgame.table
        self.problem = self.table.problem

    @classmethod
    def open(cls, name: str) -> "Practice":
        """Open the table of a formation by its name; raise LabError if there is none."""
        folder = practice_folders().get(name)
        if folder is None:
            missing = [each for each in formation_names() if each == name]
            if missing:
                raise UsageError(
                    f"the formation {name} is not built yet: expected one of {', '.join(practice_folders())}",
                    code="formation.not_built",
                    hint=f"lab2048 endgame build {name}",
                )
            raise UnknownNameError("formation", name, list(practice_folders()))
        return cls(name, Endgame.open(folder))

    @property
    def rules(self) -> Rules:
        return self.problem.rules

    @property
    def is_shipped(self) -> bool:
        return self.table.folder.parent == SHIPPED

    @cached_property
    def start_rate(self) -> float:
        """The success rate from the start, with the best moves."""
        return float(self.table.manifest["value"])

    def read(self, text: str) -> Board:
        """Read a position; raise BoardError if it is not one of this endgame."""
        board = Board.from_text(text)
        if board.shape != self.rules.shape:
            raise BoardError(f"{text} is no position of {self.name}: expected {self.rules.board_text}")
        self.rate(board)
        return Board(self.rules.shape, board.ranks)

    def figures(self, store: Store) -> PracticeFigures:
        """Return how practice goes so far."""
        return store.practice_figures().get(self.name, PracticeFigures())

    def rate(self, board: Board) -> list[RatedMove]:
        """Return the legal moves with their success rates, the best first; empty if the endgame is over.

        Raises BoardError if the board is not in the table.
        """
        values = [] if self.problem.is_decided(board) else self.table.move_values(board)
        if not values:
            return []
        best = self.table.best(values)
        ordered = sorted(values, key=lambda each: (each is not best, -each.value, each.loss or 0.0))
        return [RatedMove(each, grade_of(share_of(best.value - each.value, best.value))) for each in ordered]

    def draw(self, difficulty: Difficulty, rng: np.random.Generator) -> Position:
        """Return a random position of a difficulty, as it may come up in a game with a few random moves.

        If no such position turns up, return one of the nearest difficulty.
        """
        if difficulty is Difficulty.START:
            return Position(self._start(rng))
        levels = [Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD]
        fallback: dict[Difficulty, Board] = {}
        for _ in range(MOST_GAMES):
            current().check()
            found = []
            for board, moves in self._game(rng):
                level = difficulty_of(moves)
                if level is difficulty:
                    found.append(board)
                elif level is not None:
                    fallback[level] = board
            if found:
                return Position(found[int(rng.integers(len(found)))])
        at = levels.index(difficulty)
        for level in sorted(fallback, key=lambda each: abs(levels.index(each) - at)):
            return Position(fallback[level])
        return Position(self._start(rng))

    def returning(self, store: Store) -> Position | None:
        """Return the mistake in the notebook that is due longest; None if none is due."""
        puzzle = store.due_mistake(self.name)
        if puzzle is None:
            return None
        try:
            return Position(self.read(puzzle.board), puzzle.id)
        except LabError:  # noted with another table of this name
            return None

    def make(
        self,
        board: Board,
        move: int,
        *,
        store: Store,
        rng: np.random.Generator,
        worst: float = 0.0,
        puzzle: Puzzle | None = None,
    ) -> Made:
        """Make a move, note how good it was, and let a tile spawn.

        The spawner takes the worst tile with probability `worst`, and otherwise a fair one.  `puzzle` is the position's
        puzzle if it returned from the notebook.
        """
        if puzzle is not None and puzzle.board != board.to_text():
            raise UsageError(f"puzzle {puzzle.id} is not this position: expected {puzzle.board}", field="puzzle")
        moves = self.rate(board)
        chosen = next((each for each in moves if each.move == move), None)
        if chosen is None:
            names = ", ".join(move_name(each.value.move) for each in moves) or "none: the endgame is over"
            raise UsageError(f"move {move} is illegal here: expected one of {names}", field="move")
        after = chosen.value.after
        spawn, outcome, following = None, None, after
        if self.problem.is_decided(after):
            outcome = Outcome.WON if self.problem.is_won(after) else Outcome.MISPLACED
        else:
            spawn = self._spawn(after, worst, rng)
            following = after.put(*spawn)
            outcome = None if following.legal_moves() else Outcome.LOST
        is_good = chosen.grade not in FAULTS
        if puzzle is not None:
            store.try_puzzle(puzzle, move, is_right=is_good)
        store.note_practice(
            self.name,
            is_good=is_good,
            has_won=None if outcome is None else outcome is Outcome.WON,
            mistake=None if is_good or puzzle is not None else self._mistake(board, moves, chosen),
        )
        return Made(chosen, moves, spawn, following, outcome, not is_good)

    def _mistake(self, board: Board, moves: Sequence[RatedMove], chosen: RatedMove) -> NewPuzzle:
        best, second = (each.value.value for each in moves[:2])
        return NewPuzzle(
            key=key_of(self.rules, board),
            rules=self.rules.json_text,
            board=board.to_text(),
            source=f"practice of {self.name}",
            facts={
                "values": {str(each.move): each.value.value for each in moves},
                "unit": UNIT,
                "reviewer": f"endgame table {self.name}",
                "made": chosen.move,
            },
            rating=rating_of(share_of(best - second, best)),
        )

    def _spawn(self, after: Board, worst: float, rng: np.random.Generator) -> tuple[int, int]:
        spawns = self.rules.spawns(after)
        if rng.random() < worst:
            values = [self.table.state_value(after.put(each.cell, each.rank))[0] for each in spawns]
            lowest = min(values)
            spawns = [each for each, value in zip(spawns, values, strict=True) if value == lowest]
        chances = np.array([each.probability for each in spawns])
        found = spawns[int(rng.choice(len(spawns), p=chances / chances.sum()))]
        return found.cell, found.rank

    def _start(self, rng: np.random.Generator) -> Board:
        if self.problem.is_scattered:  # there are many start boards: draw one instead of listing them
            board = Board(self.rules.shape, tuple(rng.permutation(self.rules.board.ranks).tolist()))
            for _ in range(self.rules.n_start):
                board = board.put(*self._spawn(board, 0.0, rng))
            return board
        starts = self.problem.starts
        chances = np.array([each.chance for each in starts])
        return starts[int(rng.choice(len(starts), p=chances / chances.sum()))].board

    def _game(self, rng: np.random.Generator) -> Iterator[tuple[Board, list[RatedMove]]]:
        """Play an endgame with the best moves and a few random ones; yield each position and its moves."""
        board = self._start(rng)
        while moves := self.rate(board):
            yield board, moves
            at = int(rng.integers(len(moves))) if rng.random() < SLIPS else 0
            after = moves[at].value.after
            if self.problem.is_decided(after):
                return
            board = after.put(*self._spawn(after, 0.0, rng))


def difficulty_of(moves: Sequence[RatedMove]) -> Difficulty | None:
    """Return how hard a position is; None if nothing can go wrong, or all is lost."""
    if len(moves) < 2 or moves[0].value.value <= 0 or moves[-1].grade not in FAULTS:
        return None
    obvious = obvious_move([each.value for each in moves])
    grade = next(each.grade for each in moves if each.value is obvious)
    if grade in (Grade.MISTAKE, Grade.BLUNDER):
        return Difficulty.HARD
    return Difficulty.MEDIUM if grade in FAULTS or moves[1].grade in FAULTS else Difficulty.EASY


def practice_folders() -> dict[str, Path]:
    """Return the folders of all tables that can be practised, by name: those that ship, then those that are built."""
    found: dict[str, Path] = {}
    for top in (SHIPPED, endgames_folder()):
        folders = sorted(path.parent for path in top.glob(f"*/{MANIFEST}"))
        found |= {folder.name: folder for folder in sorted(folders, key=_order)}
    return found


def _order(folder: Path) -> tuple[int, str]:
    """Sort as `lab2048 endgame list` does, formations of your own last."""
    names = formation_names()
    return (names.index(folder.name) if folder.name in names else len(names)), folder.name
