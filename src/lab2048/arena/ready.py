"""Kernels made ready: compiled once after an update, before anything waits for them."""

import contextlib
import importlib
import pkgutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# Groups of kernels, so that no one waits for what they do not use: a file names its own, or belongs to PLAY.
PLAY, SOLVER, ENVIRONMENTS, NETWORK = GROUPS = ("play", "solver", "environments", "network")

_compiled: set[str] = set()  # in this process; all that counts where nothing can be kept on disk


def prepare(say: Callable[[str], None] = lambda _: None, *groups: str) -> None:
    """Compile every kernel of some groups (PLAY, if none is named) that is not compiled yet, and say so.

    Before worker processes start, and in one process at a time: Numba's cache can be
    damaged by two.
    """
    from lab2048.kernels import _jit

    missing = [group for group in groups or (PLAY,) if group not in _compiled and not _jit.is_ready(group)]
    if not missing:
        return
    with _alone(_jit.FOLDER / "lock"):
        for group in missing:
            if _jit.is_ready(group):  # by another process, while this one waited
                continue
            how_often = "once after an update" if _jit.CAN_KEEP else f"each time: {_jit.FOLDER} cannot be written"
            say(f"compiling kernels ({group}), {how_often}")
            _compile(group)
            _jit.mark_ready(group)
            _compiled.add(group)


def groups_of(specs: Iterable[str]) -> list[str]:
    """The groups that some players use."""
    from lab2048.players.registry import make_player

    return sorted({group for spec in specs for group in make_player(spec).groups})


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock between processes and threads; where the folder allows none, hold nothing.

    SQLite's lock, because it is the same on every system, and ends with its process.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(sqlite3.OperationalError):
            lock = stack.enter_context(contextlib.closing(sqlite3.connect(path, timeout=1, isolation_level=None)))
            while not _try(lock):  # a second at a time, so that Ctrl-C is heard
                pass
        yield


def _try(lock: sqlite3.Connection) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _compile(group: str) -> None:
    """Call the `warm_up` of every file of a group."""
    from lab2048 import kernels
    from lab2048.rules import Rules
    from lab2048.rules.plan import make_plan

    plan = make_plan(Rules.from_text("4x4"))
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        file = importlib.import_module(module.name)
        if getattr(file, "GROUP", PLAY) == group and hasattr(file, "warm_up"):
            file.warm_up(plan)
