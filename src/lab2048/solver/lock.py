"""One at a time: a lock that ends with whoever holds it, however that ends."""

import sqlite3
from pathlib import Path

from lab2048.errors import FileError


class Lock:
    """Holds a folder for one solve; SQLite's lock, because it is the same on every system."""

    def __init__(self, path: Path) -> None:
        """Take nothing yet."""
        self.path = path
        self._held: sqlite3.Connection | None = None

    def take(self) -> None:
        """Take the lock, or say that another has it."""
        held = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            held.close()
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise FileError(f"another solve is at work in {self.path.parent.parent}: expected it to end") from None
            return  # where there can be no lock, work goes on
        self._held = held

    def give(self) -> None:
        """Give the lock back, if it was taken."""
        if self._held is not None:
            self._held.close()
            self._held = None
