"""Trainings of the page: every method of the command line, what they write, and every checkpoint of them."""

import itertools
import json
import os
import shutil
import sys
from importlib.util import find_spec

import pytest
from web_server import serving

from lab2048 import extras
from lab2048.errors import FileError
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.network import GAP
from lab2048.records import disk_space
from lab2048.rules import Rules
from lab2048.views.disk_space import need_room
from lab2048.views.web.services import checkpoints as checkpoint
from lab2048.views.web.services.checkpoints import Checkpoints
from lab2048.views.web.services.player_names import Library

# A deep network that is written in a moment.
TINY = {"network": "mlp", "widths": "8", "crowd": 8, "batch": 8, "trial_every": 0}


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


@pytest.fixture
def kept(tmp_path):
    """A training of which nothing was kept yet."""
    write(tmp_path, 0)
    return Checkpoints(tmp_path, "my")


def write(folder, size):
    """What a training does: a new file takes the place of the old one."""
    part = folder / "part"
    part.write_bytes(b"x" * size)
    part.replace(folder / "my.safetensors")


def set_free(monkeypatch, n_bytes):
    usage = shutil.disk_usage("/")._replace(free=n_bytes)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(disk_space, "RESERVE", 0)


def step(web, game, player):
    """Let a player make a move; return who has made it.  On a busy machine one that has to be loaded is asked again."""
    for _ in range(100):
        answer = web.client.post(f"/api/games/{game}/step", json={"player": player})
        if answer.status_code != 503:
            return answer.json()["state"]["mover"]
    raise AssertionError(answer.text)


# --- checkpoints ---------------------------------------------------------------------


def test_a_checkpoint_is_kept_once_and_costs_nothing(kept):
    write(kept.folder, 10)
    assert [kept.keep_last(is_wished=False) for _ in range(3)] == [1, 1, 1]
    assert kept.path(1).samefile(kept.last)
    write(kept.folder, 20)
    assert kept.keep_last(is_wished=True) == 2
    assert [kept.path(number).stat().st_size for number in kept.numbers()] == [10, 20]
    assert kept.wished() == {2}


def test_checkpoints_make_room_for_new_ones_but_not_those_that_were_wished_for(kept):
    for size in range(1, 61):
        write(kept.folder, size)
        kept.keep_last(is_wished=size in (7, 8))
    numbers = kept.numbers()
    assert kept.wished() == {7, 8} <= set(numbers)
    rest = [number for number in numbers if number not in (7, 8)]
    assert len(rest) == checkpoint.MAX_KEPT
    assert rest[-1] == 60
    gaps = [b - a for a, b in itertools.pairwise(rest)]
    assert max(gaps) <= 6, rest  # spread over the whole training


def test_large_checkpoints_are_few(kept, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_BYTES", 3000)
    for size in range(1000, 1010):
        write(kept.folder, size)
        kept.keep_last(is_wished=False)
    assert len(kept.numbers()) == 2
    assert checkpoint.n_kept(10**12) == 2


def test_numbers_are_not_given_twice(kept):
    write(kept.folder, 1)
    kept.keep_last(is_wished=True)
    kept.remove(1)
    write(kept.folder, 2)
    assert kept.keep_last(is_wished=True) == 2
    for path in kept.files():
        path.unlink(missing_ok=True)
    assert list(kept.folder.iterdir()) == []
    assert kept.keep_last(is_wished=True) is None


def test_where_files_have_no_second_names_they_are_copied(kept, monkeypatch):
    def refuse(*_):
        raise OSError("not here")

    monkeypatch.setattr(os, "link", refuse)
    write(kept.folder, 5)
    assert [kept.keep_last(is_wished=False) for _ in range(2)] == [1, 1]
    assert kept.path(1).read_bytes() == kept.last.read_bytes()


# --- what is shown before a training starts -------------------------------------------


@pytest.mark.parametrize(
    ("network", "options", "first", "last"),  # bytes for each pattern of six cells
    [
        (None, {}, 8 * 12, 16 * 12),  # the weight and two sums behind its rate; twice as many for the late game
        ("4x6", {"stages": "none"}, 4 * 12, 4 * 12),
        ("4x6", {"method": "td", "late_after": 0}, 8 * 4, 8 * 4),
    ],
)
def test_how_much_a_training_writes_is_said_before(web, network, options, first, last):
    request = {"name": "large", "network": network, "options": options, "minutes": 600}
    plan = web.post("/api/trainings/plan", request)
    each = 4 if options.get("method") == "td" else 12
    for name, size in (("bytes", first), ("last_bytes", last)):
        n_tables = size // each
        n_blocks = n_tables * (16**6 + GAP) // 64  # with those of the gaps between tables
        assert plan[name] == n_tables * 16**6 * (each + 1 / 8) + -(-n_blocks // 8)
    assert "Writes" in plan["writes"]
    assert "GB free" in plan["writes"]


def test_numbers_are_said_in_full_on_the_command_line(web):
    wishes = {"late_after": 123456789, "guided": 1e8, "alpha": 0.1234567}
    command = web.post("/api/trainings/plan", {"name": "a", "minutes": 12345.125 / 2, "options": wishes})["command"]
    assert "--minutes 6172.5625 " in command
    assert "--late-after 123456789 --guided 1e+08 --alpha 0.1234567" in command


def test_a_training_that_the_disk_cannot_hold_is_not_begun(web, monkeypatch):
    set_free(monkeypatch, 10**8)
    answer = web.ask(
        "POST",
        "/api/trainings",
        {"name": "large", "minutes": 1, "network": "4x6", "options": {"stages": "none"}},
        status=409,
    )
    assert answer["error"].startswith("not enough disk space for training large: it needs 814 MB, twice that while")
    assert "100 MB are free" in answer["error"]
    assert web.get("/api/jobs")["jobs"] == []


def test_a_file_that_goes_makes_room_and_one_that_is_kept_does_not(kept, monkeypatch):
    write(kept.folder, 1000)
    set_free(monkeypatch, 1000)
    need_room(kept.last, 1000)
    with pytest.raises(FileError, match="1 kB are free"):
        need_room(kept.last, 1000, 1)
    with pytest.raises(FileError, match=r"needs 1 kB, twice .* 1 kB are free"):
        need_room(kept.folder / "new" / "other.safetensors", 1000)
    kept.keep_last(is_wished=True)
    with pytest.raises(FileError, match="not enough disk space"):
        need_room(kept.last, 1000)


def test_checkpoints_that_keep_themselves_take_room(kept, monkeypatch):
    assert kept.n_more_bytes(1000, 3) == 3000
    assert kept.n_more_bytes(1000, 30) == checkpoint.MAX_KEPT * 1000
    write(kept.folder, 400)
    kept.keep_last(is_wished=False)
    assert kept.n_more_bytes(1000, 3) == 4000 - 400
    write(kept.folder, 500)
    kept.keep_last(is_wished=True)  # whatever comes it is there, and takes the place of none
    assert kept.n_more_bytes(1000, 3) == 4000 - 400
    monkeypatch.setattr(checkpoint, "MAX_BYTES", 0)
    assert kept.n_more_bytes(1000, 3) == 2000 - 400


def test_a_training_that_goes_on_is_planned_with_the_size_that_it_will_come_to(web):
    rules = Rules.from_text("4x4")
    config = Config(network="1x3", late_after=1000)
    training = Training.begin(config, rules, 1)
    folder = web.lab.library.trainings
    folder.mkdir(parents=True, exist_ok=True)
    training.save(folder / "early.safetensors")
    small, large = config.sizes(rules)
    assert large == 2 * small
    plan = web.post("/api/trainings/plan", {"name": "early", "resume": True})
    assert plan["bytes"] < small < large == plan["last_bytes"]  # no weight is visited yet
    plan = web.post("/api/trainings/plan", {"name": "early", "resume": True, "options": {"stages": "none"}})
    assert plan["last_bytes"] == small
    web.ask("DELETE", "/api/trainings/early")


def test_without_torch_a_deep_training_says_what_to_install(web, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    said = web.error("POST", "/api/trainings/plan", {"name": "a", "method": "dqn"})
    assert said.startswith("this needs the extra 'deep' (deep networks); missing: torch; run: ")


def test_players_that_need_torch_are_not_offered_without_it(web, monkeypatch):
    names = {player["name"] for player in web.get("/api/players")["players"]}
    assert {"c51", "net"} & names == ({"c51", "net"} if find_spec("torch") else set())
    monkeypatch.setitem(sys.modules, "torch", None)
    names = {player["name"] for player in web.get("/api/players")["players"]}
    assert not {"c51", "net"} & names


@pytest.mark.skipif(find_spec("torch") is None, reason="deep networks need torch")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"teacher": "ntuple:weights=/etc/passwd"}, "unknown training"),
        ({"crowd": 0}, "crowd 0 is out of range"),
        ({"widths": "big"}, "expected numbers such as"),
        ({"share": "much"}, "expected a number"),
        ({"crowd": 1.5}, "expected a whole number"),
        ({"nothing": 1}, "unknown"),
    ],
)
def test_what_a_deep_training_cannot_take_is_said(web, options, expected):
    assert expected in web.error("POST", "/api/trainings", {"name": "a", "method": "distil", "options": options})


# --- trainings -----------------------------------------------------------------------


@pytest.mark.skipif(find_spec("torch") is None, reason="deep networks need torch")
def test_a_deep_network_is_trained_goes_on_and_every_checkpoint_plays(web):
    request = {"name": "deep", "method": "dqn", "minutes": 0.01, "rules": {"board": "2x2"}, "options": TINY}
    job = web.post("/api/trainings", request)
    assert job["command"].startswith("lab2048 train dqn --out ")
    job = web.wait_for(job["id"], "done", "failed")
    assert job["state"] == "done", job
    shown = web.get("/api/trainings/deep")
    assert (shown["training"]["method"], shown["training"]["board"]) == ("dqn", "2x2")
    assert [(each["number"], each["is_last"]) for each in shown["checkpoints"]] == [(1, True)]
    for name in ("score", "tiles", "learning"):
        assert web.get(f"/api/trainings/deep/charts/{name}")["table"]["rows"]
    wrong = web.error("POST", "/api/trainings", {**request, "method": "c51", "resume": True})
    assert "was made by dqn" in wrong
    more = web.post("/api/trainings", {**request, "resume": True})
    assert "--resume" in more["command"]
    assert web.wait_for(more["id"], "done", "failed")["state"] == "done"
    checkpoints = web.get("/api/trainings/deep")["checkpoints"]
    assert [each["number"] for each in checkpoints] == [2, 1]
    assert checkpoints[0]["n_moves"] > checkpoints[1]["n_moves"]
    state = web.begin("2x2", seed=1)
    for each in checkpoints:
        assert step(web, state["id"], each["spec"]) == each["spec"] == f"c51:weights=deep@{each['number']}"
    presets = {preset["spec"]: preset for preset in web.get("/api/players?board=2x2")["presets"]}
    assert presets["c51:weights=deep@1"]["minor"]
    assert not presets["c51:weights=deep"]["minor"]
    match = web.post(
        "/api/matches", {"players": [each["spec"] for each in checkpoints], "rules": {"board": "2x2"}, "games": 2}
    )
    assert web.wait_for(match["id"], "done", "failed")["state"] == "done"
    chart = web.get(f"/api/matches/{match['id']}/charts/scores")
    assert [row[0] for row in chart["table"]["rows"]] == ["c51:weights=deep@2", "c51:weights=deep@1"]
    assert str(web.lab.folder) not in json.dumps(chart)
    assert str(web.lab.folder) not in web.client.get(f"/api/matches/{match['id']}/csv").text
    gone = web.ask("DELETE", "/api/trainings/deep/checkpoints/1")
    web.post(f"/api/trash/{gone['undo']}/restore")
    assert web.ask("DELETE", "/api/trainings/deep/checkpoints/1")["deleted"] == "deep@1"
    assert "no checkpoint 1" in web.error("DELETE", "/api/trainings/deep/checkpoints/1")
    web.ask("DELETE", "/api/trainings/deep")
    assert not list(web.lab.library.trainings.glob("deep*"))


def test_a_checkpoint_of_n_tuples_is_kept_when_it_is_wished_for(web):
    request = {"name": "small", "network": "1x3", "minutes": 0.01, "rules": {"board": "2x2"}, "options": {"seed": 3}}
    job = web.post("/api/trainings", request)
    assert web.wait_for(job["id"], "done", "failed")["state"] == "done"
    assert [each["number"] for each in web.get("/api/trainings/small")["checkpoints"]] == [0]
    made = web.post("/api/trainings/small/checkpoints")
    assert (made["number"], made["wished"], made["is_last"]) == (1, True, True)
    state = web.begin("2x2", seed=1)
    assert step(web, state["id"], made["spec"]) == "ntuple:weights=small@1"
    assert [each["name"] for each in web.get("/api/trainings")["trainings"]] == ["small"]
    assert "unknown training" in web.error("POST", "/api/players/check", {"spec": "ntuple:weights=small@2"})
    web.ask("DELETE", f"/api/jobs/{job['id']}")
    assert web.get("/api/trainings/small/charts/score")["table"]["rows"]  # the file has the curve, too
    web.ask("DELETE", "/api/trainings/small")
    assert "unknown training" in web.error("GET", "/api/trainings/small/charts/score")


def test_a_player_that_cannot_play_on_the_board_is_refused(web):
    assert web.post("/api/players/check", {"spec": "optimal", "board": "3x3"})["spec"] == "optimal"
    assert "4x4 is too large" in web.error("POST", "/api/players/check", {"spec": "optimal", "board": "4x4"})


def test_files_of_others_are_shown_by_their_own_names(tmp_path):
    library = Library(tmp_path)
    assert (
        library.write(f"ntuple:weights={tmp_path}/trainings/my@2.safetensors,depth=2") == "ntuple:weights=my@2,depth=2"
    )
    assert library.write(f"optimal:table=({tmp_path}/tables/2x2-16)") == "optimal:table=2x2-16"
    assert library.write("optimal:table=/elsewhere/2x2-16") == "optimal:table=.../2x2-16"
    assert library.write("ntuple:weights=(C:\\nets\\a,b.safetensors)").endswith("b.safetensors)")


def test_the_patterns_of_a_network_are_drawn(web):
    assert web.post("/api/trainings/plan", {"name": "a", "network": "4x6"})["network"] == "4x6"
    address = "/api/trainings/options/patterns"
    answer = web.client.get(address, params={"board": "4x4", "network": "4x6"})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text.startswith("<svg")
    assert answer.text.count("<path") == 2 * 4 * 8
    assert "unknown network" in web.error("GET", f"{address}?network=nosuch")


@pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra deep")
def test_large_trainings_wait_for_each_other_and_one_that_never_fits_is_refused(tmp_path, monkeypatch):
    set_free(monkeypatch, 10**12)
    with serving(tmp_path) as web:
        jobs = web.lab.jobs
        monkeypatch.setattr(jobs, "memory", 20 * 10**9)
        monkeypatch.setattr(jobs, "_launch", lambda job: setattr(job, "state", "running"))  # nothing runs
        widths = ",".join(["8192"] * 8)  # about 13 GB with its optimizer and its replay buffer
        large = {"method": "dqn", "options": {"network": "mlp", "widths": widths, "replay": 100_000_000}}
        begun = [web.post("/api/trainings", {"name": f"large-{i}", **large}) for i in range(3)]
        assert [job["state"] for job in begun] == ["running", "queued", "queued"]
        assert begun[1]["message"].startswith("waiting for memory: it needs about 1")
        assert "and running jobs need 1" in begun[1]["message"]
        monkeypatch.setattr(jobs, "memory", 10**10)
        said = web.error("POST", "/api/trainings", {"name": "too-large", **large})
        assert said.startswith("not enough memory: it needs about 1")
        assert said.endswith("and jobs may use 10.0 GB on this machine")
        for job in jobs.all_jobs():
            job.state = "cancelled"
            jobs._release(job)


# --- a network that is trained further, and where a job runs ---------------------------


def test_a_network_is_trained_further_by_its_name(web):
    body = {"name": "first", "network": "rows", "minutes": 0.001, "rules": {"board": "2x3"}, "options": {}}
    web.wait_for(web.post("/api/trainings", body)["id"], "done")
    again = {**body, "name": "second", "network": None, "options": {"init": "first"}}
    assert "first.safetensors" in web.post("/api/trainings/plan", again)["command"]
    for name in ("nosuch", "/etc/passwd", "../first"):
        said = web.error("POST", "/api/trainings/plan", {**again, "options": {"init": name}})
        assert "expected the name of a training" in said


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/matches/plan", {"players": ["random"]}),
        ("/api/solves/plan", {"rules": {"board": "2x2", "goal": 16}, "objective": "win"}),
        ("/api/trainings/plan", {"name": "far", "options": {}}),
    ],
)
def test_a_job_can_run_on_a_cluster(web, path, body, monkeypatch):
    assert web.client.get("/api/jobs/options").json() == {"has_cluster": True}
    assert "--cluster auto" in web.post(path, {**body, "cluster": "auto"})["command"]
    assert "--cluster" not in web.post(path, {**body, "cluster": None})["command"]
    web.error("POST", path, {**body, "cluster": "10.0.0.5:6379"})  # no address: the server would connect to it
    monkeypatch.setattr(extras, "missing_packages", lambda _: ["ray"])
    assert "ray" in web.error("POST", path, {**body, "cluster": "auto"})
