"""A kept game that is open for play: every change is kept at once, and has a number.

People and players may take turns at any move, and the record says who made which.  A
game is kept from the moment it is opened, so that it has an id; the list of games shows it from its first
move on.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from lab2048.errors import StoreError, UsageError
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.move import letters

KEEP_SHARE = 20  # keeping in passing may take one in so many seconds: a whole game is written each time


@dataclass
class OpenGame:
    """One game; whoever uses it holds its `lock`."""

    id: int
    run: int
    number: int  # in its run
    game: Game
    beginner: str  # who is to make the first move, until someone has
    names: list[str] = field(default_factory=list)  # who made each turn, those that are undone included
    seconds: float = 0.0
    # Counts changes, from the time it was opened: a later opening never counts what an earlier one has counted.
    rev: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    failure: str = ""  # why the last change could not be kept
    used_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Find out who took over where."""
        self.movers: list[tuple[int, str]] = []
        for turn in self.game.turns:
            self._note(turn.number)
        self._changed_at = time.monotonic()
        self._is_changed = False
        self._keep_due = 0.0

    @classmethod
    def begin(
        cls, store: Store, rules: Rules, seed: int, beginner: str, *, moves: str = "", names: list[str]
    ) -> "OpenGame":
        """A new game, perhaps with the first moves of another one."""
        game = Game(rules, seed)
        game.replay(moves)
        run = store.begin_run("play", rules, beginner, seed)
        opened = cls(0, run, 0, game, beginner, list(names))
        store.keep(run, {0: opened.episode()})
        opened.id = store.id_of(run, 0)
        return opened

    @classmethod
    def reopen(cls, store: Store, id_: int) -> "OpenGame":
        """A game as it was left; it is proved move by move."""
        kept = store.get(id_)
        episode = kept.episode
        starts = [(1, episode.player), *episode.movers, (len(episode.moves) + 1, "")]
        names = [name for (begin, name), (end, _) in pairwise(starts) for _ in range(begin, end)]
        return cls(id_, kept.run.id, kept.number, episode.prove(), episode.player, names, episode.seconds)

    def episode(self) -> Episode:
        """The record of the game as it stands."""
        beginner = self.movers[0][1] if self.movers else self.beginner
        return Episode.from_game(self.game, beginner, self.seconds, tuple(self.movers[1:]))

    def play(self, move: int, by: str) -> Turn:
        """Make a move; raise IllegalMoveError if it changes nothing."""
        turn = self.game.play(move)
        names = self.names
        names[turn.number - 1 : turn.number] = [by]
        del names[turn.number + len(self.game.undone) :]
        self._note(turn.number)
        self._change()
        return turn

    def play_letters(self, text: str, by: str) -> list[Turn]:
        """Make the moves of some letters; one that changes nothing when its turn comes is passed over."""
        alphabet = letters(self.game.rules.shape.moves)
        for letter in text:
            if letter not in alphabet:
                raise UsageError(f"move {letter!r} is unknown: expected letters of {alphabet}", field="move")
        moves = map(alphabet.index, text)
        return [self.play(move, by) for move in moves if move in self.game.board.legal_moves()]

    def undo(self, n: int = 1) -> int:
        """Take moves back; return how many there were."""
        n_done = 0
        while n_done < n and self.game.undo():
            n_done += 1
        while self.movers and self.movers[-1][0] > len(self.game.turns):
            self.movers.pop()
        if n_done:
            self._change()
        return n_done

    def redo(self, n: int = 1) -> list[Turn]:
        """Make undone moves again; return them."""
        turns: list[Turn] = []
        while len(turns) < n and self.game.redo():
            turns.append(self.game.turns[-1])
            self._note(turns[-1].number)
        if turns:
            self._change()
        return turns

    def keep(self, store: Store, *, at_once: bool = True, say: Callable[[str], None] = lambda _: None) -> None:
        """Keep what has changed, at once or if that would not take too much of the time."""
        now = time.monotonic()
        self.seconds += min(now - self._changed_at, 60.0)  # who is away for longer does not think
        self._changed_at = self.used_at = now
        if not self._is_changed or (not at_once and now < self._keep_due):
            return
        try:
            store.keep(self.run, {self.number: self.episode()})
            self._is_changed, self.failure = False, ""
        except StoreError as error:  # the game goes on
            self.failure = str(error)
        say(self.failure)
        spent = time.monotonic() - now
        self._keep_due = now + spent * KEEP_SHARE

    def _change(self) -> None:
        self.rev += 1
        self._is_changed = True

    def _note(self, number: int) -> None:
        """Remember who made a turn, if that is someone else than before."""
        name = self.names[number - 1]
        if not self.movers or self.movers[-1][1] != name:
            self.movers.append((number, name))
