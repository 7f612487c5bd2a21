"""Where batches run: in this thread, on threads, or in processes.

Compiled games release Python's lock and run on threads.  Players written in Python
run in processes; with a single worker they run right here, so that nothing has to
be started and Ctrl-C reaches them.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType
from typing import Self

from lab2048.arena.batch import Batch, Played, has_kernel, play_batch
from lab2048.errors import LabError
from lab2048.players import load_player_file

_stop: Event | None = None  # in a worker process: set when the match is to end


def _begin_worker(stop: Event, player_files: tuple[Path, ...]) -> None:
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for path in player_files:
        load_player_file(path)


def _end_with_parent() -> None:
    """A parent that is killed cannot stop its workers, and they would wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(batch: Batch) -> Played:
    return play_batch(batch, _stop.is_set if _stop is not None else lambda: False)


class Pool:
    """Runs batches on a number of workers and hands back what was played, in any order."""

    def __init__(self, n_workers: int, player_files: tuple[Path, ...] = ()) -> None:
        """Start nothing yet: threads and processes come with the first batch that needs them."""
        self.n_workers = n_workers
        self._player_files = player_files
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None
        self._stop_threads = threading.Event()
        self._context = multiprocessing.get_context("spawn")
        self._stop_processes = self._context.Event()
        self._waiting: set[Future[Played]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything; what still runs is given a moment, then ended."""
        self._stop()
        if self._threads:
            self._threads.shutdown(wait=True, cancel_futures=True)
        if self._processes:
            # A game in Python may take minutes: end the processes rather than wait for it.
            workers = list((self._processes._processes or {}).values())
            self._processes.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()

    def run(self, batches: Iterable[Batch]) -> Iterator[Played]:
        """Play batches as they come; the iterable is asked for more only when a worker is free."""
        source = iter(batches)
        is_done = False
        while True:
            while not is_done and len(self._waiting) < self.n_workers + 1:
                batch = next(source, None)
                if batch is None:
                    is_done = True
                elif self.n_workers == 1 and not has_kernel(batch.player, batch.rules):
                    for number in batch.numbers:  # one by one, so that Ctrl-C loses only the game at hand
                        yield play_batch(replace(batch, numbers=[number]), lambda: False)
                else:
                    self._waiting.add(self._submit(batch))
            if not self._waiting:
                return
            yield from self._take(FIRST_COMPLETED, None)

    def drain(self, seconds: float) -> Iterator[Played]:
        """After Ctrl-C: stop, and hand back what the workers finish within a moment."""
        self._stop()
        for future in list(self._waiting):
            future.cancel()
        with contextlib.suppress(LabError):
            yield from self._take("ALL_COMPLETED", seconds)

    def _stop(self) -> None:
        self._stop_threads.set()
        self._stop_processes.set()

    def _take(self, until: str, seconds: float | None) -> Iterator[Played]:
        finished, self._waiting = wait(self._waiting, seconds, until)
        for future in finished:
            if not future.cancelled():
                yield future.result()

    def _submit(self, batch: Batch) -> Future[Played]:
        if has_kernel(batch.player, batch.rules):
            return self._thread_pool().submit(play_batch, batch, self._stop_threads.is_set)
        return self._process_pool().submit(_work, batch)

    def _thread_pool(self) -> Executor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.n_workers)
        return self._threads

    def _process_pool(self) -> Executor:
        if self._processes is None:
            arguments = (self._stop_processes, self._player_files)
            self._processes = ProcessPoolExecutor(self.n_workers, self._context, _begin_worker, arguments)
        return self._processes
