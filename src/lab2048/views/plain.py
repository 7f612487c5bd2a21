"""A sitting at the keys in plain text: what each key does, and what is shown after it."""

from typing import TYPE_CHECKING

from lab2048.errors import IllegalMoveError
from lab2048.rules.move import letters, move_name
from lab2048.views.text import render

if TYPE_CHECKING:
    from lab2048.arena.sitting import Sitting


class PlainGame:
    """Games that are played by single keys.

    Moves are the letters of the shape (w a s d, on hexagons q w e a s d); u undoes, r does
    it again, x begins a new game, and Q (or q where it is no move) ends.
    """

    def __init__(self, sitting: "Sitting") -> None:
        """Show what is played in a sitting."""
        self.has_ended = False
        self._sitting = sitting
        self._keys = letters(sitting.rules.shape.moves)

    @property
    def help(self) -> str:
        """The keys in one line."""
        if len(self._keys) == 4:
            return "w a s d move, u undo, r redo, x new game, q quit"
        return "q w e / a s d move, u undo, r redo, x new game, Q quit"

    def press(self, key: str) -> str:
        """Do what a key says; return a line to show, perhaps empty."""
        if key in self._keys:
            return self._move(self._keys.index(key))
        if key in ("q", "Q"):
            self.has_ended = True
            return ""
        if key == "u":
            return "" if self._sitting.undo() else "nothing to undo"
        if key == "r":
            return "" if self._sitting.redo() else "nothing to redo"
        if key == "x":
            return f"new game, seed {self._sitting.begin_again().seed}"
        return f"key {key!r} is unknown: {self.help}"

    def _move(self, move: int) -> str:
        rules, game = self._sitting.rules, self._sitting.game
        try:
            turn = self._sitting.play(move)
        except IllegalMoveError:
            return "the game is over" if game.is_over else f"{move_name(rules.shape.moves[move])} changes nothing"
        return f"{rules.goal}! The goal is reached, and you can play on" if turn.reaches_goal else ""

    def frame(self, *, colour: bool) -> str:
        """The board and the facts below it."""
        game = self._sitting.game
        facts = f"score {game.score}   moves {len(game.turns)}   highest {game.board.max_tile}   goal {game.rules.goal}"
        over = "\ngame over; u takes the last move back, x begins a new game" if game.is_over else ""
        return f"{render(game.board, colour=colour)}\n{facts}{over}"
