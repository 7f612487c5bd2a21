"""Run units in this thread, on threads or in processes.

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
from concurrent import futures
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TypeVar

from lab2048.arena.executor.executor import Executor, Unit
from lab2048.errors import LabError, PlayerError, PlayerFileWarning
from lab2048.players import load_player_file
from lab2048.players.player_file import named_files
from lab2048.players.registry import is_only_here
from lab2048.stop_flag import OF_PROCESS, looking_at

T = TypeVar("T")

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


def _work(unit: Unit[T]) -> T:
    if _failure:
        raise PlayerError(_failure)
    return unit.run(OF_PROCESS.is_set)


class Pool(Executor):
    """Run units on the cores of this machine."""

    def __init__(self, n_workers: int) -> None:
        """Start nothing yet: threads and processes start with the first unit that needs them."""
        super().__init__(n_workers)
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None
        self._context = multiprocessing.get_context("spawn")
        self._stop_processes = self._context.Event()
        self._starting = threading.Lock()  # a node submits from several threads

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
        super().stop()
        self._stop_processes.set()

    def run(self, units: Iterable[Unit[T]]) -> Iterator[T]:
        """Run units; the iterable is advanced only when a worker is free."""
        if self.n_workers > 1:
            yield from super().run(units)
            return
        for unit in units:
            yield unit.run(self._stop.is_set)
            if self.is_stopped:
                return

    def run_one(self, unit: Unit[T]) -> T:
        """Run a unit on one of the workers; any thread may call it."""
        return self._result(self._submit(unit))

    def _result(self, future: "Future[T]") -> T:
        try:
            return future.result()
        except BrokenProcessPool:
            raise LabError(
                "a worker process died, perhaps because it ran out of memory",
                code="worker.died",
                hint="try fewer workers",
            ) from None

    def _submit(self, unit: Unit[T]) -> "Future[T]":
        if self.n_workers == 1 or unit.is_compiled or any(map(is_only_here, unit.specs)):
            return self._thread_pool().submit(self._run_here, unit)
        with self._starting, _no_interrupts():
            return self._process_pool().submit(_work, unit)

    def _run_here(self, unit: Unit[T]) -> T:
        with looking_at(self._stop):
            return unit.run(self._stop.is_set)

    def _thread_pool(self) -> futures.Executor:
        with self._starting:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.n_workers)
            return self._threads

    def _process_pool(self) -> futures.Executor:
        if self._processes is None:
            arguments = (self._stop_processes, named_files())
            self._processes = ProcessPoolExecutor(self.n_workers, self._context, _begin_worker, arguments)
        return self._processes
