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

from lab2048.rules.move import ARROWS

PAUSE_SECONDS = 0.5
REDRAW = "\x0c"  # Ctrl-L
# A screen of our own, and back to the old one; first emptied, because tmux keeps what a smaller screen would have cut.
_OWN_SCREEN, _OLD_SCREEN = b"\x1b[?1049h", b"\x1b[H\x1b[J\x1b[?1049l"
_END_OF_INPUT = "\x04"  # Ctrl-D

# What terminals send for keys that are no characters, in both of their modes: the last letter says which,
# the numbers before it what else is held down.  The first form is that of the function keys of a Linux console.
_SEQUENCE = re.compile(r"\x1b(?:\[\[.|\[[0-?]*[ -/]*(?P<csi>[@-Z\\-~])|O[0-9;]*(?P<ss3>[A-Za-z~]))")
_UNFINISHED = re.compile(r"\x1b(?:\[\[?[0-?]*[ -/]*|O[0-9;]*)?\Z")
_ARROWS = dict(zip("ABCD", (ARROWS[name] for name in ("up", "down", "right", "left")), strict=True))


def can_read_keys() -> bool:
    """True if single keys can be read as they are pressed."""
    try:
        import termios  # noqa: F401
    except ImportError:  # Windows
        return False
    knows_codes = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return knows_codes and sys.stdin.isatty() and sys.stdout.isatty()


def read_lines() -> Iterator[str]:
    """Lines of keys, white space taken out, until the input ends."""
    for line in sys.stdin:
        yield "".join(line.split())


class Keys:
    """The keys of a terminal as they are pressed, and a screen of their own; use it in a `with` statement.

    What was typed before counts.  The terminal is left as it was found, at the end and also while
    the program is stopped by Ctrl-Z.
    """

    def __enter__(self) -> Self:
        """Have the terminal send keys at once, and not show them."""
        import termios

        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        self._is_stale = False  # what the screen shows
        # A signal makes the alarm readable, so that it is answered at once and not after the pause.
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
        """Some keys at a time, until Ctrl-D; none in a pause, and REDRAW when the screen is stale."""
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
                tail = ""  # what stays unfinished is no sequence, but the Esc key
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

        with contextlib.suppress(termios.error, OSError):  # the terminal is gone
            tty.setcbreak(self._terminal, termios.TCSADRAIN)  # the usual TCSAFLUSH forgets what was typed
            os.write(sys.stdout.fileno(), _OWN_SCREEN)

    def _give_back(self) -> None:
        import termios

        with contextlib.suppress(termios.error, OSError):
            os.write(sys.stdout.fileno(), _OLD_SCREEN)
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
        self._is_stale = True

    def _resize(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._is_stale = True


def split_keys(text: str) -> tuple[str, str]:
    r"""Split what a terminal sent into keys and the unfinished end of it.

    Arrow keys become the characters of ARROWS, whatever is held down with them; other
    sequences, the Esc key and white space are dropped.

    >>> split_keys("a\x1b[B\x1b[15~d\x1b[")
    ('a↓d', '\x1b[')
    """
    unfinished = _UNFINISHED.search(text)
    end = unfinished.start() if unfinished else len(text)
    keys = _SEQUENCE.sub(lambda found: _ARROWS.get(found["csi"] or found["ss3"] or "", ""), text[:end])
    return "".join(key for key in keys if key == REDRAW or not (key.isspace() or key == "\x1b")), text[end:]
