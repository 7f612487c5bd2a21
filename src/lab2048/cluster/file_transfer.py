"""Files and folders that only the driver has travel to the nodes, in pieces.

A node that has the same file under the same path uses it: the driver's own machine, and machines that share a disk.
Other nodes keep a copy in their cache folder, named by its content, so that it is sent once.
"""

import contextlib
import hashlib
import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab2048.cluster.node import Node
from lab2048.errors import FileError, LabError, reason_of

PIECE = 16 * 2**20  # bytes that are in the object store at a time
MAX_BYTES = 8 * 2**30  # more is for `rsync` or a shared disk


@dataclass(frozen=True)
class Part:
    """A file of a parcel; `name` is its path in the folder that is sent, empty for a single file."""

    name: str
    n_bytes: int
    digest: str
    identity: tuple[int, int, int]  # device, inode and time: equal for the same file of one machine


@dataclass(frozen=True)
class Parcel:
    """A file or folder of the driver."""

    path: Path  # absolute
    parts: tuple[Part, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr([(part.name, part.digest) for part in self.parts]).encode()).hexdigest()[:24]


def pack(path: Path) -> Parcel:
    """Read what is to be sent; raise FileError if it cannot be read or is too large."""
    path = path.absolute()
    try:
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        n_bytes = sum(each.stat().st_size for each in files)
        if n_bytes > MAX_BYTES:
            raise FileError(
                f"{path} has {n_bytes / 2**30:.1f} GB, too much to be sent to the nodes: "
                "expected it under the same path on every node",
                code="cluster.file_too_large",
            )
        return Parcel(path, tuple(_part(each, path) for each in files))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {reason_of(error)}", code="file.unreadable") from None


def _part(file: Path, root: Path) -> Part:
    found = file.stat()
    name = "" if file == root else file.relative_to(root).as_posix()
    identity = (found.st_dev, found.st_ino, found.st_mtime_ns)
    return Part(name, found.st_size, _digest(str(file), found.st_size, found.st_mtime_ns), identity)


@cache
def _digest(path: str, n_bytes: int, changed: int) -> str:  # noqa: ARG001 - another size or time is another file
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def send(parcel: Parcel, node: Node) -> str:
    """Send a parcel unless the node has it; return where it is there."""
    found = node.ask(find, parcel)
    if found is not None:
        return found
    for part in parcel.parts:
        source = parcel.path / part.name if part.name else parcel.path
        with source.open("rb") as file:
            at = 0
            while True:
                piece = file.read(PIECE)
                node.ask(receive, parcel, part, at, piece)
                at += len(piece)
                if at >= part.n_bytes or not piece:
                    break
    return node.ask(complete, parcel)


# What follows runs on a node.


def _folder(parcel: Parcel) -> Path:
    from lab2048.kernels import _jit

    return _jit.cache_root() / "cluster" / parcel.digest


def _place(parcel: Parcel, folder: Path) -> Path:
    """Return the file or folder in a folder; its name stays, because it tells what kind of file it is."""
    return folder / (parcel.path.name or "root")


def find(parcel: Parcel) -> str | None:
    """Return where this node has a parcel, or None."""
    for place in (parcel.path, _place(parcel, _folder(parcel))):
        if all(_has(place, part) for part in parcel.parts):
            with contextlib.suppress(OSError):
                os.utime(_folder(parcel))  # in use: see lab2048.cluster.leftovers
            return str(place)
    return None


def _has(place: Path, part: Part) -> bool:
    path = place / part.name if part.name else place
    try:
        found = path.stat()
        if found.st_size != part.n_bytes:
            return False
        if (found.st_dev, found.st_ino, found.st_mtime_ns) == part.identity:
            return True
        return _digest(str(path), found.st_size, found.st_mtime_ns) == part.digest
    except OSError:
        return False


def receive(parcel: Parcel, part: Part, at: int, piece: bytes) -> None:
    """Write a piece of a file."""
    place = _place(parcel, _folder(parcel).with_suffix(f".{os.getpid()}.part"))
    path = place / part.name if part.name else place
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if at else "wb") as file:
            file.seek(at)
            file.write(piece)
    except OSError as error:
        raise LabError(f"{path} cannot be written on a node: {reason_of(error)}", code="file.unwritable") from None


def complete(parcel: Parcel) -> str:
    """Make a received parcel known under its name, all at once."""
    folder = _folder(parcel)
    received = folder.with_suffix(f".{os.getpid()}.part")
    received.mkdir(parents=True, exist_ok=True)  # an empty folder has no pieces
    try:
        received.rename(folder)
    except OSError:  # another process of this machine was faster
        shutil.rmtree(received, ignore_errors=True)
    found = find(parcel)
    if found is None:
        raise LabError(f"{parcel.path} arrived damaged on a node: it changed while it was sent", code="file.damaged")
    return found
