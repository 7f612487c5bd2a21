"""The API: its routes and error handlers."""

from collections.abc import Callable, Iterable
from functools import update_wrapper
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

import lab2048
from lab2048.views.web import errors
from lab2048.views.web.compression import Compression
from lab2048.views.web.state import Lab

# Modules in routes/.  The first board needs the first ones; the others are loaded a moment later.
FIRST = ("events", "games", "game")
LATER = (
    "hint",
    "review",
    "puzzles",
    "practice",
    "daily",
    "players",
    "design",
    "jobs",
    "matches",
    "trainings",
    "solves",
    "tables",
    "studies",
    "trash",
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
        self.app.add_middleware(Compression, minimum_size=4000, compresslevel=6)
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
            routes = import_module(f"{__package__}.routes.{noun}").router.routes
            for route in routes:
                if isinstance(route, APIRoute):
                    answer_in_one_thread(route)
            self.app.router.routes.extend(routes)


class Answer:
    """The function of a route; its result is written as JSON in the same thread.

    FastAPI would check the result in another thread, and write it in the event loop, where other requests wait for it.
    """

    def __init__(self, call: Callable[..., Any], model: Any) -> None:
        self._call, self._model = call, model
        update_wrapper(self, call)

    def __call__(self, **values: Any) -> Any:
        result = self._call(**values)
        if type(result) is self._model and isinstance(result, BaseModel):
            return Response(result.model_dump_json(by_alias=True), media_type="application/json")
        return result


def answer_in_one_thread(route: APIRoute) -> None:
    """Let the plain function of a route write its own answer."""
    call = route.dependant.call
    if call is not None and not isinstance(call, Answer) and not iscoroutinefunction(call):
        route.dependant.call = Answer(call, route.response_model)
