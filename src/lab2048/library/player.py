"""Players by name: ask them for moves and values."""

from dataclasses import replace
from typing import Any

from lab2048.arena.player_service import AskedPlayer, PlayerService
from lab2048.errors import BoardError
from lab2048.library.arguments import PlayerLike, read_board, read_spec, rules_for
from lab2048.library.interrupt import interruptible
from lab2048.library.progress import make_ready, working
from lab2048.library.unsaved import with_names
from lab2048.players import Decision, default_spec
from lab2048.rules import Board, Rules
from lab2048.rules.board import BoardSource


def player(name: PlayerLike = "", *, seed: int = 1, **options: Any) -> "ReadyPlayer":
    """Return a player: a name with options, as in `player("expectimax", depth=7)` or `player("expectimax:depth=7")`.

    Without a name you get the default player of each board.  You can also pass an object of your own subclass of
    `lab2048.Player`.  `seed` is for players that use randomness.

    >>> import lab2048 as lab
    >>> lab.player("expectimax", depth=3)
    player('expectimax:depth=3')
    """
    return ReadyPlayer(read_spec(name, options) if name else "", seed)


class ReadyPlayer:
    """A player that you can ask about any board; it is loaded when you ask it for the first time.

    >>> import lab2048 as lab
    >>> greedy = lab.player("greedy")
    >>> greedy.spec, greedy.ask("2 2 4 / # # #").move
    ('greedy', Move.LEFT)
    """

    def __init__(self, spec: str, seed: int = 1) -> None:
        """Use `lab2048.player`."""
        self.spec, self.seed = spec, seed
        self._prepared = PlayerService()  # its own, so that answers do not depend on what others were asked
        self.source: object = None  # what owns the files that the player reads, so that they exist as long as it does

    def __repr__(self) -> str:
        return f"player({with_names(self.spec)!r})"

    def ask(
        self,
        board: "Board | BoardSource",
        *,
        goal: int | None = None,
        spawn: str | None = None,
        spawner: str | None = None,
        rules: Rules | None = None,
        progress: bool | None = None,
    ) -> Decision:
        """Return the player's move for a board, and the value of every legal move.

        `goal`, `spawn` and `spawner` are those of the rules (default: 2048, 2:0.9,4:0.1 and fair).

        >>> import lab2048 as lab
        >>> decision = lab.player("greedy").ask("2 2 4 / # # #")
        >>> decision.move
        Move.LEFT
        >>> sorted(decision.values)
        [Move.RIGHT, Move.DOWN, Move.LEFT]
        """
        the_board = check_in_play(read_board(board))
        asked = self.prepare(rules or rules_for(the_board, goal, spawn, spawner), progress=progress)
        with interruptible(), working(f"asking {asked.spec}", progress):
            return named(asked.choose(the_board), the_board)

    def prepare(self, rules: "str | Rules" = "4x4", *, progress: bool | None = None) -> AskedPlayer:
        """Compile and load everything that the player needs for these rules, so that its first answer is fast.

        >>> import lab2048 as lab
        >>> lab.player("greedy").prepare("3x3").spec
        'greedy'
        """
        the_rules = Rules.from_text(rules) if isinstance(rules, str) else rules
        asked = self._prepared.player(self.spec or default_spec(the_rules), the_rules, self.seed)
        make_ready(*asked.groups, progress=progress)
        asked.prepare()
        return asked


def check_in_play(board: Board) -> Board:
    """Return the board; raise BoardError if it has no legal move."""
    if not any(board.ranks):
        example = "2 4 # # / # # 2 # / # # # # / # # # #"
        raise BoardError(
            f'{board.to_text()} has no tiles yet: expected a board in play, such as "{example}"', code="board.no_move"
        )
    if not board.legal_moves():
        raise BoardError(
            f"no move is possible on {board.to_text()}: expected a board with a legal move", code="board.no_move"
        )
    return board


def named(decision: Decision, board: Board) -> Decision:
    """Return a decision whose moves are members of the enumeration of the board's moves, such as Move.LEFT."""
    moves = board.shape.moves
    return replace(
        decision,
        move=moves[decision.move],
        values={moves[move]: value for move, value in decision.values.items()},
        errors={moves[move]: error for move, error in decision.errors.items()},
        overridden=None if decision.overridden is None else moves[decision.overridden],
    )


def player_names() -> list[str]:
    """Return the names of all players.

    >>> import lab2048 as lab
    >>> "ntuple" in lab.player_names()
    True
    """
    from lab2048.players import names

    return names()
