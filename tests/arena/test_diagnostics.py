"""The check-up: a healthy machine, and each thing that can be wrong with one."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from played import play_many

from lab2048.arena import diagnostics
from lab2048.cli.app import run
from lab2048.extras import EXTRAS
from lab2048.players.player_file import players_folder
from lab2048.records.store import Store
from lab2048.rules import Rules


def findings(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    assert run(["doctor", "--json"]) == code
    data = json.loads(capsys.readouterr().out)
    assert data["is_healthy"] == (code == 0)
    return {finding["name"]: finding for finding in data["findings"]}


def test_nothing_is_broken_here(capsys: pytest.CaptureFixture[str]) -> None:
    found = findings(capsys)
    assert {"program", "cores", "memory", "huge pages", "kernel cache", "player files", "store", "disk"} <= set(found)
    assert {f"extra {name}" for name in EXTRAS} <= set(found)
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "created by the first game" in out
    assert [name for name, each in found.items() if "ray" in each["found"].split()] in ([], ["extra cluster"])
    assert "! " not in out


def test_a_cluster_that_does_not_answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="needs the extra cluster")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # nobody listens there
    cluster = findings(capsys)["cluster"]
    assert (cluster["state"], cluster["advice"]) == ("note", "unset RAY_ADDRESS")
    assert "there is no Ray cluster at 127.0.0.1:1" in cluster["found"]


def test_a_store_that_is_none(capsys: pytest.CaptureFixture[str], own_store: Path) -> None:
    own_store.write_text("someone's notes\n" * 100)
    store = findings(capsys, 1)["store"]
    assert store["state"] == "problem"
    assert store["advice"]
    assert own_store.read_text().startswith("someone's notes")


@pytest.mark.usefixtures("own_registry")
def test_broken_player_files_are_listed_with_their_reason(capsys: pytest.CaptureFixture[str]) -> None:
    players_folder().mkdir(parents=True)
    (players_folder() / "whole.py").write_text("x = 1\n")
    for name, text in (("bad", "import nowhere_to_be_found"), ("worse", "1 / 0")):
        (players_folder() / f"{name}.py").write_text(text)
    found = findings(capsys, 1)["player files"]
    assert found["state"] == "problem"
    assert "bad.py fails: line 1: ModuleNotFoundError: No module named 'nowhere_to_be_found'" in found["found"]
    assert "worse.py fails: line 1: ZeroDivisionError" in found["found"]
    assert found["advice"] == "fix the file, or move it out of the players folder"
    assert "whole.py" not in found["found"]


def test_games_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "random", "--games", "3", "--rules", "2x2"]) == 0
    capsys.readouterr()
    assert findings(capsys)["store"]["found"].endswith("3 games")


def test_what_was_written_last_is_part_of_the_store(capsys: pytest.CaptureFixture[str], own_store: Path) -> None:
    with Store.open(own_store) as store:
        run_id = store.begin_run("match", Rules.from_text("3x3"), "random", 7)
        beside = own_store.with_name(f"{own_store.name}-wal")
        size_before, size_beside = own_store.stat().st_size, beside.stat().st_size
        store.keep(run_id, play_many(200))
        assert own_store.stat().st_size == size_before  # the games are all beside it as yet
        assert beside.stat().st_size > size_beside
        size = int(findings(capsys)["store"]["found"].split(", ")[1].split()[0])
        assert 1024 * size > own_store.stat().st_size + beside.stat().st_size


def test_notes_are_counted_in_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "diagnose", lambda *_: [])
    assert run(["doctor"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no problems, no notes"
    monkeypatch.setenv("LAB2048_STROE", "x")
    assert run(["doctor"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no problems, 1 note"
    monkeypatch.setattr(diagnostics, "diagnose", lambda *_: [diagnostics.Finding("x", diagnostics.PROBLEM, "y")] * 2)
    assert run(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 problems, 1 note"


@pytest.mark.parametrize(("free", "state", "code"), [(10**12, "good", 0), (10**9, "note", 0), (10**7, "problem", 1)])
def test_disk(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, free: int, state: str, code: int
) -> None:
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert findings(capsys, code)["disk"]["state"] == state


def test_a_cache_that_cannot_be_written(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab2048.kernels._jit.CAN_KEEP", False)
    monkeypatch.setattr("lab2048.kernels._jit.IS_COMPILED", True)
    assert "LAB2048_CACHE" in findings(capsys, 1)["kernel cache"]["advice"]


@pytest.mark.parametrize(("text", "state"), [("always [madvise] never", "good"), ("always madvise [never]", "note")])
def test_huge_pages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, state: str
) -> None:
    file = tmp_path / "enabled"
    file.write_text(text)
    monkeypatch.setattr(diagnostics, "HUGE_PAGES", file)
    monkeypatch.setattr("sys.platform", "linux")
    assert findings(capsys)["huge pages"]["state"] == state


def test_what_cannot_be_looked_at_is_a_problem_and_the_rest_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError(5, "the disk is on fire")

    monkeypatch.setattr(os, "cpu_count", fail)
    found = findings(capsys, 1)
    assert "the disk is on fire" in found["cores"]["found"]
    assert "disk" in found


def test_a_missing_library_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "_requirements", lambda: iter(["numpy", "lab2048-no-such-thing"]))
    assert findings(capsys, 1)["libraries"]["advice"] == "pip install lab2048-no-such-thing"


def test_a_variable_that_means_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB2048_STROE", "x")
    assert findings(capsys)["settings"]["state"] == "note"


def test_a_missing_extra_comes_with_the_command_that_installs_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    extra = findings(capsys)["extra app"]
    assert extra["found"].endswith("missing: textual")
    assert extra["advice"].endswith('pip install "lab2048[app]"')
