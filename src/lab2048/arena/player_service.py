"""Players for views: prepared when first needed, cached, and asked on threads.

`AskedPlayer` is one player for one set of rules; `PlayerService` keeps a bounded number of them.
"""

import contextlib
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from lab2048.arena import compile as compiler
from lab2048.arena.episode import ask
from lab2048.errors import LabError, users_code
from lab2048.players import Decision, Player, fit_player
from lab2048.players.player import Note
from lab2048.players.registry import autonomous_spec, n_registered
from lab2048.rules import Board, Rules
from lab2048.stop_flag import StopFlag, current, looking_at

MAX_PLAYERS = 12  # each has tables of some megabytes

K = TypeVar("K")
V = TypeVar("V")
_Questions = queue.SimpleQueue[tuple[Board, "Future[Decision]"] | None]


class RecentlyUsed(Generic[K, V]):
    """A cache of at most `size` values; the least recently used one is evicted."""

    def __init__(self, size: int, on_evicted: Callable[[V], object] = lambda _: None) -> None:
        """Create an empty cache; `on_evicted` gets each value that leaves it."""
        self._size, self._on_evicted = size, on_evicted
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V], is_valid: Callable[[V], bool] = lambda _: True) -> V:
        """Return the value of a key; make it if there is none that is valid."""
        if key not in self._values or not is_valid(self._values[key]):
            self._values[key] = make()
        self._values.move_to_end(key)
        while len(self._values) > self._size:
            self._on_evicted(self._values.popitem(last=False)[1])
        return self._values[key]

    def remove(self, is_removed: Callable[[K], bool]) -> None:
        """Evict every key for which the predicate holds."""
        for key in [key for key in self._values if is_removed(key)]:
            self._on_evicted(self._values.pop(key))

    def values(self) -> list[V]:
        return list(self._values.values())


class AskedPlayer:
    """A player for one set of rules, which decides one board at a time.

    Any thread may use it.  The player is made, its kernels compiled and its tables loaded when it is first
    needed; after a failure the next caller tries again.  Whatever goes wrong is a LabError.
    """

    def __init__(
        self, spec: str, rules: Rules, seed: int, *, slots: contextlib.AbstractContextManager[object] | None = None
    ) -> None:
        """Name a player; nothing is loaded yet.

        `slots`, a semaphore shared by several players, limits how many of them think at once.
        """
        self.spec, self.rules, self.seed = spec, rules, seed
        self._slots = slots or contextlib.nullcontext()
        self._made: Player | None = None
        self._is_started = False
        self._preparing: compiler.Preparing | str = ""
        self._thinking = threading.RLock()  # held while the player is used
        self._asking = threading.Lock()  # held while the fields below change
        self._questions: _Questions | None = None  # of the thread that answers them
        self._open: set[Future[Decision]] = set()
        self._flag = StopFlag()  # of the thread
        self._answered: Future[Decision] | None = None  # by the thread, at the moment

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups to compile or unpack, for `lab2048.arena.compile.prepare`.

        Raises LabError if the player cannot play by these rules, as far as can be told without compiling.
        """
        return self._player.groups(self.rules)

    @property
    def _player(self) -> Player:
        with self._thinking:
            if self._made is None:
                self._made = fit_player(autonomous_spec(self.spec), self.rules)
            return self._made

    @property
    def measure(self) -> str:
        """Return the unit of the player's values; "value" until it has been created."""
        return self._made.measure if self._made else "value"

    @property
    def doing(self) -> str:
        """Return the progress of compiling or waiting; empty if there is none."""
        return str(self._preparing)

    def prepare(self) -> None:
        """Make the player, compile what it needs, and start it, unless that has been done."""
        with self._thinking:
            if not self._is_started:
                try:
                    compiler.prepare(self._progress, *self.groups, begun=self._progress)
                    self._start()
                finally:
                    self._preparing = ""

    def start_game(self, seed: int) -> None:
        """Start a new game: the player's own randomness comes from `seed`."""
        with self._thinking:
            self.seed = seed
            if self._is_started:
                self._start()
            else:
                self.prepare()

    def choose(self, board: Board) -> Decision:
        """Return the player's decision; the caller waits while the player is prepared and thinks.

        Raises StoppedError if the stop flag of the calling thread is set.
        """
        with self._thinking, self._slots:
            current().check()  # it may have waited long
            self.prepare()
            return ask(self._player, self.spec, board)

    def note(self, board: Board, decision: Decision) -> Note | None:
        """Explain a decision of `choose` on this board, or return None."""
        with self._thinking, users_code(f"player {self.spec} fails"):
            return self._player.note(board, decision)

    def ask(self, board: Board) -> "Future[Decision]":
        """Ask on the player's own thread, and return at once.

        Questions are answered in order.  A future can be cancelled at any time: a question that is still waiting
        is skipped, and a search that has begun is stopped.  The program's end does not wait for the thread.
        """
        future: Future[Decision] = Future()
        with self._asking:
            if self._questions is None:
                self._questions = queue.SimpleQueue()
                name, arguments = f"player {self.spec}", (self._questions,)
                threading.Thread(target=self._answer, args=arguments, name=name, daemon=True).start()
            self._open.add(future)
            self._questions.put((board, future))
        future.add_done_callback(self._forget)
        return future

    def close(self, *, cancel: bool = False) -> None:
        """End the player's thread, after it has answered all questions, or cancel these; `ask` starts another one."""
        with self._asking:
            questions, self._questions = self._questions, None
            waiting = list(self._open) if cancel else []
        for future in waiting:
            future.cancel()
        if questions is not None:
            questions.put(None)

    def _forget(self, future: "Future[Decision]") -> None:
        with self._asking:
            self._open.discard(future)
            if future.cancelled() and self._answered is future:
                self._flag.set()

    def _answer(self, questions: _Questions) -> None:
        while (question := questions.get()) is not None:
            board, future = question
            with self._asking:
                self._flag.clear()
                self._answered = future
                if future.cancelled():
                    continue
            decision, failure = None, None
            try:
                with looking_at(self._flag), users_code(f"player {self.spec} fails"):
                    decision = self.choose(board)
            except LabError as error:
                failure = error
            # Only now the future is marked as running: until here it could be cancelled.
            if not future.set_running_or_notify_cancel():
                continue
            if failure is not None:
                future.set_exception(failure)
            elif decision is not None:
                future.set_result(decision)

    def _start(self) -> None:
        self._is_started = False
        with users_code(f"player {self.spec} fails"):
            self._player.start(self.rules, self.seed)
        self._is_started = True

    def _progress(self, preparing: "compiler.Preparing | str") -> None:
        self._preparing = preparing


class PlayerService:
    """A cache of prepared players, shared by all callers."""

    def __init__(self, max_players: int = MAX_PLAYERS) -> None:
        self._lock = threading.Lock()
        self._players: RecentlyUsed[tuple[str, str, int], AskedPlayer] = RecentlyUsed(max_players, AskedPlayer.close)
        # As many as there are cores, and one more for short questions beside long ones.
        self._slots = threading.Semaphore((os.cpu_count() or 1) + 1)

    def player(self, spec: str, rules: Rules, seed: int) -> AskedPlayer:
        """Return the player of a canonical spec for these rules; it keeps the seed of the first caller."""
        with self._lock:
            make = lambda: AskedPlayer(spec, rules, seed, slots=self._slots)  # noqa: E731
            return self._players.get((spec, rules.json_text, n_registered()), make)

    def forget(self, part: str) -> None:
        """Drop the players whose spec contains `part`, such as the path of a file that has changed or gone."""
        with self._lock:
            self._players.remove(lambda key: part in key[0])

    def close(self) -> None:
        """Cancel every open question."""
        with self._lock:
            for player in self._players.values():
                player.close(cancel=True)
