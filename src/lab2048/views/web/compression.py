"""Compress answers for clients that accept it."""

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send


def accepts_gzip(asked: Headers) -> bool:
    """Return True if the client names gzip as an encoding, and not with a quality of 0.

    >>> accepts_gzip(Headers({"accept-encoding": "br, gzip;q=0.5"}))
    True
    >>> accepts_gzip(Headers({"accept-encoding": "br, gzip; q=0"}))
    False
    """
    for each in ",".join(asked.getlist("accept-encoding")).lower().split(","):
        name, _, quality = each.replace(" ", "").partition(";")
        if name in ("gzip", "x-gzip"):
            return quality.rstrip("0") not in ("q=", "q=0.")
    return False


class Compression(GZipMiddleware):
    """Starlette's middleware, which only looks for the word gzip, for clients that accept it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handle = super().__call__ if scope["type"] == "http" and accepts_gzip(Headers(scope=scope)) else self.app
        await handle(scope, receive, send)
