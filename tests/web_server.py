"""The server of the page for tests: a real one, on a port of its own, in a thread."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from lab2048.records.store import Store
from lab2048.records.store_file import VIEW_SECONDS
from lab2048.views.web.lazy_app import LazyApp
from lab2048.views.web.listener import Listener
from lab2048.views.web.server import make_server
from lab2048.views.web.state import Lab

TOKEN = "token-of-tests"


class Web:
    """A client of a server, and the laboratory behind it."""

    def __init__(self, lab: Lab | None, port: int, token: str = TOKEN) -> None:
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        if lab:
            self.lab = lab
        self.headers = {"authorization": f"Bearer {token}"}
        transport = httpx.HTTPTransport(retries=5)
        self.client = httpx.Client(
            base_url=self.url, headers=self.headers, timeout=600, trust_env=False, transport=transport
        )
        # Has no token, and forgets cookies.
        self.stranger = httpx.Client(
            base_url=self.url, timeout=600, trust_env=False,
            event_hooks={"response": [lambda _: self.stranger.cookies.clear()]},
        )  # fmt: skip

    def close(self) -> None:
        self.client.close()
        self.stranger.close()

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

    @contextlib.contextmanager
    def raw(self, head: str) -> Iterator[str]:
        """What the server says to the head of a request, which is sent as it is."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as stream:
            stream.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
            yield b"".join(iter(lambda: stream.recv(65536), b"")).decode()

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
def serving(folder: Path, token: str | None = TOKEN, *, lan: bool = False) -> Iterator[Web]:
    """A server over a calm laboratory."""
    with Store.open(folder / "games.sqlite", timeout=VIEW_SECONDS) as store, Listener() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        lab = calm_lab(store, folder)
        server = make_server(LazyApp(lambda: lab), token=token, lan=lan)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        web = Web(lab, listener.getsockname()[1])
        try:
            web.client.get("/api/status")  # the answer comes when everything is loaded
            yield web
        finally:
            web.close()
            lab.bus.close()
            server.should_exit = True
            thread.join(30)


@contextlib.contextmanager
def process(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Web, str]]:
    """`lab2048 serve` as a user starts it, on any free port."""
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(folder),
        "LAB2048_STORE": str(folder / "games.sqlite"),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "lab2048", "serve", "--port", "0", "--no-open", *words]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as started:
        assert started.stdout is not None
        said = ""
        while "Press Ctrl-C to stop it" not in said:
            line = started.stdout.readline()
            assert line, said
            said += line
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
        assert found
        web = Web(None, int(found[1]), found[2])
        try:
            yield started, web, said
        finally:
            web.close()
            if started.poll() is None:
                started.send_signal(signal.SIGINT)
                started.wait(600)
