"""What a disk may hold after a power loss, from the system calls of a program.

What was synced is there.  Of what was not, an arbitrary part is: of the writes any subset, a write perhaps in part; of
the changes of folders either those before some moment, as a journaling file system keeps them, or any subset.  A file
that is synced is found under the name it was created with, as on ext4, XFS and Btrfs.
"""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from torture.system_call import Call

WATCHED = (
    "write", "pwrite64", "writev", "pwritev", "pwritev2", "fsync", "fdatasync", "sync", "syncfs", "ftruncate",
    "fallocate", "lseek", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir",
    "openat", "open", "close", "sendto", "sendfile", "copy_file_range",
    "clone", "clone3", "fork", "vfork",
)  # fmt: skip
_SECTOR = 512
_FD = re.compile(r"^(\d+)<([^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


@dataclass
class _File:
    """The contents of a file: what is safe, and the changes that are not."""

    safe: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)  # (offset, data), or (size, None): truncate

    @property
    def size(self) -> int:
        size = len(self.safe)
        for offset, data in self.pending:
            size = offset if data is None else max(size, offset + len(data))
        return size

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.safe, *change)
        self.pending = []

    def after_loss(self, rng: random.Random) -> bytes:
        content = bytearray(self.safe)
        share = rng.choice((0.0, 0.3, 0.7, 0.95, 1.0))
        for offset, data in self.pending:
            if rng.random() < share:
                if data is not None and rng.random() < 0.1:  # torn
                    data = data[: rng.randrange(len(data) // _SECTOR + 1) * _SECTOR]
                _apply(content, offset, data)
        return bytes(content)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(bytes(max(0, offset - len(content))))
        content[offset : offset + len(data)] = data


@dataclass
class _Opened:
    file: _File
    position: int = 0
    appends: bool = False


Names = dict[str, _File]


@dataclass
class _Change:
    """A change of the folders; `file` is the one that it creates."""

    make: Callable[[Names, set[str]], None]
    file: _File | None = None


class LostDisk:
    """The files of a folder while a program runs; the program is a single process and starts without files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._now: Names = {}
        self._safe: Names = {}
        self._folders: set[str] = set()
        self._safe_folders: set[str] = set()
        self._pending: list[_Change] = []
        self._opened: dict[int, _Opened] = {}
        self.told = b""  # what it has printed
        self.sent = b""  # what it has sent to clients

    def begin_with(self, folder: Path) -> None:
        """Start with the files that are in a folder, all safe."""
        for path in sorted(folder.rglob("*")):
            name = str(self.folder / path.relative_to(folder))
            if path.is_dir():
                self._folders.add(name)
            else:
                self._now[name] = _File(bytearray(path.read_bytes()))
        self._safe, self._safe_folders = dict(self._now), set(self._folders)

    def follow(self, calls: Iterable[Call]) -> None:
        for call in calls:
            if call.value >= 0:
                self._take(call)

    def _take(self, call: Call) -> None:
        arguments = call.arguments
        match call.name:
            case "openat" | "open":
                self._open(call)
            case "close":
                if found := _FD.match(arguments):
                    self._opened.pop(int(found[1]), None)
            case "write" | "pwrite64":
                self._write(call)
            case "sendto":
                self.sent += _data(arguments)
            case "writev" | "pwritev" | "pwritev2" | "sendfile" | "copy_file_range":
                if f"<{self.folder}/" in arguments:
                    raise NotImplementedError(call.name)
                self.sent += _data(arguments)
            case "lseek":
                if (found := _FD.match(arguments)) and int(found[1]) in self._opened:
                    self._opened[int(found[1])].position = call.value
            case "ftruncate":
                if opened := self._of(arguments):
                    opened.file.pending.append((int(arguments.rsplit(", ", 1)[1]), None))
            case "fallocate":
                if opened := self._of(arguments):
                    _, _, offset, size = arguments.rsplit(", ", 3)
                    opened.file.pending.append((max(opened.file.size, int(offset) + int(size)), None))
            case "sync" | "syncfs":
                for file in {id(file): file for file in (*self._now.values(), *self._safe.values())}.values():
                    file.sync()
                self._keep(len(self._pending))
            case "clone" | "clone3" | "fork" | "vfork":
                pass
            case "fsync" | "fdatasync":
                self._sync(arguments)
            case _:
                self._change_folder(call)

    def _of(self, arguments: str) -> _Opened | None:
        found = _FD.match(arguments)
        return self._opened.get(int(found[1])) if found and found[2].startswith(f"{self.folder}/") else None

    def _open(self, call: Call) -> None:
        name, flags = self._paths(call.arguments)[0], call.arguments.rsplit('"', 1)[1]
        if not name.startswith(f"{self.folder}/") or "O_DIRECTORY" in flags:
            return
        if name in self._folders:
            return
        file = self._now.get(name)
        if file is None:
            if "O_CREAT" not in flags:
                return
            file = self._now[name] = _File()
            self._pending.append(_Change(_entry(name, file, self.folder), file))
        elif "O_TRUNC" in flags:
            file.pending.append((0, None))
        self._opened[call.value] = _Opened(file, 0, "O_APPEND" in flags)

    def _write(self, call: Call) -> None:
        found = _FD.match(call.arguments)
        if found is None:
            return
        if found[2].endswith("/streams/out"):
            self.told += _data(call.arguments)[: call.value]
        if found[2].startswith("socket:"):
            self.sent += _data(call.arguments)
        opened = self._of(call.arguments)
        if opened is None:
            return
        data = _data(call.arguments)[: call.value]
        if call.name == "pwrite64":
            offset = int(call.arguments.rsplit(", ", 1)[1])
        else:
            offset = opened.file.size if opened.appends else opened.position
            opened.position = offset + len(data)
        opened.file.pending.append((offset, data))

    def _sync(self, arguments: str) -> None:
        found = _FD.match(arguments)
        if found is None:
            return
        if found[2] == str(self.folder) or found[2] in self._folders:
            self._keep(len(self._pending))  # of this folder; those of others matter to no one here
        elif opened := self._opened.get(int(found[1])):
            opened.file.sync()
            # With its name: and what was changed before, because a file system keeps the order.
            self._keep(1 + max((i for i, change in enumerate(self._pending) if change.file is opened.file), default=-1))

    def _keep(self, n: int) -> None:
        """Make the first n pending changes of folders safe."""
        for change in self._pending[:n]:
            change.make(self._safe, self._safe_folders)
        self._pending = self._pending[n:]

    def _change_folder(self, call: Call) -> None:
        paths = self._paths(call.arguments)
        if not any(path.startswith(f"{self.folder}/") for path in paths):
            return
        first = paths[0]
        if call.name.startswith("rename"):
            change = _Change(_rename(first, paths[1]))
        elif call.name.startswith("mkdir"):
            change = _Change(lambda _, folders: folders.add(first))
        elif call.name == "rmdir" or "AT_REMOVEDIR" in call.arguments:
            change = _Change(lambda _, folders: folders.discard(first))
        else:
            change = _Change(lambda names, _: names.pop(first, None) and None)
        change.make(self._now, self._folders)
        self._pending.append(change)

    def _paths(self, arguments: str) -> list[str]:
        found = []
        for folder, text in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"', arguments):
            path = Path(text)
            found.append(str(path if path.is_absolute() else Path(folder or self.folder) / path))
        return found

    def after_loss(self, target: Path, rng: random.Random) -> None:
        """Write into an empty folder what may be left after a power loss now."""
        names, folders = dict(self._safe), set(self._safe_folders)
        if rng.random() < 0.5:
            chosen = self._pending[: rng.randint(0, len(self._pending))]
        else:
            chosen = [change for change in self._pending if rng.random() < 0.5]
        for change in chosen:
            change.make(names, folders)
        for folder in sorted(folders):
            (target / Path(folder).relative_to(self.folder)).mkdir(parents=True, exist_ok=True)
        for name, file in names.items():
            path = target / Path(name).relative_to(self.folder)
            if name.rpartition("/")[0] == str(self.folder) or name.rpartition("/")[0] in folders:
                path.write_bytes(file.after_loss(rng))


def _entry(name: str, file: _File, top: Path) -> Callable[[Names, set[str]], None]:
    def make(names: Names, folders: set[str]) -> None:
        names[name] = file
        folder = name.rpartition("/")[0]
        while folder not in folders and folder != str(top):  # what contains a safe file is safe
            folders.add(folder)
            folder = folder.rpartition("/")[0]

    return make


def _rename(old: str, new: str) -> Callable[[Names, set[str]], None]:
    def make(names: Names, folders: set[str]) -> None:
        if old in names:
            names[new] = names.pop(old)
        elif old in folders:
            folders.discard(old)
            folders.add(new)
            for name in [name for name in names if name.startswith(f"{old}/")]:
                names[new + name.removeprefix(old)] = names.pop(name)

    return make


def _decode(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _data(arguments: str) -> bytes:
    return b"".join(_decode(text) for text, _ in _TEXT.findall(arguments))
