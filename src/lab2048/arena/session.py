"""A session: games in play, with undo and redo, and saved while they are played.

The terminal, the page and the library play through this class.  People and players may
take over from each other at any move; the record says who made which moves.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Self

from lab2048.arena.life import Life
from lab2048.arena.recorded_game import RecordedGame
from lab2048.arena.saver import saver_of
from lab2048.errors import GameDeletedError, RevisionError, SessionEndedError, StoreError, UsageError, unknown
from lab2048.records.entry import StoredGame
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules, Turn
from lab2048.rules.dice import episode_seed

SAVE_SHARE = 20  # automatic saving takes at most one second in this many


class Session:
    """A game in play and the games before it on the same board.

    Every change is saved automatically, often enough that a person's moves are saved one by one; `save` saves at
    once.  What `is_saved` is durable: a power failure does not lose it.  A store that fails does not end the game:
    `failure` says why, and saving is tried again until it works.  All methods may be called from any thread; hold
    `lock` to see several of them at one moment.

    >>> with Session(Rules.from_text("4x4"), seed=1) as session:
    ...     turn = session.play(session.game.board.legal_moves()[0])
    ...     session.undo(), session.redo() == [turn], session.life.value
    (1, True, 'open')
    """

    def __init__(
        self,
        rules: Rules,
        seed: int,
        store: Store | None = None,
        *,
        player: str = "human",
        on_failure: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a game; rules whose board has tiles start from that position.

        Without a store nothing is saved.  `player` is who is to make the first move.  `on_failure` is called
        with the reason when saving fails, and with "" when it works again.
        """
        self.rules, self.seed, self.store = rules, seed, store
        self.lock = threading.RLock()
        # Counts changes.  It starts at the time, so that a game that is opened again never repeats a number.
        self.rev = time.time_ns() // 1_000_000
        self.failure = ""
        self.used_at = clock()
        self.last_played: Game | None = None  # the last game that had a move
        self.on_failure, self._clock = on_failure, clock
        self._saver = saver_of(store) if store else None
        self._player = player
        self._run: int | None = None
        self._save_due = 0.0
        self._is_unsynced = False  # something is in the store and not yet durable
        self._is_closed = False
        self._n_started = 1
        self._now = RecordedGame(Game(rules, seed), player, clock())
        self._last: RecordedGame | None = None  # the record of `last_played`
        self._before: list[RecordedGame] = []  # games that `undo` goes back to while the current one has no move
        self._left: list[RecordedGame] = []  # games that are over and not saved yet

    @classmethod
    def open(cls, store: Store, id_: int, *, on_failure: Callable[[str], None] = lambda _: None) -> Self:
        """Go on with a stored game in its own record; raise LabError unless it replays as recorded."""
        stored = store.get(id_)
        episode = stored.episode
        session = cls(episode.rules, episode.seed, store, player=episode.player, on_failure=on_failure)
        session._now = RecordedGame.of(episode.prove(), episode, session.used_at)
        session._run, session._now.stored = stored.run.id, stored
        return session

    @classmethod
    def branch(
        cls,
        episode: Episode,
        n_moves: int,
        store: Store | None = None,
        *,
        on_failure: Callable[[str], None] = lambda _: None,
    ) -> Self:
        """Start a game of its own with the first moves of another one."""
        if n_moves > len(episode.moves):
            raise UsageError(f"there is no move {n_moves}: expected at most {len(episode.moves)}")
        session = cls(episode.rules, episode.seed, store, player=episode.player, on_failure=on_failure)
        game = episode.begin()
        game.replay(episode.moves[:n_moves])
        del game.given[episode.rules.n_start + n_moves :]
        session._now = RecordedGame.of(game, episode, session.used_at)
        return session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def game(self) -> Game:
        return self._now.game

    @property
    def life(self) -> Life:
        with self.lock:
            if self._now.is_deleted:
                return Life.DELETED
            if self._is_closed:
                return Life.CLOSED
            is_saved = self._now.stored and not self._now.is_changed and not self._is_unsynced
            return Life.SAVED if is_saved else Life.OPEN

    @property
    def is_saved(self) -> bool:
        """Return True if every change of every game of this session is durable in the store."""
        with self.lock:
            return not self._is_unsynced and not self._unsaved()

    @property
    def is_stale(self) -> bool:
        """Return True if another program has changed or deleted the current game, and it has no changes of its own.

        Raises StoreError if the store cannot be read.
        """
        with self.lock:
            stored = self._now.stored
            if self.store is None or stored is None or self.life is not Life.SAVED:
                return False
            return self.store.revision(stored.id) != stored.episode.checksum

    @property
    def id(self) -> int | None:
        """Return the id of the current game in the store, or None if it was not saved yet."""
        return self._now.stored.id if self._now.stored else None

    @property
    def last_id(self) -> int | None:
        """Return the id of the last game that had a move, or None if it is not in the store."""
        return self._last.stored.id if self._last and self._last.stored and not self._last.is_deleted else None

    @property
    def player(self) -> str:
        """Return the player of the first move, made or still to be made."""
        return self._now.movers[0][1] if self._now.movers else self._now.player

    @property
    def movers(self) -> list[tuple[int, str]]:
        """Return who made the moves: for each stretch, its first move (from 1) and the player's name."""
        return self._now.movers

    @property
    def is_by_person(self) -> bool:
        """Return True if a person made every move of the current game."""
        return all(name == "human" for _, name in self._now.movers)

    def mover(self, number: int) -> str:
        """Return who made a move of the current game, counted from 1."""
        return self._now.names[number - 1]

    def episode(self) -> Episode:
        """Return the record of the current game as it stands."""
        with self.lock:
            return self._now.episode()

    @contextlib.contextmanager
    def at(self, rev: int | None) -> Iterator[None]:
        """Hold the lock for changes to the game as it was at revision `rev`, or to any if it is None.

        Raises RevisionError if the game has changed since then.
        """
        with self.lock:
            self._check_open()
            if rev is not None and rev != self.rev:
                raise RevisionError(f"the game has changed since revision {rev}: it is at {self.rev} now")
            yield

    def play(self, move: int, *, by: str = "human") -> Turn:
        """Make a move; raise IllegalMoveError if it changes nothing."""
        with self.lock:
            turn = self._play(move, by)
            self._changed()
            return turn

    def play_letters(self, text: str, *, by: str = "human") -> list[Turn]:
        """Make the moves of these letters; skip those that are illegal when their turn comes."""
        alphabet = self.rules.shape.letters
        for letter in text:
            if letter not in alphabet:
                raise UsageError(unknown("move", letter, otherwise=f"expected letters of {alphabet}"), field="move")
        with self.lock:
            self._check_open()
            moves = map(alphabet.index, text)
            turns = [self._play(move, by) for move in moves if move in self.game.legal_moves()]
            if turns:
                self._changed()
            return turns

    def undo(self, n: int = 1) -> int:
        """Take back up to `n` moves; return how many.

        A game that never had a move is itself taken back: the session returns to the game before it.
        """
        with self.lock:
            self._check_open()
            n_done = 0
            while n_done < n and self.game.undo():
                n_done += 1
            if n_done:
                self._now.truncate()
                self._changed()
            return n_done or int(self._go_back())

    def redo(self, n: int = 1) -> list[Turn]:
        """Make up to `n` undone moves again; return them."""
        with self.lock:
            self._check_open()
            turns: list[Turn] = []
            while len(turns) < n and self.game.redo():
                turns.append(self.game.turns[-1])
                self._now.append(turns[-1])
            if turns:
                self._changed()
            return turns

    def new_game(self) -> Game:
        """Start another game on the same board; until its first move, `undo` returns to the one before.

        Its seed follows from the seed of the session and the number of games before it.
        """
        with self.lock:
            if self._is_closed:
                raise SessionEndedError("the session is closed: open another one")
            self.save()
            self._before.append(self._now)
            game = Game(self.rules, episode_seed(self.seed, self._n_started))
            self._now = RecordedGame(game, self._player, self._clock())
            self._n_started += 1
            self.rev += 1
            return game

    def save(self, *, at_once: bool = True) -> None:
        """Save what has changed: at once, or only if automatic saving is due.

        Errors of the store are kept in `failure`, and saving is tried again in the background.  A game that another
        program has deleted is not saved again; one that another program has changed is saved as a game of its own.
        """
        with self.lock:
            self.used_at = start = self._clock()
            if not self._is_closed and (at_once or start >= self._save_due):
                self._save()

    def _save(self) -> None:
        """Save what has changed, and wait until it is durable; do not wait for a store that is known to be locked."""
        if self.store is None or self._saver is None or self.is_saved:
            self._tell_failure("")
            return
        if not self._saver.can_try():
            self._saver.add(self)
            self._tell_failure(self._saver.reason)
            return
        start, failure = self._clock(), None
        for record in self._unsaved():
            try:
                self._write(self.store, record)
            except StoreError as error:
                failure = failure or error
        self._left = [record for record in self._left if record.is_changed and not record.is_deleted]
        if self._is_unsynced and failure is None:
            try:
                self.store.sync()
                self._is_unsynced = False
            except StoreError as error:
                failure = error
        self._save_due = self._clock() + SAVE_SHARE * (self._clock() - start)
        if failure:
            self._saver.add(self, failure)
        self._tell_failure(str(failure or ""))

    def _tell_failure(self, failure: str) -> None:
        if failure != self.failure:
            self.failure = failure
            self.on_failure(failure)

    def assign_id(self) -> int:
        """Save the current game even if it has no move yet; return its id, or raise StoreError."""
        with self.lock:
            self._now.is_changed = True
            self.save()
            if self.id is None:
                raise StoreError(self.failure or "the game cannot be saved: the session has no store")
            return self.id

    def unsaved(self) -> list[Episode]:
        """Return the games of this session whose last changes are not in the store, or not durable there."""
        with self.lock:
            records = self._unsaved()
            if self._is_unsynced and self._now not in records and not self._now.is_deleted:
                records.append(self._now)
            return [record.episode() for record in records]

    def _unsaved(self) -> list[RecordedGame]:
        records = [*self._left, *self._before, self._now]
        return [record for record in records if record.is_changed and not record.is_deleted]

    def close(self) -> None:
        """Save the last time; what could not be saved is in `unsaved`.

        Never waits for a store that is known to be locked by another program.
        """
        with self.lock:
            if self._is_closed:
                return
            self._save()
            if self._saver:
                self._saver.forget(self)
                for record in [*self._before, self._now] if self._saver.can_try() else ():
                    record.compact(self.store)
            self._is_closed = True

    def drop(self) -> None:
        """Close the session without saving."""
        with self.lock:
            self._is_closed = True
            if self._saver:
                self._saver.forget(self)

    def delete(self) -> StoredGame:
        """Delete the current game from the store; nothing can save it afterwards.

        Returns the game, for `Store.put_back`.
        """
        with self.lock:
            self._check_open()
            self.save()
            self._check_open()
            record = self._now
            if self.store is None or record.stored is None:
                raise StoreError(f"the game cannot be deleted: {self.failure or 'it is not in a store'}")
            removed = self.store.remove(record.stored.id)
            record.is_deleted = True
            self.rev += 1
            # With moves that could not be saved, so that `put_back` brings them back.
            return replace(removed, episode=record.episode()) if record.is_changed else removed

    def _play(self, move: int, by: str) -> Turn:
        self._check_open()
        record = self._now
        turn = record.play(move, by)
        if self._before:
            self._left += [left for left in self._before if left.is_changed]
            for left in self._before:
                left.compact(self.store)
            self._before.clear()
        self.last_played, self._last = record.game, record
        return turn

    def _check_open(self) -> None:
        if self._now.is_deleted:
            raise SessionEndedError(f"game {self.id} was deleted")
        if self._is_closed:
            raise SessionEndedError("the session is closed: open another one")

    def _go_back(self) -> bool:
        """Return from a game that never had a move to the one before it."""
        if not self._before or self._now.names:
            return False
        self._now = self._before.pop()
        self._now.mark = self._clock()
        self._n_started -= 1
        self.rev += 1
        return True

    def _changed(self) -> None:
        self._now.touch(self._clock())
        self.rev += 1
        self.save(at_once=False)

    def _write(self, store: Store, record: RecordedGame) -> None:
        """Save one game; raise StoreError if that fails."""
        if self._run is None:
            self._run = store.begin_run("play", self.rules, record.episode().player, self.seed)
        with contextlib.suppress(GameDeletedError):  # not a failure of the store: `life` says it
            record.save(store, self._run)
            self._is_unsynced = True
