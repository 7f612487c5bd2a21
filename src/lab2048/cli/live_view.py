"""Long work: a view that follows it, and what Ctrl-C does."""

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from lab2048.cli.options import say


@contextlib.contextmanager
def live() -> Iterator[Callable[[Callable[[], str]], None]]:
    """A line or more that follow long work, on a terminal; elsewhere a line every ten seconds."""
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


_received: list[int] = []  # the signal that ends this command, if one does


def interrupted_code() -> int:
    """The exit code of a command that was cut short: 130 by Ctrl-C, 143 by a polite request to end."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


@contextlib.contextmanager
def ending_when_terminated() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does, in every command: games are kept, files are swept, the terminal is restored."""
    _received.clear()
    if threading.current_thread() is not threading.main_thread():  # only that one hears signals
        yield
        return

    def end(number: int, frame: object) -> None:  # noqa: ARG001
        _received.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def begin_line(stream: TextIO) -> None:
    """Go to the edge of a line, over the ^C that a terminal shows wherever the cursor was."""
    if stream.isatty():
        stream.write("\n" if os.environ.get("TERM") == "dumb" or os.name == "nt" else "\r\x1b[K")


@contextlib.contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when Ctrl-C or a polite request to end comes, instead of leaving at once."""

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        _received.append(number)
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def no_interrupt_lost() -> Iterator[None]:
    """Let a Ctrl-C come again that Python drops.

    What is raised while it tidies up, as at the end of loading a module, Python only reports.
    """
    before = sys.unraisablehook

    def report(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Not at once: raised in here it would be dropped again.
            threading.Timer(0.01, _thread.interrupt_main).start()
        else:
            before(dropped)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = before
