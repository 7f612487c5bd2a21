"""Room on a disk for a file that is written again and again, such as the checkpoints of a training."""

import shutil
from pathlib import Path

from lab2048.errors import FileError
from lab2048.views.number import size


def free_room(path: Path) -> int:
    """Bytes that are free where a file is to be written, also if its folder is not made yet."""
    return shutil.disk_usage(next(folder for folder in path.resolve().parents if folder.exists())).free


def need_room(path: Path, largest: float, kept: float = 0.0, *, name: str = "", advice: str = "make room") -> None:
    """Raise FileError if a file that comes to some bytes has too little room: before hours of work, not after them.

    It is written whole beside the one that it replaces, which goes then, unless that has a second name: so it is
    with a checkpoint that is kept.  `kept` bytes come to lie beside it meanwhile.
    """
    free, there = free_room(path), 0
    if path.exists():
        stamp = path.stat()
        there = stamp.st_size if stamp.st_nlink == 1 else 0
    if 2 * largest - there + kept > free:
        beside = f", with {size(kept)} of checkpoints that are kept" if kept else ""
        raise FileError(
            f"there is no room for {name or path}: it takes {size(largest)}, twice while a checkpoint is written"
            f"{beside}, and {size(free)} are free; {advice}"
        )
