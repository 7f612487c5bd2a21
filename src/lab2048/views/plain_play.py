"""A sitting at the keys in plain text: what each key does, and what is said about the game."""

from typing import TYPE_CHECKING

from lab2048.errors import IllegalMoveError
from lab2048.rules import Board
from lab2048.rules.move import key_moves, move_name
from lab2048.views.text import fit, render

if TYPE_CHECKING:
    from lab2048.arena.sitting import Sitting

_NOW_WHAT = "u takes the last move back, x begins a new game"


class PlainGame:
    """Games that are played by single keys.

    The letters of the shape's moves and the arrow keys move; u undoes, r redoes, x begins a new game,
    ? and h list the keys, and Q (or q where it is no move) quits.
    """

    def __init__(self, sitting: "Sitting") -> None:
        """Show what is played in a sitting."""
        self.has_ended = False
        self._sitting = sitting
        self._moves = key_moves(sitting.rules.shape.moves)

    @property
    def board(self) -> Board:
        return self._sitting.game.board

    @property
    def help(self) -> str:
        """The keys in one line."""
        leave = "Q" if "q" in self._moves else "q"
        return f"{self._sitting.rules.shape.keys_text} move, u undo, r redo, x new game, ? keys, {leave} quit"

    @property
    def status(self) -> str:
        """What there is to say when no key has given cause for a message, perhaps nothing."""
        return f"game over; {_NOW_WHAT}" if self._sitting.game.is_over else ""

    def press(self, key: str) -> str:
        """Do what a key says; return a line to show, perhaps empty."""
        if key in self._moves:
            return self._move(self._moves[key])
        if key in ("q", "Q"):
            self.has_ended = True
            return ""
        if key in ("?", "h"):
            return self.help
        if key == "u":
            return self._undo()
        if key == "r":
            return "" if self._sitting.redo() else "nothing to redo"
        if key == "x":
            return f"new game, seed {self._sitting.begin_again().seed}; u goes back to the old one"
        return f"key {key!r} is unknown: {self.help}"

    def _move(self, move: int) -> str:
        rules, game = self._sitting.rules, self._sitting.game
        try:
            turn = self._sitting.play(move)
        except IllegalMoveError:
            if game.is_over:
                return f"the game is over; {_NOW_WHAT}"
            return f"{move_name(rules.shape.moves[move])} changes nothing"
        if not turn.reaches_goal:
            return ""
        further = f"the game is over; {_NOW_WHAT}" if game.is_over else "you can play on"
        return f"{rules.goal}! The goal is reached, and {further}"

    def _undo(self) -> str:
        before = self._sitting.game
        if not self._sitting.undo():
            return "nothing to undo"
        game = self._sitting.game
        return "" if game is before else f"back to the game with seed {game.seed}"

    def header(self, columns: int | None = None) -> str:
        """What is played."""
        seed = f"seed {self._sitting.game.seed}"
        rules = self._sitting.rules.board.to_text()
        return fit(columns, f"2048 on {rules}, {seed}", f"{rules}, {seed}", f"2048, {seed}", seed)

    def frame(self, columns: int | None = None, *, colour: bool) -> str:
        """The board and the facts below it, as many as fit."""
        game = self._sitting.game
        facts = (
            f"score {game.score}",
            f"moves {len(game.turns)}",
            f"highest {game.board.max_tile}",
            f"goal {game.rules.goal}",
        )
        line = fit(columns, *(gap.join(facts[:n]) for n in (4, 3, 2, 1) for gap in ("   ", "  ")))
        return f"{render(game.board, colour=colour, columns=columns)}\n{line}"
