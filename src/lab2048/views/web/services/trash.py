"""Deleted trainings, checkpoints, tables and jobs: they can be restored until the server ends."""

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab2048.errors import FileError, reason_of
from lab2048.views.web.errors import ConflictError, NotFoundError


@dataclass(frozen=True)
class Deleted:
    """Something that was moved to the trash: its folder there, and the names of its files by the folder of before.

    Names, because a table may have hundreds of files, and a path takes a kilobyte of memory.
    """

    name: str
    folder: Path
    moved: dict[Path, list[str]]
    on_restore: Callable[[], object]


class Trash:
    """A folder next to what is deleted, so that moving there is instant and takes no space."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`; what an earlier server left in it is deleted for good."""
        self.folder = folder
        self._items: dict[str, Deleted] = {}
        self._n = 0
        self._lock = threading.Lock()
        shutil.rmtree(folder, ignore_errors=True)

    def put(self, name: str, paths: Sequence[Path], on_restore: Callable[[], object] = lambda: None) -> str:
        """Move files and folders to the trash, and return the key that restores them; raise FileError if it fails."""
        with self._lock:
            self._n += 1
            key = f"deleted-{self._n}"
            folder = self.folder / key
            moved: dict[Path, list[str]] = {}
            try:
                folder.mkdir(parents=True)
                for path in paths:
                    if path.exists() or path.is_symlink():
                        path.rename(folder / path.name)
                        moved.setdefault(path.parent, []).append(path.name)
            except OSError as error:
                _move_back(folder, moved)
                raise FileError(f"{name} cannot be deleted: {reason_of(error)}", code="file.unwritable") from None
            self._items[key] = Deleted(name, folder, moved, on_restore)
            return key

    def restore(self, key: str) -> str:
        """Move what was deleted back, and return its name."""
        with self._lock:
            item = self._items.get(key)
            there = _still_there(item.folder, item.moved) if item is not None else {}
            if item is None or not there:
                raise NotFoundError(f"there is nothing {key[:40]!r} to restore: it is gone, or has been restored")
            paths = (parent / name for parent, names in there.items() for name in names)
            taken = next((path for path in paths if path.exists() or path.is_symlink()), None)
            if taken:
                raise ConflictError(f"{item.name} cannot be restored: there is a new {taken.name}; delete that first")
            try:
                _move_back(item.folder, there)
            except OSError as error:
                raise FileError(f"{item.name} cannot be restored: {reason_of(error)}") from None
            del self._items[key]
            shutil.rmtree(item.folder, ignore_errors=True)
        item.on_restore()
        return item.name

    @property
    def n_bytes(self) -> int:
        """Return the size of everything in the trash."""
        with self._lock:
            files = list(self.folder.rglob("*")) if self._items else []
            return sum(path.stat().st_size for path in files if path.is_file())

    def empty(self) -> None:
        """Delete everything in the trash for good."""
        with self._lock:
            self._items.clear()
            shutil.rmtree(self.folder, ignore_errors=True)


def _still_there(folder: Path, moved: Mapping[Path, Sequence[str]]) -> dict[Path, list[str]]:
    """Return what is still in the trash: other programs may delete things there, and half of it may be back."""
    found = {}
    for parent, names in moved.items():
        if kept := [name for name in names if (folder / name).exists() or (folder / name).is_symlink()]:
            found[parent] = kept
    return found


def _move_back(folder: Path, moved: Mapping[Path, Sequence[str]]) -> None:
    for parent, names in moved.items():
        parent.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).rename(parent / name)
