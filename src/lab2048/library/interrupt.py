"""Ctrl-C ends long work in good order, so that what is done is returned."""

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

ONE_PRESS = 0.2  # seconds; `timeout` and process groups may pass one Ctrl-C on twice

received: list[int] = []  # the signals that interrupted this process, for its exit code


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

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def no_interrupt_lost() -> Iterator[None]:
    """Repeat a Ctrl-C that Python drops.

    Python only reports an exception that is raised during cleanup, for example after a module is loaded.
    """
    before = sys.unraisablehook
    repeated: list[threading.Timer] = []

    def report(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Later: raised here, it would be dropped again.
            repeated.append(threading.Timer(0.01, _thread.interrupt_main))
            repeated[-1].start()
        else:
            before(dropped)

    sys.unraisablehook = report
    try:
        yield
    except KeyboardInterrupt:  # it has arrived after all, and must not come a second time
        for timer in repeated:
            timer.cancel()
        raise
    finally:
        sys.unraisablehook = before
