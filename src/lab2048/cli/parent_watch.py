"""A command on a leash: it ends, as by Ctrl-C, when whoever started it says so or is gone.

The page starts its jobs so: LAB2048_LEASH is set, to how far they step back behind others.  A line on standard
input is a Ctrl-C, and so is its end, which comes even if the page is killed.  Whatever a command does at Ctrl-C,
such as keeping what it has, it does then.
"""

import contextlib
import os
import signal
import sys
import threading

VARIABLE = "LAB2048_LEASH"


def attach() -> None:
    """Listen from now on; what this command starts itself is not on the leash."""
    niceness = os.environ.pop(VARIABLE, "")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell may have left it ignored
    if hasattr(os, "nice") and niceness.isdecimal():
        with contextlib.suppress(OSError):
            os.nice(int(niceness))  # a person at the page goes first
    stream = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_listen, args=(stream,), name="leash", daemon=True).start()


def _listen(stream: int) -> None:
    while os.read(stream, 100):
        _interrupt()
    _interrupt()


def _interrupt() -> None:
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # a true signal: it also wakes who waits
    else:
        signal.raise_signal(signal.SIGINT)
    sys.stderr.flush()
