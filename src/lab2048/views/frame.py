"""Frames of a game for slow terminals: each is drawn over the previous one, and outdated ones are dropped."""

import re
import threading
from typing import Protocol, Self

_END = "\x1b[0m"  # of a tile in colour
_TILE_END = re.compile(r"(?<=\x1b\[0m)")
_CODE = re.compile(r"\x1b\[[0-9;]*m")
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Sink(Protocol):
    """A text stream."""

    def write(self, text: str, /) -> object:
        """Write the whole text."""

    def flush(self) -> object:
        """Flush the stream."""


class Frames:
    """Draw frames on a separate thread, so that the game never waits; a context manager.

    A frame that has not started when the next one arrives is dropped.  The last one is always drawn.
    """

    def __init__(self, sink: Sink) -> None:
        self.n_drawn = 0
        self._sink = sink
        self._frame: str | None = None
        self._is_over = False
        self._lines: list[str] = []  # of the frame on the screen
        self._news = threading.Condition()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="frames")

    def __enter__(self) -> Self:
        self._sink.write(_HIDE_CURSOR)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Draw the last frame and restore the terminal."""
        with self._news:
            self._is_over = True
            self._news.notify()
        self._thread.join()
        if self._failure is not None and kind is None:
            raise self._failure
        if self._failure is None:
            self._sink.write(_SHOW_CURSOR)
            self._sink.flush()

    def show(self, frame: str) -> None:
        """Queue a frame, replacing a waiting one; raise an earlier error of the drawing thread."""
        with self._news:
            if self._failure is not None:
                raise self._failure
            self._frame = frame
            self._news.notify()

    def _work(self) -> None:
        while True:
            with self._news:
                while self._frame is None and not self._is_over:
                    self._news.wait()
                frame, self._frame = self._frame, None
            if frame is None:
                return
            try:
                self._draw(frame)
            except Exception as error:  # such as a closed pipe
                self._failure = error
                return

    def _draw(self, frame: str) -> None:
        """Draw the changes and leave the cursor below the frame."""
        lines, before = frame.split("\n"), self._lines
        up = f"\x1b[{len(before)}F" if before else ""
        if len(lines) == len(before):
            text = "".join(f"{_patch(old, new)}\n" for old, new in zip(before, lines, strict=True))
        else:
            text = ("\x1b[J" if before else "") + f"{frame}\n"
        self._sink.write(up + text)
        self._sink.flush()
        self._lines = lines
        self.n_drawn += 1


def _patch(old: str, new: str) -> str:
    r"""Return the output that turns the old line into the new one: changed tiles and cursor movements.

    >>> _patch("  2  4", "  2  8"), _patch("\x1b[1m2\x1b[0m\x1b[1m4\x1b[0m", "\x1b[1m2\x1b[0m\x1b[1m8\x1b[0m")
    ('  2  8\x1b[K', '\x1b[2G\x1b[1m8\x1b[0m')
    """
    if old == new:
        return ""
    tiles, column, text = list(zip(_TILE_END.split(old), _TILE_END.split(new), strict=False)), 1, ""
    widths = [(_width(a), _width(b)) for a, b in tiles]
    if old.count(_END) != new.count(_END) or any(a != b for a, b in widths) or len(tiles) == 1:
        return f"{new}\x1b[K"
    for (a, b), (width, _) in zip(tiles, widths, strict=True):
        text += f"\x1b[{column}G{b}" if a != b else ""
        column += width
    return text


def _width(text: str) -> int:
    return len(_CODE.sub("", text))
