"""Ctrl-C ends long work in good order, so that what is done is returned."""

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache

from lab2048.stop_flag import OF_PROCESS

ONE_PRESS = 0.2  # seconds; `timeout` and process groups may pass one Ctrl-C on twice
SIGNALS = (signal.SIGINT, signal.SIGTERM)

received: list[int] = []  # the signals that interrupted this process, for its exit code
_depth = 0  # of nested `interruptible`


@contextlib.contextmanager
def stopping(*stops: Callable[[], None]) -> Iterator[None]:
    """Call the next of `stops` at each Ctrl-C (or SIGTERM), and raise KeyboardInterrupt when there are no more.

    A signal that follows another one at once counts as the same.  Only the main thread receives signals; elsewhere
    nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    left = list(stops)
    last = -ONE_PRESS

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        nonlocal last
        received.append(number)
        before, last = last, time.monotonic()
        if last - before < ONE_PRESS:
            return
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C stop compiled code, and repeat a Ctrl-C that Python drops.

    Python handles a signal only between two steps of the main thread, and a compiled search may be one step of minutes.
    So another thread learns of it and sets the stop flag of the process.

    Python only reports an exception that is raised during cleanup, for example after a module is loaded.
    """
    global _depth
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook
    repeated: list[threading.Timer] = []

    def report(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Later: raised here, it would be dropped again.
            repeated.append(threading.Timer(0.01, _thread.interrupt_main))
            repeated[-1].start()
        else:
            before(dropped)

    if _depth == 0:
        OF_PROCESS.clear()
    _depth += 1
    sys.unraisablehook = report
    watch = _watch()
    file_before = signal.set_wakeup_fd(watch.file, warn_on_full_buffer=False)
    if file_before != watch.file:
        watch.next_file = file_before
    try:
        yield
    except KeyboardInterrupt:  # it has arrived after all, and must not come a second time
        for timer in repeated:
            timer.cancel()
        raise
    finally:
        signal.set_wakeup_fd(file_before)
        sys.unraisablehook = before
        _depth -= 1


class _Watch:
    """A thread that learns of signals at once, whatever the main thread does."""

    def __init__(self) -> None:
        self._read_file, self.file = os.pipe()
        self.next_file = -1  # of an event loop that wants to know, too
        if os.name == "posix":
            os.set_blocking(self.file, False)
        threading.Thread(target=self._run, name="signals", daemon=True).start()

    def _run(self) -> None:
        while numbers := os.read(self._read_file, 64):
            if any(number in SIGNALS for number in numbers):
                OF_PROCESS.set()
            if self.next_file != -1:
                with contextlib.suppress(OSError):
                    os.write(self.next_file, numbers)


@cache
def _watch() -> _Watch:
    return _Watch()
