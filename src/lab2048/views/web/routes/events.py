"""`/api/status` and `/api/events`: the event stream of a tab."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lab2048.arena.compile import groups_of
from lab2048.errors import LabError, UsageError
from lab2048.kernels.group import SOLVER
from lab2048.players import default_spec
from lab2048.rules import Rules
from lab2048.views.web.errors import NotFoundError
from lab2048.views.web.routes.jobs import job_list
from lab2048.views.web.serialize.schema import ERRORS, MAX_SPEC, ChangeData, DeletedData, ReadyData, StatusData
from lab2048.views.web.services.event_bus import News, Tab
from lab2048.views.web.state import Lab, LabOf

MAX_GAMES = 9
SILENCE = 15.0  # seconds between keep-alive lines

router = APIRouter(prefix="/api", tags=["status"], responses=ERRORS)


@router.get("/status")
def status(lab: LabOf) -> StatusData:
    """Return the status of the server."""
    lab.players.preparation.hurry()
    return lab.status()


@router.get("/ready")
def ready(
    lab: LabOf,
    player: Annotated[str | None, Query(max_length=MAX_SPEC)] = None,
    solve: Annotated[bool, Query(description="Ask about estimates of solves instead.")] = False,
) -> ReadyData:
    """Whether a player can be asked now (by default that of the classic board), or a solve be estimated."""
    spec = lab.library.read(player or default_spec(Rules.from_text("4x4")))
    groups = [SOLVER] if solve else groups_of([spec])
    return ReadyData(ready=lab.players.is_ready(*groups), doing=lab.players.preparation.doing)


@router.get("/events", response_class=StreamingResponse)
async def events(
    lab: LabOf,
    tab: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{8,40}$")],
    games: Annotated[str, Query(max_length=200)] = "",
    once: Annotated[bool, Query(description="Send only the current state, then end.")] = False,
) -> StreamingResponse:
    """Stream server-sent events: first the current state, then changes."""
    ids = frozenset(read_ids(games, MAX_GAMES))
    return EventStream(lab, tab, ids, once=once)


def read_ids(text: str, most: int) -> list[int]:
    """Parse ids of games, separated by commas.

    >>> read_ids("12,13", 9)
    [12, 13]
    """
    words = [word for word in text.split(",") if word]
    if len(words) > most or not all(re.fullmatch(r"[0-9]{1,18}", word) for word in words):
        raise UsageError(
            f"games {text[:60]!r} are not understood: expected at most {most} numbers, as in 12,13", field="games"
        )
    return list(dict.fromkeys(int(word) for word in words))


class EventStream(StreamingResponse):
    """The events of a tab, which listens as long as the response is being sent.

    The tab is registered before the response begins, so that one tab too many is an ordinary error.
    """

    media_type = "text/event-stream"

    def __init__(self, lab: Lab, name: str, games: frozenset[int], *, once: bool) -> None:
        super().__init__(())
        self._lab, self._name, self._games, self._once = lab, name, games, once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._lab.bus.listen(self._name, self._games) as tab:
            self.body_iterator = self._events(tab)
            await super().__call__(scope, receive, send)

    async def _events(self, tab: Tab) -> AsyncIterator[bytes]:
        lab = self._lab
        for news in await run_in_threadpool(_beginning, lab, sorted(tab.games)):
            yield news.line
        lab.players.preparation.hurry()  # the first board is loaded
        while not lab.bus.is_closed and not self._once:
            try:
                async with asyncio.timeout(SILENCE):
                    await tab.bell.wait()
            except TimeoutError:
                yield b": still here\n\n"
            if waiting := lab.bus.take(tab):
                yield b"".join(news.line for news in waiting)


def _beginning(lab: Lab, games: list[int]) -> list[News]:
    found = [News("status", lab.status().model_dump_json()), News("jobs", job_list(lab).model_dump_json())]
    for id_ in games:
        try:
            opened = lab.open_games.get(id_)
        except NotFoundError:
            found.append(News("deleted", DeletedData(deleted=id_).model_dump_json()))
            continue
        except LabError:  # the page requests it and gets the error
            continue
        state = lab.open_games.state(opened)
        found.append(News("game", ChangeData(state=state, turns=[], kind="open").model_dump_json()))
    return found
