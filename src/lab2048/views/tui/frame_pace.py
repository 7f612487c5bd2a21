"""How fast a terminal is: frames are drawn when it has shown the ones before, so that it never falls behind.

Between a program and the eyes of a user there may be many kilobytes of buffers: those of Textual, of
the system, of a network.  Only the terminal knows when it has come to the end of them, so it is asked
where its cursor is with each frame of a game that plays itself: it answers when it has shown all before.
"""

import time
from collections.abc import Callable

from textual.driver import Driver

QUESTION = "\x1b[6n"
PATIENCE = 3.0  # seconds; after them an answer must have got lost


class Pace:
    """Asks a terminal, and knows whether it has answered; one that never answers is not waited for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.driver: Driver | None = None
        self._clock = clock
        self._asked: float | None = None  # when, if the answer is not there yet
        self._has_answered = False

    def ask(self) -> None:
        """Ask, with a frame; one question at a time."""
        if self.driver is not None and self._asked is None and not self.driver.is_headless:
            self._asked = self._clock()
            self.driver.write(QUESTION)

    def answer(self) -> None:
        self._asked, self._has_answered = None, True

    @property
    def is_waiting(self) -> bool:
        """True if the terminal will answer, and has not yet."""
        if self._asked is None or self._clock() - self._asked > PATIENCE:
            self._asked = None
        return self._asked is not None and self._has_answered

    @property
    def is_free(self) -> bool:
        """True if the terminal has taken what was drawn so far, so that another frame would not wait."""
        # Textual has no word for it: its thread writes what stands in this queue.
        waiting = getattr(getattr(self.driver, "_writer_thread", None), "_queue", None)
        return (waiting is None or bool(waiting.empty())) and not self.is_waiting
