"""Reading keys: single ones from a terminal, lines of them from anywhere else."""

import contextlib
import os
import sys
from collections.abc import Iterator

# What terminals send for the arrow keys, in both of their modes.
_ARROWS = {"[A": "w", "[B": "s", "[C": "d", "[D": "a", "OA": "w", "OB": "s", "OC": "d", "OD": "a"}
_END_OF_INPUT = "\x04"  # Ctrl-D


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


def read_keys() -> Iterator[str]:
    """Keys as they are pressed, until Ctrl-D; the terminal is left as it was found."""
    import signal
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def leave(number: int, frame: object) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)  # unwinds through `finally`

    handler = signal.signal(signal.SIGTERM, leave)
    try:
        tty.setcbreak(descriptor)
        while True:
            data = os.read(descriptor, 64).decode(errors="ignore")
            if not data or _END_OF_INPUT in data:
                return
            keys = _decode(data)
            if keys:
                yield keys
    finally:
        signal.signal(signal.SIGTERM, handler)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _decode(data: str) -> str:
    """The keys in what a terminal sent: arrows become letters, other sequences are dropped."""
    keys, i = "", 0
    while i < len(data):
        if data[i] == "\x1b":
            keys += _ARROWS.get(data[i + 1 : i + 3], "")
            i += 3
            continue
        if not data[i].isspace():
            keys += data[i]
        i += 1
    return keys
