"""Compile kernels and load the default player in the background of a running program."""

import threading
from collections.abc import Callable, Iterable

from lab2048.arena import compile as compiler
from lab2048.errors import LabError, UsageError
from lab2048.extras import has_extra
from lab2048.kernels.group import ENVIRONMENTS, GROUPS
from lab2048.models import SHIPPED


class BackgroundCompiler:
    """Compile all kernels in other processes, and load the default player as soon as it can play.

    Any thread may read `doing` (what is being prepared; empty at the end), `failure` (why it ended early) and
    `is_ready` (the default player answers at once).
    """

    def __init__(self, load_default: Callable[[], object], on_change: Callable[[], None]) -> None:
        """Start nothing yet; `on_change` is called whenever `doing`, `failure` or `is_ready` has changed."""
        self.failure, self.is_ready = "", False
        self._doing: str | compiler.Preparing = "preparing the players"
        self._load_default, self._on_change = load_default, on_change
        self._ready: set[str] = set()
        self._is_closed = False
        self._is_wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._preparation: compiler.Preparation | None = None

    @property
    def doing(self) -> str:
        """Return what is being prepared, and how far it is; empty at the end."""
        return str(self._doing)

    def start(self, delay: float) -> None:
        """Start after `delay` seconds, or earlier if `hurry` is called."""
        self._thread = threading.Thread(target=self._run, args=(delay,), name="background-compile", daemon=True)
        self._thread.start()

    def hurry(self) -> None:
        self._is_wanted.set()

    def close(self) -> None:
        self._is_closed = True
        self.hurry()
        if self._preparation is not None:
            self._preparation.stop()

    def has(self, groups: Iterable[str]) -> bool:
        """Return True if these groups are ready, else `hurry`; without `start`, kernels are compiled on demand."""
        if self._thread is None:
            return True
        missing = set(groups) - self._ready
        self._ready |= {group for group in missing if group != SHIPPED and compiler.is_ready(group)}
        if missing <= self._ready:
            return True
        self.hurry()
        return False

    def _run(self, delay: float) -> None:
        self._is_wanted.wait(delay)
        try:
            first = compiler.usual_groups()
            # Without torch, deep players fail before they need their kernels.
            rest = [group for group in GROUPS if group != ENVIRONMENTS or has_extra("deep")]
            self._compile(first)
            self._prepare_default()
            self._ready |= {*first, SHIPPED}  # decompressed; if that failed, its players report why
            self.is_ready = True
            self._on_change()
            self._compile(rest)
            self._ready |= set(GROUPS)
            self._doing = ""
        except (LabError, OSError, ValueError) as error:
            self.failure = self._doing = str(error)
        self._on_change()

    def _compile(self, groups: Iterable[str]) -> None:
        """Compile in other processes: in this one, it would hold Python's lock for seconds at a time."""
        if not self._is_closed:
            self._preparation = compiler.Preparation(groups, self._say, self._say, in_background=True)
            self._preparation.run()

    def _prepare_default(self) -> None:
        if self._is_closed:
            return
        self._say("loading the default player")
        try:
            self._load_default()
        except UsageError:
            raise
        except LabError as error:  # no shipped network: other players still work
            self._say(str(error))

    def _say(self, what: str | compiler.Preparing) -> None:
        self._doing = what
        self._on_change()
