"""Workers on threads: kernels release Python's lock."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Crew:
    """Does tasks side by side; results come in the order of the tasks.

    What comes out never depends on the number of workers: that is up to the tasks.
    """

    def __init__(self, n_workers: int) -> None:
        """Start threads, unless there is only one worker."""
        self.n_workers = n_workers
        self._threads = ThreadPoolExecutor(n_workers) if n_workers > 1 else None
        self.own = threading.local()  # what a worker keeps for itself between tasks

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the tasks at hand, a fraction of a second each, and start no more."""
        if self._threads:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def map(self, work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Do every task; all are begun as soon as a worker is free."""
        todo = list(tasks)
        if self._threads is None or len(todo) < 2:
            yield from map(work, todo)
            return
        yield from self._threads.map(work, todo)


def slices(n: int, largest: int, n_workers: int, smallest: int = 4096) -> list[tuple[int, int]]:
    """Cut n items into equal ranges, for every worker alike, of at most `largest` and not uselessly small.

    >>> slices(10, 4, 1)
    [(0, 3), (3, 6), (6, 10)]
    """
    if n == 0:
        return []
    n_slices = max(-(-n // largest), min(n_workers, n // smallest), 1)
    return [(n * i // n_slices, n * (i + 1) // n_slices) for i in range(n_slices)]
