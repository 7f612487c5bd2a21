"""An open file of games: one thread at a time, all changes whole, damage found before the first of them."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from lab2048.errors import StoreError
from lab2048.records.database import BUSY_SECONDS, USE_COPY, connect, default_path, explained, transaction

_CHECKED_SIZE = 50_000_000  # bytes; a file up to this size is checked in less than half a second


class StoreFile:
    """The file under a store; use it in a `with` statement, or `close` it."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        """Wrap an open database; users call `open`."""
        self.path = path
        self._database = database
        self._lock = threading.RLock()
        self._is_checked = False

    @classmethod
    def open(cls, path: Path | None = None, *, timeout: float = BUSY_SECONDS, create: bool = True) -> Self:
        """Open a store, by default the user's own; it is made if it is not there and `create` allows it.

        `timeout` is how many seconds to wait while another program is writing.
        """
        path = path or default_path()
        return cls(path, connect(path, timeout=timeout, create=create))

    def close(self) -> None:
        """Let go of the file; closing twice does no harm."""
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
            found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(
                f"the store {self.path} is damaged ({' '.join(found.split())})", code="store.damaged", hint=USE_COPY
            )

    @contextlib.contextmanager
    def _access(self) -> Iterator[sqlite3.Connection]:
        """The database, for one thread at a time, and its errors in words."""
        with self._lock, explained(self.path):
            yield self._database

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """The database, for one transaction; the first one is refused if the file is found to be damaged."""
        with self._access() as database:
            if not self._is_checked:
                if self.path.stat().st_size <= _CHECKED_SIZE:
                    self.check()
                self._is_checked = True
            with transaction(database):
                yield database
