"""Disk space: work that writes much ends before the disk is full, so that games can still be saved.

Solves, trainings, matches and imports leave a reserve free.  The moves of a person may use it.
"""

import os
import shutil
from pathlib import Path

from lab2048.errors import FileError

RESERVE = 200_000_000  # bytes, but at most this share of a small disk:
RESERVE_SHARE = 0.01


def free_bytes(path: Path) -> int:
    """Return the free bytes on the disk of a file or folder, even if it does not exist yet; without the reserve."""
    usage = _usage(path)
    return usage.free - _reserve(usage)


def reserve_bytes(path: Path) -> int:
    """Return the bytes that stay free on the disk of a file or folder."""
    return _reserve(_usage(path))


def _usage(path: Path) -> "shutil._ntuple_diskusage":
    return shutil.disk_usage(
        next(folder for folder in (path, *Path(os.path.realpath(path)).parents) if folder.exists())
    )


def _reserve(usage: "shutil._ntuple_diskusage") -> int:
    return min(RESERVE, int(RESERVE_SHARE * usage.total))


def check_free(path: Path, n_bytes: int = 0, *, then: str) -> None:
    """Raise FileError if the disk has too little space to write `n_bytes`; `then` tells the user how to go on."""
    free = free_bytes(path)
    if n_bytes > free:
        raise FileError(
            f"{path} is not written: the disk is nearly full, and the rest is reserved for games; {then}",
            code="disk.full",
        )


def rough_size(n_bytes: float) -> str:
    """Return a size for a message.

    >>> rough_size(2.4e9), rough_size(300_000)
    ('2.4 GB', '1 MB')
    """
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{max(1, round(n_bytes / 1e6))} MB"
