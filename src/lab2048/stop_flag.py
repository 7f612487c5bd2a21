"""Stop flags: how long work is asked to end early.

A flag is one word of memory, because compiled code cannot call Python: a search gets its address and looks at it every
few microseconds.  Python code calls `current().check()` between steps.  Work that is not stopped is not changed by it.

Every thread has one current flag.  By default that is the flag of the process, which Ctrl-C sets
(lab2048.library.interrupt).  A server, a pool or an autoplay gives its threads a flag of their own.
"""

import contextlib
import threading
from array import array
from collections.abc import Iterator

from lab2048.errors import StoppedError


class StopFlag:
    """A request to stop, from any thread to any other."""

    def __init__(self) -> None:
        self._word = array("Q", [0])  # NumPy would slow down the start of every command
        self._event = threading.Event()
        self.address = self._word.buffer_info()[0]  # for kernels; valid as long as the flag lives

    def is_set(self) -> bool:
        return bool(self._word[0])

    def set(self) -> None:
        """Ask the work to stop."""
        self._word[0] = 1
        self._event.set()

    def clear(self) -> None:
        self._word[0] = 0
        self._event.clear()

    def wait(self, seconds: float) -> bool:
        """Wait until the flag is set, at most this long; return whether it is."""
        return self._event.wait(seconds)

    def check(self) -> None:
        """Raise StoppedError if the flag is set."""
        if self._word[0]:
            raise StoppedError("stopped")


OF_PROCESS = StopFlag()
_here = threading.local()


def current() -> StopFlag:
    """Return the flag of the calling thread."""
    found: StopFlag = getattr(_here, "flag", OF_PROCESS)
    return found


@contextlib.contextmanager
def looking_at(flag: StopFlag) -> Iterator[None]:
    """Make `flag` the current one of the calling thread."""
    before = current()
    _here.flag = flag
    try:
        yield
    finally:
        _here.flag = before
