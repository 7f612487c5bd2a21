"""The open games of the page: sessions by their ids, with autoplay, deletion and events for tabs."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from lab2048.arena.life import Life
from lab2048.arena.session import Session
from lab2048.errors import RevisionError, SessionEndedError, StoreError
from lab2048.records.episode import Episode
from lab2048.records.store import Store, StoredGame
from lab2048.rules import Rules, Turn
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.game import state_data, turn_data
from lab2048.views.web.serialize.schema import ChangeData, DeletedData, StateData
from lab2048.views.web.services.autoplay import AutoPlay
from lab2048.views.web.services.event_bus import Bus, News
from lab2048.views.web.services.player_names import Library
from lab2048.views.web.services.players import Players

MAX_TURNS = 200_000  # of all games in memory; a turn takes less than a kilobyte
MAX_OPEN = 300
MAX_AUTOPLAYS = 36
FINISHED_SECONDS = 10.0  # until a game that is over is closed, if no tab shows it
MAX_DELETED = 100  # games that can be restored
UNPLAYED_DAYS = 1  # after which a game without a move is deleted
N_DOORS = 64


class OpenGames:
    """Open games by their ids; any thread may use it."""

    def __init__(self, store: Store, library: Library, bus: Bus, players: Players) -> None:
        """Delete old games that never had a move."""
        self.store, self.library, self.bus, self.players = store, library, bus, players
        self.on_failure: Callable[[], None] = lambda: None  # called when `failure` or `n_unsaved` may have changed
        self.unsaved: list[Episode] = []  # games that could not be saved before `close`
        self._open: dict[int, Session] = {}
        self._autoplays: dict[int, AutoPlay] = {}
        self._best: dict[str, list[int]] = {}
        self._deleted: dict[int, StoredGame] = {}
        self._lock = threading.RLock()  # always taken after the lock of a session, never before
        # A game is opened, closed and deleted by one thread at a time; other games do not wait for it.
        self._doors = [threading.Lock() for _ in range(N_DOORS)]
        with contextlib.suppress(StoreError):  # another program may be writing: then at the next start
            store.forget_unbegun((datetime.now(UTC) - timedelta(days=UNPLAYED_DAYS)).isoformat(timespec="seconds"))

    def start(self, rules: Rules, seed: int, player: str) -> Session:
        """Start a game; `player` is who is to make the first move."""
        return self._add(Session(rules, seed, self.store, player=player))

    def branch(self, episode: Episode, n_moves: int) -> Session:
        """Start a game with the first moves of another one."""
        return self._add(Session.branch(episode, n_moves, self.store))

    def _add(self, session: Session) -> Session:
        try:
            id_ = session.assign_id()
        except StoreError:
            session.drop()  # nobody has seen it
            raise
        self._keep(id_, session)
        self._close_unused()
        return session

    def _keep(self, id_: int, session: Session) -> None:
        session.on_failure = lambda _: self._note_saving(session)
        with self._lock:
            self._open[id_] = session

    def get(self, id_: int) -> Session:
        """Return an open game; open it from the store if it is not open, or if another program has changed it."""
        found = self._open.get(id_)
        if found is None or self._is_past(found, id_):
            with self._door(id_):
                found = self._open.get(id_)
                if found is None or self._is_past(found, id_):
                    found = self._open_again(id_, found)
            self._close_unused()
        found.used_at = time.monotonic()
        return found

    def _is_past(self, session: Session, id_: int) -> bool:
        """Return True if a session is no longer the game that the store has under this id."""
        if session.life in (Life.CLOSED, Life.DELETED) or session.id != id_:
            return True
        with contextlib.suppress(StoreError):  # a store that fails does not end the game
            return session.is_stale
        return False

    def _open_again(self, id_: int, before: Session | None) -> Session:
        """Open a game from the store in place of an earlier session, and tell those who watch it."""
        if not self.store.has(id_):
            self._forget(id_)
            if before:
                before.close()
                self._tell_deleted(id_)
            raise _not_found(id_)
        found = Session.open(self.store, id_)
        is_news = before is not None and before.life is not Life.CLOSED
        if before:
            self._forget(id_)
            if before.id == id_:
                before.close()  # a request that still has it is refused
            else:
                self._keep(before.id or 0, before)  # its moves were saved as another game
        self._keep(id_, found)
        if is_news:
            self.tell(found, "open", [])
        return found

    @contextlib.contextmanager
    def changing(self, id_: int, rev: int | None) -> Iterator[Session]:
        """Lend a game to a person who changes it and has seen revision `rev`; autoplay stops.

        Raises ConflictError if the game has changed since then, here or in another program.
        """
        seen = self._open.get(id_)
        session = self.get(id_)
        if seen is not None and seen is not session:
            raise self.conflict(session)
        try:
            with session.at(rev):
                if autoplay := self._autoplays.get(id_):
                    autoplay.pause()
                yield session
        except RevisionError:
            raise self.conflict(session) from None
        except SessionEndedError:
            if session.life is Life.DELETED:
                raise _not_found(id_) from None
            # It was closed because it was unused, or another program has changed it.
            raise self.conflict(self.get(id_), saved_as=session.id if session.id != id_ else None) from None

    def conflict(self, session: Session, *, saved_as: int | None = None) -> ConflictError:
        """Return the error of a request that was made on an older revision; it carries the current state.

        `saved_as` is the id of the game in which earlier moves of the caller were saved.
        """
        state = self.state(session)
        message = f"game {state.id} has changed meanwhile: expected rev {state.rev}"
        if saved_as is not None:
            message = f"game {state.id} was changed by another program: your moves are in game {saved_as}"
        hint = "continue from the state that comes with this answer"
        return ConflictError(message, hint=hint, state=state.model_dump())

    def changed(
        self, session: Session, kind: str, turns: list[Turn], *, tab: str = "", at_once: bool = True
    ) -> ChangeData:
        """Save a change and notify the tabs; the caller holds the lock of the session."""
        id_ = session.id
        session.save(at_once=at_once)
        if session.life is Life.DELETED:
            self._forget(id_)
            self._tell_deleted(id_ or 0)
            raise SessionEndedError("the game was deleted by another program")
        if session.id != id_:
            raise SessionEndedError("the game was changed by another program, so it was saved as another one")
        return self.tell(session, kind, turns, tab=tab)

    def tell(self, session: Session, kind: str, turns: list[Turn], *, tab: str = "") -> ChangeData:
        """Send the state of a game to the tabs that show it."""
        data = turn_data(session, turns, self.library)
        change = ChangeData.model_validate({"state": self.state(session), "turns": data, "kind": kind})
        id_ = change.state.id
        if self.bus.is_watched(id_):
            short = ChangeData(state=change.state, turns=[], kind=change.kind)
            news = News("game", change.model_dump_json(), f"game {id_}", short.model_dump_json)
            self.bus.tell(news, game=id_, but=tab)
        return change

    def _tell_deleted(self, id_: int) -> None:
        """Tell those who watch a game that it was deleted."""
        self.bus.tell(News("deleted", DeletedData(deleted=id_).model_dump_json(), f"game {id_}"), game=id_)

    def state(self, session: Session) -> StateData:
        with session.lock:
            autoplay = self._autoplays.get(session.id or 0)
            data = autoplay.data(self.library) if autoplay else None
            return state_data(session, self._best_of(session), data, self.library)

    def _best_of(self, session: Session) -> tuple[int, int]:
        rules, score = session.rules, session.game.score
        with self._lock:
            best = self._best.get(rules.json_text)
            if best is None:
                best = self._best[rules.json_text] = list(self.store.best_scores(rules))
            if score:
                if session.is_by_person:
                    best[0] = max(best[0], score)
                best[1] = max(best[1], score)
            return best[0], best[1]

    def _forget_best(self, deleted: Episode) -> None:
        """Look best scores up again if a deleted game may have had one; they also count moves that were taken back."""
        best = self._best.get(deleted.rules.json_text)
        if best is not None and deleted.score >= best[0]:
            del self._best[deleted.rules.json_text]

    def autoplay(self, id_: int, player: str, speed: float, *, is_running: bool, tab: str = "") -> StateData:
        """Start, pause or change autoplay of a game."""
        session = self.get(id_)
        if is_running:
            self.players.check_ready(player, session.rules)
        with session.lock:
            if session.life is Life.DELETED:
                raise _not_found(id_)
            with self._lock:
                autoplay = self._autoplays.get(id_)
                n_running = sum(other.is_running for other in self._autoplays.values())
                if is_running and n_running >= MAX_AUTOPLAYS and not (autoplay and autoplay.is_running):
                    raise ConflictError(f"{n_running} games are on autoplay already: expected at most {MAX_AUTOPLAYS}")
                if autoplay is None or autoplay.player != player or autoplay.session is not session:
                    if autoplay:
                        autoplay.pause()
                    autoplay = self._autoplays[id_] = AutoPlay(self, session, player)
            autoplay.speed = speed
            if is_running and not session.game.is_over:
                autoplay.run()
            else:
                autoplay.pause()
                session.save()  # automatic saving may not have saved the last moves
            return self.tell(session, "auto", [], tab=tab).state

    @property
    def n_running(self) -> int:
        with self._lock:
            return sum(autoplay.is_running for autoplay in self._autoplays.values())

    def delete(self, id_: int) -> None:
        """Delete a game; it can be restored until the server stops."""
        with self._door(id_):
            if not self.store.has(id_):
                self._forget(id_)
                raise _not_found(id_)
            session = self._open.get(id_)
            try:
                # An open game deletes itself: after that nothing can save it, whatever its threads are doing.
                is_open = session and session.life not in (Life.CLOSED, Life.DELETED) and session.id == id_
                stored = session.delete() if session and is_open else self.store.remove(id_)
            except SessionEndedError:
                raise _not_found(id_) from None
            self._forget(id_)
        self._tell_deleted(id_)
        self.on_failure()
        with self._lock:
            self._forget_best(stored.episode)
            self._deleted[id_] = stored
            while len(self._deleted) > MAX_DELETED:
                self._deleted.pop(next(iter(self._deleted)))

    def restore(self, id_: int) -> Session:
        """Restore a deleted game, and tell those who still watch it."""
        with self._door(id_):
            stored = self._deleted.get(id_)
            if stored is None:
                raise NotFoundError(
                    f"game {id_} was not deleted since the server started: expected the id of a deleted game"
                )
            restored = self.store.put_back(stored)  # raises StoreError: then it can be restored later
            with self._lock:
                self._deleted.pop(id_, None)
        session = self.get(restored)
        self.tell(session, "open", [])
        return session

    @property
    def failure(self) -> str:
        """Return why games cannot be saved; empty if all are saved."""
        return next((session.failure for session in self._sessions() if session.failure), "")

    @property
    def n_unsaved(self) -> int:
        """Return how many games have changes that could not be saved yet."""
        return sum(bool(session.failure) for session in self._sessions())

    def not_saved_yet(self) -> list[Episode]:
        """Return the games with changes that could not be saved yet."""
        return [episode for session in self._sessions() if session.failure for episode in session.unsaved()]

    def _sessions(self) -> list[Session]:
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Save all games a last time; those that cannot be saved are in `unsaved`."""
        with self._lock:
            autoplays, sessions = list(self._autoplays.values()), list(self._open.values())
        for autoplay in autoplays:
            autoplay.pause()
        for autoplay in autoplays:
            autoplay.join()
        for session in sessions:
            session.close()
            self.unsaved += session.unsaved()

    def _door(self, id_: int) -> threading.Lock:
        return self._doors[id_ % N_DOORS]

    def _forget(self, id_: int | None) -> None:
        with self._lock:
            self._open.pop(id_ or 0, None)
            autoplay = self._autoplays.pop(id_ or 0, None)
        if autoplay:
            autoplay.pause()

    def _note_saving(self, session: Session) -> None:
        """Tell the tabs that a game cannot be saved, or that it is saved again."""
        self.on_failure()
        if session.life is not Life.DELETED:
            self.tell(session, "saved", [])

    def _close_unused(self) -> None:
        """Close games that are over, and those that were not used for longest if many are open; the store has them."""
        with self._lock:
            oldest = sorted(self._open.items(), key=lambda item: item[1].used_at)[:-1]
            n_open, n_turns = len(self._open), sum(len(session.game.turns) for session in self._open.values())
        for id_, session in oldest:
            unused = time.monotonic() - session.used_at
            is_finished = session.game.is_over and unused > FINISHED_SECONDS and not self.bus.is_watched(id_)
            if not is_finished and n_turns <= MAX_TURNS and n_open <= MAX_OPEN:
                continue
            autoplay = self._autoplays.get(id_)
            is_used = (autoplay and autoplay.is_running) or unused < 1
            if is_used or session.life is Life.OPEN:
                continue
            with self._door(id_):
                session.close()
                if self._open.get(id_) is session:
                    self._forget(id_)
            n_open, n_turns = n_open - 1, n_turns - len(session.game.turns)


def _not_found(id_: int) -> NotFoundError:
    return NotFoundError(f"there is no game {id_}: /api/games lists all games")
