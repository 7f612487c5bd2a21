"""The running state of one row."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab2048.arena.executor.executor import Executor
from lab2048.arena.executor.local import Pool
from lab2048.errors import LabError, StoppedError
from lab2048.records.provenance import provenance
from lab2048.rules import Rules
from lab2048.studies.model import Row
from lab2048.studies.result import GameResult, Result, ResultFolder


class SkippedError(LabError):
    """The row cannot run here; the message says what is missing."""


@dataclass
class RowTask:
    """One row being run: its settings, progress output and stop requests."""

    row: Row
    result_folder: ResultFolder
    n_workers: int
    scratch: Path  # temporary folder
    show: Callable[[str], None] = lambda _: None
    earlier: Result | None = None  # partial result to continue from
    nodes: Executor | None = None  # a cluster that plays games, if there is one
    is_stopped: bool = False
    _begin: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), cpu_seconds()))
    _stops: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self) -> str:
        return self.result_folder.size

    @property
    def seed(self) -> int:
        return self.result_folder.seed

    @property
    def amount(self) -> int:
        """Return the number of games to play, or 1."""
        return self.row.amount(self.size)

    @property
    def rules(self) -> Rules:
        return self.row.rules(self.size)

    def executor(self) -> AbstractContextManager[Executor]:
        """Return what plays the games: the cluster, which stays for the next row, or the cores of this machine."""
        return Pool(self.n_workers) if self.nodes is None else nullcontext(self.nodes)

    def result(self) -> Result:
        """Return an empty result for this row."""
        return Result(self.row.id, self.row.digest(self.size), self.seed)

    def with_provenance(self, result: Result) -> Result:
        """Fill in the total time, including earlier sessions, and the provenance."""
        begin, spent = self._begin
        result.seconds, result.cpu_seconds = time.perf_counter() - begin, cpu_seconds() - spent
        origin = provenance() | {"study": self.result_folder.study.name, "workers": self.n_workers}
        result.provenance = origin | dict(result.provenance)
        if self.earlier is not None:
            result.seconds += self.earlier.seconds
            result.cpu_seconds += self.earlier.cpu_seconds
            result.provenance["earlier"] = _sessions(self.earlier.provenance)
        return result

    def save_partial(self, games: list[GameResult]) -> None:
        """Save the games played so far, in case of an interruption."""
        part = Result(self.row.id, self.row.digest_without_games(self.size), self.seed, games=games)
        self.result_folder.save_partial(self.with_provenance(part))

    def stop(self) -> None:
        """Request a stop as soon as nothing would be lost."""
        with self._lock:
            self.is_stopped = True
            for stop in self._stops:
                stop()

    def when_stopped(self, stop: Callable[[], None]) -> None:
        """Register a callback for `stop`; it is called immediately if the task is already stopped."""
        with self._lock:
            self._stops.append(stop)
            if self.is_stopped:
                stop()

    def check(self) -> None:
        """Raise StoppedError if a stop was requested."""
        if self.is_stopped:
            raise StoppedError("interrupted")


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished child processes."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _sessions(origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the provenance of all sessions behind a result, oldest first."""
    last = {name: value for name, value in origin.items() if name != "earlier"}
    return [*origin.get("earlier", []), last]
