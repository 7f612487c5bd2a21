"""Auto-play: a player that goes on by itself, a thread a game, at the speed that was asked for.

Fast games come in batches, at most sixty a second, so that any number of moves is shown smoothly.
"""

import threading
import time
from typing import TYPE_CHECKING

from lab2048.arena.open_game import OpenGame
from lab2048.arena.player_service import AskedPlayer
from lab2048.errors import LabError
from lab2048.rules import Turn
from lab2048.views.web.serialize.schema import AutoData
from lab2048.views.web.services.player_names import Library

if TYPE_CHECKING:
    from lab2048.views.web.services.open_games import Desk

FRAME = 1 / 60  # seconds between batches at the least, and
TICK = 1 / 30  # for games that are faster than that
CALM = 10.0  # moves a second up to which each is kept before it is shown; faster ones are kept in passing
BUDGET = 0.02  # seconds of a tick for thinking, all fast games together
LONELY = 10.0  # seconds without anyone watching


class Auto:
    """A player at a game."""

    def __init__(self, desk: "Desk", opened: OpenGame, player: str) -> None:
        """Nothing runs yet; `player` is a canonical spec."""
        self.player, self.speed, self.error = player, 8.0, ""
        self._desk, self._opened = desk, opened
        self._stop: threading.Event | None = None  # of the thread that runs
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._stop is not None

    def data(self, library: Library) -> AutoData:
        """As the page sees it."""
        return AutoData(player=library.write(self.player), speed=self.speed, running=self.is_running, error=self.error)

    def run(self) -> None:
        """Go on; the caller holds the lock of the game."""
        if self._stop is None:
            self.error = ""
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(self._stop,), name="auto-play", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Stop before the next move."""
        if self._stop:
            self._stop.set()
            self._stop = None

    def join(self) -> None:
        """Wait a moment until the thread has ended."""
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(2)

    def _run(self, stop: threading.Event) -> None:
        opened = self._opened
        try:
            self._play(stop)
        except Exception as error:  # whatever a player does, the game must not seem to go on
            if not stop.is_set():
                self.error = str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"
        with opened.lock:
            if self._stop is stop:  # it ended by itself
                self._stop = None
                self._desk.changed(opened, "auto", [])

    def _play(self, stop: threading.Event) -> None:
        desk, opened = self._desk, self._opened
        player = AskedPlayer(self.player, opened.game.rules, opened.game.seed)
        player.prepare()
        due = watched_at = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            if desk.bus.is_watched(opened.id):
                watched_at = now
            elif now - watched_at > LONELY:
                return
            speed = self.speed
            tick = max(FRAME, 1 / speed) if 0 < speed <= 1 / FRAME else TICK
            n_wanted = max(1, round(speed * tick)) if speed else 10_000
            seconds = BUDGET / max(1, desk.n_running) if not speed else tick
            turns: list[Turn] = []
            while len(turns) < n_wanted and (not turns or time.monotonic() - now < seconds):
                with opened.lock:
                    board = opened.game.board
                    is_over = not board.legal_moves()
                if is_over:
                    break
                decision = player.choose(board)  # without the lock: a person may move meanwhile
                with opened.lock:
                    if stop.is_set():
                        break
                    turns.append(opened.play(decision.move, self.player))
            with opened.lock:
                if turns and not stop.is_set():
                    is_over = not opened.game.board.legal_moves()
                    desk.changed(opened, "auto", turns, at_once=is_over or 0 < speed <= CALM)
                elif turns:
                    opened.keep(desk.store)
            if not turns or is_over:
                return
            due = max(due + tick, time.monotonic() - tick)
            while self.speed == speed and (left := due - time.monotonic()) > 0:  # a new speed is heard soon
                if stop.wait(min(left, 0.1)):
                    return
