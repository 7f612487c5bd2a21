"""A sitting: one game after another at one board, kept as they are played.

People and players may take over from each other at any move, and the record says who
made which.  Whatever shows a game, a terminal or a page, plays it through here.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from lab2048.errors import StoreError
from lab2048.records.episode import Episode, movers_of, names_of
from lab2048.records.store import Store
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.dice import episode_seed

KEEP_SECONDS = 0.5  # a whole game is written each time, so not more often than this


@dataclass
class _Played:
    """A game of a sitting and what its record needs."""

    game: Game
    number: int  # among the games that are kept
    begun: float
    seconds: float = 0.0  # from the beginning to the last change
    names: list[str] = field(default_factory=list)  # who made each turn, those that are undone included
    is_changed: bool = False  # since it was last kept
    left: float = 0.0  # when the next game began

    def episode(self) -> Episode:
        movers = movers_of(self.names[: len(self.game.turns)])
        return Episode.from_game(self.game, self.names[0], self.seconds, movers)


class Sitting:
    """Plays and keeps games; a store that fails does not end the game.

    A game is kept from its first move on: at once if the last time was a while ago, or
    else when `keep` is called in a pause.  Call `close` at the end.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int,
        store: Store,
        *,
        on_failure: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin the first game; further ones get seeds of their own from this one.

        `on_failure` is told, once, why games can no longer be kept.
        """
        self.rules = rules
        self.seed = seed
        self.last_played: Game | None = None  # the last game that had a move
        self.failure = ""
        self._store = store
        self._on_failure = on_failure
        self._clock = clock
        self._run: int | None = None
        self._lost: list[Episode] = []  # games that could not be kept and are done with
        self._kept_at = -math.inf
        self._before: list[_Played] = []  # games that `undo` can go back to: there has been no move since
        self._n_begun = 1
        self._now = _Played(Game(rules, seed), 0, clock())

    @classmethod
    def going_on(
        cls, episode: Episode, n_moves: int, store: Store, *, on_failure: Callable[[str], None] = lambda _: None
    ) -> Self:
        """Go on from a move of a game that was played; what becomes of it is kept as a game of its own."""
        sitting = cls(episode.rules, episode.seed, store, on_failure=on_failure)
        now, n_all = sitting._now, len(episode.moves)
        now.game.replay(episode.moves[:n_moves])
        now.names = names_of(episode.player, episode.movers, n_all)[:n_moves]
        now.begun -= episode.seconds * n_moves / max(1, n_all)
        return sitting

    @property
    def game(self) -> Game:
        """The game that is being played."""
        return self._now.game

    @property
    def is_by_person(self) -> bool:
        """True if every move of this game was made at the keys."""
        return all(name == "human" for name in self._now.names[: len(self.game.turns)])

    @property
    def last_id(self) -> int | None:
        """The id in the store of the last game that had a move, if it was kept."""
        number = next((one.number for one in (self._now, *self._before) if one.game is self.last_played), None)
        if number is None or self._run is None:
            return None
        try:
            return self._store.id_of(self._run, number)
        except StoreError:
            return None

    def play(self, move: int, *, by: str = "human") -> Turn:
        """Make a move; raise IllegalMoveError if it changes nothing."""
        turn = self.game.play(move)
        names = self._now.names
        names[turn.number - 1 : turn.number] = [by]
        del names[turn.number + len(self.game.undone) :]
        self._lost += [played.episode() for played in self._before if played.is_changed]
        self._before.clear()
        self.last_played = self.game
        self._change()
        return turn

    def undo(self) -> bool:
        """Take back the last move, or else the beginning of a game that has had none; False if there is neither."""
        return (self.game.undo() and self._change()) or self._go_back()

    def _go_back(self) -> bool:
        """Leave a game without a move for the one before; beginning again leads to the same game."""
        if not self._before or self._now.names:
            return False
        self._now = self._before.pop()
        self._now.begun += self._clock() - self._now.left
        self._n_begun -= 1
        return True

    def redo(self) -> bool:
        """Make the last undone move again; False if there is none."""
        return self.game.redo() and self._change()

    def begin_again(self) -> Game:
        """Leave this game as it stands and begin another; until its first move, `undo` goes back."""
        self.keep(at_once=True)
        left = self._now
        left.left = self._clock()
        self._before.append(left)
        game = Game(self.rules, episode_seed(self.seed, self._n_begun))
        self._now = _Played(game, left.number + bool(left.names), self._clock())
        self._n_begun += 1
        return game

    def episode(self) -> Episode:
        """The record of this game as it stands; there has been a move."""
        return self._now.episode()

    def keep(self, *, at_once: bool = False) -> None:
        """Keep this game if it has changed: at once, or if the last time was a while ago."""
        is_due = at_once or self._clock() - self._kept_at >= KEEP_SECONDS
        if not self._now.is_changed or not is_due or self.failure:
            return
        episode = self.episode()
        try:
            if self._run is None:
                self._run = self._store.begin_run("play", self.rules, episode.player, self.seed)
            self._store.keep(self._run, {self._now.number: episode})
        except StoreError as error:
            self.failure = str(error)
            self._on_failure(self.failure)
        else:
            self._now.is_changed = False
        self._kept_at = self._clock()

    def unkept(self) -> list[Episode]:
        """The games of this sitting that are not in the store as they were played."""
        played = [*self._before, self._now]
        return [*self._lost, *(one.episode() for one in played if one.is_changed)]

    def close(self) -> None:
        """Keep the last game; what could not be kept is in `unkept`."""
        self.keep(at_once=True)

    def _change(self) -> bool:
        self._now.is_changed = True
        self._now.seconds = self._clock() - self._now.begun
        self.keep()
        return True
