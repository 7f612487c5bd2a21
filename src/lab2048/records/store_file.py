"""The file of a store while it is open: who reads and writes it when, and when changes are durable.

One connection writes, for one thread at a time.  Others read, and see what was committed last: with a write-ahead log
readers never wait for a writer, in this program or another one.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from lab2048.errors import StoreError
from lab2048.records.database import (
    BUSY_SECONDS,
    Database,
    check_structure,
    connect,
    connect_reader,
    default_path,
    explained,
    has_log,
    log_of,
    transaction,
)
from lab2048.records.log_sync import LogSync

VIEW_SECONDS = 0.5  # how long a view waits for another program that is writing, before it goes on without saving
_CHECKED_SIZE = 50_000_000  # bytes; a file up to this size is checked in less than half a second
_MAX_IDLE = 8  # connections that are kept for the next reader


class StoreFile:
    """The file of a store; use it in a `with` statement, or `close` it."""

    def __init__(self, path: Path, database: Database, timeout: float = BUSY_SECONDS) -> None:
        """Wrap an open database; users call `open`."""
        self.path = path
        self._database = database  # of the thread that holds the lock
        self._lock = threading.RLock()
        self._timeout = timeout
        self._has_log = has_log(database)
        self._writer = 0  # the thread in a transaction
        self._readers: list[sqlite3.Connection] = []  # idle
        self._readers_lock = threading.Lock()
        self.is_closed = False
        self._log = LogSync(log_of(path), self._checkpoint)
        self._is_checked = False
        self._check_lock = threading.Lock()

    @classmethod
    def open(cls, path: Path | None = None, *, timeout: float = BUSY_SECONDS, create: bool = True) -> Self:
        """Open a store, by default the user's own; create it if it is missing and `create` is true.

        `timeout` is the number of seconds to wait while another program is writing.  Without `create`, a store on a
        disk that cannot be written can be read.
        """
        path = path or default_path()
        return cls(path, connect(path, timeout=timeout, create=create), timeout)

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        with self._lock, explained(self.path):
            with self._readers_lock:
                self.is_closed = True
                idle, self._readers = self._readers, []
            for reader in idle:
                reader.close()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self) -> None:
        """Read the whole file and raise StoreError if its structure is damaged; takes seconds on a large store."""
        with self._read() as database:
            check_structure(database, self.path)

    def sync(self) -> None:
        """Return when everything that was committed so far is durable: safe from a power failure, too."""
        if self._has_log:
            with explained(self.path):
                self._log.wait()
                self._database.check_file(self.path)

    def is_writable(self) -> bool:
        """Return True if no other program is writing now; never wait."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self.is_closed:
                return False
            self._database.execute("PRAGMA busy_timeout = 0")
            try:
                with transaction(self._database):
                    return True
            finally:
                self._database.execute(f"PRAGMA busy_timeout = {int(1000 * self._timeout)}")
        except sqlite3.OperationalError:
            return False
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading; inside a transaction of this thread, its own."""
        if self._writer == threading.get_ident() or not self._has_log:
            with self._exclusive() as database:
                yield database
            return
        with explained(self.path):
            reader = self._take_reader()
            try:
                yield reader
            finally:
                self._give_back(reader)

    def _take_reader(self) -> sqlite3.Connection:
        with self._readers_lock:
            if self.is_closed:
                raise sqlite3.ProgrammingError(f"the store {self.path} is closed")
            if self._readers:
                return self._readers.pop()
        self._database.check_file(self.path)
        return connect_reader(self.path, timeout=self._timeout)

    def _give_back(self, reader: sqlite3.Connection) -> None:
        with self._readers_lock:
            if not self.is_closed and len(self._readers) < _MAX_IDLE:
                self._readers.append(reader)
                return
        reader.close()

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection that writes to one thread at a time."""
        if not self._lock.acquire(timeout=self._timeout):
            raise self._busy()
        try:
            with explained(self.path):
                yield self._database
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def _change(self, *, is_durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Lend the database for one transaction, which is durable at the end, unless the caller calls `sync` later.

        The first one is refused if the file is damaged.
        """
        self._check_once()
        self._database.check_file(self.path)
        with self._exclusive() as database, transaction(database):
            before, self._writer = self._writer, threading.get_ident()
            try:
                yield database
            finally:
                self._writer = before
        self._log.note()
        if is_durable:
            self.sync()

    def _busy(self) -> StoreError:
        return StoreError(f"the store {self.path} is busy", code="store.locked", hint="try again in a moment")

    def _check_once(self) -> None:
        with self._check_lock:
            if not self._is_checked:
                with explained(self.path):
                    is_small = self.path.stat().st_size <= _CHECKED_SIZE
                if is_small:
                    self.check()
                self._is_checked = True

    def _checkpoint(self) -> None:
        """Move the log into the database, which syncs both."""
        with self._exclusive() as database:
            is_busy, *_ = database.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
            if is_busy:
                raise self._busy()
