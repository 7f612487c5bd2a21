"""The listening socket of the server: a flood of connections from another device does not delay anybody else.

The event loop takes connections until none waits, and making one ready takes most of a millisecond.  So a flood could
keep it from everything else for seconds.  This socket takes a few at a time, and closes those of a device that opens
too many before anything is made ready for them.
"""

import socket
import struct
import time
from typing import Any

BATCH = 16  # connections that are taken before the event loop does other work
ADDRESS_RATE, ADDRESS_BURST = 50.0, 100.0  # connections of one other device per second, and at once
OTHERS_RATE, OTHERS_BURST = 200.0, 400.0  # of all other devices together
MAX_ADDRESSES = 1000  # whose rates are remembered
_RESET = struct.pack("ii", 1, 0)  # no waiting when it is closed


class Allowance:
    """How many connections may still be opened; it grows with time.

    >>> allowance = Allowance(rate=1.0, burst=2.0, now=0.0)
    >>> [allowance.take(now) for now in (0.0, 0.0, 0.0, 1.0)]
    [True, True, False, True]
    """

    def __init__(self, *, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst, self._left, self._seen = rate, burst, burst, now

    def take(self, now: float) -> bool:
        """Use up one connection; return False if there is none left."""
        self._left = min(self._burst, self._left + self._rate * (now - self._seen))
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Listener(socket.socket):
    """A listening socket of IPv4 with an allowance for each other device."""

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._n_taken = 0  # since the event loop did other work
        now = time.monotonic()
        self._others = Allowance(rate=OTHERS_RATE, burst=OTHERS_BURST, now=now)
        self._addresses: dict[str, Allowance] = {}  # the one that was asked longest ago first

    def accept(self) -> tuple[socket.socket, Any]:
        """Take the next connection; raise BlockingIOError if there is none, or if it is time for other work."""
        while self._n_taken < BATCH:
            self._n_taken += 1
            try:
                stream, address = super().accept()
            except BaseException:
                self._n_taken = 0
                raise
            if self._is_local(address[0]) or self._is_allowed(address[0]):
                return stream, address
            with stream:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._n_taken = 0
        raise BlockingIOError

    @staticmethod
    def _is_local(host: str) -> bool:
        return host.startswith("127.")

    def _is_allowed(self, host: str) -> bool:
        now = time.monotonic()
        found = self._addresses.pop(host, None) or Allowance(rate=ADDRESS_RATE, burst=ADDRESS_BURST, now=now)
        self._addresses[host] = found
        if len(self._addresses) > MAX_ADDRESSES:
            del self._addresses[next(iter(self._addresses))]
        return found.take(now) and self._others.take(now)
