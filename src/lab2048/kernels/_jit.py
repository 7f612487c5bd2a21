"""The decorator that compiles every kernel, and its cache.

Without Numba, or with LAB2048_NO_JIT set, kernels run as plain Python: correct but slow.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from platformdirs import user_cache_path

P = ParamSpec("P")
R = TypeVar("R")

try:
    if os.environ.get("LAB2048_NO_JIT"):
        raise ImportError("kernels are asked for as plain Python")
    import numba
    from llvmlite.binding import get_host_cpu_name
    from numba.core import config

    IS_COMPILED = True
except ImportError:
    IS_COMPILED = False

_MONTH = 30 * 24 * 3600  # seconds


def _digest() -> str:
    """Return a digest of these kernels, this Python and this machine.

    Numba recompiles a cached function when its own file changes, but not when a function it calls
    changes in another file, so every version has its own folder.  Python, processor and path are
    included because Numba's own cache keys contain them.
    """
    here = Path(__file__).parent
    parts = [sys.implementation.cache_tag or "", str(here)]
    if IS_COMPILED:
        parts += [numba.__version__, get_host_cpu_name()]
    state = hashlib.sha256("\n".join(parts).encode())
    for path in sorted(here.rglob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def cache_root() -> Path:
    """Return the cache folder (LAB2048_CACHE, or the user's cache folder)."""
    root = os.environ.get("LAB2048_CACHE")
    return Path(root) if root else user_cache_path("lab2048")


def cache_folder() -> Path:
    """Return the folder for the compiled code of this version."""
    return cache_root() / "kernels" / _digest()


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


FOLDER = cache_folder()
# If the folder is not writable, Numba would fall back to __pycache__, which ignores our digest: stale results.
CAN_KEEP = IS_COMPILED and _can_write(FOLDER)
KERNELS: list[Any] = []  # all declared kernels


@contextlib.contextmanager
def _cache_here() -> Iterator[None]:
    """Point Numba's cache at our folder, only while a kernel is declared."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function on its first call, and cache the result on disk."""
    if not IS_COMPILED:
        # Integers wrap around in compiled code; NumPy would warn.
        return np.errstate(over="ignore")(function)
    with _cache_here():
        compiled = numba.njit(function, nogil=True, cache=CAN_KEEP, error_model="numpy", boundscheck=False)
    KERNELS.append(compiled)
    return cast("Callable[P, R]", compiled)


def is_ready(group: str) -> bool:
    """Return True if all kernels of a group are in the cache."""
    if not IS_COMPILED:
        return True
    mark = FOLDER / f"complete-{group}"
    if not mark.exists():
        return False
    with contextlib.suppress(OSError):
        os.utime(mark)  # in use: see mark_ready
    return True


def mark_ready(group: str) -> None:
    """Mark a group as compiled, and delete cached code that has not been used for a month.

    Other recent versions stay, because several may be in use on one machine.
    """
    if not CAN_KEEP:
        return
    with contextlib.suppress(OSError):
        (FOLDER / f"complete-{group}").touch()
        for other in FOLDER.parent.iterdir():
            used = max(mark.stat().st_mtime for mark in (other, *other.glob("complete-*")))
            if time.time() - used > _MONTH:
                shutil.rmtree(other, ignore_errors=True)
