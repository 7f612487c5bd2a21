"""A sitting: one game after another at one board, kept as they are played.

People and players may take over from each other at any move, and the record says who
made which.  Whatever shows a game, a terminal or a page, plays it through here.
"""

import math
import time
from collections.abc import Callable

from lab2048.errors import StoreError
from lab2048.records.episode import Episode, movers_of
from lab2048.records.store import Store
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.dice import episode_seed

KEEP_SECONDS = 0.5  # a whole game is written each time, so not more often than this


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
        self._n_begun = 0
        self._number = 0  # of this game among those that are kept
        self._lost: list[Episode] = []  # games before this one that could not be kept
        self._kept_at = -math.inf
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self.game = Game(self.rules, seed)
        self._n_begun += 1
        self._names: list[str] = []  # who made each turn, those that are undone included
        self._is_changed = False  # since it was last kept
        self._begun = self._clock()
        self._seconds = 0.0

    def play(self, move: int, *, by: str = "human") -> Turn:
        """Make a move; raise IllegalMoveError if it changes nothing."""
        turn = self.game.play(move)
        self._names[turn.number - 1 : turn.number] = [by]
        del self._names[turn.number + len(self.game.undone) :]
        self.last_played = self.game
        self._change()
        return turn

    def undo(self) -> bool:
        """Take the last move back; False if there is none."""
        return self.game.undo() and self._change()

    def redo(self) -> bool:
        """Make the last undone move again; False if there is none."""
        return self.game.redo() and self._change()

    def begin_again(self) -> Game:
        """Leave this game as it stands and begin another."""
        self.keep(at_once=True)
        if self._is_changed:
            self._lost.append(self.episode())
        if self._names:
            self._number += 1
        self._begin(episode_seed(self.seed, self._n_begun))
        return self.game

    def episode(self) -> Episode:
        """The record of this game as it stands; there has been a move."""
        movers = movers_of(self._names[: len(self.game.turns)])
        return Episode.from_game(self.game, self._names[0], self._seconds, movers)

    def keep(self, *, at_once: bool = False) -> None:
        """Keep this game if it has changed: at once, or if the last time was a while ago."""
        is_due = at_once or self._clock() - self._kept_at >= KEEP_SECONDS
        if not self._is_changed or not is_due or self.failure:
            return
        episode = self.episode()
        try:
            if self._run is None:
                self._run = self._store.begin_run("play", self.rules, episode.player, self.seed)
            self._store.keep(self._run, {self._number: episode})
        except StoreError as error:
            self.failure = str(error)
            self._on_failure(self.failure)
        else:
            self._is_changed = False
        self._kept_at = self._clock()

    def unkept(self) -> list[Episode]:
        """The games of this sitting that are not in the store as they were played."""
        return [*self._lost, self.episode()] if self._is_changed else [*self._lost]

    def close(self) -> None:
        """Keep the last game; what could not be kept is in `unkept`."""
        self.keep(at_once=True)

    def _change(self) -> bool:
        self._is_changed = True
        self._seconds = self._clock() - self._begun
        self.keep()
        return True
