"""Files that are complete or do not exist."""

from pathlib import Path

import pytest

from lab2048.errors import TargetExistsError, UnwritableError
from lab2048.records.atomic_file import replacing


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    with replacing(path, force=False) as file:
        file.write("whole")
        file.flush()
        assert not path.exists()
    assert path.read_text() == "whole"
    assert [each.name for each in tmp_path.iterdir()] == ["new.txt"]


def test_a_file_stays_as_it_is_if_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path, force=True) as file:
            file.write("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(UnwritableError, match="the disk is full"):
        write_half()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["old.txt"]


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(TargetExistsError), replacing(path, force=False):
        pass
    assert path.read_text() == "old"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "new.txt"
    with pytest.raises(UnwritableError) as refused, replacing(path, force=False):
        pass
    assert str(refused.value) == f"{path} cannot be written: there is no folder {path.parent}"
