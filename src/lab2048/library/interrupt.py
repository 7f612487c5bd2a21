"""Ctrl-C ends long work in good order, so that what is done is returned."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C (or SIGTERM), and raise KeyboardInterrupt at the second.

    Only the main thread receives signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_asked = False

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        nonlocal is_asked
        if is_asked:
            raise KeyboardInterrupt
        is_asked = True
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
