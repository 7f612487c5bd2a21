"""Show the progress of work that takes longer than a second, on standard error.

A terminal shows one line that is updated in place.  Elsewhere a new line is printed every ten seconds, and more
often while kernels are compiled.
"""

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from lab2048.cli.options import say
from lab2048.views.number import wait
from lab2048.views.wrap import columns_of

PATIENCE, _PATIENCE_ELSEWHERE = 1.0, 2.0  # seconds before the first output
_PAUSE_TERMINAL, _PAUSE_ELSEWHERE = 0.2, 10.0
_BAR = 20  # characters

_typed: list[str] = []  # the arguments of this command


class Show(Protocol):
    """Show a text and, if it is known, the share of the work that is done (0 to 1)."""

    def __call__(self, text: str, done: float | None = None) -> None: ...


def remember(arguments: list[str]) -> None:
    """Store the arguments of the command for `again`."""
    _typed[:] = arguments


def again(*further: str, without: tuple[str, ...] = ()) -> str:
    """Return the command that was typed, with more arguments: how to resume it."""
    from lab2048.jobs.command_line import command_line

    words = [word for word in _typed if word not in without]
    return command_line([*words, *(word for word in further if word not in words)])


def say_how(text: str, command: str) -> None:
    """Print a command to copy, on the same line as the text or, if that is too long, on its own line."""
    columns = columns_of(sys.stderr)
    is_short = columns is None or len(text) + len(command) < columns
    print(f"{text} {command}" if is_short else f"{text}\n{command}", file=sys.stderr, flush=True)


def bar(done: float, seconds: float) -> str:
    """Return a progress bar with the estimated time left.

    >>> bar(0.25, 10)
    '[#####---------------]  25%, 30 s left'
    """
    n = round(_BAR * min(1.0, max(0.0, done)))
    left = f", {wait(seconds * (1 - done) / done)} left" if done > 0 else ""
    return f"[{'#' * n}{'-' * (_BAR - n)}] {done:4.0%}{left}"


class _Line:
    """A line that is redrawn on a terminal, and printed again elsewhere."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.pause = _PAUSE_TERMINAL if self.is_terminal else _PAUSE_ELSEWHERE
        self._width = 0
        self._lock = threading.Lock()

    def draw(self, text: str) -> None:
        """Replace the text that is shown."""
        with self._lock:
            if self.is_terminal:
                import shutil

                text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be drawn over
                self._width = max(self._width, len(text))
                print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            else:
                say(text)

    def clear(self) -> None:
        """Erase the line."""
        with self._lock:
            if self._width:
                print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
                self._width = 0


@contextlib.contextmanager
def progress_line() -> Iterator[Show]:
    """Show a line for work that reports its progress, if it takes longer than PATIENCE."""
    line, begin = _Line(), time.monotonic()
    due = begin + max(PATIENCE, line.pause if not line.is_terminal else 0)

    def show(text: str, done: float | None = None) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + line.pause
            line.draw(text if done is None else f"{bar(done, now - begin)}  {text}")

    try:
        yield show
    finally:
        line.clear()


@contextlib.contextmanager
def working(text: str, *, only_terminal: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a line with the elapsed time, for work that cannot report progress; yields a function that sets the text."""
    line, begin, told = _Line(), time.monotonic(), [text]

    def change(text: str) -> None:
        told[0] = text
        line.clear()  # other output then starts at the first column

    def tick() -> None:
        if line.is_terminal or not only_terminal:
            line.draw(f"{told[0]}, {time.monotonic() - begin:.0f} s")

    pauses = [PATIENCE] if line.is_terminal else [_PATIENCE_ELSEWHERE, _PAUSE_ELSEWHERE]
    try:
        with _ticking(tick, pauses):
            yield change
    finally:
        line.clear()


@contextlib.contextmanager
def _ticking(tick: Callable[[], None], pauses: Sequence[float]) -> Iterator[None]:
    """Call `tick` on a thread after each of these pauses; the last pause repeats."""
    is_over = threading.Event()

    def run() -> None:
        for pause in itertools.chain(pauses, itertools.repeat(pauses[-1])):
            if is_over.wait(pause):
                return
            tick()

    clock = threading.Thread(target=run, daemon=True)
    clock.start()
    try:
        yield
    finally:
        is_over.set()
        clock.join()


def make_ready(*groups: str) -> None:
    """Compile kernels and decompress the network if that has not been done yet; the first time takes about a minute.

    A terminal shows a progress bar; elsewhere a line is printed every two seconds.
    """
    from lab2048.arena.compile import Preparing, prepare

    line, since, told = _Line(), time.monotonic(), "loading kernels"
    work: Preparing | None = None

    def announce(message: str) -> None:
        nonlocal told, work
        told, work = message, None
        if not line.is_terminal:
            say(message)

    def begin(preparing: Preparing) -> None:
        nonlocal since, work
        since, work = time.monotonic(), preparing

    def tick() -> None:
        now, seconds = work, time.monotonic() - since
        if now is None:
            if line.is_terminal:  # elsewhere it was announced already
                line.draw(f"{told}, {seconds:.0f} s")
        elif line.is_terminal:
            line.draw(f"{bar(now.n_done / max(1, now.n_all), seconds)}  {now}")
        else:
            line.draw(f"{now}, {seconds:.0f} s")

    try:
        with _ticking(tick, [PATIENCE, _PAUSE_TERMINAL] if line.is_terminal else [_PATIENCE_ELSEWHERE]):
            prepare(announce, *groups, begun=begin)
    finally:
        line.clear()
