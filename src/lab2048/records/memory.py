"""Free memory, the check that what a file unpacks to fits into it, and memory that threads share."""

import contextlib
import ctypes
import re
from pathlib import Path

from lab2048.errors import FileError

_GROUP = Path("/sys/fs/cgroup")  # of a container, which may have less memory than its machine
_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
_SPARE = 64 * 2**20  # bytes that stay free for the rest of the program


def free_memory() -> int:
    """Return the available memory of the machine, or of the container, in bytes; 0 if unknown."""
    free = _machine("MemAvailable")
    try:
        limit, used = ((_GROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return min(free, max(1, int(limit) - int(used)))
    except (OSError, ValueError):  # no such group, or no limit
        return free


def all_memory() -> int:
    """Return the memory of the machine, or of the container, in bytes; 0 if unknown."""
    try:
        return min(_machine("MemTotal"), int((_GROUP / "memory.max").read_text()))
    except (OSError, ValueError):  # no such group, or no limit
        return _machine("MemTotal")


def _machine(name: str) -> int:
    try:
        found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else 0


def check_memory(n_bytes: int, path: Path) -> None:
    """Raise FileError if a file needs more memory than is free; call it before you allocate."""
    free = free_memory()
    if free and n_bytes > free - _SPARE:
        raise FileError(
            f"{path} needs {n_bytes / 1e9:,.1f} GB of memory: {max(0, free - _SPARE) / 1e9:,.1f} GB are free",
            code="memory.short",
        )


def share_arenas() -> None:
    """Let the threads of this process share two arenas of the C library, where it is glibc; call it before they begin.

    By default a thread gets an arena of its own, up to eight per core, and what it frees there is not used by others: a
    server with many threads grows by megabytes per minute although it keeps nothing.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)
