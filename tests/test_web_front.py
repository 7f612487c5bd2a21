"""The front of the page's server while the API behind it is being loaded."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab2048.errors import UsageError
from lab2048.records.store import Store
from lab2048.views.web.front import Front
from lab2048.views.web.lab import Lab


async def ask(front: Front, path: str, method: str = "GET") -> tuple[int, bytes]:
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        said.append(message)

    where = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": ""}
    scope = {"type": "http", "method": method, "headers": [], "http_version": "1.1", "scheme": "http", **where}
    await front(scope, receive, send)
    return said[0]["status"], b"".join(message.get("body", b"") for message in said)


async def live(front: Front, visit: Callable[[], Any]) -> None:
    """Start a server, look at it, and end it."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    steps: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def send(message: Any) -> None:
        await heard.put(message["type"])

    life = asyncio.create_task(front({"type": "lifespan"}, steps.get, send))
    await steps.put({"type": "lifespan.startup"})
    assert await heard.get() == "lifespan.startup.complete"
    await visit()
    await steps.put({"type": "lifespan.shutdown"})
    assert await heard.get() == "lifespan.shutdown.complete"
    await life


def test_files_do_not_wait_for_the_api_and_the_api_is_waited_for(tmp_path: Path) -> None:
    may_load = threading.Event()

    def open_lab() -> Lab:
        may_load.wait()
        lab = Lab(store, tmp_path)
        lab.coach.warm_up = lambda: None  # type: ignore[method-assign]
        return lab

    async def visit() -> None:
        waiting = asyncio.create_task(ask(front, "/api/status"))
        assert (await ask(front, "/"))[0] == 200
        assert (await ask(front, "/static/js/app.js"))[0] == 200
        assert (await ask(front, "/", "POST"))[0] == 405
        assert not waiting.done()
        may_load.set()
        status, body = await waiting
        assert (status, json.loads(body)["ready"]) == (200, False)

    with Store.open(tmp_path / "games.sqlite") as store:
        front = Front(open_lab)
        asyncio.run(live(front, visit))


def test_streams_end_also_if_the_server_ends_before_it_is_loaded(tmp_path: Path) -> None:
    may_load = threading.Event()

    def open_lab() -> Lab:
        may_load.wait()
        lab = Lab(store, tmp_path)
        lab.coach.warm_up = lambda: None  # type: ignore[method-assign]
        return lab

    async def visit() -> None:
        front.close()
        may_load.set()
        assert (await ask(front, "/api/status"))[0] == 200
        assert front.lab is not None
        assert front.lab.bus.is_closed

    with Store.open(tmp_path / "games.sqlite") as store:
        front = Front(open_lab)
        asyncio.run(live(front, visit))


def test_what_fails_while_it_is_loaded_is_told_to_whoever_asks() -> None:
    def open_lab() -> Lab:
        raise UsageError("the jobs cannot be read:\nexpected a folder")

    async def visit() -> None:
        status, body = await ask(front, "/api/status")
        assert (status, json.loads(body)) == (503, {"error": "the jobs cannot be read: expected a folder"})

    told: list[bool] = []
    front = Front(open_lab, lambda: told.append(True))
    asyncio.run(live(front, visit))
    assert told
    assert isinstance(front.failure, UsageError)
