"""The folder of a table from outside: whether it is complete, unfinished or damaged, and how to delete it."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from lab2048.errors import FileError, reason_of
from lab2048.records.process_lock import ProcessLock
from lab2048.solver.endgame.compact_table import COLUMNS, open_table
from lab2048.solver.solve_folder import JOURNAL, SOLVED, WORK
from lab2048.solver.table import MANIFEST

_COLUMNS = ("keys-*.npy*", "values-*.npy*", *(f"{name}.npy*" for name in COLUMNS))
# The manifest comes first: without it, what is left is not taken for a table.
_FILES = (MANIFEST, SOLVED, JOURNAL, *_COLUMNS, f".{MANIFEST}.*.part", f".{SOLVED}.*.part")


class TableState(NamedTuple):
    """What a folder holds."""

    state: Literal["complete", "unfinished", "damaged"]
    reason: str  # why it is not complete
    n_bytes: int


def is_table_folder(folder: Path) -> bool:
    """Return True if a folder holds a table, or what is left of one."""
    return folder.is_dir() and ((folder / WORK).is_dir() or any(True for _ in _files(folder)))


def state_of(folder: Path) -> TableState:
    """Look at the folder of a table; its numbers are not verified."""
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if not (folder / MANIFEST).exists() and (folder / JOURNAL).exists():
        return TableState("unfinished", "the same solve resumes it", n_bytes)
    try:
        for column in open_table(folder).all_columns:
            if not column.path.exists() or column.path.stat().st_size != column.n_bytes:
                raise FileError(f"{column.path.name} is missing or has the wrong size")
    except (FileError, RecursionError) as error:
        return TableState("damaged", str(error) or "nested too deeply", n_bytes)
    return TableState("complete", "", n_bytes)


def delete_table(folder: Path) -> int:
    """Delete a table, complete or not, and return how many bytes that frees; other files in the folder stay.

    Raises FileError if the folder holds no table, or if a solve is running in it.
    """
    with held_files(folder) as paths:
        n_bytes = state_of(folder).n_bytes
        try:
            for path in paths:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
        except OSError as error:
            raise FileError(f"{folder} cannot be deleted: {reason_of(error)}", code="file.unwritable") from None
    return n_bytes


@contextlib.contextmanager
def held_files(folder: Path) -> Iterator[list[Path]]:
    """Yield the files of a table, to delete or move them, while no solve can run in its folder.

    The folder itself is removed afterwards if nothing else is in it.  Raises FileError if the folder holds no table, or
    if a solve is running in it.
    """
    if not is_table_folder(folder):
        raise FileError(f"{folder} holds no table: expected a folder written by lab2048 solve", code="file.not_found")
    work = folder / WORK
    lock = ProcessLock(work / "lock")
    if work.is_dir() and not lock.try_acquire():
        raise FileError(f"a solve is running in {folder}: stop it first", code="table.in_use")
    try:
        paths = list(_files(folder))
        yield [*paths, work] if work.is_dir() else paths
        with contextlib.suppress(OSError):  # other files are in it
            folder.rmdir()
    finally:
        lock.release()


def _files(folder: Path) -> Iterator[Path]:
    for pattern in _FILES:
        yield from (path for path in folder.glob(pattern) if path.is_file())
