"""Long-running commands: a live view of their progress, and the handling of Ctrl-C, SIGTERM and SIGHUP."""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from lab2048.cli.options import say
from lab2048.library.interrupt import note_signal, received, signals


@contextlib.contextmanager
def live() -> Iterator[Callable[[Callable[[], str]], None]]:
    """Show text that is updated in place on a terminal; elsewhere print it every ten seconds."""
    is_terminal = sys.stderr.isatty()
    pause = 0.2 if is_terminal else 10.0
    due = time.monotonic() + pause
    if is_terminal:
        from rich.live import Live

        from lab2048.cli.output import make_console

        panel = Live(console=make_console(sys.stderr), auto_refresh=False, transient=True)
    with panel if is_terminal else contextlib.nullcontext():

        def show(text: Callable[[], str]) -> None:
            nonlocal due
            if time.monotonic() < due:
                return
            if is_terminal:
                panel.update(text(), refresh=True)
            else:
                say(text())
            due = time.monotonic() + pause

        yield show


def interrupted_code() -> int:
    """Return the exit code of an interrupted command: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    return 128 + (received[-1] if received else signal.SIGINT)


@contextlib.contextmanager
def ending_when_terminated() -> Iterator[None]:
    """Treat SIGTERM, and the SIGHUP of a closed terminal, like Ctrl-C: work is saved and the terminal restored."""
    received.clear()
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        note_signal(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in signals() if number != signal.SIGINT}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def begin_line(stream: TextIO) -> None:
    """Move to the start of a line and erase the ^C that the terminal has echoed."""
    if stream.isatty():
        stream.write("\n" if os.environ.get("TERM") == "dumb" or os.name == "nt" else "\r\x1b[K")
