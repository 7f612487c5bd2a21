"""The server as an application: routes, guards, and what runs beside them."""

import contextlib
from collections.abc import AsyncIterator

from anyio import to_thread
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

import lab2048
from lab2048.views.web import (
    collection,
    design,
    error,
    events,
    files,
    games,
    hint,
    jobs,
    matches,
    players,
    solves,
    studies,
    tables,
    trainings,
)
from lab2048.views.web.lab import Lab
from lab2048.views.web.schema import Error
from lab2048.views.web.security import Guard

_NOUNS = (events, collection, games, hint, players, design, jobs, matches, trainings, solves, tables, studies)


MAX_ANSWERS = 100  # that are made at once; most only wait for a player or the disk


def make_api(lab: Lab) -> FastAPI:
    """The routes, without the guard at the gate."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = MAX_ANSWERS
        lab.begin()
        yield
        await run_in_threadpool(lab.end)

    app = FastAPI(
        title="lab2048",
        version=lab2048.__version__,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"4XX": {"model": Error}, 503: {"model": Error}},
        separate_input_output_schemas=False,
    )
    app.state.lab = lab
    error.install(app)
    for noun in _NOUNS:
        app.include_router(noun.router)
    app.include_router(files.router)
    app.add_middleware(GZipMiddleware, minimum_size=4000, compresslevel=6)
    return app


def make_app(lab: Lab, *, token: str | None = None) -> ASGIApp:
    """The whole server; with a token other machines may ask, if they know it."""
    return Guard(make_api(lab), token=token)
