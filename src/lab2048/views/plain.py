"""A game at the keys in plain text: what each key does, and what is shown after it."""

from lab2048.errors import IllegalMoveError
from lab2048.rules import Game, Rules
from lab2048.rules.dice import episode_seed
from lab2048.rules.move import letters, move_name
from lab2048.views.text import render


class PlainGame:
    """A game that is played by single keys.

    Moves are the letters of the shape (w a s d, on hexagons q w e a s d); u undoes, r does
    it again, x begins a new game, and Q (or q where it is no move) ends.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        """Begin the first game; further ones get seeds of their own from this one."""
        self.rules = rules
        self.seed = seed
        self.n_games = 1
        self.game = Game(rules, seed)
        self.has_ended = False
        self._keys = letters(rules.shape.moves)
        self._had_goal = self.game.moves_to_goal is not None

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
            return "" if self.game.undo() else "nothing to undo"
        if key == "r":
            return "" if self.game.redo() else "nothing to redo"
        if key == "x":
            return self._begin_again()
        return f"key {key!r} is unknown: {self.help}"

    def _move(self, move: int) -> str:
        try:
            self.game.play(move)
        except IllegalMoveError:
            return (
                "the game is over"
                if self.game.is_over
                else f"{move_name(self.rules.shape.moves[move])} changes nothing"
            )
        has_goal = self.game.board.max_tile >= self.rules.goal
        if has_goal and not self._had_goal:
            self._had_goal = True
            return f"{self.rules.goal}! The goal is reached, and you can play on"
        return ""

    def _begin_again(self) -> str:
        self.game = Game(self.rules, episode_seed(self.seed, self.n_games))
        self.n_games += 1
        self._had_goal = self.game.moves_to_goal is not None
        return f"new game, seed {self.game.seed}"

    def frame(self, *, colour: bool) -> str:
        """The board and the facts below it."""
        game = self.game
        facts = f"score {game.score}   moves {len(game.turns)}   highest {game.board.max_tile}   goal {self.rules.goal}"
        over = "\ngame over; u takes the last move back, x begins a new game" if game.is_over else ""
        return f"{render(game.board, colour=colour)}\n{facts}{over}"
