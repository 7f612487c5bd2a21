"""Leaving with games that could not be saved: they are written elsewhere, and the exit code says so."""

import io
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from played import play

from lab2048.cli.app import run
from lab2048.cli.rescue import rescue
from lab2048.errors import StoreError
from lab2048.records.store import Store


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_game_in_the_terminal_that_cannot_be_saved_is_written_to_a_file(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> NoReturn:
        raise StoreError("the disk is full", code="store.full")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", fail)
        patch.setattr(sys, "stdin", io.StringIO("asdw\nasdw\n"))
        assert run(["play", "--seed", "3"]) == 3
    [file] = elsewhere.iterdir()
    out, err = capsys.readouterr()
    assert "score" in out.splitlines()[-1]
    assert "not saved yet: the disk is full" in err
    assert "1 game could not be saved: the disk is full" in err
    assert str(file) in err
    assert run(["games", "import", str(file)]) == 0
    assert run(["games", "replay", "1"]) == 0


def test_games_are_written_to_another_disk_than_that_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = [tmp_path / name for name in ("gone", "same", "other")]
    for folder in disks[1:]:
        folder.mkdir()
    monkeypatch.setattr("lab2048.cli.rescue._places", lambda: disks)
    monkeypatch.setattr("lab2048.cli.rescue._device", lambda folder: 2 if folder == disks[2] else 1)
    assert rescue([], "", tmp_path / "games.sqlite") == 0
    assert rescue([play("3x3", 1), play("3x3", 2)], "the disk is full", tmp_path / "games.sqlite") == 3
    assert list(disks[1].iterdir()) == []
    [file] = disks[2].iterdir()
    assert len(file.read_text().splitlines()) == 2


def test_games_that_no_disk_takes_are_printed_as_lines_that_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lab2048.cli.rescue._places", lambda: [tmp_path / "gone"])
    assert rescue([play("3x3", 1)], "the disk is full", tmp_path / "games.sqlite") == 3
    line = capsys.readouterr().err.splitlines()[-1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line.encode())))
    assert run(["games", "import", "-"]) == 0
