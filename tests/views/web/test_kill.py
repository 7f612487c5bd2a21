"""The page is killed, as by a power failure, and starts again: nothing is lost, and it says what was cut short."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from web_server import process

from lab2048.records.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


def test_nothing_is_lost_when_the_server_is_killed(tmp_path):
    with process(tmp_path) as (server, web, _):
        state = web.begin("4x4", seed=7)
        for letter in "wasdwasd":
            last = web.post(f"/api/games/{state['id']}/moves", {"moves": letter})["state"]
        request = {"players": ["greedy"], "rules": {"board": "4x4"}, "games": 100_000}
        job = web.post("/api/matches", request)
        with web.events() as events:
            next(data for event, data in events if event == "job" and data["progress"])
        server.kill()
        server.wait(600)
    with Store.open(tmp_path / "games.sqlite", create=False) as store:
        assert len(store.get(state["id"]).episode.moves) == last["n_moves"]

    with process(tmp_path) as (server, web, _):
        again = web.get(f"/api/games/{state['id']}")["state"]
        assert again["ranks"] == last["ranks"]
        assert again["rev"] > last["rev"]
        assert web.get("/api/status")["interrupted"] == [job["id"]]
        [found] = web.get("/api/jobs")["jobs"]
        assert (found["state"], found["can_resume"]) == ("interrupted", True)
        n_games = web.get(f"/api/matches/{job['id']}")["result"]["players"][0]["games"]
        assert n_games > 0
        server.send_signal(signal.SIGINT)
        assert server.stdout is not None
        assert "stopped" in server.stdout.read()
        assert server.wait(600) == 0


def test_ctrl_c_interrupts_jobs_and_streams(tmp_path):
    with process(tmp_path) as (server, web, _):
        job = web.post("/api/matches", {"players": ["greedy"], "rules": {"board": "4x4"}, "games": 100_000})
        with web.events() as events:
            next(data for event, data in events if event == "job" and data["progress"])
            server.send_signal(signal.SIGTERM)
            for _ in events:
                pass
        assert server.wait(600) == 0
    with process(tmp_path) as (_, web, _):
        assert web.get("/api/jobs")["jobs"][0]["state"] == "interrupted"
        assert web.get("/api/status")["interrupted"] == [job["id"]]


def test_a_closed_terminal_stops_the_server_as_ctrl_c_does(tmp_path):
    with process(tmp_path) as (server, web, _):
        web.begin()
        assert list(tmp_path.rglob("lab2048-open-*.html"))
        server.send_signal(signal.SIGHUP)
        assert server.wait(600) == 0
    assert not list(tmp_path.rglob("lab2048-open-*.html"))


def test_a_port_that_is_taken_is_named(tmp_path):
    with process(tmp_path) as (_, web, _):
        again = _serve(tmp_path, str(web.port))
        assert again.returncode == 0
        assert f"already running: http://127.0.0.1:{web.port}/" in again.stdout
    with contextlib.closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        taken = _serve(tmp_path, str(port))
    assert taken.returncode == 2
    assert f"port {port} is used by another program" in taken.stderr
    assert len(taken.stderr.splitlines()) == 1


def _serve(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab2048", "serve", "--port", port, "--no-open"]
    environment = {**os.environ, "XDG_DATA_HOME": str(folder), "LAB2048_STORE": str(folder / "games.sqlite")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
