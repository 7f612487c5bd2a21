"""The front of the server: files at once, and the API behind it as soon as it is loaded.

Loading the API takes longer than everything else at the start.  It happens in a thread, while the
browser already fetches the page; whoever asks the API meanwhile waits for it.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lab2048.views.web import files
from lab2048.views.web.security import Guard

if TYPE_CHECKING:
    from lab2048.views.web.lab import Lab

MAX_ANSWERS = 100  # that are made at once; most only wait for a player or the disk


class Front:
    """What answers: the files of the page, or the API over a laboratory."""

    def __init__(self, open_lab: "Callable[[], Lab]", on_failure: Callable[[], None] = lambda: None) -> None:
        """`open_lab` is called when the server starts; if that fails, `failure` says why and `on_failure` is called."""
        self.lab: Lab | None = None
        self.failure: Exception | None = None
        self._open_lab, self._on_failure = open_lab, on_failure
        self._api: asyncio.Future[ASGIApp] | None = None
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or live."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif f"{scope['path']}/".startswith("/api/"):
            assert self._api is not None
            api = await asyncio.shield(self._api)
            await api(scope, receive, send)
        else:
            await files.answer(scope, receive, send)

    def close(self) -> None:
        """End the streams of news, which would otherwise never end; those that are yet to come, too."""
        self._is_ending = True
        if self.lab:
            self.lab.bus.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        """From the start of the server to its end."""
        await receive()
        to_thread.current_default_thread_limiter().total_tokens = MAX_ANSWERS
        self._api = asyncio.ensure_future(asyncio.to_thread(self._load))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._api
        if self.lab:
            await asyncio.to_thread(self.lab.end)
        await send({"type": "lifespan.shutdown.complete"})

    def _load(self) -> ASGIApp:
        """The API, or what says why there is none."""
        gc.disable()  # what is loaded now stays: looking for waste among it takes a tenth of the time
        try:
            from lab2048.views.web.app import make_api

            lab = self._open_lab()
            api = make_api(lab)
            lab.begin()
            self.lab = lab
            if self._is_ending:
                lab.bus.close()
        except Exception as error:
            self.failure = error
            self._on_failure()
            return JSONResponse({"error": " ".join(str(error).split())}, 503)
        finally:
            gc.freeze()
            gc.enable()
        return api


def guarded(front: Front, *, token: str | None = None) -> ASGIApp:
    """The whole server; with a token other machines may ask, if they know it."""
    return Guard(front, token=token)
