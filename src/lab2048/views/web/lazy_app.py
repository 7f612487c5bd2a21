"""Serve files at once, and the API as soon as it is loaded.

Loading the API is the slowest part of the start.  It happens on a thread while the browser already
fetches the page; API requests wait for it.  The routes of the first board are loaded first, the others
after the first answer or when they are needed.
"""

import asyncio
import contextlib
import gc
import sys
import threading
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lab2048.errors import LabError, StoppedError
from lab2048.views.web import static_files

if TYPE_CHECKING:
    from lab2048.views.web.app import Api
    from lab2048.views.web.state import Lab

MAX_ANSWERS = 100  # handled at the same time; most only wait for a player or the disk
CALM = 1.0  # seconds before the other routes are loaded, unless they are needed earlier


class LazyApp:
    """An ASGI application that serves the files of the page and loads the API in the background."""

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
        """Stop everything that keeps requests waiting, now and in future; called by a signal handler.

        On a thread, because the main thread may hold a lock that this needs.
        """
        self._is_ending = True
        if self.lab:
            threading.Thread(target=self.lab.stop_work, name="stop-work", daemon=True).start()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Handle start and shutdown of the server."""
        await receive()
        to_thread.current_default_thread_limiter().total_tokens = MAX_ANSWERS
        self._first = asyncio.ensure_future(self._load(self._load_first))
        self._rest = asyncio.ensure_future(self._load_rest())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._is_ending = True
        await self._first
        self._rest.cancel()
        if self.lab:
            await asyncio.to_thread(self.lab.end)
        await send({"type": "lifespan.shutdown.complete"})

    async def _find(self, scope: Scope) -> ASGIApp:
        """Return the API when it is loaded, or an application that reports why loading failed."""
        assert self._first is not None
        assert self._rest is not None
        await asyncio.shield(self._first)
        if self._api and not self._api.can_answer(scope):
            self._is_wanted.set()
            await asyncio.shield(self._rest)
        if self._api is None or self.failure:
            failure = self.failure or StoppedError("lab2048 is stopping")
            if not isinstance(failure, LabError):
                failure = LabError(str(failure), code="internal")
            return JSONResponse({**failure.to_json(), "error": " ".join(str(failure).split())}, 503)
        return self._api.app

    async def _load(self, load: Callable[[], None]) -> None:
        """Load the API on a thread; a failure stops the server, and the end of the server stops loading."""
        try:
            await asyncio.to_thread(self._load_here, load)
        except StoppedError:
            pass
        except Exception as error:
            self.failure = error
            self._on_failure()

    def _load_here(self, load: Callable[[], None]) -> None:
        """Load without garbage collection, which saves a tenth of the time."""
        gate = _ImportGate(lambda: self._is_ending)
        gc.disable()
        sys.meta_path.insert(0, gate)
        try:
            load()
        finally:
            sys.meta_path.remove(gate)
            gc.freeze()
            gc.enable()

    def _load_first(self) -> None:
        import_framework()
        from lab2048.views.web.app import Api

        lab = self._open_lab()
        api = Api(lab)
        lab.begin()
        self._api, self.lab = api, lab
        if self._is_ending:
            lab.stop_work()

    async def _load_rest(self) -> None:
        assert self._first is not None
        await self._first
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_wanted.wait(), CALM)
        if self._api:
            await self._load(self._api.load_all)


def import_framework() -> None:
    """Import FastAPI without building its own models, which only the OpenAPI schema needs."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True  # inherited by every model created meanwhile
    try:
        import fastapi  # noqa: F401
    finally:
        del BaseModel.model_config["defer_build"]


class _ImportGate(MetaPathFinder):
    """Refuses this thread's next import once the program ends: on a busy machine, the imports take many seconds."""

    def __init__(self, is_ending: Callable[[], bool]) -> None:
        self._is_ending, self._thread = is_ending, threading.get_ident()

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Find nothing, so that the next finder is asked; raise StoppedError to refuse."""
        if self._is_ending() and threading.get_ident() == self._thread:
            raise StoppedError(f"{name} is not loaded: lab2048 is stopping")
        return None
