"""Ctrl-C ends long work in good order, so that what is done is returned."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

received: list[int] = []  # the signals that interrupted this process, for its exit code


@contextlib.contextmanager
def stopping(*stops: Callable[[], None]) -> Iterator[None]:
    """Call the next of `stops` at each Ctrl-C (or SIGTERM), and raise KeyboardInterrupt when there are no more.

    Only the main thread receives signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    left = list(stops)

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        received.append(number)
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
