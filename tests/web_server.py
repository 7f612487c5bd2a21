"""The server of the page for tests: a real one, on a port of its own, in a thread."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from lab2048.records.store import Store
from lab2048.views.web.http_protocol import HttpProtocol
from lab2048.views.web.lazy_app import LazyApp, guarded
from lab2048.views.web.state import Lab


class Web:
    """A client of a server, and the laboratory behind it."""

    def __init__(self, lab: Lab, port: int) -> None:
        self.lab, self.port = lab, port
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600, trust_env=False)

    def ask(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        answer = self.client.request(method, path, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str, *, status: int = 200) -> Any:
        return self.ask("GET", path, status=status)

    def post(self, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        return self.ask("POST", path, {} if body is None else body, status=status, **headers)

    def error(self, method: str, path: str, body: Any = None) -> str:
        answer = self.client.request(method, path, json=body)
        assert 400 <= answer.status_code < 500, answer.text
        said: str = answer.json()["error"]
        assert "\n" not in said
        return said

    def begin(self, board: str = "4x4", seed: int = 7, **rules: Any) -> dict[str, Any]:
        state: dict[str, Any] = self.post("/api/games", {"rules": {"board": board, **rules}, "seed": seed})["state"]
        return state

    @contextlib.contextmanager
    def events(self, games: str = "", tab: str = "tab-of-tests") -> Iterator[Iterator[tuple[str, Any]]]:
        """The stream of a tab, as pairs of event and data."""
        with self.client.stream("GET", f"/api/events?tab={tab}&games={games}") as answer:
            assert answer.status_code == 200
            yield _events(answer)

    def wait_for(self, id_: str, *states: str) -> dict[str, Any]:
        """A job when it has come to one of some states; its news say when."""
        with self.events() as events:
            for event, data in events:
                jobs = data["jobs"] if event == "jobs" else [data] if event == "job" else []
                for job in jobs:
                    if job["id"] == id_ and job["state"] in states:
                        found: dict[str, Any] = job
                        return found
        raise AssertionError("the stream ended")


def _events(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    event = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            event = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield event, json.loads(line.removeprefix("data: "))


def calm_lab(store: Store, folder: Path) -> Lab:
    """A laboratory whose players compile when they are asked, not before."""
    lab = Lab(store, folder)
    lab.jobs.niceness = 0
    lab.players.prepare = lambda: None  # type: ignore[method-assign]
    return lab


@contextlib.contextmanager
def serving(folder: Path, token: str | None = None) -> Iterator[Web]:
    """A server over a calm laboratory."""
    with Store.open(folder / "games.sqlite") as store, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        lab = calm_lab(store, folder)
        config = uvicorn.Config(
            guarded(LazyApp(lambda: lab), token=token), log_level="error", lifespan="on", ws="none", http=HttpProtocol
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        web = Web(lab, listener.getsockname()[1])
        try:
            web.client.get("/api/status")  # the answer comes when everything is loaded
            yield web
        finally:
            web.client.close()
            lab.bus.close()
            server.should_exit = True
            thread.join(30)
