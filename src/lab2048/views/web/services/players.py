"""Players that answer at once: made ready in the background, kept, and asked one at a time each.

Nothing here makes a person wait for the compiler: until the kernels are there, whoever asks is told so.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field

from lab2048.arena.compile import ENVIRONMENTS, NETWORK, PLAY, SOLVER, groups_of, prepare
from lab2048.errors import LabError, UsageError
from lab2048.models import SHIPPED
from lab2048.models.deep.torch_import import has_torch
from lab2048.players import Decision, Player, default_spec, make_player
from lab2048.rules import Board, Game, Rules
from lab2048.views.web.errors import ApiError, NotReadyError

MAX_KEPT = 12  # players; each has tables of some megabytes
PATIENCE = 30.0  # seconds for one answer
CALM = 2.0  # seconds before players are made ready, unless one is wanted: the page itself comes first
GROUPS = (PLAY, NETWORK, SOLVER, ENVIRONMENTS)  # kernels, in the order in which they are wanted


@dataclass
class _Kept:
    player: Player
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_started: bool = False


class Coach:
    """Asks players."""

    def __init__(self, tell: Callable[[], None]) -> None:
        """`tell` is called when `doing` or `is_ready` has changed."""
        self.doing = "the players are getting ready"
        self.failure = ""
        self.is_ready = False  # the champion answers at once
        self._tell = tell
        self._ready: set[str] = set()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._is_closed = False
        self._is_wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None
        # As many as there are cores, and one for short questions beside long ones.
        self._pool = ThreadPoolExecutor((os.cpu_count() or 1) + 1, thread_name_prefix="coach")

    def warm_up(self) -> None:
        """Begin to make everything ready."""
        self._thread = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        """Wait no longer: somebody has the page before them."""
        self._is_wanted.set()

    def close(self) -> None:
        """Leave what is not done undone."""
        self._is_closed = True
        self.hurry()
        with contextlib.suppress(OSError, AttributeError):
            self._process.terminate()  # type: ignore[union-attr]
        self._pool.shutdown(wait=False, cancel_futures=True)

    def check_ready(self, spec: str) -> None:
        """Raise NotReadyError while the kernels of a player are being compiled."""
        if self.failure:
            raise ApiError(f"players cannot be asked: {self.failure}")
        for group in groups_of([spec]):
            self.check_group(group)

    def check_group(self, group: str) -> None:
        """Raise NotReadyError while a group of kernels is being compiled."""
        if group not in self._ready and self._thread:
            self.hurry()
            raise NotReadyError(f"{self.doing}: try again in a moment")

    def ask(self, spec: str, rules: Rules, board: Board, seed: int = 1) -> Decision:
        """What a player thinks of a board; the player is kept for the next question."""
        self.check_ready(spec)
        return self._wait(self._pool.submit(self._ask, spec, rules, board, seed))

    def _wait(self, future: "Future[Decision]") -> Decision:
        try:
            return future.result(PATIENCE)
        except FutureTimeoutError:
            future.cancel()
            raise NotReadyError(f"no answer within {PATIENCE:g} s: expected a player that thinks less") from None

    def _ask(self, spec: str, rules: Rules, board: Board, seed: int) -> Decision:
        from lab2048.arena.episode import ask

        kept = self._take(spec, rules)
        with kept.lock:
            if not kept.is_started:
                kept.player.start(rules, seed)
                kept.is_started = True
            return ask(kept.player, spec, board)

    def _take(self, spec: str, rules: Rules) -> _Kept:
        key = (spec, rules.json_text)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                kept = self._kept[key] = _Kept(make_player(spec))
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return kept

    def forget(self, part: str) -> None:
        """Let go of players whose spec holds a text, because its file changes or goes."""
        with self._lock:
            for key in [key for key in self._kept if part in key[0]]:
                del self._kept[key]

    def _warm_up(self) -> None:
        self._is_wanted.wait(CALM)
        try:
            for group in GROUPS:
                if self._is_closed:
                    return
                if (
                    group != ENVIRONMENTS or has_torch()
                ):  # without torch nobody gets as far as the kernels: players say why
                    self._compile(group)
                self._ready.add(group)
                if group == NETWORK:
                    self._meet_default()
                    self._ready.add(SHIPPED)  # unpacked, or its players say why not
                    self.is_ready = True
                self._tell()
            self.doing = ""
        except (LabError, OSError, ValueError) as error:
            self.failure = self.doing = str(error)
        self._tell()

    def _compile(self, group: str) -> None:
        """Compile in a process of its own if need be: here it would make everyone wait."""
        from lab2048.kernels import _jit

        if not _jit.is_ready(group) and _jit.CAN_KEEP:
            self._say(f"compiling kernels ({group}), once after an update")
            program = f"from lab2048.arena.compile import prepare; prepare(lambda _: None, {group!r})"
            self._process = subprocess.Popen([sys.executable, "-c", program], text=True, stdin=subprocess.DEVNULL)
            self._process.wait()
        if not self._is_closed:
            prepare(self._say, group)

    def _meet_default(self) -> None:
        """Ask the player of the classic board once: its network is then in memory."""
        self._say("the champion is getting ready")
        rules = Rules.from_text("4x4")
        spec = default_spec(rules)
        try:
            self._ask(spec, rules, Game(rules, 1).board, 1)
        except UsageError:
            raise
        except LabError as error:  # no network came along: others can be asked
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.doing = text
        self._tell()
