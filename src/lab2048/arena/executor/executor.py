"""Units of work, and what runs them.

A unit gives the same result wherever and however often it is run.  So results do not depend on the executor, on the
number of workers or nodes, or on interruptions, and a unit that is lost with its worker is run again.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from lab2048.errors import LabError
from lab2048.stop_flag import StopFlag

STOP_SECONDS = 1.0  # for workers to end by themselves
MAX_TRIALS = 5  # of a unit whose workers die

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Unit(Protocol[T_co]):
    """A piece of work, such as a batch of games."""

    @property
    def specs(self) -> Sequence[str]:
        """Return the players that it asks."""

    @property
    def paths(self) -> Sequence[Path]:
        """Return the files and folders that it reads, besides those that its players name."""

    @property
    def is_compiled(self) -> bool:
        """Return True if it releases the GIL most of the time, so that threads can run it."""

    @property
    def home(self) -> int | None:
        """Return a number that stands for the node that has its data; None if any node is as good."""

    def moved(self, where: Mapping[str, str]) -> Self:
        """Return the same unit with other paths of files; `where` maps absolute paths."""

    def run(self, is_stopped: Callable[[], bool]) -> T_co:
        """Do the work; return what is finished if `is_stopped` becomes true."""


class LostUnitError(LabError):
    """A worker died with a unit, which is to be run again."""


class Executor(ABC):
    """Runs units on a number of workers and yields their results, in any order."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._stop = StopFlag()

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """Stop everything at once."""

    def make_ready(self, specs: Sequence[str], groups: Sequence[str]) -> None:  # noqa: B027
        """Compile groups of kernels on other machines, and have the files of these players there."""

    @abstractmethod
    def _submit(self, unit: Unit[T]) -> "Future[Any]":
        """Begin a unit."""

    def _result(self, future: "Future[Any]") -> Any:
        """Return the result of a unit; raise LostUnitError if it has to be run again."""
        return future.result()

    def _check(self) -> None:  # noqa: B027
        """Raise LabError if the workers cannot be reached any more; called several times per second."""

    def _abandon(self, future: "Future[Any]") -> None:  # noqa: B027
        """Forget a unit whose result nobody wants any more."""

    def stop(self) -> None:
        """Stop soon: `run` yields what is finished and drops what is in progress."""
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def room(self) -> int:
        """Return how many units may be in progress at once, so that no worker waits for the next one."""
        return self.n_workers + 1

    def run(self, units: Iterable[Unit[T]]) -> Iterator[T]:
        """Run units; the iterable is advanced only when a worker is free."""
        source: Iterator[tuple[Unit[T], int]] = ((unit, 1) for unit in units)
        waiting: dict[Future[Any], tuple[Unit[T], int]] = {}
        try:
            yield from self._run(source, waiting)
        finally:
            for future in waiting:
                self._abandon(future)

    def _run(
        self, source: Iterator[tuple[Unit[T], int]], waiting: "dict[Future[Any], tuple[Unit[T], int]]"
    ) -> Iterator[T]:
        n_looks = 0  # without a result, since the stop
        while True:
            while not self.is_stopped and len(waiting) < self.room:
                following = next(source, None)
                if following is None:
                    break
                waiting[self._submit(following[0])] = following
            if not waiting:
                return
            over = wait(waiting, STOP_SECONDS / 10, return_when=FIRST_COMPLETED).done
            self._check()
            n_looks = 0 if over or not self.is_stopped else n_looks + 1
            if n_looks == 10:  # a player in Python, whose moves may take minutes
                return
            for future in over:
                unit, n_trials = waiting.pop(future)
                try:
                    result: T = self._result(future)
                except LostUnitError as error:
                    if n_trials == MAX_TRIALS:
                        raise LabError(
                            f"the workers of a unit died {n_trials} times: {error}", code="worker.died"
                        ) from None
                    source = itertools.chain([(unit, n_trials + 1)], source)
                    continue
                yield result
