"""Compile kernels and load the default player in the background of a running program."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable

from lab2048.arena import compile as compiler
from lab2048.errors import LabError, UsageError
from lab2048.extras import has_extra
from lab2048.models import SHIPPED

_ORDER = (compiler.PLAY, compiler.NETWORK, compiler.SOLVER, compiler.ENVIRONMENTS)  # most wanted first


class BackgroundCompiler:
    """Compile all kernels on a thread, and load the default player as soon as it can play.

    Any thread may read `doing` (what is being prepared; empty at the end), `failure` (why it ended early) and
    `is_ready` (the default player answers at once).
    """

    def __init__(self, load_default: Callable[[], object], on_change: Callable[[], None]) -> None:
        """Start nothing yet; `on_change` is called whenever `doing`, `failure` or `is_ready` has changed."""
        self.doing, self.failure, self.is_ready = "preparing the players", "", False
        self._load_default, self._on_change = load_default, on_change
        self._ready: set[str] = set()
        self._is_closed = False
        self._is_wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None

    def start(self, delay: float) -> None:
        """Start after `delay` seconds, or earlier if `hurry` is called."""
        self._thread = threading.Thread(target=self._run, args=(delay,), name="background-compile", daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        self._is_wanted.set()

    def close(self) -> None:
        self._is_closed = True
        self.hurry()
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.terminate()

    def has(self, groups: Iterable[str]) -> bool:
        """Return True if these groups are ready, else `hurry`; without `start`, kernels are compiled on demand."""
        if self._thread is None or self._ready.issuperset(groups):
            return True
        self.hurry()
        return False

    def _run(self, delay: float) -> None:
        self._is_wanted.wait(delay)
        try:
            for group in _ORDER:
                if self._is_closed:
                    return
                # Without torch, deep players fail before they need their kernels.
                if group != compiler.ENVIRONMENTS or has_extra("deep"):
                    self._compile(group)
                self._ready.add(group)
                if group == compiler.NETWORK:
                    self._prepare_default()
                    self._ready.add(SHIPPED)  # decompressed; if that failed, its players report why
                    self.is_ready = True
                self._on_change()
            self.doing = ""
        except (LabError, OSError, ValueError) as error:
            self.failure = self.doing = str(error)
        self._on_change()

    def _compile(self, group: str) -> None:
        """Compile a group in a child process: in this one, it would hold Python's lock for seconds at a time."""
        from lab2048.kernels import _jit

        if not _jit.is_ready(group) and _jit.CAN_KEEP:
            self._say(f"compiling kernels ({group}), once after an update")
            program = f"from lab2048.arena.compile import prepare; prepare(lambda _: None, {group!r})"
            self._process = subprocess.Popen([sys.executable, "-c", program], text=True, stdin=subprocess.DEVNULL)
            self._process.wait()
        if not self._is_closed:
            compiler.prepare(self._say, group)

    def _prepare_default(self) -> None:
        self._say("loading the default player")
        try:
            self._load_default()
        except UsageError:
            raise
        except LabError as error:  # no shipped network: other players still work
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.doing = text
        self._on_change()
