"""What the page says about saving: a move is called saved when it is durable, and nothing is forgotten until then."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from store_holder import held
from web_server import Web, process, serving

from lab2048.arena.session import Session
from lab2048.records.store import Store
from lab2048.rules import Rules

if sys.platform != "win32":
    import resource


@pytest.fixture
def web(tmp_path):
    with serving(tmp_path) as found:
        yield found


def play(web: Web, id_: int, moves: str, *, rev: int | None = None):
    return web.post(f"/api/games/{id_}/moves", {"moves": moves, "rev": rev})["state"]


def n_stored(path: Path, id_: int) -> int:
    """The moves of a game as another program sees it."""
    with Store.open(path, create=False) as store:
        return len(store.get(id_).episode.moves)


def until_saved(web: Web) -> None:
    with web.events() as events:
        next(data for event, data in events if event == "status" and not data["unsaved"])


def test_moves_that_another_program_keeps_from_being_saved_are_saved_later(tmp_path):
    """Six games, eight moves each, all answered; then the server is killed."""
    store = tmp_path / "games.sqlite"
    with process(tmp_path) as (server, web, _):
        ids = [web.begin(seed=seed)["id"] for seed in range(1, 7)]
        with held(store) as release:
            for letter in "wasdwasd":
                states = [play(web, id_, letter) for id_ in ids]
                assert not any(state["saved"] for state in states)
            status = web.get("/api/status")
            assert status["unsaved"] == 6
            assert "locked by another program" in status["store"]
            exported = web.client.get("/api/games/unsaved").text.splitlines()
            assert len(exported) == 6
            played = {id_: web.get(f"/api/games/{id_}")["state"] for id_ in ids}  # reads do not wait
            assert web.get("/api/games")["games"] == []
            with web.events() as events:
                release()
                next(data for event, data in events if event == "status" and not data["unsaved"])
        server.kill()
        server.wait(600)
    assert {id_: n_stored(store, id_) for id_ in ids} == {id_: state["n_moves"] for id_, state in played.items()}


def test_the_tab_of_a_game_is_told_when_it_is_saved(web):
    id_ = web.begin()["id"]
    with web.events(str(id_)) as events:
        next(event for event, _ in events if event == "game")
        with held(web.lab.store.path) as release:
            assert not play(web, id_, "w")["saved"]
            release()
            next(data for event, data in events if event == "game" and data["state"]["saved"])
    assert n_stored(web.lab.store.path, id_) == 1


def test_a_request_that_the_store_refuses_changes_nothing(web):
    path = web.lab.store.path
    id_, deleted = web.begin()["id"], web.begin()["id"]
    state = play(web, id_, "wasd")
    play(web, deleted, "wasd")
    web.ask("DELETE", f"/api/games/{deleted}")
    with held(path) as release:
        for method, place, body in (
            ("DELETE", f"/api/games/{id_}", None),
            ("POST", f"/api/games/{deleted}/restore", {}),
            ("POST", "/api/games", {"seed": 1}),
            ("POST", f"/api/games/{id_}/fork", {"at": 1}),
        ):
            answer = web.client.request(method, place, json=body)
            assert answer.status_code == 503
            assert "locked by another program" in answer.json()["error"]
        assert web.get(f"/api/games/{id_}")["state"] == state
        assert not (later := play(web, id_, "wasd", rev=state["rev"]))["saved"]
        assert web.client.delete(f"/api/games/{id_}").status_code == 503
        release()
        until_saved(web)
    assert n_stored(path, id_) == later["n_moves"]
    assert web.get(f"/api/games/{id_}")["state"] == later | {"saved": True}
    assert web.post(f"/api/games/{deleted}/restore")["id"] == deleted
    assert n_stored(path, deleted) > 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps files that are open")
@pytest.mark.parametrize("is_replaced", [False, True], ids=["moved away", "replaced"])
def test_nothing_is_called_saved_while_another_file_is_in_the_place_of_the_store(web, tmp_path, is_replaced):
    path = web.lab.store.path
    id_ = web.begin("8x8", seed=3)["id"]
    assert play(web, id_, "w")["saved"]
    files = [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    for file in files:
        file.rename(tmp_path / f"moved{file.name}")
    if is_replaced:
        with Store.open(path):
            pass
    for letter in "asdwasd":
        assert not play(web, id_, letter)["saved"]
    status = web.get("/api/status")
    assert status["unsaved"] == 1
    assert "was moved, deleted or replaced" in status["store"]
    assert web.client.post("/api/games", json={"seed": 1}).status_code == 503
    assert len(web.client.get("/api/games/unsaved").text.splitlines()) == 1
    for file in files:
        (tmp_path / f"moved{file.name}").rename(file)
    until_saved(web)
    assert n_stored(path, id_) == 8


def test_moves_on_a_game_that_grew_elsewhere_are_refused_and_make_no_copy(web):
    """Another program has played the game from move 8 to move 20."""
    path = web.lab.store.path
    id_ = web.begin("8x8", seed=3)["id"]
    seen = play(web, id_, "wasdwasd")
    with Store.open(path) as store, Session.open(store, id_) as other:
        other.play_letters("wasdwasdwasd")
    n_moves = len(other.game.turns)
    answer = web.post(f"/api/games/{id_}/moves", {"moves": "w", "rev": seen["rev"]}, status=409)
    assert answer["state"]["n_moves"] == n_stored(path, id_) == n_moves > 8
    assert answer["hint"]
    assert play(web, id_, "ws", rev=answer["state"]["rev"])["n_moves"] > n_moves
    with Store.open(path) as store:
        assert store.ids() == [id_]


def test_a_game_that_grew_elsewhere_is_shown_as_it_is(web):
    id_ = web.begin("8x8", seed=3)["id"]
    play(web, id_, "wasd")
    with web.events(str(id_)) as events, Store.open(web.lab.store.path) as store, Session.open(store, id_) as other:
        next(event for event, _ in events if event == "game")
        other.play_letters("wasd")
        other.save()
        state = web.get(f"/api/games/{id_}")["state"]
        assert state["ranks"] == list(other.game.board.ranks)
        assert next(data["state"] for event, data in events if event == "game") == state


def test_unsaved_moves_on_a_game_that_changed_elsewhere_are_kept_as_a_game_of_their_own(web):
    path = web.lab.store.path
    id_ = web.begin("8x8", seed=3)["id"]
    with Store.open(path) as store, Session.open(store, id_) as other:
        with held(path):
            mine = play(web, id_, "wasd")
            assert not mine["saved"]
            # Written by the program that holds the store, as it were: it commits before anybody else.
            other.play_letters("sdsd")
            session = web.lab.open_games.get(id_)
            session.lock.acquire()
        other.save()
    session.lock.release()
    until_saved(web)
    assert n_stored(path, id_) == len(other.game.turns)
    assert session.id != id_
    assert n_stored(path, session.id) == mine["n_moves"]
    assert web.get(f"/api/games/{id_}")["state"]["ranks"] == list(other.game.board.ranks)
    assert web.get(f"/api/games/{session.id}")["state"]["ranks"] == mine["ranks"]


def test_leaving_while_another_program_holds_the_store_does_not_wait_for_it(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with process(tmp_path) as (server, web, _):
        ids = [web.begin(seed=seed)["id"] for seed in (1, 2)]
        with held(tmp_path / "games.sqlite"):
            for id_ in ids:
                assert not play(web, id_, "wasd")["saved"]
            server.send_signal(signal.SIGINT)
            assert server.stdout
            said = server.stdout.read()
            assert server.wait(600) == 3
    assert "2 games could not be saved" in said
    assert len(next((tmp_path / "elsewhere").iterdir()).read_text().splitlines()) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files of another process")
def test_leaving_with_a_full_disk_says_how_many_games_are_unsaved_and_where_they_are(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with process(tmp_path) as (server, web, _):
        ids = [web.begin("8x8", seed=seed)["id"] for seed in (1, 2, 3)]
        saved = play(web, ids[0], "wasd")
        assert saved["saved"]
        size = (tmp_path / "games.sqlite-wal").stat().st_size
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, size))
        played = [play(web, id_, "wasd" * 5) for id_ in ids[:2]]
        assert not any(state["saved"] for state in played)
        answer = web.client.delete(f"/api/games/{ids[0]}")
        assert answer.status_code == 503
        assert web.get(f"/api/games/{ids[0]}")["state"] == played[0]
        server.send_signal(signal.SIGINT)
        assert server.stdout
        said = server.stdout.read()
        assert server.wait(600) == 3
    assert "2 games could not be saved" in said
    assert "Traceback" not in said
    [file] = elsewhere.iterdir()
    assert file.name in said
    with Store.open(tmp_path / "other.sqlite") as other:
        from lab2048.records.exchange import ImportCounts, import_lines

        counts = ImportCounts()
        with file.open("rb") as stream:
            import_lines(other, stream, counts, refuse=lambda *why: pytest.fail(str(why)))
        assert counts.imported == 2
        assert {len(other.get(id_).episode.moves) for id_ in other.ids()} == {state["n_moves"] for state in played}
    assert n_stored(tmp_path / "games.sqlite", ids[0]) == saved["n_moves"]


def test_ctrl_c_ends_an_import_and_nothing_of_it_is_stored(web, monkeypatch):
    """Replaying its games could take half a minute."""
    games = [Session(Rules.from_text("4x4"), seed) for seed in (1, 2)]
    for game in games:
        game.play_letters("wasd" * 10)
    body = "\n".join(json.dumps(game.episode().to_json()) for game in games)
    is_replaying, is_ending = threading.Event(), threading.Event()
    check = web.lab.check_running

    def wait_and_check() -> None:
        is_replaying.set()
        assert is_ending.wait(240)
        check()

    monkeypatch.setattr(web.lab, "check_running", wait_and_check)
    answers = []
    headers = {"content-type": "application/x-ndjson"}
    client = threading.Thread(
        target=lambda: answers.append(web.client.post("/api/games/import", content=body, headers=headers))
    )
    client.start()
    assert is_replaying.wait(240)
    web.lab.bus.close()  # as Ctrl-C does first
    is_ending.set()
    client.join()
    assert [(answer.status_code, answer.json()["error"]) for answer in answers] == [(503, "lab2048 is stopping")]
    assert web.lab.store.ids() == []


def test_a_store_has_one_server(tmp_path):
    command = [sys.executable, "-m", "lab2048", "serve", "--no-open", "--port", "0"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "LAB2048_STORE": str(tmp_path / "games.sqlite")}
    with process(tmp_path) as (server, web, _):
        second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert second.returncode == 2
        assert f"already running with the store {tmp_path / 'games.sqlite'}" in " ".join(second.stderr.split())
        assert f"http://127.0.0.1:{web.port}/" in second.stderr
        assert "--store" in second.stderr
        with process(tmp_path, "--store", str(tmp_path / "second.sqlite")) as (_, other, _):
            assert other.port != web.port
            assert other.begin()["id"] == 1
        server.kill()
        server.wait(600)
    with process(tmp_path) as (_, web, _):  # the lock ends with its process
        assert re.fullmatch(r"\d+", str(web.begin()["id"]))
