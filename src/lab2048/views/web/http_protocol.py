"""The HTTP protocol of the server: uvicorn's, with time limits and connection limits.

A client that sends or reads too slowly loses its connection, and nobody can use up all connections: when there are too
many, the oldest one that has not sent a token is closed.  Every refusal is one line of JSON.
"""

import asyncio
import contextlib
import ipaddress
import json
from typing import Any
from weakref import WeakKeyDictionary

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from lab2048.errors import LabError
from lab2048.views.web.visitors import Visitors

HEAD_SECONDS = 10.0  # for the head of a request
BODY_SECONDS = 60.0  # for its body
STALL_SECONDS = 30.0  # until a client that reads nothing is disconnected
LINGER_SECONDS = 1.0  # so that a refused client can read why
MAX_LOOPBACK = 600  # connections of this machine
MAX_OTHERS = 256  # connections of all other machines
MAX_PER_ADDRESS = 64  # connections of one other machine
MAX_LINGERING = 50

_MALFORMED = "this cannot be read: expected a request of HTTP/1.1, with Host: 127.0.0.1 or localhost"
_SLOW = f"the request was not complete in time: expected its head within {HEAD_SECONDS:.0f} s"
_FULL = "too many connections are open: close some, or try again in a moment"
_REFUSED = "refused"

Origins = dict[str, "Visitors[HttpProtocol]"]
_origins_of: "WeakKeyDictionary[object, Origins]" = WeakKeyDictionary()  # by the state of the server


class HttpProtocol(H11Protocol):
    """One connection."""

    def __init__(self, *words: Any, **named: Any) -> None:
        """Let the application see the connection, as `scope["state"]["connection"]`."""
        super().__init__(*words, **named)
        self.app_state = {**self.app_state, "connection": self}
        self.is_refused = False
        self._origins = _origins_of.setdefault(self.server_state, {})
        self._limits: dict[str, int] = {}  # of the origins that it counts for
        self._expected = ""  # what the client has to send now: head, body or nothing
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of every byte that is not read
        self._join()
        if self._has_room():
            self._watch()
        else:
            self._refuse(503, "Service Unavailable", _FULL, "busy")

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._stall):
            if timer:
                timer.cancel()
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.is_refused:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's message does not help
        """Answer a malformed request and close the connection."""
        self._refuse(400, "Bad Request", _MALFORMED, "request.invalid")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self._stall or self.loop.call_later(STALL_SECONDS, self._check_reader, self._n_unread())

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall:
            self._stall.cancel()
            self._stall = None

    def _n_unread(self) -> int:
        return self.transport.get_write_buffer_size()

    def _check_reader(self, n_before: int) -> None:
        """Disconnect a client that has read nothing for a while."""
        if self._n_unread() >= n_before:
            self.transport.abort()
        else:
            self._stall = self.loop.call_later(STALL_SECONDS, self._check_reader, self._n_unread())

    def _watch(self) -> None:
        """Start the time limit for what the client has to send now, unless it is running."""
        state = self.conn.their_state
        is_new = self.cycle is None
        has_begun = state is h11.IDLE and (is_new or bool(self.conn.trailing_data[0]))
        expected = "head" if has_begun else "body" if state is h11.SEND_BODY else ""
        if self.is_refused or expected == self._expected:
            return
        self._expected = expected
        if self._deadline:
            self._deadline.cancel()
        seconds = {"head": HEAD_SECONDS, "body": BODY_SECONDS}.get(expected)
        self._deadline = self.loop.call_later(seconds, self._give_up) if seconds else None

    def _give_up(self) -> None:
        self._refuse(408, "Request Timeout", _SLOW, "request.timeout")

    def trust(self) -> None:
        """Keep this connection when others are closed; called as soon as a request passes the guard."""
        for name in self._limits:
            self._origins[name].trust(self)

    def _has_room(self) -> bool:
        """Return whether this connection may stay; others without a token are closed for it."""
        for name, limit in self._limits.items():
            while len(visitors := self._origins[name]) > limit:
                oldest = visitors.oldest_stranger
                if oldest is None or oldest is self:
                    return False
                oldest._abort()
        return True

    def _join(self) -> None:
        """Count this connection for its origins."""
        if self._is_local():
            self._limits = {"this machine": MAX_LOOPBACK}
        else:
            self._limits = {f"address {self.client and self.client[0]}": MAX_PER_ADDRESS, "others": MAX_OTHERS}
        for name in self._limits:
            self._origins.setdefault(name, Visitors()).join(self)

    def _leave(self) -> None:
        """Stop counting this connection; doing that twice is harmless."""
        for name in self._limits:
            self._origins[name].leave(self)
            if not self._origins[name]:
                del self._origins[name]
        self._limits = {}

    def _abort(self) -> None:
        self._leave()
        self.transport.abort()

    def _is_local(self) -> bool:
        return self.client is None or ipaddress.ip_address(self.client[0]).is_loopback

    def _refuse(self, status: int, reason: str, message: str, code: str) -> None:
        """Send one line of JSON, unless an answer has begun, and close the connection."""
        self.is_refused = True
        self._leave()
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if (is_answering and self.cycle.response_started) or len(self._origins.get(_REFUSED, ())) > MAX_LINGERING:
            self.transport.abort()
            return
        self._limits = {_REFUSED: MAX_LINGERING}
        self._origins.setdefault(_REFUSED, Visitors()).join(self)
        if is_answering:  # the application may still try to
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        body = json.dumps(LabError(message, code=code).to_json()).encode()
        lines = (
            f"HTTP/1.1 {status} {reason}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            "x-content-type-options: nosniff",
            *(("retry-after: 5",) if status == 503 else ()),
            "connection: close",
        )
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        # Closed at once, the connection would be reset if the client is still sending, and the answer lost.
        with contextlib.suppress(OSError):  # the client has gone
            self.transport.write_eof()
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
