"""The limits of the page hold however a player is written."""

from pathlib import Path

import pytest
from web_server import Web, serving

from lab2048.errors import UsageError
from lab2048.views.web.services.player_names import Library


@pytest.mark.parametrize(
    "spec",
    [
        "expectimax:depth=99",
        "expectimax:depth=(99)",
        "expectimax:depth=( 99 )",
        "expectimax:depth=0_99",
        "expectimax:cut=(0)",
        "expectimax:cut=(0.0),depth=5",
        "expectimax:cut=0,depth=2,deepen=tiles",
        "expectimax:threads=(1000000)",
        "expectimax:ms=(5001)",
        "ntuple:depth=(11)",
        "ntuple:depth=5,cut=(0)",
        "lookahead:depth=(5)",
        "mcts:iterations=(10000000)",
        "mcts:iterations=2e5",
        "montecarlo:rollouts=(1000000)",
        "montecarlo:limit=(100000000000000000000000)",
        "shield:inner=(expectimax:depth=(99))",
        "shield:inner=expectimax:depth=99",
        "shield:inner=(shield:inner=(lookahead:depth=(5)))",
    ],
)
def test_a_player_that_is_too_slow_is_refused_however_it_is_written(spec: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"too slow for the page|out of range|expected a whole number"):
        Library(tmp_path).read(spec)


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("expectimax:depth=(8)", "expectimax:depth=8"),
        ("expectimax:cut=(0),depth=4", "expectimax:depth=4,cut=0.0"),
        ("expectimax:cut=0,ms=100", "expectimax:cut=0.0,ms=100.0"),
        ("expectimax:mode=optimal", "expectimax:mode=optimal"),
        ("lookahead:depth=(4)", "lookahead:depth=4"),
        ("mcts", "mcts"),
        ("shield:inner=(expectimax:depth=(3))", "shield:inner=expectimax:depth=3"),
    ],
)
def test_a_player_within_the_limits_is_accepted(spec: str, canonical: str, tmp_path: Path) -> None:
    assert Library(tmp_path).read(spec) == canonical


def test_every_door_of_the_server_has_the_limits(tmp_path: Path) -> None:
    spec = "expectimax:depth=(99)"
    with serving(tmp_path) as web:
        game = web.begin()["id"]
        for method, path, body in (
            ("POST", "/api/hint", {"game": game, "player": spec}),
            ("POST", f"/api/games/{game}/review", {"reviewer": spec}),
            ("POST", f"/api/games/{game}/position", {"at": 0, "reviewer": spec}),
            ("POST", f"/api/games/{game}/step", {"player": spec}),
            ("PUT", f"/api/games/{game}/auto", {"player": spec, "speed": 8, "running": True}),
            ("POST", "/api/games", {"rules": {"board": "4x4"}, "player": spec}),
            ("POST", "/api/matches", {"players": [spec], "rules": {"board": "4x4"}}),
            ("POST", "/api/players/check", {"spec": spec}),
            ("POST", "/api/trainings", {"name": "a", "method": "distil", "options": {"teacher": spec}}),
        ):
            assert_refused(web, method, path, body)


def assert_refused(web: Web, method: str, path: str, body: object) -> None:
    assert "depth=99 is too slow for the page" in web.error(method, path, body), path
