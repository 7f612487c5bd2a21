"""Run batches in this thread, on threads or in processes.

With one worker everything runs in the calling thread.  With more, players whose games or choices
are compiled run on threads, because they release the GIL; players written in Python run in processes,
unless their class is known to this process alone.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Self

from lab2048.arena.batch import Batch, Played, play_batch, player_of
from lab2048.errors import LabError, PlayerError, PlayerFileWarning
from lab2048.players import load_player_file
from lab2048.players.player_file import named_files
from lab2048.players.registry import is_only_here
from lab2048.stop_flag import OF_PROCESS, StopFlag, looking_at

STOP_SECONDS = 1.0  # for workers to end by themselves

_failure = ""  # in a worker process: why its player files failed to load


def _begin_worker(stop: Event, player_files: tuple[Path, ...]) -> None:
    global _failure
    warnings.simplefilter("ignore", PlayerFileWarning)  # the parent has warned
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    sys.stdout = sys.stderr  # keep a player's output out of the results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=_stop_with, args=(stop,), daemon=True).start()
    try:
        for path in player_files:
            load_player_file(path)
    except LabError as error:
        _failure = str(error)


def _stop_with(stop: Event) -> None:
    stop.wait()
    OF_PROCESS.set()


def _end_with_parent() -> None:
    """Exit when the parent dies: a killed parent cannot stop its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block SIGINT, so that processes started inside ignore Ctrl-C from the beginning."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(batch: Batch) -> Played:
    if _failure:
        raise PlayerError(_failure)
    return play_batch(batch, OF_PROCESS.is_set)


class Pool:
    """Run batches on a number of workers and yield the played games, in any order."""

    def __init__(self, n_workers: int) -> None:
        """Start nothing yet: threads and processes start with the first batch that needs them."""
        self.n_workers = n_workers
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None
        self._context = multiprocessing.get_context("spawn")
        self._stop_processes = self._context.Event()
        self._stop = StopFlag()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything at once and terminate worker processes: a game in Python may take minutes."""
        self.stop()
        if self._threads:
            self._threads.shutdown(wait=True, cancel_futures=True)
        if self._processes:
            workers = list((self._processes._processes or {}).values())
            self._processes.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()

    def stop(self) -> None:
        """Stop soon: `run` yields the finished games and drops those in progress."""
        self._stop.set()
        self._stop_processes.set()

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    def run(self, batches: Iterable[Batch]) -> Iterator[Played]:
        """Play batches; the iterable is advanced only when a worker is free."""
        source = iter(batches)
        if self.n_workers == 1:
            for batch in source:
                yield play_batch(batch, self._stop.is_set)
                if self.is_stopped:
                    return
        waiting: set[Future[Played]] = set()
        n_looks = 0  # without a result, since the stop
        while True:
            while not self.is_stopped and len(waiting) < self.n_workers + 1:
                following = next(source, None)
                if following is None:
                    break
                waiting.add(self._submit(following))
            if not waiting:
                return
            over = wait(waiting, STOP_SECONDS / 10, return_when=FIRST_COMPLETED).done
            n_looks = 0 if over or not self.is_stopped else n_looks + 1
            if n_looks == 10:  # a player in Python, whose moves may take minutes
                return
            for future in over:
                waiting.discard(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    raise LabError(
                        "a worker process died, perhaps because it ran out of memory",
                        code="worker.died",
                        hint="try fewer workers",
                    ) from None

    def _submit(self, batch: Batch) -> Future[Played]:
        player = player_of(batch)
        is_compiled = player.releases_lock or player.games_kernel(batch.rules) is not None
        if is_compiled or is_only_here(batch.player):
            return self._thread_pool().submit(self._play, batch)
        with _no_interrupts():
            return self._process_pool().submit(_work, batch)

    def _play(self, batch: Batch) -> Played:
        with looking_at(self._stop):
            return play_batch(batch, self._stop.is_set)

    def _thread_pool(self) -> Executor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.n_workers)
        return self._threads

    def _process_pool(self) -> Executor:
        if self._processes is None:
            arguments = (self._stop_processes, named_files())
            self._processes = ProcessPoolExecutor(self.n_workers, self._context, _begin_worker, arguments)
        return self._processes
