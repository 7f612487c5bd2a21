"""Make commits durable: safe from a power failure, not only from the end of the program."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

sync_data = getattr(os, "fdatasync", os.fsync)  # SQLite uses the same: the times of the file do not matter


class LogSync:
    """Syncs the write-ahead log of a database; threads that wait at the same time share one fsync.

    SQLite can sync at every commit, too, but then a commit waits for the fsyncs of all commits before it: with 50
    players and a disk that needs 4 ms, that is 0.2 s.
    """

    def __init__(self, log: Path, checkpoint: Callable[[], None]) -> None:
        """`checkpoint` moves the log into the database and syncs both; it is called after an fsync that failed."""
        self._log, self._checkpoint = log, checkpoint
        self._changed = threading.Condition()
        self._n_committed = self._n_durable = 0
        self._is_syncing = self._has_failed = False

    def note(self) -> None:
        """Count a commit; call it after every one."""
        with self._changed:
            self._n_committed += 1

    def wait(self) -> None:
        """Return when every commit so far is durable; raise OSError or sqlite3.Error if that fails."""
        with self._changed:
            wanted = self._n_committed
            self._changed.wait_for(lambda: self._n_durable >= wanted or not self._is_syncing)
            if self._n_durable >= wanted:
                return
            self._is_syncing, n_committed = True, self._n_committed
        is_done = False
        try:
            self._sync()
            is_done = True
        finally:
            with self._changed:
                self._is_syncing, self._has_failed = False, not is_done
                if is_done:
                    self._n_durable = n_committed
                self._changed.notify_all()

    def _sync(self) -> None:
        if self._has_failed:
            # The system may have forgotten what it could not write: another fsync would prove nothing.
            self._checkpoint()
            return
        handle = os.open(self._log, os.O_RDWR)
        try:
            sync_data(handle)
        finally:
            os.close(handle)
