"""Files that a worker process keeps on the disk of its node."""

import dataclasses
import errno
from pathlib import Path

import numpy as np
import pytest

from lab2048.cluster import node_disk
from lab2048.cluster.data import LostDataError
from lab2048.errors import FileError


@pytest.fixture(autouse=True)
def disk(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("LAB2048_LAYERS", str(tmp_path / "disk"))
    return tmp_path / "disk"


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_what_is_written_is_read(n, disk):
    numbers = np.arange(n, dtype=np.uint64)
    file = node_disk.write("solve", "keys", numbers)
    assert node_disk.names("solve") == ["keys"]
    assert (disk / "solve" / "keys").stat().st_size == 8 * n
    found = node_disk.read(file)
    assert found.dtype == numbers.dtype
    assert found.tolist() == numbers.tolist()
    assert found.flags.writeable


def test_a_damaged_file_is_lost_and_deleted(disk):
    file = node_disk.write("solve", "keys", np.arange(5.0))
    (disk / "solve" / "keys").write_bytes(bytes(40))
    with pytest.raises(LostDataError, match="is damaged"):
        node_disk.read(file)
    assert node_disk.names("solve") == []
    with pytest.raises(LostDataError, match="cannot be read"):
        node_disk.read(file)


def test_files_and_folders_are_deleted(disk):
    for name in "abc":
        node_disk.write("solve", name, np.arange(5))
    node_disk.write("other", "a", np.arange(5))
    node_disk.delete("solve", ["a", "c", "unknown"])
    assert node_disk.names("solve") == ["b"]
    node_disk.delete("solve")
    assert node_disk.names("solve") == []
    assert node_disk.names("other") == ["a"]


def test_a_full_disk_is_one_line(disk, monkeypatch):
    def is_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", is_full)
    with pytest.raises(FileError, match=r"cannot be written on node \S+: [^\n]*progress is saved") as error:
        node_disk.write("solve", "keys", np.arange(5))
    assert "LAB2048_LAYERS" in str(error.value.hint)
    assert not list((disk / "solve").iterdir())


def test_a_file_of_a_worker_that_is_gone_is_lost(monkeypatch):
    ray = pytest.importorskip("ray", reason="needs the extra cluster")

    def is_unknown(name: str) -> None:
        raise ValueError(f"no actor {name}")

    monkeypatch.setattr(ray, "get_actor", is_unknown)
    file = dataclasses.replace(node_disk.write("solve", "keys", np.arange(5)), worker="gone")
    with pytest.raises(LostDataError):
        node_disk.read(file)
