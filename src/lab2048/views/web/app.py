"""The API as an application: its routes, and how its errors are told."""

from collections.abc import Iterable
from importlib import import_module

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match
from starlette.types import Scope

import lab2048
from lab2048.views.web import errors
from lab2048.views.web.state import Lab

# Files of the folder routes.  The first board needs the first ones; what they lead to comes a moment later.
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
    """The routes over a laboratory, which the caller begins and ends: a few at first, then all."""

    def __init__(self, lab: Lab) -> None:
        """Only what the first board needs, because to load a route takes milliseconds."""
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
        self._n_own = len(self.app.router.routes)  # such as its description, which tells of all
        self._add(FIRST)

    def can_answer(self, scope: Scope) -> bool:
        """True if nothing that is still to come could answer better."""
        routes = self.app.router.routes[self._n_own :]
        return self.is_whole or any(route.matches(scope)[0] is Match.FULL for route in routes)

    def load_all(self) -> None:
        self._add(LATER)
        self.is_whole = True

    def _add(self, nouns: Iterable[str]) -> None:
        for noun in nouns:
            # As they are: to include a router would build each of its routes once more, and again at the first request.
            self.app.router.routes.extend(import_module(f"{__package__}.routes.{noun}").router.routes)
