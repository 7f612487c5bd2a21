"""An open store file: one thread at a time, transactions, and a check for damage before the first change."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from lab2048.records.database import BUSY_SECONDS, check_structure, connect, default_path, explained, transaction

_CHECKED_SIZE = 50_000_000  # bytes; a file up to this size is checked in less than half a second


class StoreFile:
    """The file of a store; use it in a `with` statement, or `close` it."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        """Wrap an open database; users call `open`."""
        self.path = path
        self._database = database
        self._lock = threading.RLock()
        self._is_checked = False

    @classmethod
    def open(cls, path: Path | None = None, *, timeout: float = BUSY_SECONDS, create: bool = True) -> Self:
        """Open a store, by default the user's own; create it if it is missing and `create` is true.

        `timeout` is the number of seconds to wait while another program is writing.
        """
        path = path or default_path()
        return cls(path, connect(path, timeout=timeout, create=create))

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        with self._access() as database:
            database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def check(self) -> None:
        """Read the whole file and raise StoreError if its structure is damaged; takes seconds on a large store."""
        with self._access() as database:
            check_structure(database, self.path)

    @contextlib.contextmanager
    def _access(self) -> Iterator[sqlite3.Connection]:
        """Lend the database to one thread at a time; its errors become StoreError."""
        with self._lock, explained(self.path):
            yield self._database

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Lend the database for one transaction; the first one is refused if the file is damaged."""
        with self._access() as database:
            if not self._is_checked:
                if self.path.stat().st_size <= _CHECKED_SIZE:
                    self.check()
                self._is_checked = True
            with transaction(database):
                yield database
