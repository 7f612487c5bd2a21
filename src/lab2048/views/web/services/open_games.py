"""The games that are open: where they are played, kept, watched and put away."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from lab2048.arena.open_game import OpenGame
from lab2048.errors import StoreError
from lab2048.records.store import Kept, Store
from lab2048.rules import Rules, Turn
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.game import state_data, turn_data
from lab2048.views.web.serialize.schema import ChangeData, StateData
from lab2048.views.web.services.autoplay import Auto
from lab2048.views.web.services.event_bus import Bus, News
from lab2048.views.web.services.player_names import Library
from lab2048.views.web.services.players import Players

MAX_TURNS = 200_000  # of all games in memory; a turn takes less than a kilobyte
MAX_OPEN = 300
MAX_AUTOS = 36
MAX_BIN = 100
UNBEGUN_DAYS = 1


class Desk:
    """Open games by their ids; any thread may use it."""

    def __init__(self, store: Store, library: Library, bus: Bus, players: Players) -> None:
        """Nothing is open yet; games that nobody ever began are cleared away."""
        self.store, self.library, self.bus, self.players = store, library, bus, players
        self.failure = ""  # why games cannot be kept
        self.on_failure: Callable[[], None] = lambda: None
        self._open: dict[int, OpenGame] = {}
        self._autos: dict[int, Auto] = {}
        self._best: dict[str, list[int]] = {}
        self._bin: dict[int, Kept] = {}
        self._lock = threading.RLock()
        self._opening: dict[int, threading.Lock] = {}
        with contextlib.suppress(StoreError):  # another program may be writing: next time
            store.forget_unbegun((datetime.now(UTC) - timedelta(days=UNBEGUN_DAYS)).isoformat(timespec="seconds"))

    def begin(self, rules: Rules, seed: int, beginner: str, *, moves: str = "", names: list[str]) -> OpenGame:
        """A new game; all others stay as they are."""
        opened = OpenGame.begin(self.store, rules, seed, beginner, moves=moves, names=names)
        with self._lock:
            self._open[opened.id] = opened
            self._tidy()
        return opened

    def get(self, id_: int) -> OpenGame:
        """An open game; one that is not open is read from the store and proved."""
        with self._lock:
            found = self._open.get(id_)
            if found:
                found.used_at = time.monotonic()
                return found
            turnstile = self._opening.setdefault(id_, threading.Lock())
        with turnstile:  # two who ask for the same game wait for one reading; others do not wait
            with self._lock:
                if id_ in self._open:
                    return self._open[id_]
            try:
                if not self.store.has(id_):
                    raise NotFoundError(f"there is no game {id_}: /api/games lists those there are")
                opened = OpenGame.reopen(self.store, id_)
                with self._lock:
                    self._open[id_] = opened
                    self._tidy()
            finally:
                with self._lock:
                    self._opening.pop(id_, None)
        return opened

    @contextlib.contextmanager
    def changing(self, id_: int, rev: int | None) -> Iterator[OpenGame]:
        """A game for a change by a person: auto-play stops, and `rev` is what the person has seen."""
        opened = self.get(id_)
        auto = self._autos.get(id_)
        with opened.lock:
            if rev is not None and rev != opened.rev:
                state = self.state(opened)
                raise ConflictError(
                    f"game {id_} has changed meanwhile: expected rev {opened.rev}", state=state.model_dump()
                )
            if auto and auto.is_running:
                auto.pause()
            yield opened

    def changed(
        self, opened: OpenGame, kind: str, turns: list[Turn], *, tab: str = "", at_once: bool = True
    ) -> ChangeData:
        """Keep a change and tell those who watch; the caller holds the lock of the game."""
        opened.keep(self.store, at_once=at_once, say=self._note_failure)
        return self.tell(opened, kind, turns, tab=tab)

    def tell(self, opened: OpenGame, kind: str, turns: list[Turn], *, tab: str = "") -> ChangeData:
        """Tell those who watch how a game stands."""
        data = turn_data(opened, turns, self.library)
        change = ChangeData.model_validate({"state": self.state(opened), "turns": data, "kind": kind})
        if self.bus.is_watched(opened.id):
            short = ChangeData(state=change.state, turns=[], kind=change.kind)
            news = News("game", change.model_dump_json(), f"game {opened.id}", short.model_dump_json)
            self.bus.tell(news, game=opened.id, but=tab)
        return change

    def state(self, opened: OpenGame) -> StateData:
        """How a game stands."""
        auto = self._autos.get(opened.id)
        with opened.lock:
            return state_data(opened, self._best_of(opened), auto.data(self.library) if auto else None, self.library)

    def _best_of(self, opened: OpenGame) -> tuple[int, int]:
        rules, score = opened.game.rules, opened.game.score
        with self._lock:
            best = self._best.get(rules.json_text)
            if best is None:
                best = self._best[rules.json_text] = list(self.store.best_scores(rules))
            if score:
                if all(name == "human" for _, name in opened.movers):
                    best[0] = max(best[0], score)
                best[1] = max(best[1], score)
            return best[0], best[1]

    def auto(self, id_: int, player: str, speed: float, *, is_running: bool, tab: str = "") -> StateData:
        """Let a player play by itself, at another speed, or no more."""
        opened = self.get(id_)
        if is_running:
            self.players.check_ready(player)
        with opened.lock:
            with self._lock:
                auto = self._autos.get(id_)
                n_running = sum(other.is_running for other in self._autos.values())
                if is_running and n_running >= MAX_AUTOS and not (auto and auto.is_running):
                    raise ConflictError(f"{n_running} games play by themselves already: expected at most {MAX_AUTOS}")
                if auto is None or auto.player != player:
                    if auto:
                        auto.pause()
                    auto = self._autos[id_] = Auto(self, opened, player)
            auto.speed = speed
            if is_running and opened.game.board.legal_moves():
                auto.run()
            else:
                auto.pause()
                opened.keep(self.store, say=self._note_failure)  # what was kept in passing may lack the last moves
            return self.tell(opened, "auto", [], tab=tab).state

    @property
    def n_running(self) -> int:
        with self._lock:
            return sum(auto.is_running for auto in self._autos.values())

    def delete(self, id_: int) -> None:
        """Take a game away; it can come back until the server ends."""
        with self._lock:
            auto, opened = self._autos.pop(id_, None), self._open.pop(id_, None)
        if auto:
            auto.pause()
        if not self.store.has(id_):
            raise NotFoundError(f"there is no game {id_}: /api/games lists those there are")
        with opened.lock if opened else contextlib.nullcontext():
            kept = self.store.remove(id_)
        with self._lock:
            self._best.pop(kept.episode.rules.json_text, None)
            self._bin[id_] = kept
            while len(self._bin) > MAX_BIN:
                self._bin.pop(next(iter(self._bin)))

    def restore(self, id_: int) -> OpenGame:
        """Bring back a game that was deleted."""
        with self._lock:
            kept = self._bin.pop(id_, None)
            if kept is None:
                raise NotFoundError(f"game {id_} was not deleted here: expected one that was, since the server began")
            self._best.pop(kept.episode.rules.json_text, None)
        return self.get(self.store.put_back(kept))

    def close(self) -> None:
        """Stop everything and keep it."""
        with self._lock:
            autos, opened = list(self._autos.values()), list(self._open.values())
        for auto in autos:
            auto.pause()
        for auto in autos:
            auto.join()
        for game in opened:
            with game.lock:
                game.keep(self.store)

    def _note_failure(self, failure: str) -> None:
        if failure != self.failure:
            self.failure = failure
            self.on_failure()

    def _tidy(self) -> None:
        """Put games away that were not used for longest, if there are many; they are in the store."""
        n_turns = sum(len(opened.game.turns) for opened in self._open.values())
        for opened in sorted(self._open.values(), key=lambda opened: opened.used_at)[:-1]:
            if n_turns <= MAX_TURNS and len(self._open) <= MAX_OPEN:
                return
            auto = self._autos.get(opened.id)
            if (auto and auto.is_running) or opened.failure or time.monotonic() - opened.used_at < 1:
                continue
            n_turns -= len(opened.game.turns)
            del self._open[opened.id]
            self._autos.pop(opened.id, None)
