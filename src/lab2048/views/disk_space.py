"""Disk space for files that are rewritten, such as checkpoints."""

import shutil
from pathlib import Path

from lab2048.errors import FileError
from lab2048.views.number import size


def free_room(path: Path) -> int:
    """Return the free bytes on the disk of a file, even if its folder does not exist yet."""
    return shutil.disk_usage(next(folder for folder in path.resolve().parents if folder.exists())).free


def need_room(path: Path, largest: float, kept: float = 0.0, *, name: str = "", advice: str = "make room") -> None:
    """Raise FileError if the disk has too little space for a file of `largest` bytes.

    A new version is written completely before it replaces the old one.  `kept` is the size of saved checkpoints that
    will be added meanwhile.
    """
    free, there = free_room(path), 0
    if path.exists():
        stamp = path.stat()
        there = stamp.st_size if stamp.st_nlink == 1 else 0
    if 2 * largest - there + kept > free:
        beside = f", and {size(kept)} for saved checkpoints" if kept else ""
        raise FileError(
            f"not enough disk space for {name or path}: it needs {size(largest)}, "
            f"twice that while a checkpoint is written{beside}, and {size(free)} are free; {advice}"
        )
