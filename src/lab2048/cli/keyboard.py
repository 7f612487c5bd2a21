"""Read single keys from a terminal, and lines of keys from other input."""

import codecs
import contextlib
import os
import re
import select
import signal
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from lab2048.rules.move import ARROWS

PAUSE_SECONDS = 0.5
REDRAW = "\x0c"  # Ctrl-L
# Enter and leave the alternate screen; cleared first, because tmux keeps its old contents.
_OWN_SCREEN, _OLD_SCREEN = b"\x1b[?1049h", b"\x1b[H\x1b[J\x1b[?1049l"
_END_OF_INPUT = "\x04"  # Ctrl-D

# Escape sequences of special keys, in both terminal modes: the last letter is the key, the numbers before
# it are modifier keys.  The first alternative matches function keys of a Linux console.
_SEQUENCE = re.compile(r"\x1b(?:\[\[.|\[[0-?]*[ -/]*(?P<csi>[@-Z\\-~])|O[0-9;]*(?P<ss3>[A-Za-z~]))")
_UNFINISHED = re.compile(r"\x1b(?:\[\[?[0-?]*[ -/]*|O[0-9;]*)?\Z")
_ARROWS = dict(zip("ABCD", (ARROWS[name] for name in ("up", "down", "right", "left")), strict=True))


def can_read_keys() -> bool:
    """Return True if single keys can be read as they are pressed."""
    try:
        import termios  # noqa: F401
    except ImportError:  # Windows
        return False
    knows_codes = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return knows_codes and sys.stdin.isatty() and sys.stdout.isatty()


def read_lines() -> Iterator[str]:
    """Yield lines of keys, without white space, until the input ends."""
    for line in sys.stdin:
        yield "".join(line.split())


class Keys:
    """Yield keys as they are pressed, on the alternate screen of a terminal; a context manager.

    Keys typed before are not lost.  The terminal is restored at the end, and while Ctrl-Z suspends the
    program.
    """

    def __enter__(self) -> Self:
        """Switch the terminal to single keys without echo."""
        import termios

        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        self._is_stale = False  # what the screen shows
        # A signal makes the alarm readable, so that it is handled at once, not after the pause.
        self._alarm, self._bell = os.pipe()
        for end in (self._alarm, self._bell):
            os.set_blocking(end, False)
        self._old_bell = signal.set_wakeup_fd(self._bell, warn_on_full_buffer=False)
        self._handlers = {
            signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._stop),
            signal.SIGCONT: signal.signal(signal.SIGCONT, self._go_on),
            signal.SIGWINCH: signal.signal(signal.SIGWINCH, self._resize),
        }
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_bell)
        os.close(self._alarm)
        os.close(self._bell)
        self._give_back()

    def __iter__(self) -> Iterator[str]:
        """Yield keys until Ctrl-D: an empty text after a pause, REDRAW when the screen must be redrawn."""
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        tail = ""
        while True:
            ready, _, _ = select.select([self._terminal, self._alarm], [], [], PAUSE_SECONDS)
            if self._alarm in ready:
                os.read(self._alarm, 64)
            if self._is_stale:
                self._is_stale = False
                yield REDRAW
            if not ready:
                tail = ""  # an unfinished sequence is the Esc key
                yield ""
            if self._terminal not in ready:
                continue
            data = os.read(self._terminal, 64)
            keys, tail = split_keys(tail + decoder.decode(data))
            keys, end, _ = keys.partition(_END_OF_INPUT)
            if keys:
                yield keys
            if end or not data:
                return

    def _take(self) -> None:
        import termios
        import tty

        with contextlib.suppress(termios.error, OSError):  # the terminal was closed
            tty.setcbreak(self._terminal, termios.TCSADRAIN)  # TCSAFLUSH would drop typed keys
            os.write(sys.stdout.fileno(), _OWN_SCREEN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(termios.error, OSError):
            os.write(sys.stdout.fileno(), _OLD_SCREEN)
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def _stop(self, number: int, frame: object) -> None:
        """Suspend the program at Ctrl-Z, with the terminal restored for the shell."""
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # returns when the program is continued
        signal.signal(number, self._stop)
        self._go_on(number, frame)

    def _go_on(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._take()
        self._is_stale = True

    def _resize(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._is_stale = True


def split_keys(text: str) -> tuple[str, str]:
    r"""Split terminal input into keys and an unfinished sequence at its end.

    Arrow keys become the characters of ARROWS, with or without modifier keys; other
    sequences, the Esc key and white space are dropped.

    >>> split_keys("a\x1b[B\x1b[15~d\x1b[")
    ('a↓d', '\x1b[')
    """
    unfinished = _UNFINISHED.search(text)
    end = unfinished.start() if unfinished else len(text)
    keys = _SEQUENCE.sub(lambda found: _ARROWS.get(found["csi"] or found["ss3"] or "", ""), text[:end])
    return "".join(key for key in keys if key == REDRAW or not (key.isspace() or key == "\x1b")), text[end:]
