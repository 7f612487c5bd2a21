"""The board of the day: the same seed for everyone, your result beside the champion's."""

import time
from datetime import date

import pytest
from web_server import Web, serving

from lab2048.arena import daily
from lab2048.rules import Rules


@pytest.fixture
def web(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daily, "champion", lambda: "greedy")
    monkeypatch.setattr("lab2048.views.web.routes.daily.champion", lambda: "greedy")
    with serving(tmp_path) as found:
        yield found


def test_the_seed_depends_on_the_day_alone() -> None:
    seeds = [daily.daily_seed(date(2026, 11, day)) for day in range(1, 29)]
    assert len(set(seeds)) == len(seeds)
    assert daily.daily_seed(date(2026, 11, 1)) == seeds[0]


def test_your_result_stands_beside_the_champions(web: Web) -> None:
    day = web.get("/api/daily")
    assert day["mine"] is None
    while day["champion"] is None:
        time.sleep(0.02)
        day = web.get("/api/daily")
    theirs = web.get(f"/api/games/{day['champion']['game']}/replay")["state"]
    assert (theirs["seed"], theirs["score"], theirs["over"]) == (day["seed"], day["champion"]["score"], True)
    mine = web.begin(seed=day["seed"])
    assert web.get(f"/api/games/{mine['id']}")["day"] == day["date"]
    assert mine["ranks"] == web.get(f"/api/games/{day['champion']['game']}/replay")["first"]
    state = web.post(f"/api/games/{mine['id']}/moves", {"moves": "wasd" * 5})["state"]
    assert web.get("/api/daily")["mine"] == {
        "game": mine["id"], "score": state["score"], "highest": state["highest"], "n_moves": state["n_moves"],
    }  # fmt: skip
    assert Rules.from_text("4x4") == daily.RULES
