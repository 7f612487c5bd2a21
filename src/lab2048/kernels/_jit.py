"""How every kernel is compiled, and where the result is kept.

One decorator for all.  Where there is no Numba, or LAB2048_NO_JIT is set, kernels
run as plain Python: slow and right.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numpy as np
from platformdirs import user_cache_path

P = ParamSpec("P")
R = TypeVar("R")

try:
    if os.environ.get("LAB2048_NO_JIT"):
        raise ImportError("kernels are asked for as plain Python")
    import numba
    from numba.core import config

    IS_COMPILED = True
except ImportError:
    IS_COMPILED = False


def _digest() -> str:
    """A name for this version of the kernels.

    Numba renews a cached function when its own file changes, but not when a function
    that it calls has changed in another file; so every version gets a folder of its own.
    """
    state = hashlib.sha256(numba.__version__.encode() if IS_COMPILED else b"")
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    return state.hexdigest()[:16]


def cache_folder() -> Path:
    """Where the compiled code of this version is kept (LAB2048_CACHE moves it)."""
    root = os.environ.get("LAB2048_CACHE")
    return (Path(root) if root else user_cache_path("lab2048")) / "kernels" / _digest()


_FOLDER = cache_folder()


@contextlib.contextmanager
def _cache_here() -> Iterator[None]:
    """Point Numba's cache at our folder while a kernel is declared, and at no other time."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)  # type: ignore[attr-defined]
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
        compiled = numba.njit(function, nogil=True, cache=True, error_model="numpy", boundscheck=False)
    return cast("Callable[P, R]", compiled)


def is_ready() -> bool:
    """True if every kernel has been compiled before, so that first calls only load."""
    return not IS_COMPILED or (_FOLDER / "complete").exists()


def mark_ready() -> None:
    """Remember that every kernel is compiled, and drop code that has not been used for a month.

    Not all other code: several versions of the laboratory may be in use on one machine.
    """
    if not IS_COMPILED:
        return
    with contextlib.suppress(OSError):
        (_FOLDER / "complete").touch()
        for other in _FOLDER.parent.iterdir():
            if time.time() - other.stat().st_mtime > 30 * 24 * 3600:
                shutil.rmtree(other, ignore_errors=True)
