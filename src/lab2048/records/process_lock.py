"""Locks between processes, and temporary folders that are locked while they are in use.

Everything in lab2048 that only one process may do at a time takes its lock here.  The operating system holds the lock
on a file, so the lock ends with its process, even if the process is killed.  So the temporary folder of a killed
process is known by its lock, and the next process that makes one deletes it.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import filelock

POLL_SECONDS = 0.2
_PREFIX, _LOCK = "lab2048-", ".lock"  # of temporary folders
_YOUNG = 60.0  # seconds; the lock of a new folder may not be held yet


class ProcessLock:
    """A lock on a file, for one process and one thread at a time.

    Any thread may release it.  Where the folder is missing or its file system has no locks, every attempt succeeds and
    nothing is locked: work that cannot be protected goes on.
    """

    def __init__(self, path: Path, *, is_removed: bool = False) -> None:
        """Lock this file; with `is_removed` it is deleted when the lock is released."""
        self.path, self._is_removed = path, is_removed
        self._held: filelock.BaseFileLock | None = None

    def try_acquire(self) -> bool:
        """Acquire the lock, or return False at once if it is held."""
        import filelock  # takes a tenth of a second, and most commands need no lock

        if not self.path.parent.is_dir():
            return True
        lock = filelock.FileLock(self.path, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            return False
        except (OSError, NotImplementedError):
            return True
        self._held = lock
        return True

    @property
    def is_held(self) -> bool:
        """Return whether this object holds the lock; an attempt also succeeds where there are no locks."""
        return self._held is not None

    def release(self) -> None:
        """Release the lock; do nothing if it is not held."""
        if self._held is not None:
            with contextlib.suppress(OSError):
                if self._is_removed:
                    # While the lock is held: afterwards it could be the file of the next holder.
                    self.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self._held.release()
            self._held = None

    def wait(self, on_waiting: Callable[[], None] = lambda: None) -> Self:
        """Acquire the lock, however long that takes; call `on_waiting` once if another holds it.

        Use the result in a `with` statement, which releases the lock.
        """
        is_told = False
        while not self.try_acquire():
            if not is_told:
                on_waiting()
            is_told = True
            time.sleep(POLL_SECONDS)  # in Python, so that Ctrl-C is heard
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


_locks: dict[Path, ProcessLock] = {}  # of the temporary folders of this process


def make_temporary_folder() -> Path:
    """Return a new folder, which is to be deleted by `delete_temporary_folder`."""
    _delete_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    _locks[folder] = ProcessLock(folder / _LOCK)
    _locks[folder].try_acquire()  # until this process ends, however it ends
    return folder


def delete_temporary_folder(folder: Path) -> None:
    """Delete a folder and what is in it."""
    lock = _locks.pop(folder, None)
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)  # Windows deletes no file that is locked


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder, and delete it."""
    folder = make_temporary_folder()
    try:
        yield folder
    finally:
        delete_temporary_folder(folder)


def _delete_leftovers() -> None:
    """Delete the folders whose processes are gone."""
    for lock_file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        folder, lock = lock_file.parent, ProcessLock(lock_file)
        with contextlib.suppress(OSError):  # another process may delete it at this moment
            is_old = time.time() - folder.stat().st_mtime > _YOUNG
            if is_old and folder not in _locks and not folder.is_symlink() and lock.try_acquire() and lock.is_held:
                shutil.rmtree(folder, ignore_errors=True)
        lock.release()
