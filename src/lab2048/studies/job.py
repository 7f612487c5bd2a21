"""A job: one row at work, and what it needs to know."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lab2048.errors import LabError
from lab2048.rules import Rules
from lab2048.studies.result import Result, Shelf
from lab2048.studies.study import Row


class LeftOutError(LabError):
    """A row that cannot be run here; the message says what it would take."""


class StoppedError(LabError):
    """A row that was interrupted; what it had is kept."""


@dataclass
class Job:
    """A row, how much of it to run, and where."""

    row: Row
    shelf: Shelf
    n_workers: int
    scratch: Path  # a folder for files that are of no use afterwards
    show: Callable[[str], None] = lambda _: None
    is_stopped: bool = False
    _stops: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self) -> str:
        return self.shelf.size

    @property
    def seed(self) -> int:
        return self.shelf.seed

    @property
    def amount(self) -> int:
        """Games to play, or 1."""
        return self.row.amount(self.size)

    @property
    def rules(self) -> Rules:
        return self.row.rules(self.size)

    def result(self) -> Result:
        """An empty result of this row."""
        return Result(self.row.id, self.row.digest(self.size), self.seed)

    def stop(self) -> None:
        """End as soon as it can be done without loss."""
        with self._lock:
            self.is_stopped = True
            for stop in self._stops:
                stop()

    def when_stopped(self, stop: Callable[[], None]) -> None:
        """Have something called when the job is to end, at once if that was said before."""
        with self._lock:
            self._stops.append(stop)
            if self.is_stopped:
                stop()

    def check(self) -> None:
        """Raise StoppedError if the job is to end."""
        if self.is_stopped:
            raise StoppedError("interrupted")
