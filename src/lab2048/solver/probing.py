"""Probe a solved board: the value of every move, from the values that a table has of afterstates."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from lab2048.errors import BoardError
from lab2048.rules import Board
from lab2048.rules.move import AnyMove
from lab2048.solver.problem import Objective, Problem


def chance_of(odds: float) -> float:
    """Convert odds to the probability of winning.

    >>> chance_of(3.0), chance_of(float("inf"))
    (0.75, 1.0)
    """
    return odds / (1 + odds) if odds <= 1 else 1 - 1 / (1 + odds)


@dataclass(frozen=True)
class MoveValue:
    """A move, its afterstate and its value: the probability of winning, or reward plus expected future score."""

    move: AnyMove
    after: Board
    reward: int
    value: float
    loss: float | None = None  # with a goal: the probability of losing, precise where the value is near 1


def obvious_move(moves: Sequence[MoveValue]) -> MoveValue:
    """Return the move that people tend to make: the one that merges most, then the one that leaves most cells empty."""
    return max(moves, key=lambda each: (each.reward, each.after.n_empty))


class Probing:
    """Base class of tables: they know the values of afterstates."""

    problem: Problem

    @abstractmethod
    def stored_value(self, after: Board) -> float:
        """Return the stored value of an afterstate: odds, or the expected future score.

        Raises BoardError if the table does not have it.
        """

    def check_shape(self, board: Board) -> None:
        """Raise BoardError unless a board has the shape of the table."""
        if board.shape != self.problem.rules.shape:
            raise BoardError(f"board {board.to_text()} has another shape than the table: expected {self.example}")

    def missing(self, board: Board) -> BoardError:
        """Return the error for a board that is not in the table."""
        return BoardError(
            f"board {board.to_text()} is not in the table: expected one that can be reached from {self.example}"
        )

    @property
    def example(self) -> str:
        return self.problem.rules.board_text

    def move_values(self, board: Board) -> list[MoveValue]:
        """Return the value of every legal move, in the order of the moves."""
        self.check_shape(board)
        found = []
        for move, (after, reward) in board.slides():
            if self.problem.objective is Objective.SCORE:
                found.append(MoveValue(move, after, reward, reward + self.stored_value(after)))
            elif self.problem.is_won(after):
                found.append(MoveValue(move, after, reward, 1.0, 0.0))
            elif self.problem.is_decided(after):  # on a cell where the goal does not count
                found.append(MoveValue(move, after, reward, 0.0, 1.0))
            else:
                odds = self.stored_value(after)
                found.append(MoveValue(move, after, reward, chance_of(odds), 1 / (1 + odds)))
        return found

    def best(self, moves: list[MoveValue]) -> MoveValue:
        """Return the best move; ties go to the smallest canonical afterstate, so the choice respects symmetry."""
        most = max((move.value, -(move.loss or 0.0)) for move in moves)
        equal = [move for move in moves if (move.value, -(move.loss or 0.0)) == most]
        return equal[0] if len(equal) == 1 else min(equal, key=lambda move: self.problem.canonical_word(move.after))

    def state_value(self, board: Board) -> tuple[float, float | None]:
        """Return the value of a state, and with a goal the probability of losing."""
        if self.problem.is_won(board):
            return 1.0, 0.0
        moves = [] if self.problem.is_decided(board) else self.move_values(board)
        if not moves:
            return 0.0, 1.0 if self.problem.objective is Objective.WIN else None
        best = self.best(moves)
        return best.value, best.loss
