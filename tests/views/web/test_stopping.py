"""Searches that would take hours do not outlive their request, and do not keep the server from ending."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from web_server import Web, process, serving

from lab2048.arena.player_service import AskedPlayer
from lab2048.rules import Rules
from lab2048.views.web.services import players as page_players

SECONDS = 120  # for what takes milliseconds, on a busy machine

EVALUATORS = ("order", "snake", "rows")
WIDE = " / ".join(["2 # # # # # # 4", *["# # # # # # # #"] * 7])
RULES = Rules.from_text("8x8")


def endless(evaluator: str) -> str:
    return f"lookahead:depth=4,eval={evaluator}"


def question(evaluator: str) -> dict[str, str]:
    return {"board": WIDE, "player": endless(evaluator)}


def post_only(web: Web, path: str, body: object) -> socket.socket:
    """Send a request, and do not wait for its answer."""
    text = json.dumps(body)
    headers = {"host": f"127.0.0.1:{web.port}", "content-type": "application/json", "content-length": len(text)}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (headers | web.headers).items())]
    connection = socket.create_connection(("127.0.0.1", web.port), timeout=SECONDS)
    connection.sendall("\r\n".join([*lines, "", text]).encode())
    return connection


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with serving(tmp_path) as web:
        for evaluator in EVALUATORS:
            asked(web, evaluator).prepare()
        yield web


def asked(web: Web, evaluator: str) -> AskedPlayer:
    return web.lab.players.player(web.lab.library.read(endless(evaluator)), RULES, 1)


def wait_for_search(player: AskedPlayer) -> None:
    while player._answered is None:
        time.sleep(0.01)  # not to wait for it, but to leave the processor to it


def wait_for_rest(player: AskedPlayer) -> None:
    """Wait until nobody uses a player."""
    assert player._thinking.acquire(timeout=SECONDS)
    player._thinking.release()


def test_questions_that_took_too_long_free_their_workers(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_players, "MAX_SECONDS", 0.05)
    for evaluator in EVALUATORS:
        assert "no answer within" in web.post("/api/hint", question(evaluator), status=503)["error"]
    monkeypatch.setattr(page_players, "MAX_SECONDS", SECONDS)
    assert web.post("/api/hint", {"board": WIDE, "player": "greedy"})["values"]
    for evaluator in EVALUATORS:
        wait_for_rest(asked(web, evaluator))


def test_a_client_that_leaves_stops_its_search(web: Web) -> None:
    with post_only(web, "/api/hint", question("order")):
        wait_for_search(asked(web, "order"))
    wait_for_rest(asked(web, "order"))
    assert web.post("/api/hint", {"board": WIDE, "player": "greedy"})["values"]


def test_autoplay_that_is_paused_stops_its_search(web: Web) -> None:
    game = web.begin("8x8")["id"]
    auto = {"player": endless("order"), "speed": 8, "running": True}
    web.ask("PUT", f"/api/games/{game}/auto", auto)
    autoplay = web.lab.open_games._autoplays[game]
    assert autoplay._thread is not None
    web.ask("PUT", f"/api/games/{game}/auto", auto | {"running": False})
    autoplay._thread.join(SECONDS)
    assert not autoplay._thread.is_alive()
    assert autoplay.error == ""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_server_that_searches_and_the_second_one_says_nothing(tmp_path: Path) -> None:
    with process(tmp_path) as (server, web, _):
        while web.client.post("/api/hint", json={"board": WIDE, "player": "greedy"}).status_code == 503:
            time.sleep(0.1)  # kernels are being compiled
        connections = [post_only(web, "/api/hint", question(evaluator)) for evaluator in EVALUATORS]
        game = web.begin("8x8")["id"]
        web.ask("PUT", f"/api/games/{game}/auto", {"player": endless("order"), "speed": 8, "running": True})
        server.send_signal(signal.SIGINT)
        time.sleep(0.3)
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=SECONDS)
        for connection in connections:
            connection.close()
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "stopped"
    assert server.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "words",
    [
        ["hint", WIDE, "--player", endless("order")],
        ["match", "expectimax:depth=12,cut=0", "--games", "4", "--workers", "1"],
        ["match", "expectimax:depth=12,cut=0", "--games", "4", "--workers", "2"],
        ["watch", "mcts:iterations=10000000", "--rules", "8x8"],
        ["tune", "rows", "--player", "lookahead:depth=9", "--games", "2", "--workers", "1"],
    ],
    ids=lambda words: f"{words[0]} {words[-1]}"[:30],
)
def test_ctrl_c_ends_a_command_that_searches(words: list[str]) -> None:
    command = [sys.executable, "-c", SAY_WHEN, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        said = ""
        while "it searches\n" not in said:
            line = started.stderr.readline()
            assert line, said
            said += line
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=SECONDS)
    assert started.returncode == 130, err
    assert "Traceback" not in err


# A command that says when its player begins to search.
SAY_WHEN = """
import sys
from lab2048.players import searcher
from lab2048.players.mcts import MctsPlayer

def saying(function):
    def call(self, *arguments):
        if hasattr(self, "is_ready"):  # the first search loads the code
            sys.stderr.write("it searches\\n")
            sys.stderr.flush()
        self.is_ready = True
        return function(self, *arguments)
    return call

searcher.Searcher.begin = saying(searcher.Searcher.begin)
MctsPlayer._prepare = saying(MctsPlayer._prepare)
MctsPlayer._grow_to = saying(MctsPlayer._grow_to)
sys.argv[0] = "lab2048"
from lab2048.cli import main
main()
"""
