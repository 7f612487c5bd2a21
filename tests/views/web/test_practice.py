"""Practice through the page: formations, positions, moves with rates, and mistakes that return."""

from typing import Any

import pytest
from web_server import Web, serving

TRAP = "A A A A / A A A A / 4 32 16 8 / 4 # # 2"


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


def move(web: Web, **fields: Any) -> Any:
    return web.post("/api/practice/snake8-64/move", {"board": TRAP, **fields})


def test_formations_that_ship_are_listed_and_others_can_be_built(web: Web) -> None:
    found = web.get("/api/practice")
    first = found["formations"][0]
    assert (first["name"], first["goal"], first["goal_cells"], first["shipped"]) == ("snake8-64", 64, [3], True)
    assert first["rate"] == pytest.approx(0.976, abs=0.001)
    assert {each["name"]: each["command"] for each in found["unbuilt"]}["L3-64"] == "lab2048 endgame build L3-64"


def test_a_position_is_random_or_given(web: Web) -> None:
    path = "/api/practice/snake8-64/position"
    drawn = web.post(path, {"difficulty": "hard", "seed": 7})
    assert drawn == web.post(path, {"difficulty": "hard", "seed": 7})
    assert len(drawn["legal"]) >= 2
    given = web.post(path, {"board": TRAP})
    assert (given["board"], given["legal"], given["puzzle"]) == (TRAP, [0, 1, 3], None)
    assert given["command"] == f"lab2048 probe snake8-64 '{TRAP}'"
    assert "is no position of snake8-64" in web.error("POST", path, {"board": "4x4"})
    assert "not built yet" in web.error("POST", "/api/practice/L3-512/position", {})
    assert "unknown formation" in web.error("POST", "/api/practice/nothing/position", {})
    assert "unknown difficulty 'mean': expected start, easy, medium or hard" in web.error(
        "POST", path, {"difficulty": "mean"}
    )


def test_a_move_tells_the_rates_of_all_moves(web: Web) -> None:
    made = move(web, move=3, seed=1)
    assert (made["good"], made["best"], made["outcome"]) == (True, 3, None)
    assert [each["grade"] for each in made["values"]] == ["best", "mistake", "blunder"]
    assert made["position"]["ranks"][made["spawn"]["cell"]] == made["spawn"]["rank"]
    again = move(web, move=3, seed=1, worst=1.0)
    assert again["figures"]["streak"] == made["figures"]["streak"] + 1
    assert "is illegal here" in web.error("POST", "/api/practice/snake8-64/move", {"board": TRAP, "move": 2})


def test_a_mistake_is_noted_and_can_be_solved_as_a_puzzle(web: Web) -> None:
    made = move(web, move=1, seed=1)
    assert (made["good"], made["noted"], made["figures"]["streak"]) == (False, True, 0)
    assert made["figures"]["n_mistakes"] == 1
    with web.lab.store._change() as database:
        database.execute("UPDATE puzzles SET due = '2020-01-01T00:00:00+00:00'")
    returned = web.post("/api/practice/snake8-64/position", {})
    assert returned["board"] == TRAP
    assert web.get("/api/puzzles/next")["puzzle"]["id"] == returned["puzzle"]
    solved = move(web, move=3, puzzle=returned["puzzle"])
    assert solved["good"]
    assert web.post("/api/practice/snake8-64/position", {"seed": 1})["puzzle"] is None
