"""Folders of tables from outside: what state they are in, and how they are deleted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lab2048.errors import FileError
from lab2048.library.solve import solve
from lab2048.records import disk_space
from lab2048.records.process_lock import ProcessLock
from lab2048.solver import column_file
from lab2048.solver.table_folder import delete_table, is_table_folder, state_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "2x2"
    solve("2x2", goal=16, out=folder, workers=1)
    return folder


def test_a_complete_table_is_deleted_with_its_folder(table: Path) -> None:
    state = state_of(table)
    assert (state.state, state.reason) == ("complete", "")
    assert delete_table(table) == state.n_bytes > 0
    assert not table.exists()


def test_other_files_stay(table: Path) -> None:
    (table / "notes.txt").write_text("mine")
    delete_table(table)
    assert [path.name for path in table.iterdir()] == ["notes.txt"]
    assert not is_table_folder(table)
    with pytest.raises(FileError, match="holds no table"):
        delete_table(table)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deep": lambda table: (table / "manifest.json").write_text("[" * 100_000),
    "no JSON": lambda table: (table / "manifest.json").write_text("{"),
    "fields": lambda table: (table / "manifest.json").write_text(json.dumps({"schema": "lab2048/table-1"})),
    "missing layer": lambda table: next(table.glob("keys-*.npy")).unlink(),
    "short layer": lambda table: next(table.glob("values-*.npy")).write_bytes(b""),
    "no manifest": lambda table: (table / "manifest.json").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_table_says_why_and_can_be_deleted(table: Path, damage: Callable[[Path], object]) -> None:
    damage(table)
    assert is_table_folder(table)
    state = state_of(table)
    assert state.state == "damaged"
    assert state.reason
    delete_table(table)
    assert not table.exists()


def test_a_solve_stops_before_the_disk_is_full_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, whole = tmp_path / "table", solve("2x3", goal=64, workers=1)
    n_left = 200_000

    def shrinking(path: Path) -> int:
        written = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
        return n_left - written

    monkeypatch.setattr(disk_space, "free_bytes", shrinking)
    n_left = 5_000
    with pytest.raises(FileError, match="the disk is nearly full, and the rest is reserved for games") as caught:
        solve("2x3", goal=64, out=folder, workers=1)
    assert caught.value.code == "disk.full"
    assert not list(folder.rglob("*.part"))
    assert state_of(folder).state == "unfinished"
    n_left = 10**9
    assert solve("2x3", goal=64, out=folder, workers=1).value == whole.value


def test_an_unfinished_table_is_deleted_unless_a_solve_runs_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "table"
    monkeypatch.setattr(column_file, "check_free", lambda path, *_, **__: disk_space.check_free(path, 10**18, then=""))
    with pytest.raises(FileError):
        solve("2x3", goal=64, out=folder, workers=1)
    lock = ProcessLock(folder / "work" / "lock")
    assert lock.try_acquire()
    with pytest.raises(FileError, match="a solve is running"):
        delete_table(folder)
    lock.release()
    delete_table(folder)
    assert not folder.exists()
