"""Reading keys: single ones from a terminal, lines of them from anywhere else."""

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

PAUSE_SECONDS = 0.5
REDRAW = "\x0c"  # Ctrl-L
_END_OF_INPUT = "\x04"  # Ctrl-D

# What terminals send for keys that are no characters, in both of their modes: the last letter says which,
# the numbers before it what else is held down.  The first form is that of the function keys of a Linux console.
_SEQUENCE = re.compile(r"\x1b(?:\[\[.|\[[0-?]*[ -/]*(?P<csi>[@-Z\\-~])|O[0-9;]*(?P<ss3>[A-Za-z~]))")
_UNFINISHED = re.compile(r"\x1b(?:\[\[?[0-?]*[ -/]*|O[0-9;]*)?\Z")
_ARROWS = {"A": "w", "B": "s", "C": "d", "D": "a"}


def can_read_keys() -> bool:
    """True if single keys can be read as they are pressed."""
    try:
        import termios  # noqa: F401
    except ImportError:  # Windows
        return False
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def read_lines() -> Iterator[str]:
    """Lines of keys, white space taken out, until the input ends."""
    for line in sys.stdin:
        yield "".join(line.split())


class Keys:
    """The keys of a terminal as they are pressed; use it in a `with` statement.

    The terminal is left as it was found, at the end and also while the program is stopped by Ctrl-Z.
    """

    def __enter__(self) -> Self:
        """Have the terminal send keys at once, and not show them."""
        import termios

        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        self._is_back = False  # from having been stopped
        self._handlers = {
            signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._stop),
            signal.SIGCONT: signal.signal(signal.SIGCONT, self._go_on),
        }
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._give_back()

    def __iter__(self) -> Iterator[str]:
        """Some keys at a time, until Ctrl-D; none in a pause, and REDRAW when someone else has used the screen."""
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        tail = ""
        while True:
            is_ready = bool(select.select([self._terminal], [], [], PAUSE_SECONDS)[0])
            if self._is_back:
                self._is_back = False
                yield REDRAW
            if not is_ready:
                tail = ""  # what stays unfinished is no sequence, but the Esc key
                yield ""
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

        with contextlib.suppress(termios.error):  # the terminal is gone
            tty.setcbreak(self._terminal, termios.TCSADRAIN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def _stop(self, number: int, frame: object) -> None:
        """Ctrl-Z: stop as any program would, but leave a terminal that the shell can use."""
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # returns when the program is to go on
        signal.signal(number, self._stop)
        self._go_on(number, frame)

    def _go_on(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._take()
        self._is_back = True


def split_keys(text: str) -> tuple[str, str]:
    r"""The keys in what a terminal sent, and the unfinished end of it.

    Arrows become letters, whatever is held down with them; other sequences, the Esc key
    and white space are dropped.

    >>> split_keys("a\x1b[B\x1b[15~d\x1b[")
    ('asd', '\x1b[')
    """
    unfinished = _UNFINISHED.search(text)
    end = unfinished.start() if unfinished else len(text)
    keys = _SEQUENCE.sub(lambda found: _ARROWS.get(found["csi"] or found["ss3"] or "", ""), text[:end])
    return "".join(key for key in keys if key == REDRAW or not (key.isspace() or key == "\x1b")), text[end:]
