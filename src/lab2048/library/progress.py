"""Show the progress of work that takes longer than a second: on a terminal, in a notebook, or as lines.

A terminal shows one line on standard error that is updated in place, and a notebook an output that is replaced.
Elsewhere nothing is shown, unless the caller asks for it: then a new line is printed every ten seconds.
"""

import contextlib
import importlib
import itertools
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from lab2048.library.interrupt import nothing_to_save
from lab2048.library.unsaved import with_names
from lab2048.views.number import wait

PATIENCE, _PATIENCE_ELSEWHERE = 1.0, 2.0  # seconds before the first output
_PAUSE_LIVE, _PAUSE_ELSEWHERE = 0.2, 10.0
_BAR = 20  # characters


class Show(Protocol):
    """Show a text and, if it is known, the share of the work that is done (0 to 1)."""

    def __call__(self, text: str, done: float | None = None) -> None: ...


def bar(done: float, seconds: float) -> str:
    """Return a progress bar with the estimated time left.

    >>> bar(0.25, 10)
    '[#####---------------]  25%, 30 s left'
    """
    n = round(_BAR * min(1.0, max(0.0, done)))
    left = f", {wait(seconds * (1 - done) / done)} left" if done > 0 else ""
    return f"[{'#' * n}{'-' * (_BAR - n)}] {done:4.0%}{left}"


class ProgressLine:
    """A line that is redrawn on a terminal and in a notebook, and printed again elsewhere.

    `is_shown` is None to show it only where it can be redrawn.
    """

    def __init__(self, is_shown: bool | None = None) -> None:
        self.is_notebook = is_notebook()
        self.is_live = self.is_notebook or sys.stderr.isatty()
        self.is_shown = self.is_live if is_shown is None else is_shown
        self.pause = _PAUSE_LIVE if self.is_live else _PAUSE_ELSEWHERE
        self._width = 0
        self._output: Any = None  # of a notebook
        self._lock = threading.Lock()

    def draw(self, text: str) -> None:
        """Replace the text that is shown."""
        if not self.is_shown:
            return
        text = with_names(text)
        with self._lock:
            if self.is_notebook:
                self._draw_in_notebook(text)
            elif self.is_live:
                text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be drawn over
                self._width = max(self._width, len(text))
                _write(f"\r{text:<{self._width}}")
            else:
                _write(f"{text}\n")

    def clear(self) -> None:
        """Erase the line."""
        with self._lock:
            if self._output is not None:
                self._output.update({"text/plain": ""}, raw=True)
                self._output = None
            elif self._width:
                _write("\r" + " " * self._width + "\r")
                self._width = 0

    def _draw_in_notebook(self, text: str) -> None:
        data = {"text/plain": text}
        if self._output is None:
            display: Any = importlib.import_module("IPython.display").display
            self._output = display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)


def is_notebook() -> bool:
    """Return True in a Jupyter notebook, which shows rich output but has no terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


@contextlib.contextmanager
def progress_line(progress: bool | None = None) -> Iterator[Show]:
    """Show a line for work that reports its progress, if it takes longer than PATIENCE."""
    line, begin = ProgressLine(progress), time.monotonic()
    due = begin + (PATIENCE if line.is_live else line.pause)

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
def working(text: str, progress: bool | None = None) -> Iterator[Callable[[str], None]]:
    """Show a line with the elapsed time, for work that cannot report progress; yields a function that sets the text."""
    line, begin, shown = ProgressLine(progress), time.monotonic(), [text]

    def change(text: str) -> None:
        shown[0] = text
        line.clear()  # other output then starts at the first column

    def tick() -> None:
        line.draw(f"{shown[0]}, {time.monotonic() - begin:.0f} s")

    try:
        with _ticking(tick, [PATIENCE] if line.is_live else [_PATIENCE_ELSEWHERE, _PAUSE_ELSEWHERE]):
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


def make_ready(*groups: str, progress: bool | None = None) -> None:
    """Compile kernels and unpack the network if that has not been done yet; the first time takes some seconds.

    A terminal or a notebook shows a progress bar; elsewhere a line is printed every two seconds, if asked for.
    """
    from lab2048.arena.compile import Preparing, prepare

    line, since, shown = ProgressLine(progress), time.monotonic(), "loading kernels"
    work: Preparing | None = None

    def announce(message: str) -> None:
        nonlocal shown, work
        shown, work = message, None
        if not line.is_live:
            line.draw(message)

    def begin(preparing: Preparing) -> None:
        nonlocal since, work
        since, work = time.monotonic(), preparing

    def tick() -> None:
        now, seconds = work, time.monotonic() - since
        if now is None:
            if line.is_live:  # elsewhere it was announced already
                line.draw(f"{shown}, {seconds:.0f} s")
        elif line.is_live:
            line.draw(f"{bar(now.n_done / max(1, now.n_all), seconds)}  {now}")
        else:
            line.draw(f"{now}, {seconds:.0f} s")

    try:
        with nothing_to_save(), _ticking(tick, [PATIENCE, _PAUSE_LIVE] if line.is_live else [_PATIENCE_ELSEWHERE]):
            prepare(announce, *groups, begun=begin)
    finally:
        line.clear()
