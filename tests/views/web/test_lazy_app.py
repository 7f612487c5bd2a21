"""The first layer of the page's server while the API behind it is being loaded."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from starlette.routing import Route
from web_server import calm_lab

from lab2048.errors import UsageError
from lab2048.records.store import Store
from lab2048.views.web.app import Api
from lab2048.views.web.lazy_app import LazyApp
from lab2048.views.web.state import Lab


async def ask(app: LazyApp, path: str, method: str = "GET", body: bytes = b"") -> tuple[int, bytes]:
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        said.append(message)

    where = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": ""}
    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "headers": headers, "http_version": "1.1", "scheme": "http", **where}
    await app(scope, receive, send)
    return said[0]["status"], b"".join(message.get("body", b"") for message in said)


async def live(app: LazyApp, visit: Callable[[], Any]) -> None:
    """Start a server, look at it, and end it."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    steps: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def send(message: Any) -> None:
        await heard.put(message["type"])

    life = asyncio.create_task(app({"type": "lifespan"}, steps.get, send))
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
        return calm_lab(store, tmp_path)

    async def visit() -> None:
        waiting = asyncio.create_task(ask(app, "/api/status"))
        assert (await ask(app, "/"))[0] == 200
        assert (await ask(app, "/static/js/app.js"))[0] == 200
        assert (await ask(app, "/", "POST"))[0] == 405
        assert not waiting.done()
        may_load.set()
        status, body = await waiting
        assert (status, json.loads(body)["ready"]) == (200, False)

    with Store.open(tmp_path / "games.sqlite") as store:
        app = LazyApp(open_lab)
        asyncio.run(live(app, visit))


def test_the_first_board_does_not_wait_for_the_other_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_load = threading.Event()
    load_all = Api.load_all
    monkeypatch.setattr(Api, "load_all", lambda api: (may_load.wait(), load_all(api)))

    async def visit() -> None:
        others = [asyncio.create_task(ask(app, path)) for path in ("/api/players", "/api/openapi.json", "/api/nowhere")]
        status, body = await ask(app, "/api/games", "POST", b'{"rules": {"board": "2x2"}}')
        assert status == 200
        assert (await ask(app, f"/api/games/{json.loads(body)['state']['id']}"))[0] == 200
        assert not any(other.done() for other in others)
        may_load.set()
        (seen, _), (told, description), (missed, _) = await asyncio.gather(*others)
        assert (seen, told, missed) == (200, 200, 404)
        assert {"/api/games", "/api/matches", "/api/tables/{table}/hardest"} <= json.loads(description)["paths"].keys()

    with Store.open(tmp_path / "games.sqlite") as store:
        app = LazyApp(lambda: calm_lab(store, tmp_path))
        asyncio.run(live(app, visit))


def test_no_early_route_answers_what_a_later_one_should(tmp_path: Path) -> None:
    with Store.open(tmp_path / "games.sqlite") as store:
        api = Api(calm_lab(store, tmp_path))
    n_early = len(api.app.routes)
    api.load_all()
    api.is_whole = False
    later = list(api.app.routes[n_early:])
    del api.app.router.routes[n_early:]
    assert later
    for route in later:
        assert isinstance(route, Route)
        for method in route.methods or ():
            path = re.sub(r"{\w+}", "1", route.path)
            assert not api.can_answer({"type": "http", "method": method, "path": path, "root_path": ""}), (method, path)


def test_the_description_is_whole_although_its_models_are_built_late() -> None:
    program = """if True:
        from lab2048.views.web.lazy_app import import_framework
        import_framework()
        from fastapi.openapi.models import OpenAPI
        from pydantic import BaseModel
        assert not OpenAPI.__pydantic_complete__
        class Own(BaseModel):
            n: int
        assert Own.__pydantic_complete__
        from fastapi import FastAPI
        app = FastAPI()
        app.get("/own")(lambda: Own(n=1))
        print(*app.openapi()["paths"])
    """
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "/own\n"


def test_the_end_of_the_server_does_not_wait_for_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_late.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    may_load = threading.Event()

    def open_lab() -> Lab:
        may_load.wait()
        import_module("imported_late")
        raise AssertionError("imported after the end")

    async def visit() -> None:
        waiting = asyncio.create_task(ask(app, "/api/status"))
        app.close()
        may_load.set()
        status, body = await waiting
        assert (status, json.loads(body)["error"]) == (503, "lab2048 is stopping")

    app = LazyApp(open_lab)
    asyncio.run(live(app, visit))
    assert app.failure is None
    import_module("imported_late")  # other threads and what comes later are not affected


def test_streams_end_also_if_the_server_ends_before_it_is_loaded(tmp_path: Path) -> None:
    may_load = threading.Event()

    def open_lab() -> Lab:
        may_load.wait()
        return calm_lab(store, tmp_path)

    async def visit() -> None:
        app.close()
        may_load.set()
        assert (await ask(app, "/api/status"))[0] == 200
        assert app.lab is not None
        assert app.lab.bus.is_closed

    with Store.open(tmp_path / "games.sqlite") as store:
        app = LazyApp(open_lab)
        asyncio.run(live(app, visit))


def test_what_fails_while_it_is_loaded_is_told_to_whoever_asks() -> None:
    def open_lab() -> Lab:
        raise UsageError("the jobs cannot be read:\nexpected a folder")

    async def visit() -> None:
        status, body = await ask(app, "/api/status")
        expected = {"error": "the jobs cannot be read: expected a folder", "code": "usage", "field": None, "hint": None}
        assert (status, json.loads(body)) == (503, expected)

    told: list[bool] = []
    app = LazyApp(open_lab, lambda: told.append(True))
    asyncio.run(live(app, visit))
    assert told
    assert isinstance(app.failure, UsageError)


def test_an_answer_is_written_by_the_thread_that_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def note(*words: Any, **named: Any) -> Response:
        threads.append(threading.current_thread())
        return Response(*words, **named)

    async def visit() -> None:
        status, body = await ask(app, "/api/status")
        assert (status, json.loads(body)["ready"]) == (200, False)

    monkeypatch.setattr("lab2048.views.web.app.Response", note)
    with Store.open(tmp_path / "games.sqlite") as store:
        app = LazyApp(lambda: calm_lab(store, tmp_path))
        asyncio.run(live(app, visit))
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
