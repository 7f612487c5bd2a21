"""How every kernel is compiled, and where the result is kept.

One decorator for all.  Where there is no Numba, or LAB2048_NO_JIT is set, kernels
run as plain Python: slow and right.
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
    """A name for these kernels on this Python and this machine.

    Numba renews a cached function when its own file changes, but not when a function
    that it calls has changed in another file; so every version gets a folder of its own.
    Python, processor and place are part of the name because Numba's own keys hold them:
    what is ready for one is not ready for another.
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
    """Where everything is kept that can be made again (LAB2048_CACHE moves it)."""
    root = os.environ.get("LAB2048_CACHE")
    return Path(root) if root else user_cache_path("lab2048")


def cache_folder() -> Path:
    """Where the compiled code of this version is kept."""
    return cache_root() / "kernels" / _digest()


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


FOLDER = cache_folder()
# Where ours cannot be written, Numba would turn to __pycache__, which knows nothing of our digest: stale results.
CAN_KEEP = IS_COMPILED and _can_write(FOLDER)
KERNELS: list[Any] = []  # every kernel that has been declared


@contextlib.contextmanager
def _cache_here() -> Iterator[None]:
    """Point Numba's cache at our folder while a kernel is declared, and at no other time."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(FOLDER)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function when it is first called, and keep the result on disk."""
    if not IS_COMPILED:
        # Words wrap around in compiled code; NumPy would warn of it.
        return np.errstate(over="ignore")(function)
    with _cache_here():
        compiled = numba.njit(function, nogil=True, cache=CAN_KEEP, error_model="numpy", boundscheck=False)
    KERNELS.append(compiled)
    return cast("Callable[P, R]", compiled)


def is_ready(group: str) -> bool:
    """True if every kernel of a group has been compiled before, so that first calls only load."""
    if not IS_COMPILED:
        return True
    mark = FOLDER / f"complete-{group}"
    if not mark.exists():
        return False
    with contextlib.suppress(OSError):
        os.utime(mark)  # in use: see mark_ready
    return True


def mark_ready(group: str) -> None:
    """Remember that every kernel of a group is compiled, and drop code that has not been used for a month.

    Not all other code: several versions of the laboratory may be in use on one machine.
    """
    if not CAN_KEEP:
        return
    with contextlib.suppress(OSError):
        (FOLDER / f"complete-{group}").touch()
        for other in FOLDER.parent.iterdir():
            used = max(mark.stat().st_mtime for mark in (other, *other.glob("complete-*")))
            if time.time() - used > _MONTH:
                shutil.rmtree(other, ignore_errors=True)
