"""Made ready before anyone waits for it: kernels, compiled once after an update, and the network, unpacked once."""

import contextlib
import importlib
import pkgutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab2048.models import SHIPPED

# Groups of kernels, so that no one waits for what they do not use: a file names its own, or belongs to PLAY.
PLAY, SOLVER, ENVIRONMENTS, NETWORK = GROUPS = ("play", "solver", "environments", "network")
# SHIPPED is a group without kernels: the network that comes with lab2048.

_WAITING = "another lab2048 is compiling or unpacking: waiting for it"
_compiled: set[str] = set()  # in this process; all that counts where nothing can be kept on disk


@dataclass(frozen=True)
class Preparing:
    """Work that takes a while, and how far it is: any thread may ask meanwhile."""

    text: str
    n_all: int
    count: Callable[[], int]

    @property
    def n_done(self) -> int:
        return min(self.count(), self.n_all)

    def __str__(self) -> str:
        """As a message tells it."""
        return f"{self.text}: {self.n_done} of {self.n_all}"


def prepare(
    say: Callable[[str], None] = lambda _: None,
    *groups: str,
    begun: Callable[[Preparing], None] = lambda _: None,
) -> None:
    """Compile every kernel of some groups (PLAY, if none is named) that is not compiled yet, and say so.

    Before worker processes start, and in one process at a time: Numba's cache can be
    damaged by two.  `begun` gets what can be asked how far it is.
    """
    from lab2048.kernels import _jit

    wanted = groups or (PLAY,)
    missing = [group for group in wanted if group != SHIPPED and group not in _compiled and not _jit.is_ready(group)]
    if missing:
        how_often = "once after an update" if _jit.CAN_KEEP else f"each time: {_jit.FOLDER} cannot be written"
        with _alone(_jit.FOLDER / "lock", lambda: say(_WAITING)):
            for group in missing:
                if _jit.is_ready(group):  # by another process, while this one waited
                    continue
                say(f"compiling kernels ({group}), {how_often}")
                begun(_compiling(group))
                _compile(group)
                _jit.mark_ready(group)
                _compiled.add(group)
    if SHIPPED in wanted and SHIPPED not in _compiled:
        _unpack(say, begun)


def _unpack(say: Callable[[str], None], begun: Callable[[Preparing], None]) -> None:
    """Unpack the shipped network into the cache, if it is not there yet."""
    from lab2048.kernels import _jit
    from lab2048.models.ntuple import shipped

    if not shipped.is_unpacked() and not shipped.can_keep():
        say(f"the network of lab2048 is unpacked each time: {shipped.cache_folder()} cannot be written")
    elif not shipped.is_unpacked():
        with _alone(_jit.FOLDER / "lock", lambda: say(_WAITING)):
            if not shipped.is_unpacked():
                say("unpacking the network of lab2048, once after an update")
                done: list[int] = []
                text = "unpacking the network of lab2048, tables"
                begun(Preparing(text, shipped.n_tables(), lambda: len(done)))
                shipped.unpack(done.append)
    _compiled.add(SHIPPED)


def _compiling(group: str) -> Preparing:
    """How far the kernels of a group are."""
    from lab2048.kernels import _jit

    names = {file.__name__ for file in _files(group)}
    kernels: Sequence[Any] = [kernel for kernel in _jit.KERNELS if kernel.py_func.__module__ in names]
    text = f"compiling kernels ({group}), {'once' if _jit.CAN_KEEP else 'each time'}"
    return Preparing(text, len(kernels), lambda: sum(bool(kernel.signatures) for kernel in kernels))


def groups_of(specs: Iterable[str]) -> list[str]:
    """The groups that some players use."""
    from lab2048.players.registry import make_player

    return sorted({group for spec in specs for group in make_player(spec).groups})


@contextlib.contextmanager
def _alone(path: Path, on_waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock between processes and threads; where the folder allows none, hold nothing.

    SQLite's lock, because it is the same on every system, and ends with its process.
    `on_waiting` is called once if another one holds it.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(sqlite3.OperationalError):
            lock = stack.enter_context(contextlib.closing(sqlite3.connect(path, timeout=1, isolation_level=None)))
            n_tries = 0
            while not _try(lock):  # a second at a time, so that Ctrl-C is heard
                n_tries += 1
                if n_tries == 1:
                    on_waiting()
        yield


def _try(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _files(group: str) -> list[Any]:
    """The files of a group."""
    from lab2048 import kernels

    found = pkgutil.walk_packages(kernels.__path__, "lab2048.kernels.")
    files = [importlib.import_module(each.name) for each in found if not each.ispkg]
    return [file for file in files if getattr(file, "GROUP", PLAY) == group]


def _compile(group: str) -> None:
    """Call the `warm_up` of every file of a group."""
    from lab2048.rules import Rules
    from lab2048.rules.plan import make_plan

    plan = make_plan(Rules.from_text("4x4"))
    for file in _files(group):
        if hasattr(file, "warm_up"):
            file.warm_up(plan)
