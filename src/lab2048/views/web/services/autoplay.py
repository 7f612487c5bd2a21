"""Autoplay: a player that makes the moves of a game, in a thread per game, at a given speed.

Fast games show their moves in batches, at most sixty batches per second.
"""

import threading
import time
from typing import TYPE_CHECKING

from lab2048.arena.player_service import AskedPlayer
from lab2048.arena.session import Session
from lab2048.errors import LabError, SessionEndedError, StoppedError
from lab2048.rules import Turn
from lab2048.stop_flag import StopFlag, looking_at
from lab2048.views.web.serialize.schema import AutoData
from lab2048.views.web.services.player_names import Library

if TYPE_CHECKING:
    from lab2048.views.web.services.open_games import OpenGames

FRAME = 1 / 60  # seconds between batches at least, and
TICK = 1 / 30  # for games that are faster than that
CALM = 10.0  # moves per second up to which each move is saved before it is shown
BUDGET = 0.02  # seconds of a tick for choosing moves, shared by all fast games
LONELY = 10.0  # seconds without anyone watching, after which autoplay pauses


class AutoPlay:
    """A player that plays one game."""

    def __init__(self, games: "OpenGames", session: Session, player: str) -> None:
        """Create a paused autoplay; `player` is a canonical spec."""
        self.session, self.player, self.speed, self.error = session, player, 8.0, ""
        self._games = games
        self._stop: StopFlag | None = None  # of the running thread
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._stop is not None

    def data(self, library: Library) -> AutoData:
        return AutoData(player=library.write(self.player), speed=self.speed, running=self.is_running, error=self.error)

    def run(self) -> None:
        """Start playing; the caller holds the lock of the session."""
        if self._stop is None:
            self.error = ""
            self._stop = StopFlag()
            self._thread = threading.Thread(target=self._run, args=(self._stop,), name="autoplay", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Stop before the next move, even if the player is still searching."""
        if stop := self._stop:
            stop.set()
            self._stop = None

    def join(self) -> None:
        """Wait up to two seconds until the thread has ended."""
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(2)

    def _run(self, stop: StopFlag) -> None:
        try:
            try:
                with looking_at(stop):
                    self._play(stop)
            except SessionEndedError:
                raise
            except Exception as error:  # after any error the game must not appear to be running
                if not stop.is_set():
                    self.error = str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"
            with self.session.lock:
                if self._stop is stop:  # it ended on its own
                    self._stop = None
                    self._games.changed(self.session, "auto", [])
        except SessionEndedError:
            if self._stop is stop:
                self._stop = None  # the game was closed or deleted

    def _play(self, stop: StopFlag) -> None:
        games, session = self._games, self.session
        player = AskedPlayer(self.player, session.rules, session.game.seed)
        player.prepare()
        due = watched_at = time.monotonic()
        while not stop.is_set():
            now = time.monotonic()
            if games.bus.is_watched(session.id or 0):
                watched_at = now
            elif now - watched_at > LONELY:
                return
            speed = self.speed
            tick = max(FRAME, 1 / speed) if 0 < speed <= 1 / FRAME else TICK
            n_wanted = max(1, round(speed * tick)) if speed else 10_000
            seconds = BUDGET / max(1, games.n_running) if not speed else tick
            turns: list[Turn] = []
            while len(turns) < n_wanted and (not turns or time.monotonic() - now < seconds):
                with session.lock:
                    board, is_over = session.game.board, session.game.is_over
                if is_over:
                    break
                try:
                    decision = player.choose(board)  # without the lock: a person may move meanwhile
                except StoppedError:
                    break
                with session.lock:
                    if stop.is_set():
                        break
                    turns.append(session.play(decision.move, by=self.player))
            with session.lock:
                if turns and not stop.is_set():
                    is_over = session.game.is_over
                    games.changed(session, "auto", turns, at_once=is_over or 0 < speed <= CALM)
                elif turns:
                    session.save()
            if not turns or is_over:
                return
            due = max(due + tick, time.monotonic() - tick)
            while self.speed == speed and (left := due - time.monotonic()) > 0:  # notice a new speed soon
                if stop.wait(min(left, 0.1)):
                    return
