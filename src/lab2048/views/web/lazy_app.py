"""The first layer of the server: files at once, and the API behind it as soon as it is loaded.

Loading the API takes longer than everything else at the start.  It happens in a thread, while the
browser already fetches the page; whoever asks the API meanwhile waits for it.  What the first board
needs is loaded first, and the rest when somebody has had an answer, or asks for more.
"""

import asyncio
import contextlib
import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lab2048.errors import LabError
from lab2048.views.web import static_files
from lab2048.views.web.security import Guard

if TYPE_CHECKING:
    from lab2048.views.web.app import Api
    from lab2048.views.web.state import Lab

MAX_ANSWERS = 100  # that are made at once; most only wait for a player or the disk
CALM = 1.0  # seconds before the rest of the API is loaded, unless it is wanted: the first board comes first


class LazyApp:
    """What answers: the files of the page, or the API over a laboratory."""

    def __init__(self, open_lab: "Callable[[], Lab]", on_failure: Callable[[], None] = lambda: None) -> None:
        """`open_lab` is called when the server starts; if that fails, `failure` says why and `on_failure` is called."""
        self.lab: Lab | None = None
        self.failure: Exception | None = None
        self._open_lab, self._on_failure = open_lab, on_failure
        self._api: Api | None = None
        self._first: asyncio.Future[None] | None = None
        self._rest: asyncio.Future[None] | None = None
        self._is_wanted = asyncio.Event()
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif f"{scope['path']}/".startswith("/api/"):
            answer = await self._find(scope)
            await answer(scope, receive, send)
            self._is_wanted.set()
        else:
            await static_files.answer(scope, receive, send)

    def close(self) -> None:
        """End the streams of news, which would otherwise never end; those that are yet to come, too."""
        self._is_ending = True
        if self.lab:
            self.lab.bus.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        """From the start of the server to its end."""
        await receive()
        to_thread.current_default_thread_limiter().total_tokens = MAX_ANSWERS
        self._first = asyncio.ensure_future(self._load(self._load_first))
        self._rest = asyncio.ensure_future(self._load_rest())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._first
        self._rest.cancel()
        if self.lab:
            await asyncio.to_thread(self.lab.end)
        await send({"type": "lifespan.shutdown.complete"})

    async def _find(self, scope: Scope) -> ASGIApp:
        """The API as soon as it can answer, or what says why there is none."""
        assert self._first is not None
        assert self._rest is not None
        await asyncio.shield(self._first)
        if self._api and not self._api.can_answer(scope):
            self._is_wanted.set()
            await asyncio.shield(self._rest)
        if self._api is None or self.failure:
            failure = (
                self.failure if isinstance(self.failure, LabError) else LabError(str(self.failure), code="internal")
            )
            return JSONResponse({**failure.to_json(), "error": " ".join(str(failure).split())}, 503)
        return self._api.app

    async def _load(self, load: Callable[[], None]) -> None:
        """Load in a thread; a failure ends the server."""
        try:
            await asyncio.to_thread(_unwatched, load)
        except Exception as error:
            self.failure = error
            self._on_failure()

    def _load_first(self) -> None:
        import_framework()
        from lab2048.views.web.app import Api

        lab = self._open_lab()
        api = Api(lab)
        lab.begin()
        self._api, self.lab = api, lab
        if self._is_ending:
            lab.bus.close()

    async def _load_rest(self) -> None:
        assert self._first is not None
        await self._first
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_wanted.wait(), CALM)
        if self._api:
            await self._load(self._api.load_all)


def import_framework() -> None:
    """FastAPI; its own models, which only the description of the API needs, are built when that is asked for."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True  # every model takes it over that is made meanwhile
    import fastapi  # noqa: F401

    del BaseModel.model_config["defer_build"]


def _unwatched(load: Callable[[], None]) -> None:
    """Load without looking for waste: what is loaded now stays, and looking takes a tenth of the time."""
    gc.disable()
    try:
        load()
    finally:
        gc.freeze()
        gc.enable()


def guarded(app: LazyApp, *, token: str | None = None) -> ASGIApp:
    """The whole server; with a token other machines may ask, if they know it."""
    return Guard(app, token=token)
