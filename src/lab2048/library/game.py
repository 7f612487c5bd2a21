"""A game that players and people can play."""

import secrets
import time
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, overload

from lab2048.arena.player_service import AskedPlayer
from lab2048.arena.recorded_game import RecordedGame
from lab2048.errors import UsageError
from lab2048.library.arguments import PlayerLike, RulesLike, read_rules, read_spec, read_whole
from lab2048.library.interrupt import interruptible
from lab2048.library.progress import make_ready, progress_line
from lab2048.players.registry import names
from lab2048.records.episode import Episode
from lab2048.rules import Game as RulesGame
from lab2048.rules import Turn
from lab2048.rules.dice import MAX_SEED
from lab2048.rules.drawing import draw_svg

PERSON = "human"


class Game(RulesGame):
    """One game: rules, a seed and the moves so far.

    The same seed and the same moves always give the same game; `undo` and `redo` go back and forth.

    >>> import lab2048 as lab
    >>> game = lab.Game("3x3", seed=7)
    >>> turn = game.play("left")
    >>> game.play("greedy", moves=20)
    Game('3x3', seed=7): 21 moves, score 140
    >>> game.undo(), game.score
    (True, 104)
    """

    def __init__(
        self,
        rules: RulesLike = "4x4",
        seed: int | None = None,
        *,
        goal: int | None = None,
        spawn: str | None = None,
        start: int | None = None,
        spawner: str | None = None,
        stop_at_goal: bool = False,
        given: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Start a game; without a seed it gets a new one, and with `stop_at_goal` it ends at the goal.

        `given` are the first spawns (cell and rank) of a game that was played elsewhere, the first tiles included.
        """
        the_seed = secrets.randbelow(MAX_SEED + 1) if seed is None else read_whole("seed", seed)
        super().__init__(read_rules(rules, goal, spawn, start, spawner, stop_at_goal), the_seed, given=list(given))
        self._record = RecordedGame(self, PERSON, time.monotonic())
        self._players: dict[str, AskedPlayer] = {}

    def __repr__(self) -> str:
        board = self.rules.board.to_text()
        return f"Game({board!r}, seed={self.seed}): {len(self.turns)} moves, score {self.score:,}"

    def __str__(self) -> str:
        return f"{self.board}\nscore {self.score:,}, {len(self.turns)} moves"

    def _repr_html_(self) -> str:
        end = ", over" if self.is_over else ""
        drawn = draw_svg(self.rules.shape, self.board.ranks, f"board {self.board.to_text()}")
        return f"<div>{drawn}<div>score {self.score:,}, {len(self.turns)} moves{end}</div></div>"

    @overload
    def play(self, mover: int) -> Turn: ...
    @overload
    def play(self, mover: PlayerLike, moves: int | None = None, progress: bool | None = None) -> Any: ...

    def play(self, mover: "int | PlayerLike", moves: int | None = None, progress: bool | None = None) -> Any:
        """Make a move and return its Turn, or let a player make moves (default: to the end) and return the game.

        A move is a `Move` or its name, such as "left".  A player is a spec, a result of `lab2048.player`, or a Player.
        Ctrl-C stops the player after a move.

        >>> import lab2048 as lab
        >>> game = lab.Game("3x3", seed=7)
        >>> game.play("left").reward
        0
        >>> game.play("greedy", moves=20)
        Game('3x3', seed=7): 21 moves, score 140
        """
        move = self._move_of(mover)
        if move is not None:
            if moves is not None:
                raise UsageError("moves is for players: expected one move at a time", field="moves")
            return self._play_one(move, PERSON)
        with interruptible():
            for _ in self.follow(mover, moves, progress):
                pass
        return self

    def follow(self, player: PlayerLike, moves: int | None = None, progress: bool | None = None) -> Iterator[Turn]:
        """Let a player make moves, and yield each turn.

        >>> import lab2048 as lab
        >>> [turn.reward for turn in lab.Game("2x2", seed=1).follow("first", moves=3)]
        [0, 4, 4]
        """
        if moves is not None:
            moves = read_whole("moves", moves, 0)
        asked = self._asked(self._spec_of(player), progress)
        n = 0
        with progress_line(progress) as show:
            try:
                while not self.is_over and (moves is None or n < moves):
                    move = asked.choose(self.board).move
                    yield self._play_one(move, asked.spec)
                    n += 1
                    show(f"{n:,} moves, score {self.score:,}", n / moves if moves else None)
            except KeyboardInterrupt:  # the moves that were made stay
                return

    def undo(self) -> bool:
        """Undo the last move; return False if there is none.

        >>> import lab2048 as lab
        >>> game = lab.Game("3x3", seed=7).play("greedy", moves=5)
        >>> game.undo(), len(game.turns), game.redo(), len(game.turns)
        (True, 4, True, 5)
        """
        is_undone = super().undo()
        self._record.truncate()
        return is_undone

    def redo(self) -> bool:
        """Redo the last undone move; return False if there is none.

        >>> import lab2048 as lab
        >>> game = lab.Game("3x3", seed=7).play("greedy", moves=5)
        >>> game.redo(), game.undo(), game.redo()
        (False, True, True)
        """
        is_redone = super().redo()
        if is_redone:
            self._record.append(self.turns[-1])
        return is_redone

    def to_episode(self) -> Episode:
        """Return the record of the game so far, as a store saves it.

        >>> import lab2048 as lab
        >>> episode = lab.Game("3x3", seed=7).play("greedy", moves=5).to_episode()
        >>> episode.player, len(episode.moves)
        ('greedy', 5)
        """
        return self._record.episode()

    def _asked(self, spec: str, progress: bool | None) -> AskedPlayer:
        if spec not in self._players:
            asked = AskedPlayer(spec, self.rules, self.seed)
            make_ready(*asked.groups, progress=progress)
            asked.prepare()
            self._players[spec] = asked
        return self._players[spec]

    def _spec_of(self, player: PlayerLike) -> str:
        try:
            return read_spec(player)
        except UsageError as error:
            moves = self._move_names()
            close = get_close_matches(str(player), [*names(), *moves], 1) if error.code == "player.unknown" else []
            if close and close[0] in moves:
                raise UsageError(
                    f"{player!r} is no move and no player: did you mean {close[0]}?", field="move"
                ) from None
            raise

    def _move_names(self) -> dict[str, int]:
        return {move.name.lower(): int(move) for move in self.rules.shape.moves}

    def _play_one(self, move: int, by: str) -> Turn:
        turn = RulesGame.play(self, move)
        self._record.names[turn.number - 1 : turn.number] = [by]
        del self._record.names[turn.number + len(self.undone) :]
        self._record.append(turn)
        self._record.touch(time.monotonic())
        return turn

    def _move_of(self, mover: object) -> int | None:
        """Return the number of a move, given as such or by its name or letter; None for anything else."""
        if isinstance(mover, int):
            return mover
        if not isinstance(mover, str):
            return None
        moves = self._move_names() | {letter: move for move, letter in enumerate(self.rules.shape.letters)}
        return moves.get(mover.strip().lower().replace("-", "_"))
