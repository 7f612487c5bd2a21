"""`human`: the person at the keyboard."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from lab2048.errors import UsageError
from lab2048.players.player import Decision, Player
from lab2048.rules import Board


@dataclass
class HumanPlayer(Player):
    """A person who chooses the moves at the keyboard."""

    measure: ClassVar[str] = "none"
    is_interactive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.ask: Callable[[Board], int] | None = None  # set by the view that shows the game

    def choose(self, board: Board) -> Decision:
        """Ask the person until the answer is a legal move."""
        if self.ask is None:
            raise UsageError(
                "human needs a person at the keyboard: expected a player that chooses by itself, or lab2048 play"
            )
        legal = board.legal_moves()
        while (move := self.ask(board)) not in legal:
            pass
        return Decision(move, dict.fromkeys(legal, 0.0))
