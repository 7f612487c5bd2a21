"""Access control: every request needs the token of the server, unless the user has switched it off.

Other users of this machine, and other devices in the network, do not know the token.  A foreign page in the user's
browser can send requests here, and the browser adds the cookie.  Such a page is recognised by a different `Origin`, or
by a `Host` name that was rebound to this machine (DNS rebinding).
"""

import ipaddress
import json
import os
import secrets
import socket
import sys
import traceback
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlencode

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lab2048.errors import LabError
from lab2048.views.web.static_files import PAGES, STATIC

MAX_BODY = 64 * 1024
MAX_IMPORT = 2 * 1024 * 1024
PATIENCE = 1.0  # seconds for reading a rejected body
IMPORT = "/api/games/import"
MAX_HEADERS = 100
COOKIE_SECONDS = 30 * 24 * 3600
LOCKED = STATIC / "locked.html"

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
    431: "too_large",
    500: "internal",
}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """ASGI middleware that rejects requests before anything else handles them."""

    def __init__(self, app: ASGIApp, *, token: str | None = None, lan: bool = False) -> None:
        """Ask for `token`, unless it is None; with `lan`, accept the names of this machine in its network."""
        self.app, self.token, self.lan = app, token, lan
        name = socket.gethostname().lower()
        self.names = {*_LOOPBACK, *((name, f"{name}.local") if lan else ())}

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
        is_public = path.startswith("/static/")
        if self.token and not is_public:
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            tokens = [value for name, value in query if name == "token"]
            if tokens:
                scope["query_string"] = urlencode([(name, value) for name, value in query if name != "token"]).encode()
            if not any(map(self._knows, (*tokens, *_tokens_of(headers)))):
                await _drain(receive)
                await _lock(send, headers)
                return
            if tokens and not path.startswith("/api"):
                await _redirect(send, scope, f"{cookie_name(headers)}={self.token}")
                return
        connection = scope.get("state", {}).get("connection")
        if connection and not is_public:
            connection.trust()
        await self._forward(scope, receive, _dressed(send, path))

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer; an error that it does not handle is one line in the log."""
        has_begun = False

        async def note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, note)
        except ClientDisconnect:  # before its request was complete
            return
        except Exception as error:
            debug = bool(os.environ.get("LAB2048_DEBUG"))
            sys.stderr.write(traceback.format_exc() if debug else f"internal error: {type(error).__name__}: {error}\n")
            if not has_begun:
                await _answer(send, 500, "internal error: LAB2048_DEBUG=1 shows details in the log of the server")

    def _knows(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(errors="replace"), (self.token or "").encode())

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
        if len(scope["headers"]) > MAX_HEADERS:
            return 431, f"{len(scope['headers'])} headers are too many: expected at most {MAX_HEADERS}"
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
        name, _ = _split(host)
        if name in self.names:
            return True
        if not self.lan:
            return False
        try:  # only names can be rebound, not addresses
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True


def cookie_name(headers: Headers) -> str:
    """Return the name of the cookie with the token.

    Browsers send a cookie to all ports of a machine, so servers on different ports need different names.
    """
    return f"lab2048-{_split(headers.get('host', ''))[1]}"


def _split(host: str) -> tuple[str, str]:
    """Split a `Host` header into name and port."""
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and port.isdecimal() else (host, "80")


def _tokens_of(headers: Headers) -> list[str]:
    """Return what the headers offer as a token."""
    kind, _, word = headers.get("authorization", "").partition(" ")
    found = [word.strip()] if kind.lower() == "bearer" else []
    # Not `SimpleCookie`: it stops at a cookie of another program that it cannot read.
    cookies = (each.strip().partition("=") for line in headers.getlist("cookie") for each in line.split(";"))
    ours = cookie_name(headers)
    return found + [value for name, _, value in cookies if name == ours]


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


async def _redirect(send: Send, scope: Scope, cookie: str) -> None:
    """Set the cookie and lead to the same page without the token; only to pages that exist."""
    page, _, rest = scope["path"].removeprefix("/").partition("/")
    where = (f"/{page}" + (f"/{quote(rest)}" if rest else "")) if page in PAGES else "/"
    query = scope["query_string"].decode()
    # Lax: the launch file leads here from outside, and links to the page work.  Requests that change something are
    # protected by Origin and Sec-Fetch-Site.
    fields = f"{cookie}; Path=/; HttpOnly; SameSite=Lax; Max-Age={COOKIE_SECONDS}"
    location = f"{where}?{query}" if query else where
    headers = [(b"location", location.encode()), (b"set-cookie", fields.encode()), (b"cache-control", b"no-store")]
    await _send(send, 303, headers, b"")


async def _lock(send: Send, headers: Headers) -> None:
    """Refuse a request without the token; a person gets a page that says what to do."""
    if "text/html" in headers.get("accept", ""):
        head = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
        await _send(send, 403, head, LOCKED.read_bytes())
    else:
        await _answer(send, 403, "the token is missing or wrong: open the link that lab2048 printed when it started")


async def _answer(send: Send, status: int, message: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await _send(send, status, headers, json.dumps(LabError(message, code=_CODES[status]).to_json()).encode())


async def _send(send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
    dressed = [*headers, *((name.encode(), value.encode()) for name, value in _HEADERS.items())]
    await send({"type": "http.response.start", "status": status, "headers": dressed})
    await send({"type": "http.response.body", "body": body})
