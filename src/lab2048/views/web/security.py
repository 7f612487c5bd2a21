"""Access control: this machine and the page itself, and with a token other devices in the network.

A foreign page in the user's browser can send requests here.  It is recognised by a different `Origin`,
or by a `Host` name that was rebound to this machine (DNS rebinding).
"""

import ipaddress
import json
import secrets
import socket
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lab2048.errors import LabError

MAX_BODY = 64 * 1024
MAX_IMPORT = 2 * 1024 * 1024
PATIENCE = 1.0  # seconds for reading a rejected body
IMPORT = "/api/games/import"
COOKIE = "lab2048"

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",  # needed by plotly; cannot run code
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_CODES = {
    403: "forbidden",
    405: "method_not_allowed",
    411: "length_required",
    413: "too_large",
    415: "content_type",
}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """ASGI middleware that rejects requests before anything else handles them."""

    def __init__(self, app: ASGIApp, *, token: str | None = None) -> None:
        """Allow other machines that know the token, if there is one."""
        self.app, self.token = app, token
        name = socket.gethostname().lower()
        self.names = {*_LOOPBACK, *((name, f"{name}.local") if token else ())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path: str = scope["path"]
        refusal = self._refusal(scope, headers, path)
        if refusal:
            await _drain(receive)
            await _answer(send, *refusal)
            return
        if self.token and not path.startswith("/static/"):
            query = parse_qs(scope["query_string"].decode("latin-1"))
            if not path.startswith("/api") and self._knows(query.get("token", [""])[0]):
                cookie = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
                await _redirect(send, path, cookie)
                return
            if not self._knows(_token_of(headers)):
                await _answer(send, 403, "open the link with the token that lab2048 serve printed")
                return
        await self.app(scope, receive, _dressed(send, path))

    def _knows(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), (self.token or "").encode())

    def _refusal(self, scope: Scope, headers: Headers, path: str) -> tuple[int, str] | None:
        """Return the reason to reject a request, or None."""
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            return 403, "this server only accepts its own address: expected 127.0.0.1 or localhost as Host"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return 403, "this request comes from another page: expected no Origin, or this server's own"
        if path.startswith("/api") and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "this request comes from another page: expected this server's own"
        if scope["method"] not in ("GET", "HEAD", "POST", "PUT", "DELETE"):
            return 405, "this method is not supported: expected GET, POST, PUT or DELETE"
        length = headers.get("content-length", "0")
        limit = MAX_IMPORT if path == IMPORT else MAX_BODY
        if "transfer-encoding" in headers or not length.isascii() or not length.isdecimal():
            return 411, "this request has no length: expected Content-Length"
        if int(length) > limit:
            more = "; lab2048 games import FILE accepts more" if path == IMPORT else ""
            return 413, f"{int(length)} bytes are too many: expected at most {limit}{more}"
        if int(length) > 0:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            expected = "application/x-ndjson" if path == IMPORT else "application/json"
            if kind != expected:
                return 415, f"this body has the wrong type: expected Content-Type {expected}"
        return None

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdecimal():
            name = host
        if name in self.names:
            return True
        if not self.token:
            return False
        try:  # only names can be rebound, not addresses
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


def _token_of(headers: Headers) -> str:
    kind, _, word = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return word.strip()
    try:
        cookies: SimpleCookie = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _dressed(send: Send, path: str) -> Send:
    async def give(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if path.startswith("/api"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return give


async def _drain(receive: Receive) -> None:
    """Read and drop the body: a client whose connection closes while sending would not see the answer."""
    with anyio.move_on_after(PATIENCE):
        while True:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body"):
                return


async def _redirect(send: Send, path: str, cookie: str) -> None:
    where = path if path.isascii() and path.isprintable() and not path.startswith("//") else "/"
    headers = [(b"location", where.encode()), (b"set-cookie", cookie.encode())]
    await _send(send, 303, headers, b"")


async def _answer(send: Send, status: int, message: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await _send(send, status, headers, json.dumps(LabError(message, code=_CODES[status]).to_json()).encode())


async def _send(send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
    dressed = [*headers, *((name.encode(), value.encode()) for name, value in _HEADERS.items())]
    await send({"type": "http.response.start", "status": status, "headers": dressed})
    await send({"type": "http.response.body", "body": body})
