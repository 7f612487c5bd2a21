"""The commands around solved boards, as a user types them."""

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab2048.cli.app import run


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables") / "2x3-64"
    assert run(["solve", "2x3", "--goal", "64", "--out", str(folder)]) == 0
    return folder


def as_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_solve_tells_the_answer_and_the_counts(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["solve", "2x2", "--goal", "16", "--tiles"], capsys)
    assert found["value"] == pytest.approx(0.96251125375, rel=1e-12)
    names = ("objective", "states", "states_raw", "lost", "afterstates", "won", "layers")
    assert [found[name] for name in names] == ["win", 35, 196, 6, 23, 5, 11]
    assert {"seconds", "bytes", "peak_memory", "loss_probability"} <= set(found)
    assert found["tiles"]["16"] == pytest.approx(0.96251125375)  # type: ignore[index]
    found = as_json(["solve", "2x2"], capsys)
    assert found["objective"] == "score"
    assert found["value"] == pytest.approx(66.964149457101, rel=1e-12)
    assert run(["solve", "22|##", "--goal", "8", "--spawn", "2:1"]) == 0
    assert "22|##, goal 8: reached with probability" in capsys.readouterr().out


def test_solve_says_before_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["solve", "2x3", "--goal", "64", "--estimate"], capsys)
    assert (found["is_exact"], found["afterstates"], found["states"], found["fits"]) == (True, 4375, 6930, True)
    assert run(["solve", "2x2", "--estimate"]) == 0
    assert "it fits on this machine" in capsys.readouterr().out


def test_probe(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["probe", str(table), "224|#8#"], capsys)
    assert found["best"] in ("left", "right")
    assert [move["move"] for move in found["moves"]] == ["right", "down", "left"]  # type: ignore[attr-defined]
    assert found["value"] == pytest.approx(0.938744221, abs=1e-8)
    assert run(["probe", str(table), "224|#8#"]) == 0
    assert "worst spawns after" in capsys.readouterr().out


def test_count(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["count", "2x3", "--goal", "64"], capsys)
    assert (found["states"], found["states_raw"], found["n_layers"]) == (6202, 24282, 55)
    assert sum(layer["states"] for layer in found["layers"]) == 6202  # type: ignore[attr-defined]
    assert run(["count", "2x2", "--no-layers"]) == 0
    assert capsys.readouterr().out.split() == ["all", "74", "36", "67", "0", "raw", "476", "186", "464", "0"]


def test_verify(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(["table", "verify", str(table), "--sample", "0"], capsys)["checked"] == 4375
    assert run(["table", "verify", str(table), "--sample", "100"]) == 0


def test_a_table_can_be_asked_in_sql(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.sqlite"
    assert run(["table", "export", str(table), "--out", str(path)]) == 0
    assert capsys.readouterr().err == ""
    store = sqlite3.connect(path)
    assert store.execute("SELECT count(*) FROM afterstates").fetchone() == (4375,)
    hardest = "SELECT ranks, value FROM afterstates WHERE n_empty >= 2 ORDER BY value LIMIT 3"
    assert all(len(ranks) == 6 and 0 <= value < 0.5 for ranks, value in store.execute(hardest))
    assert dict(store.execute("SELECT * FROM problem"))["objective"] == "win"
    store.close()
    assert run(["table", "export", str(table), "--out", str(path)]) == 3
    capsys.readouterr()
    assert run(["export-table", str(table), "--out", str(tmp_path / "t.csv")]) == 0
    assert capsys.readouterr().err == "lab2048 export-table is now lab2048 table export\n"
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert len(rows) == 4375
    assert all(abs(float(row["value"]) + float(row["loss"]) - 1) < 1e-12 for row in rows)


def test_regret(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["regret", str(table), "random", f"optimal:table={table}", "--games", "30"]
    found = as_json(words, capsys)
    worst, best = found["players"]  # type: ignore[misc]
    assert best["loss_per_game"] == 0 == len(best["worst"])
    assert worst["loss_per_game"] > 0.5
    assert worst["worst"][0]["loss"] >= worst["worst"][-1]["loss"] > 0
    assert run(words) == 0
    captured = capsys.readouterr()
    assert "loses" in captured.out
    assert "--players" not in captured.err
    assert run(["regret", str(table), "--players", "random first", "-p", "greedy", "--games", "1"]) == 0
    captured = capsys.readouterr()
    assert "--players is no longer needed: lab2048 regret DIR PLAYER..." in captured.err
    assert captured.out.count(": loses ") == 3
    assert run(["regret", str(table)]) == 2
    assert "no player is given: expected as in lab2048 regret" in capsys.readouterr().err


def test_the_optimal_player_plays_from_a_table(
    table: Path, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["match", f"optimal:table={table}", "--rules", "2x3", "--goal", "64", "--games", "200", "--workers", "1"]
    [player] = as_json(words, capsys)["players"]  # type: ignore[misc]
    low, high = player["reached"]["64"]["ci95"]
    assert low < 0.939263692 < high


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["solve", "2x2", "--objective", "win"], "(--goal TILE)", 2),
        (["solve", "2x2", "--objective", "fun"], "unknown objective 'fun': expected one of score, win", 2),
        (["solve", "4x4"], "without a goal tiles above 32768 could appear on 4x4", 2),
        (["solve", "4x4", "--estimate"], "expected a goal of at most 32768, or fewer cells (--goal TILE)", 2),
        (["solve", "8x8"], "64 cells are too many to solve: expected at most 16", 3),
        (["solve", "2x2", "--memory", "much"], "expected a size such as 8G", 2),
        (["solve", "2x2", "--memory", "10M"], "memory 10M is too little: expected at least 384M", 2),
        (["solve", "2x2", "--memory", "1"], "memory 1B is too little: expected at least 384M", 2),
        (["solve", "2x2", "--memory", "0"], "memory 0B is too little: expected at least 384M", 2),
        (["solve", "2x2", "--memory", "1.5K"], "memory 1.5K is too little: expected at least 384M", 2),
        (["solve", "2x2", "--workers", "-1"], "workers -1 is out of range", 2),
        (["solve", "2x2", "--goal", "7"], "goal 7 is not a tile", 2),
        (
            ["probe", "nowhere", "2x2"],
            "there is no folder nowhere: expected the folder of a solved board, or a formation; lab2048 endgame list",
            3,
        ),
        (["table"], "expected verify, list, delete, export", 2),
        (["hint", "3x3", "-p", "optimal:table=nowhere"], "3x3 has no tiles yet: expected a board in play", 3),
        (["hint", "24|42", "-p", "optimal:table=nowhere"], "no move is possible", 3),
        (
            ["hint", "22#|###|###", "-p", "optimal:table=nowhere"],
            "there is no folder nowhere: expected the folder of a solved board",
            3,
        ),
    ],
)
def test_what_is_wrong_is_one_line(words: list[str], says: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == code
    [line] = capsys.readouterr().err.strip().splitlines()
    assert says in line


def test_a_table_of_another_board_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["probe", str(table), "22|##"]) == 3
    assert run(["table", "export", str(table), "--to", "paper"]) == 2
    assert run(["solve", "2x2", "--goal", "16", "--out", str(table)]) == 3
    assert run(["match", f"optimal:table={table}", "--rules", "2x2", "--no-keep", "--games", "1"]) == 3
    assert "is not for 2x2" in capsys.readouterr().err


def test_kill_9_at_ten_moments_changes_no_file(tmp_path: Path) -> None:
    """Killed when a number of lines are in the journal, so that no clock decides what is tested."""
    words = [sys.executable, "-m", "lab2048", "solve", "2x4", "--goal", "32", "--workers", "1", "--json", "--out"]
    subprocess.run([*words, str(tmp_path / "whole")], check=True, capture_output=True)
    rng, cut = random.Random(4), tmp_path / "cut"
    n_killed = 0
    for n_lines in sorted(rng.sample(range(1, 86), 10)):
        process = subprocess.Popen([*words, str(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (cut / "manifest.json").exists():
            journal = cut / "journal.jsonl"
            if journal.exists() and journal.read_bytes().count(b"\n") >= n_lines:
                os.kill(process.pid, signal.SIGKILL)
                n_killed += 1
                break
            time.sleep(0.001)  # not to wait for it, but to leave the processor to it
        process.wait()
    assert n_killed > 0
    done = subprocess.run([*words, str(cut)], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["afterstates"] == 30941
    names = {path.name for path in (tmp_path / "whole").iterdir()}
    assert {path.name for path in cut.iterdir()} == names
    for name in names - {"solved.json"}:
        assert (cut / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
