"""Kernels made ready: compiled once after an update, before anything waits for them."""

import contextlib
import importlib
import pkgutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

_has_compiled = Event()  # in this process; all that counts where nothing can be kept on disk


def prepare(say: Callable[[str], None] = lambda _: None) -> None:
    """Compile every kernel that is not compiled yet, and say so.

    Before worker processes start, and in one process at a time: Numba's cache can be
    damaged by two.
    """
    from lab2048.kernels import _jit

    if _has_compiled.is_set() or _jit.is_ready():
        return
    with _alone(_jit.FOLDER / "lock"):
        if _jit.is_ready():  # by another process, while this one waited
            return
        how_often = "once after an update" if _jit.CAN_KEEP else f"each time: {_jit.FOLDER} cannot be written"
        say(f"compiling kernels, {how_often}")
        _compile_all()
        _jit.mark_ready()
        _has_compiled.set()


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


def _compile_all() -> None:
    """Call the `warm_up` of every file of kernels."""
    from lab2048 import kernels
    from lab2048.rules import Rules
    from lab2048.rules.plan import make_plan

    plan = make_plan(Rules.from_text("4x4"))
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        if warm_up := getattr(importlib.import_module(module.name), "warm_up", None):
            warm_up(plan)
