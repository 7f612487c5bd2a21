"""Players of the user on the page: listed, asked, and in matches, which other processes play."""

from pathlib import Path

import pytest
from web_server import serving

from lab2048.players import load_player_file


def test_a_player_of_a_file_is_listed_asked_and_plays_matches(
    hug: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    load_player_file(hug)
    with serving(tmp_path) as web:
        assert "hug" in [preset["spec"] for preset in web.get("/api/players")["presets"]]
        hint = web.post("/api/hint", {"board": "2 2 4 / # # #", "player": "hug"})
        assert hint["command"].endswith("--player hug --player-file hug.py")
        game = web.begin("2x2")
        with web.events(str(game["id"])) as events:
            web.ask("PUT", f"/api/games/{game['id']}/auto", {"player": "hug", "speed": 0})
            next(data for event, data in events if event == "game" and data["turns"])
        body = {"players": ["hug", "random"], "rules": {"board": "2x2"}, "games": 3}
        job = web.post("/api/matches", body)
        assert "--player-file hug.py" in job["command"]
        assert web.wait_for(job["id"], "done", "failed")["state"] == "done"
        body = {"players": ["random"], "rules": {"board": "2x2"}, "games": 3}
        assert "--player-file" not in web.post("/api/matches/plan", body)["command"]


def test_with_debug_an_error_of_a_player_shows_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_registry: None
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(
        "import lab2048 as lab\nclass Broken(lab.Player):\n    'Fails.'\n    def choose(self, board): return 1 / 0\n"
        "lab.register('broken', Broken)\n"
    )
    load_player_file(path)
    monkeypatch.setenv("LAB2048_DEBUG", "1")
    with serving(tmp_path) as web:
        said = web.error("POST", "/api/hint", {"board": "2 2 4 / # # #", "player": "broken"})
    assert "player broken fails" in said
    assert f'File "{path}", line 4, in choose' in capsys.readouterr().err
