"""Jobs on the page: the commands that it shows, in processes of their own."""

import csv
import io
import json

import pytest
from web_server import serving

from lab2048.jobs.job import EVENTS, Job
from lab2048.jobs.progress import MatchProgress
from lab2048.records.store import Store
from lab2048.views.charts import solve_chart
from lab2048.views.web.services.event_bus import CROWDED, Bus, News
from lab2048.views.web.services.player_names import Library


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


def test_a_match_is_played_kept_charted_and_compared(web):
    request = {"players": ["random", "first:order=as"], "rules": {"board": "2x2"}, "games": 50, "seed": 5}
    job = web.post("/api/matches", request)
    assert job["command"] == "lab2048 match random first:order=as --games 50 --seed 5 --rules 2x2"
    assert job["command"] == web.post("/api/matches/plan", request)["command"]
    job = web.wait_for(job["id"], "done", "failed")
    assert (job["state"], job["progress"], job["message"]) == ("done", 1.0, "100 of 100 games")
    result = web.get(f"/api/matches/{job['id']}")["result"]
    assert [player["games"] for player in result["players"]] == [50, 50]
    assert result["paired"][0]["games"] == 50
    with Store.open(web.lab.store.path, create=False) as store:
        assert len(store.entries(kind="match")) == 100
    for name in ("scores", "tiles", "distribution", "paired"):
        chart = web.get(f"/api/matches/{job['id']}/charts/{name}")
        assert chart["figure"]["data"]
        rows = list(csv.reader(io.StringIO(web.client.get(chart["csv"]).text)))
        assert rows[0] == chart["table"]["columns"]
        assert len(rows) - 1 == len(chart["table"]["rows"]) > 0
    assert web.client.get(f"/api/matches/{job['id']}/csv").text.startswith("player,games,")
    compared = web.get(f"/api/matches/compare?ids={job['id']},{job['id']}")
    assert len(compared["table"]["rows"]) == 4
    assert web.get("/api/jobs?kind=match")["jobs"][0]["id"] == job["id"]


def test_a_job_that_fails_says_why(web):
    # The page cannot ask for this, so that the command must refuse it.
    job = web.lab.jobs.start("match", "wrong", ["match", "nobody"], request=_request(["first"]), resume_words=[])
    job = web.wait_for(job.id, "done", "failed")
    assert job["state"] == "failed"
    assert "unknown player 'nobody'" in job["message"]
    assert not job["can_resume"]
    assert any("nobody" in line for line in web.get(f"/api/jobs/{job['id']}/log")["lines"])
    gone = web.ask("DELETE", f"/api/jobs/{job['id']}")
    assert gone["deleted"] == job["id"]
    assert "there is no job" in web.error("GET", f"/api/jobs/{job['id']}")
    assert web.post(f"/api/trash/{gone['undo']}/restore") == {"restored": job["id"]}
    assert web.get(f"/api/jobs/{job['id']}") == job
    assert "it is gone" in web.error("POST", f"/api/trash/{gone['undo']}/restore", {})


def test_a_cancelled_match_keeps_its_games_and_goes_on(web):
    player = "expectimax:depth=2"  # minutes for so many games, on any machine
    request = {"players": [player], "games": 100_000, "seed": 6}
    job = web.post("/api/matches", request)
    with web.events() as events:
        next(data for event, data in events if event == "job" and data["id"] == job["id"] and data["progress"])
    assert web.post(f"/api/jobs/{job['id']}/cancel")["state"] == "ending"
    job = web.wait_for(job["id"], "cancelled", "failed")
    assert (job["state"], job["can_resume"]) == ("cancelled", True)
    n_kept = web.get(f"/api/matches/{job['id']}")["result"]["players"][0]["games"]
    with Store.open(web.lab.store.path, create=False) as store:
        assert n_kept <= len([entry for entry in store.entries(kind="match") if entry.player == player])
    assert "expected a running job" in web.error("POST", f"/api/jobs/{job['id']}/cancel", {})
    job = web.post(f"/api/jobs/{job['id']}/resume")
    assert job["command"].endswith("--resume")
    with web.events() as events:
        for event, data in events:
            if event == "job" and data["id"] == job["id"] and "of" in data["message"]:
                assert int(data["message"].partition(" ")[0].replace(",", "")) >= n_kept
                break
    web.post(f"/api/jobs/{job['id']}/cancel")
    web.wait_for(job["id"], "cancelled")


def test_a_board_is_solved_and_its_table_looked_at(web):
    rules = {"board": "2x2", "goal": 16}
    job = web.post("/api/solves", {"rules": rules, "objective": "win"})
    job = web.wait_for(job["id"], "done", "failed")
    assert job["state"] == "done", job
    [table] = web.get("/api/tables")["tables"]
    assert table["job"] == job["id"]
    assert table["value"] == pytest.approx(0.96251125375)
    shown = web.get(f"/api/tables/{table['name']}")
    assert shown["chart"]["table"]["rows"]
    assert web.client.get(shown["chart"]["csv"]).text.startswith("tile sum,states,afterstates\n")
    layers = web.get(f"/api/solves/{job['id']}/chart")
    assert sum(row[1] for row in layers["table"]["rows"]) == table["states"]
    assert {row[2] for row in layers["table"]["rows"]} == {"valued"}
    assert web.client.get(layers["csv"]).text.startswith("tile sum up to,states,state\n")
    path = f"/api/tables/{table['name']}/probe"
    probed = web.post(path)
    assert probed["ranks"] == shown["start"]
    assert probed["best"] in [move["move"] for move in probed["moves"]]
    assert sum(spawn["probability"] for spawn in probed["spawns"]) == pytest.approx(1)
    after = probed["spawns"][-1]
    assert web.post(path, {"ranks": after["ranks"]})["value"] == pytest.approx(after["value"])
    assert web.post(path, {"board": "88|##"})["value"] == 1
    hard = web.get(f"/api/tables/{table['name']}/hardest?n=3")
    assert hard["positions"]
    assert all(position["value"] > position["obvious_value"] for position in hard["positions"])
    for move in probed["moves"]:  # every move can be followed, not only the best
        followed = web.post(path, {"ranks": probed["ranks"], "move": move["move"]})
        assert followed["followed"] == move["move"]
        expected = sum(spawn["probability"] * spawn["value"] for spawn in followed["spawns"])
        assert expected == pytest.approx(move["value"])
    assert "exists already" in web.error("POST", "/api/solves", {"rules": rules, "objective": "win"})
    hint = web.post("/api/hint", {"board": "22|##", "rules": rules, "player": table["spec"]})
    assert (hint["player"], hint["unit"]) == (table["spec"], "chance")
    presets = web.get("/api/players?board=2x2")["presets"]
    assert (presets[0]["spec"], presets[0]["fits"]) == (table["spec"], True)  # who knows best comes first
    presets = web.get("/api/players?board=3x3")["presets"]
    assert (presets[-1]["spec"], presets[-1]["fits"]) == (table["spec"], False)


def test_a_network_is_trained_and_plays(web):
    request = {"name": "tiny", "network": "1x3", "minutes": 0.02, "rules": {"board": "2x3"}, "options": {"seed": 3}}
    assert "--network 1x3" in web.post("/api/trainings/plan", request)["command"]
    job = web.post("/api/trainings", request)
    job = web.wait_for(job["id"], "done", "failed")
    assert job["state"] == "done", job
    [training] = web.get("/api/trainings")["trainings"]
    assert (training["name"], training["board"], training["job"]) == ("tiny", "2x3", job["id"])
    for name in ("score", "tiles", "learning"):
        assert web.get(f"/api/trainings/tiny/charts/{name}")["table"]["rows"]
    state = web.begin("2x3", seed=1)
    change = web.post(f"/api/games/{state['id']}/step", {"player": "ntuple:weights=tiny"})
    assert change["state"]["mover"] == "ntuple:weights=tiny"
    assert "exists already" in web.error("POST", "/api/trainings", request)
    more = web.post("/api/trainings/plan", {**request, "resume": True})["command"]
    assert more.endswith("--resume")
    before = web.get("/api/trainings")
    gone = web.ask("DELETE", "/api/trainings/tiny")
    assert web.get("/api/trainings")["trainings"] == []
    assert web.get("/api/trash")["bytes"] > 0
    web.post(f"/api/trash/{gone['undo']}/restore")
    assert web.get("/api/trainings") == before
    assert web.ask("DELETE", "/api/trainings/tiny")["deleted"] == "tiny"
    assert web.ask("DELETE", "/api/trash") == {"bytes": 0}
    assert web.get("/api/trainings")["trainings"] == []


def test_an_estimate_says_whether_a_board_can_be_solved_here(web):
    small = web.post("/api/design/estimate", {"rules": {"board": "2x3", "goal": 32}, "objective": "win"})
    assert small["verdict"].startswith("can be solved here")
    design = web.post("/api/design", {"board": "5x5"})
    assert not design["can_solve"]
    assert "too many" in design["why_not"]
    design = web.post("/api/design", {"board": "4x4", "goal": 65536})
    assert "expected a goal of at most" in design["why_not"]
    large = web.post("/api/design/estimate", {"rules": {"board": "4x4", "goal": 2048}, "objective": "win"})
    assert not large["fits"]
    assert "a goal below 2048" in large["verdict"]


def test_a_slow_tab_gets_the_newest_news_of_each_kind():
    import asyncio

    async def listen() -> list[News]:
        bus = Bus()
        with bus.listen("slow-tab", frozenset({1})) as tab:
            for i in range(3 * CROWDED):
                bus.tell(News("game", json.dumps(i), "game 1", lambda i=i: json.dumps([i])), game=1)
                bus.tell(News("game", "0", "game 2"), game=2)
            return bus.take(tab)

    news = asyncio.run(listen())
    assert len(news) <= CROWDED
    assert json.loads(news[-1].data) in (3 * CROWDED - 1, [3 * CROWDED - 1])


def test_many_tabs_get_only_the_newest_progress_of_each_job(monkeypatch):
    import asyncio

    from lab2048.views.web.services import event_bus

    async def listen() -> list[str]:
        bus = Bus()
        with bus.listen("first-tab", frozenset()) as tab, bus.listen("second-tab", frozenset()):
            for i in range(3):
                bus.tell_progress(News("job", f"match {i}", "job match-1"))
                bus.tell_progress(News("job", f"train {i}", "job train-1"))
            assert not bus.take(tab)
            await tab.bell.wait()
            return [news.data for news in bus.take(tab)]

    monkeypatch.setattr(event_bus, "FEW_TABS", 1)
    assert asyncio.run(listen()) == ["match 2", "train 2"]


def _request(specs):
    rules = {"board": "2x2", "goal": 2048, "spawn": "2:0.9,4:0.1", "start": 2, "spawner": "fair"}
    return {"players": specs, "specs": specs, "rules": rules, "games": 1, "seed": 1}


def test_matches_of_earlier_servers_name_their_players_as_the_page_does(tmp_path):
    library = Library(tmp_path)
    spec = f"ntuple:weights={library.trainings / 'my.safetensors'}"
    job = Job("match-1", "match", "my", [], [], _request([spec, "first"]), "2026-01-01T00:00:00")
    job.folder = tmp_path
    event = {"event": "games", "player": spec, "cpu_seconds": 1.0, "games": []}
    (tmp_path / EVENTS).write_text(f"{json.dumps(event)}\n")
    progress = MatchProgress(job, library.write)
    progress.catch_up()
    assert progress.match.results["ntuple:weights=my"].cpu_seconds == 1.0
    progress.read({"event": "end", "n_done": 0, "n_all": 2, "players": [{"player": spec, "games": 0}]})
    assert [player["player"] for player in progress.result()["players"]] == ["ntuple:weights=my"]


def test_layers_that_were_not_told_one_by_one_are_drawn_as_their_mean():
    chart = solve_chart({4: 10, 6: 30, 12: 90}, valued_from=12)
    assert chart.rows == [[4, 10, "found"], [6, 20, "found"], [12, 60, "valued"]]
    valued, found = chart.figure["data"]
    assert list(found["y"]) == [10, 20]
    assert list(valued["y"]) == [20]  # three layers of tile sums 8, 10 and 12
    assert (list(found["x"]), list(valued["x"])) == ([4, 6], [10])
    assert solve_chart({}, None).rows == []
    assert len(solve_chart({2 * i: i for i in range(1, 2001)}, None).rows) <= 200
