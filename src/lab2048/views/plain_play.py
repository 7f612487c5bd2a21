"""A session in plain text: keys and messages."""

from typing import TYPE_CHECKING

from lab2048.errors import IllegalMoveError, SessionEndedError, unknown
from lab2048.rules import Board
from lab2048.rules.move import key_moves, move_name
from lab2048.views.text import fit, render

if TYPE_CHECKING:
    from lab2048.arena.session import Session

_NOW_WHAT = "u undoes the last move, x starts a new game"


class PlainGame:
    """A session that is played with single keys.

    The letters of the shape's moves and the arrow keys move; u undoes, r redoes, x starts a new game,
    ? and h list the keys, and Q (or q where it is no move) quits.
    """

    def __init__(self, session: "Session") -> None:
        self.has_ended = False
        self._session = session
        self._moves = key_moves(session.rules.shape.moves)

    @property
    def board(self) -> Board:
        return self._session.game.board

    @property
    def help(self) -> str:
        """Return a line that lists the keys."""
        leave = "Q" if "q" in self._moves else "q"
        return f"{self._session.rules.shape.keys_text} move, u undo, r redo, x new game, ? keys, {leave} quit"

    @property
    def status(self) -> str:
        """Return the message if the last key gave none; may be empty."""
        return f"game over; {_NOW_WHAT}" if self._session.game.is_over else ""

    def press(self, key: str) -> str:
        """Handle a key; return a message, which may be empty."""
        try:
            return self._press(key)
        except SessionEndedError as error:
            return f"{error}; x starts a new game"

    def _press(self, key: str) -> str:
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
            return "" if self._session.redo() else "nothing to redo"
        if key == "x":
            return f"new game, seed {self._session.new_game().seed}; u goes back to the old one"
        return unknown("key", key, otherwise=self.help)

    def _move(self, move: int) -> str:
        rules, game = self._session.rules, self._session.game
        try:
            turn = self._session.play(move)
        except IllegalMoveError:
            if game.is_over:
                return f"the game is over; {_NOW_WHAT}"
            return f"{move_name(rules.shape.moves[move])} changes nothing"
        if not turn.reaches_goal:
            return ""
        further = f"the game is over; {_NOW_WHAT}" if game.is_over else "you can continue"
        return f"{rules.goal}! You reached the goal; {further}"

    def _undo(self) -> str:
        before = self._session.game
        if not self._session.undo():
            return "nothing to undo"
        game = self._session.game
        return "" if game is before else f"back to the game with seed {game.seed}"

    def header(self, columns: int | None = None) -> str:
        """Return the board and the seed, as much as fits."""
        seed = f"seed {self._session.game.seed}"
        rules = self._session.rules.board.to_text()
        return fit(columns, f"2048 on {rules}, {seed}", f"{rules}, {seed}", f"2048, {seed}", seed)

    def frame(self, columns: int | None = None, *, colour: bool) -> str:
        """Return the board with as many facts below it as fit."""
        game = self._session.game
        facts = (
            f"score {game.score}",
            f"moves {len(game.turns)}",
            f"highest {game.board.max_tile}",
            f"goal {game.rules.goal}",
        )
        line = fit(columns, *(gap.join(facts[:n]) for n in (4, 3, 2, 1) for gap in ("   ", "  ")))
        return f"{render(game.board, colour=colour, columns=columns)}\n{line}"
