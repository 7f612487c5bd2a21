"""The API as an application: its routes, and how its errors are told."""

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

import lab2048
from lab2048.views.web import (
    collection,
    design,
    error,
    events,
    games,
    hard,
    hint,
    jobs,
    judge,
    matches,
    players,
    solves,
    studies,
    tables,
    trainings,
)
from lab2048.views.web.lab import Lab

_NOUNS = (
    events,
    collection,
    games,
    judge,
    hint,
    players,
    design,
    jobs,
    matches,
    trainings,
    solves,
    tables,
    hard,
    studies,
)


def make_api(lab: Lab) -> FastAPI:
    """The routes over a laboratory, which the caller begins and ends."""
    app = FastAPI(
        title="lab2048",
        version=lab2048.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        separate_input_output_schemas=False,
    )
    app.state.lab = lab
    error.install(app)
    for noun in _NOUNS:
        # As they are: to include a router would build each of its routes once more, and again at the first request.
        app.router.routes.extend(noun.router.routes)
    app.add_middleware(GZipMiddleware, minimum_size=4000, compresslevel=6)
    return app
