"""The decorator that compiles every kernel, and where compiled code is kept.

Without Numba, or with LAB2048_NO_JIT set, kernels run as plain Python: correct but slow.
"""

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from platformdirs import user_cache_path

from lab2048.kernels._source import PACKAGE, source_digest

P = ParamSpec("P")
R = TypeVar("R")

try:
    if os.environ.get("LAB2048_NO_JIT"):
        raise ImportError("kernels are asked for as plain Python")
    import numba
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
    from numba.core import config

    from lab2048.kernels._dispatcher import Kernel

    IS_COMPILED = True
except ImportError:
    IS_COMPILED = False

_MONTH = 30 * 24 * 3600  # seconds


def cache_root() -> Path:
    """Return the cache folder (LAB2048_CACHE, or the user's cache folder)."""
    root = os.environ.get("LAB2048_CACHE")
    return Path(root) if root else user_cache_path("lab2048")


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


FOLDER = cache_root() / "kernels"
CAN_KEEP = IS_COMPILED and _can_write(FOLDER)
KERNELS: list[Any] = []  # all declared kernels
LISTENERS: list[Callable[[], object]] = []  # see `listening`


@functools.cache
def machine() -> str:
    """Return a digest of all that compiled code depends on besides its sources: compiler, Python, processor."""
    parts = [sys.implementation.cache_tag or "", sys.platform]
    if IS_COMPILED:
        chosen = [str(getattr(config, name)) for name in ("CPU_NAME", "CPU_FEATURES", "OPT")]
        parts += [numba.__version__, get_host_cpu_name(), get_host_cpu_features().flatten(), *chosen]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function on its first call, and cache the result on disk."""
    if not IS_COMPILED:
        # Integers wrap around in compiled code; NumPy would warn.
        return np.errstate(over="ignore")(function)
    compiled = Kernel(function)
    compiled.listeners = LISTENERS
    if CAN_KEEP:
        compiled.keep(FOLDER, machine())
    KERNELS.append(compiled)
    return cast("Callable[P, R]", compiled)


def compile_for(function: Callable[..., object], *args: object) -> None:
    """Compile a kernel for such arguments, or load it from the cache, without calling it."""
    if IS_COMPILED:
        cast("Any", function).compile_for(*args)


@contextlib.contextmanager
def listening(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` for each kernel that is compiled or loaded meanwhile."""
    LISTENERS.append(tell)
    try:
        yield
    finally:
        LISTENERS.remove(tell)


def _mark(group: str, modules: tuple[str, ...]) -> Path:
    """Return the file that says that all kernels of these modules are in the cache."""
    key = source_digest(*(f"{PACKAGE}.{module}" for module in modules)) + machine()
    return FOLDER / f"{group}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.complete"


def is_ready(group: str, modules: tuple[str, ...]) -> bool:
    """Return True if all kernels of a group, which are in these modules, are in the cache."""
    if not IS_COMPILED:
        return True
    mark = _mark(group, modules)
    if not mark.exists():
        return False
    with contextlib.suppress(OSError):
        os.utime(mark)  # in use: see mark_ready
    return True


def mark_ready(group: str, modules: tuple[str, ...]) -> None:
    """Mark a group as compiled, and delete compiled code that has not been used for a month.

    Other recent versions stay, because several may be in use on one machine.
    """
    if not CAN_KEEP:
        return
    mark = _mark(group, modules)
    with contextlib.suppress(OSError):
        mark.touch()
        old = [path for path in FOLDER.glob("*.*") if time.time() - path.stat().st_mtime > _MONTH]
        if old:  # groups that are marked may miss a kernel now: they are prepared again
            for path in {*old, *FOLDER.glob("*.complete")} - {mark}:
                path.unlink(missing_ok=True)
