"""`lab2048 endgame` and `lab2048 probe` of its tables, as a user types them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab2048.cli.app import run
from lab2048.solver.endgame.probe import SHIPPED

MAP = "A A A # / A A # G / # # # #"
BOARD = "1024 256 64 2 / 512 128 4 2 / # # # 2"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "lab2048" / "endgames"


def as_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def error_of(words: list[str], capsys: pytest.CaptureFixture[str], code: int) -> str:
    capsys.readouterr()
    assert run(words) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 or all(len(line) <= 100 for line in lines)
    return " ".join(lines)


def test_build_list_and_probe_by_name(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["endgame", "list"]) == 0
    shown = capsys.readouterr().out
    assert "  A A A A   snake8-64    228,974 positions, 618 kB, " in shown
    assert "built" not in shown.replace("are built in", "")
    assert "comes with lab2048" in shown
    shipped = as_json(["endgame", "build", "snake8-64"], capsys)
    assert (shipped["table"], shipped["afterstates"]) == (str(SHIPPED / "snake8-64"), 228_974)
    words = ["endgame", "build", "snake8-64", "--out", str(data_folder / "snake8-64")]
    built = as_json(words, capsys)
    assert (built["table"], built["afterstates"]) == (str(data_folder / "snake8-64"), 228_974)
    assert (built["value"], built["bytes"]) == (shipped["value"], shipped["bytes"])
    assert int(str(built["bytes"])) <= 3 * 228_974
    again = as_json(words, capsys)
    assert {name: again[name] for name in ("value", "bytes", "layers")} == {
        name: built[name] for name in ("value", "bytes", "layers")
    }
    words = ["endgame", "build", "pdf8-64", "--out", str(data_folder / "snake8-64")]
    assert "holds the table of another formation" in error_of(words, capsys, 3)
    listed = {row["name"]: row for row in as_json(["endgame", "list"], capsys)["formations"]}  # type: ignore[attr-defined]
    assert listed["snake8-64"]["table"] == str(data_folder / "snake8-64")
    assert (listed["snake8-64"]["formation"], listed["snake8-64"]["free_cells"]) == ("AAAA|AAAA|###G|####", 8)
    assert listed["L3-256"]["table"] is None
    board = "8192 2048 512 128 / 4096 1024 256 64 / 2 2 2 4 / # # 2 2"
    found = as_json(["probe", "snake8-64", board], capsys)
    assert (found["best"], round(float(str(found["value"])), 3)) == ("right", 0.977)
    assert (found["position"], found["leaving"]) == ("AAAA|AAAA|2224|##22", ["down"])
    assert run(["probe", "snake8-64", board]) == 0
    assert "down        moves a large tile" in capsys.readouterr().out


def test_your_own_formation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "mine")
    words = ["endgame", "build", "--formation", MAP, "--goal", "32"]
    estimate = as_json([*words, "--estimate"], capsys)
    built = as_json([*words, "--out", out], capsys)
    assert estimate["afterstates"] == built["afterstates"]
    assert built["rules"]["board"] == "AAA#|AA#G|####"  # type: ignore[index]
    found = as_json(["probe", out, BOARD], capsys)
    assert found["formation"] == "AAA#|AA#G|####"
    assert as_json(["table", "verify", out, "--sample", "0"], capsys)["checked"] == built["afterstates"]


def test_a_formation_with_free_large_tiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, words = str(tmp_path / "mine"), ["endgame", "build", "--formation", "FFF|###|###", "--goal", "32"]
    estimate = as_json([*words, "--estimate"], capsys)
    built = as_json([*words, "--out", out], capsys)
    assert estimate["afterstates"] == built["afterstates"] == 54_062
    assert int(str(built["bytes"])) <= 3 * 54_062
    # Of a solver in plain Python that shares no code with lab2048: see tests/solver/endgame/test_free_tiles.py.
    assert built["value"] == pytest.approx(0.979303101713946, abs=1e-12)
    assert as_json([*words, "--out", out], capsys)["bytes"] == built["bytes"]
    assert as_json(["table", "verify", out, "--sample", "0"], capsys)["checked"] == 54_062
    board = "# 2 64 / 32 4 # / 2 # 128"
    found = as_json(["probe", out, board], capsys)
    assert (found["formation"], found["position"], found["leaving"]) == ("FFF|###|###", "#2F|F4#|2#F", [])
    assert run(["probe", out, board]) == 0
    assert "FFF|###|###, goal 32, as long as the large tiles do not merge" in capsys.readouterr().out
    says = error_of(["probe", out, "# 2 64 / 64 4 # / 2 # 128"], capsys, 3)
    assert "expected different tiles of at least 32 on any 3 cells, and smaller ones elsewhere" in says
    listed = {row["name"]: row for row in as_json(["endgame", "list"], capsys)["formations"]}  # type: ignore[attr-defined]
    assert (listed["free8-64"]["free_cells"], listed["free8-64"]["afterstates"]) == (8, 381_852_853)


def test_commands_take_rules_with_free_large_tiles(capsys: pytest.CaptureFixture[str]) -> None:
    solved = as_json(["solve", "FFF|###|###", "--goal", "16"], capsys)
    assert 0 < float(str(solved["value"])) < 1
    assert as_json(["count", "FFF|###", "--goal", "8"], capsys)["layers"]
    hint = as_json(["hint", "F 2 2 / # F # / # # F", "--player", "expectimax:depth=2"], capsys)
    assert hint["best"] in ("up", "right", "down", "left")
    assert run(["match", "random", "first", "--rules", "FFF|###|###", "--games", "3", "--no-keep"]) == 0
    assert "tiles above 16384 could be made" in error_of(["play", "--rules", "F###|####|####|####"], capsys, 3)
    says = error_of(["hint", "F 2 2 / # F # / # # F", "--player", "ntuple"], capsys, 3)
    assert "expected one for" in says


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "x")]
    assert "expected the name of a formation, such as L3-256" in error_of(["endgame", "build"], capsys, 2)
    assert "did you mean L3-256?" in error_of(["endgame", "build", "L3-255"], capsys, 2)
    words = ["endgame", "build", "--formation", MAP]
    assert "needs a goal" in error_of([*words, *out], capsys, 2)
    assert "expected --out DIR" in error_of([*words, "--goal", "32"], capsys, 2)
    assert "has its goal in its name" in error_of(["endgame", "build", "L3-256", "--goal", "32"], capsys, 2)
    says = error_of(["endgame", "build", "--formation", "###|###", "--goal", "32", *out], capsys, 3)
    assert "has no anchors" in says
    assert "or F for large tiles that move" in says
    says = error_of(["endgame", "build", "--formation", "AAA|AAA", "--goal", "32", *out], capsys, 3)
    assert "no two cells of the map are neighbours" in says
    assert "lab2048 endgame build L3-256" in error_of(["probe", "L3-256", "2 2 / # #"], capsys, 3)
    assert run([*words, "--goal", "16", *out]) == 0
    assert "is not on" in error_of(["probe", out[1], "2 2 # # / # # # # / # # # #"], capsys, 3)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "solved.json"}


def test_a_killed_build_continues_to_the_same_files(tmp_path: Path) -> None:
    words = ["endgame", "build", "--formation", "AAAA|AA#G|####", "--goal", "64", "--workers", "1"]
    assert run([*words, "--out", str(tmp_path / "whole")]) == 0
    cut = [*words, "--out", str(tmp_path / "cut")]
    for n_events in (1, 2):
        command = [sys.executable, "-m", "lab2048", *cut, "--jsonl"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ, text=True) as build:
            assert build.stdout is not None
            for _ in range(n_events):
                build.stdout.readline()
            build.send_signal(signal.SIGKILL)
    assert not (tmp_path / "cut" / "manifest.json").exists()
    assert run(cut) == 0
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_hint_says_when_a_value_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    board = "8192 2048 512 128 / 4096 1024 256 64 / 2 2 2 4 / # # 2 2"
    words = ["hint", board, "--player", "expectimax:depth=1,endgames=shipped"]
    found = as_json(words, capsys)
    assert found["best"] == "right"
    endgame = found["endgame"]
    assert isinstance(endgame, dict)
    assert (round(endgame["rate"], 3), endgame["goal"], endgame["formation"]) == (0.977, 64, "AAAA|AAAA|###G|####")
    assert run(words) == 0
    assert "right: 97.7% to make the next 64, exact while the large tiles stay" in capsys.readouterr().out
    assert as_json(["hint", "2 4 # # / # # # # / # # # # / # # # #", *words[2:]], capsys)["endgame"] is None
