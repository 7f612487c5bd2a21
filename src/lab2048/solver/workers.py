"""Worker threads: kernels release the GIL."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from lab2048.stop_flag import current, looking_at

A = TypeVar("A")
B = TypeVar("B")


class Workers:
    """Run tasks on threads; results come in the order of the tasks.

    Tasks must not depend on the number of workers, so that results do not either.
    """

    def __init__(self, n_workers: int) -> None:
        """Create a thread pool, unless there is only one worker."""
        self.n_workers = n_workers
        self._threads = ThreadPoolExecutor(n_workers) if n_workers > 1 else None
        self.own = threading.local()  # per-worker storage between tasks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for running tasks, a fraction of a second each, and cancel the rest."""
        if self._threads:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def map(self, work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Run every task and yield the results in order; raise StoppedError if the caller's stop flag is set."""
        todo, flag = list(tasks), current()

        def run(task: A) -> B:
            with looking_at(flag):
                flag.check()
                return work(task)

        if self._threads is None or len(todo) < 2:
            yield from map(run, todo)
            return
        yield from self._threads.map(run, todo)


def slices(n: int, largest: int, n_workers: int, smallest: int = 4096) -> list[tuple[int, int]]:
    """Split n items into equal ranges of at most `largest`, at least one per worker unless they get too small.

    >>> slices(10, 4, 1)
    [(0, 3), (3, 6), (6, 10)]
    """
    if n == 0:
        return []
    n_slices = max(-(-n // largest), min(n_workers, n // smallest), 1)
    return [(n * i // n_slices, n * (i + 1) // n_slices) for i in range(n_slices)]
