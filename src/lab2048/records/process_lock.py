"""Locks between processes.

Everything in lab2048 that only one process may do at a time takes its lock here.  The operating system holds the lock
on a file, so the lock ends with its process, even if the process is killed.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import filelock

POLL_SECONDS = 0.2


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
