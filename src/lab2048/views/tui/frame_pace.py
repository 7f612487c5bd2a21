"""Flow control for slow terminals: a frame is drawn only when the terminal has shown the previous one.

Textual, the system and the network buffer many kilobytes, and only the terminal knows when it has drawn
them.  So each frame of autoplay ends with a request for the cursor position, which the terminal answers
after everything before it is drawn.
"""

import time
from collections.abc import Callable

from textual.driver import Driver

QUESTION = "\x1b[6n"
PATIENCE = 3.0  # seconds after which an answer counts as lost


class Pace:
    """Track whether the terminal has answered; a terminal that never answers is not waited for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.driver: Driver | None = None
        self._clock = clock
        self._asked: float | None = None  # time of the open request
        self._has_answered = False

    def ask(self) -> None:
        """Send a request with a frame, unless one is open."""
        if self.driver is not None and self._asked is None and not self.driver.is_headless:
            self._asked = self._clock()
            self.driver.write(QUESTION)

    def answer(self) -> None:
        self._asked, self._has_answered = None, True

    @property
    def is_waiting(self) -> bool:
        """Return True if an answer is still expected."""
        if self._asked is None or self._clock() - self._asked > PATIENCE:
            self._asked = None
        return self._asked is not None and self._has_answered

    @property
    def is_free(self) -> bool:
        """Return True if all output has been written, so that another frame would not wait."""
        # Textual has no public way to ask: its writer thread reads this queue.
        waiting = getattr(getattr(self.driver, "_writer_thread", None), "_queue", None)
        return (waiting is None or bool(waiting.empty())) and not self.is_waiting
