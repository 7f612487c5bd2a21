"""A job: one row at work, and what it needs to know."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab2048.errors import LabError
from lab2048.records.provenance import provenance
from lab2048.rules import Rules
from lab2048.studies.model import Row
from lab2048.studies.result import GameResult, Result, Shelf


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
    earlier: Result | None = None  # what there is of the row, by which it goes on
    is_stopped: bool = False
    _begin: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), cpu_seconds()))
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

    def signed(self, result: Result) -> Result:
        """The result with what it took since the row was first begun, and where it comes from."""
        begin, spent = self._begin
        result.seconds, result.cpu_seconds = time.perf_counter() - begin, cpu_seconds() - spent
        origin = provenance() | {"study": self.shelf.study.name, "workers": self.n_workers}
        result.provenance = origin | dict(result.provenance)
        if self.earlier is not None:
            result.seconds += self.earlier.seconds
            result.cpu_seconds += self.earlier.cpu_seconds
            result.provenance["earlier"] = _sessions(self.earlier.provenance)
        return result

    def keep_part(self, games: list[GameResult]) -> None:
        """Keep the games that there are, and what they took, in case that this is all."""
        part = Result(self.row.id, self.row.likeness(self.size), self.seed, games=games)
        self.shelf.keep_part(self.signed(part))

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


def cpu_seconds() -> float:
    """What this process and those that it has started and ended have computed."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _sessions(origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs that a result comes from, the first one first."""
    last = {name: value for name, value in origin.items() if name != "earlier"}
    return [*origin.get("earlier", []), last]
