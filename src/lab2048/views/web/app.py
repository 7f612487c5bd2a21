"""The API: its routes and error handlers."""

from collections.abc import Iterable
from importlib import import_module

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match
from starlette.types import Scope

import lab2048
from lab2048.views.web import errors
from lab2048.views.web.state import Lab

# Modules in routes/.  The first board needs the first ones; the others are loaded a moment later.
FIRST = ("events", "games", "game")
LATER = (
    "hint",
    "players",
    "design",
    "jobs",
    "matches",
    "trainings",
    "solves",
    "tables",
    "studies",
)


class Api:
    """The FastAPI application; it loads the most important routes first and the others later."""

    def __init__(self, lab: Lab) -> None:
        """Load only the routes of the first board, because each takes milliseconds."""
        self.is_whole = False
        self.app = FastAPI(
            title="lab2048",
            version=lab2048.__version__,
            docs_url=None,
            redoc_url=None,
            openapi_url="/api/openapi.json",
            separate_input_output_schemas=False,
        )
        self.app.state.lab = lab
        errors.install(self.app)
        self.app.add_middleware(GZipMiddleware, minimum_size=4000, compresslevel=6)
        self._n_own = len(self.app.router.routes)  # such as the OpenAPI schema, which lists all routes
        self._add(FIRST)

    def can_answer(self, scope: Scope) -> bool:
        """Return True if the loaded routes can answer the request."""
        routes = self.app.router.routes[self._n_own :]
        return self.is_whole or any(route.matches(scope)[0] is Match.FULL for route in routes)

    def load_all(self) -> None:
        self._add(LATER)
        self.is_whole = True

    def _add(self, nouns: Iterable[str]) -> None:
        for noun in nouns:
            # Added directly: `include_router` would build each route once more, and again at the first request.
            self.app.router.routes.extend(import_module(f"{__package__}.routes.{noun}").router.routes)
