"""Work that takes longer than a second says how it goes: on standard error, and how to go on if it is cut short.

On a terminal a line that is always the same one, elsewhere a new line every ten seconds, and more often while
someone waits for the first time.
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

PATIENCE, _PATIENCE_ELSEWHERE = 1.0, 2.0  # seconds without a word
_PAUSE_TERMINAL, _PAUSE_ELSEWHERE = 0.2, 10.0
_BAR = 20  # signs

_typed: list[str] = []  # the words of this command


class Show(Protocol):
    """Say how the work stands: a text, and how much of it is done, from 0 to 1, if that is known."""

    def __call__(self, text: str, done: float | None = None) -> None: ...


def remember(arguments: list[str]) -> None:
    """Note what was typed, for `again`."""
    _typed[:] = arguments


def again(*further: str, without: tuple[str, ...] = ()) -> str:
    """The command that was typed, with further words: how to go on."""
    import shlex

    words = [word for word in _typed if word not in without]
    return shlex.join(["lab2048", *words, *(word for word in further if word not in words)])


def say_how(text: str, command: str) -> None:
    """Say which command to type, in the same line or, where that is too long, in one of its own: it is to be copied."""
    columns = columns_of(sys.stderr)
    is_short = columns is None or len(text) + len(command) < columns
    print(f"{text} {command}" if is_short else f"{text}\n{command}", file=sys.stderr, flush=True)


def bar(done: float, seconds: float) -> str:
    """How much is done, as a bar, and how long the rest will take.

    >>> bar(0.25, 10)
    '[#####---------------]  25%, 30 s left'
    """
    n = round(_BAR * min(1.0, max(0.0, done)))
    left = f", {wait(seconds * (1 - done) / done)} left" if done > 0 else ""
    return f"[{'#' * n}{'-' * (_BAR - n)}] {done:4.0%}{left}"


class _Line:
    """One line of a terminal, or several elsewhere."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.pause = _PAUSE_TERMINAL if self.is_terminal else _PAUSE_ELSEWHERE
        self._width = 0
        self._lock = threading.Lock()

    def draw(self, text: str) -> None:
        """Show a text in place of the one before."""
        with self._lock:
            if self.is_terminal:
                import shutil

                text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be drawn over
                self._width = max(self._width, len(text))
                print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            else:
                say(text)

    def clear(self) -> None:
        """Leave nothing behind."""
        with self._lock:
            if self._width:
                print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
                self._width = 0


@contextlib.contextmanager
def progress_line() -> Iterator[Show]:
    """A line that follows work which tells how it stands, from the second second on."""
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
    """A line with a clock, for work that cannot tell how it stands; what is yielded changes the text."""
    line, begin, told = _Line(), time.monotonic(), [text]

    def change(text: str) -> None:
        told[0] = text
        line.clear()  # what is said now begins at the edge

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
    """Call `tick` on a thread after each of these pauses, and after the last one again and again."""
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
    """Compile kernels and unpack the network, if that has not been done yet: most of a minute, once.

    Nobody waits without a word: a terminal shows a bar, anything else gets a line every other second.
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
            if line.is_terminal:  # elsewhere it has been announced
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
