"""Players of one's own at every command: `--player-file`, the players folder, and `--debug`."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import typer

from lab2048.cli.app import make_app, run
from lab2048.cli.command_tree import walk
from lab2048.players.player_file import players_folder

LAB = [sys.executable, "-m", "lab2048"]
BROKEN = """
import lab2048 as lab

def helper(board):
    return 1 / 0

class Broken(lab.Player):
    "Fails."

    def choose(self, board):
        return helper(board)

lab.register("broken", Broken)
"""


@pytest.fixture
def folder() -> Path:
    players_folder().mkdir(parents=True)
    return players_folder()


@pytest.fixture
def broken(tmp_path: Path, own_registry: None) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


def test_every_command_that_asks_players_takes_player_files() -> None:
    found = {
        " ".join(path)
        for path, command in walk(typer.main.get_command(make_app()))
        if any("--player-file" in parameter.opts for parameter in command.params)
    }
    assert found == {
        *("serve", "tui", "watch", "hint", "match", "regret", "review", "tune", "study run", "bench positions"),
        *("players", "players list", "players show"),
    }


def test_players_of_the_folder_play_without_an_option(
    hug: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hug.rename(folder / "hug.py")
    assert run(["match", "hug", "random", "--rules", "2x2", "--games", "2", "--workers", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["players"][0]["player"] == "hug"
    assert run(["players", "show", "hug", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"][0]["name"] == "room"


@pytest.mark.usefixtures("own_registry")
def test_a_broken_file_of_the_folder_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.py").write_text("import nowhere_to_be_found")
    assert run(["hint", "2 2 / # #", "--player", "greedy"]) == 0
    assert not capsys.readouterr().err  # no player of a file was asked for
    assert run(["players", "list"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lab2048: player file {folder / 'wrong.py'} fails: line 1: ModuleNotFoundError")
    assert run(["hint", "2 2 / # #", "--player", "wrong"]) == 2
    assert f"{folder / 'wrong.py'} fails" in capsys.readouterr().err


def frames(text: str) -> list[str]:
    return [line.strip().partition(", ")[2] for line in text.splitlines() if line.strip().startswith("File")]


@pytest.mark.parametrize("words", [["hint", "2 2 / # #", "--player"], ["match", "--rules", "2x2", "--workers", "2"]])
def test_debug_shows_the_traceback_of_the_player_alone(
    words: list[str], broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*words, "broken", "--player-file", str(broken)]
    assert run(words) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"{broken}, line 5: ZeroDivisionError: division by zero (--debug shows the traceback)")
    assert run([*words, "--debug"]) == 3
    shown = capsys.readouterr().err
    assert frames(shown) == ["line 11, in choose", "line 5, in helper"]
    assert shown.splitlines()[-1] == line.removesuffix(" (--debug shows the traceback)")


def test_an_error_of_a_built_in_player_needs_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """It passes through the generated constructor of a dataclass, which is not the user's code."""
    assert run(["match", "optimal", "--games", "2"]) == 2
    assert capsys.readouterr().err.endswith("with a table that lab2048 solve made\n")


def test_debug_may_stand_before_the_command(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--debug", "hint", "2 2 / # #", "--player", "broken", "--player-file", str(broken)]) == 3
    assert frames(capsys.readouterr().err)


@pytest.mark.usefixtures("own_registry")
def test_debug_shows_where_a_file_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "typo.py").write_text("x = 1\ndef (\n")
    assert run(["players", "--player-file", str(tmp_path / "typo.py"), "--debug"]) == 3
    assert 'typo.py", line 2' in capsys.readouterr().err


def test_a_study_may_have_players_of_ones_own(hug: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "own.toml"
    study.write_text(
        'title = "Own"\nquestion = "How well does it play?"\nsource = "Nobody."\n[[rows]]\nid = "hug"\ntitle = "hug"\n'
        'kind = "match"\nrules = "2x2"\nplayer = "hug"\nfull = 4\nfigures = [{ measure = "score" }]\n'
    )
    words = ["study", "run", str(study), "--folder", str(tmp_path / "results"), "--workers", "2", "--json"]
    assert run([*words, "--player-file", str(hug)]) == 0
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    assert figure["ours"] is not None


def test_the_page_of_serve_has_them(hug: Path, tmp_path: Path) -> None:
    words = [*LAB, "serve", "--port", "0", "--no-open", "--player-file", hug.name]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            with urllib.request.urlopen(address.replace("?", "api/players?"), timeout=120) as answer:
                found = json.load(answer)
        finally:
            server.terminate()
            server.wait(60)
    assert "hug" in [preset["spec"] for preset in found["presets"]]
    assert "hug" in [player["name"] for player in found["players"]]
