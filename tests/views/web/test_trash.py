"""What was deleted is restored as it was, or the answer says why not."""

from pathlib import Path

import pytest

from lab2048.errors import FileError
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.services.trash import Trash


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(tmp_path / "trash")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "here" / name for name in ("net.safetensors", "net.jsonl")]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(path.name)
    return paths


def test_files_come_back(trash: Trash, files: list[Path]) -> None:
    key = trash.put("net", files)
    assert not any(path.exists() for path in files)
    assert trash.restore(key) == "net"
    assert [path.read_text() for path in files] == ["net.safetensors", "net.jsonl"]
    with pytest.raises(NotFoundError):
        trash.restore(key)


def test_what_was_gone_before_it_was_deleted_cannot_be_restored(trash: Trash, tmp_path: Path) -> None:
    told = []
    key = trash.put("match-1", [tmp_path / "match-1"], lambda: told.append("restored"))
    with pytest.raises(NotFoundError, match="it is gone"):
        trash.restore(key)
    assert not told


def test_what_another_program_took_from_the_trash_is_gone(trash: Trash, files: list[Path]) -> None:
    key = trash.put("net", files)
    (trash.folder / key / files[0].name).unlink()
    trash.restore(key)
    assert [path.exists() for path in files] == [False, True]


@pytest.mark.parametrize("is_link", [False, True])
def test_nothing_new_is_replaced(is_link: bool, trash: Trash, files: list[Path]) -> None:
    key = trash.put("net", files)
    if is_link:
        files[1].symlink_to("nowhere")
    else:
        files[1].write_text("new")
    with pytest.raises(ConflictError, match=f"there is a new {files[1].name}"):
        trash.restore(key)
    assert files[1].is_symlink() == is_link
    assert not files[0].exists()


def test_a_restore_that_fails_in_the_middle_can_be_repeated(
    trash: Trash, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    key, rename = trash.put("net", files), Path.rename

    def fail_on_second(path: Path, target: Path) -> Path:
        if path.name == files[1].name:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_on_second)
    with pytest.raises(FileError, match="cannot be restored"):
        trash.restore(key)
    monkeypatch.undo()
    trash.restore(key)
    assert all(path.exists() for path in files)
