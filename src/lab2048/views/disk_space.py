"""Disk space for files that are rewritten, such as checkpoints."""

from pathlib import Path

from lab2048.errors import FileError
from lab2048.records.disk_space import free_bytes, reserve_bytes
from lab2048.views.number import size


def need_room(path: Path, largest: float, kept: float = 0.0, *, name: str = "", advice: str = "make room") -> None:
    """Raise FileError if the disk has too little space for a file of `largest` bytes.

    A new version is written completely before it replaces the old one.  `kept` is the size of saved checkpoints that
    will be added meanwhile.
    """
    free, there = free_bytes(path), 0
    if path.exists():
        stamp = path.stat()
        there = stamp.st_size if stamp.st_nlink == 1 else 0
    if 2 * largest - there + kept > free:
        beside = f", and {size(kept)} for saved checkpoints" if kept else ""
        reserve = reserve_bytes(path)
        raise FileError(
            f"not enough disk space for {name or path}: it needs {size(largest)}, "
            f"twice that while a checkpoint is written{beside}, and {size(free + reserve)} are free, of which "
            f"{size(reserve)} stay reserved for games; {advice}"
        )
