"""Numbers that a worker process keeps in files on the disk of its node; every process of the cluster can read them.

The files of one piece of work, such as a solve, lie in one folder.  They stay when the worker process ends, and the
next one on the same node finds them again.
"""

import contextlib
import os
import shutil
import socket
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.cluster import data
from lab2048.cluster.data import LostDataError
from lab2048.errors import FileError, reason_of
from lab2048.extras import load

Array = NDArray[Any]
FOLDER = "LAB2048_LAYERS"  # the variable that names the folder on each node
FOLDER_NAME = "[0-9a-f]{16}"  # of a solve
TEMPORARY = "runs-"  # begins the names of temporary folders
READERS = "readers"  # a group of threads of a worker process, so that a file is read while all others are busy
N_READERS = 4
_AHEAD = 4  # files that are on their way while one is used


@dataclass(frozen=True)
class NodeFile:
    """A file and the worker process that can read it."""

    folder: str  # its name: each node has a place for it
    name: str
    dtype: str
    n: int
    checksum: int  # CRC-32
    worker: str  # empty for the driver
    host: str = ""


def place(folder: str) -> Path:
    """Return where this node has a folder."""
    from lab2048.kernels import _jit

    chosen = os.environ.get(FOLDER)
    return (Path(chosen) if chosen else _jit.cache_root() / "cluster" / "layers") / folder


@contextlib.contextmanager
def temporary(folder: str) -> Iterator[Path]:
    """Yield a temporary folder on this node."""
    parent = place(folder)
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=parent, ignore_cleanup_errors=True) as found:
        yield Path(found)


def write(folder: str, name: str, numbers: Array) -> NodeFile:
    """Write a file on this node, all at once."""
    path = place(folder) / name
    part = path.with_name(f"{name}.{os.getpid()}.part")
    numbers = np.ascontiguousarray(numbers)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(numbers.data.cast("B") if len(numbers) else b"")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise FileError(
            f"{path} cannot be written on node {socket.gethostname()}: {reason_of(error)}; progress is saved",
            code="file.unwritable",
            hint=f"the variable {FOLDER} can name another folder there, when Ray is started",
        ) from None
    return NodeFile(
        folder, name, numbers.dtype.str, len(numbers), _checksum(numbers), data.worker, socket.gethostname()
    )


def _checksum(numbers: Array) -> int:
    return zlib.crc32(numbers.data.cast("B") if len(numbers) else b"")  # an empty memoryview cannot be cast


def read(file: NodeFile) -> Array:
    """Return the numbers of a file; raise LostDataError if it is gone or damaged, or its node does not answer."""
    return next(read_all([file]))


def read_all(files: Iterable[NodeFile]) -> Iterator[Array]:
    """Yield the numbers of files; the next ones are on their way meanwhile."""
    waiting: deque[Any] = deque()
    for file in files:
        waiting.append(file if file.worker == data.worker else _ask(file))
        if len(waiting) > _AHEAD:
            yield _result(waiting.popleft())
    while waiting:
        yield _result(waiting.popleft())


def _ask(file: NodeFile) -> Any:
    """Begin to fetch a file of another node."""
    with data.watching_for_loss():
        try:
            actor = load("ray").get_actor(file.worker)
        except ValueError:
            raise LostDataError("the node of a file is gone") from None
        return actor.call.options(concurrency_group=READERS).remote(read_here, file)


def _result(asked: Any) -> Array:
    if isinstance(asked, NodeFile):
        return read_here(asked)
    with data.watching_for_loss():
        found, error = load("ray").get(asked)
    if error is not None:
        raise error
    numbers: Array = found
    return numbers if numbers.flags.writeable else numbers.copy()  # kernels are compiled for these


# What follows runs on the node that has the files.


def read_here(file: NodeFile) -> Array:
    """Return the numbers of a file of this node; delete it if it is damaged."""
    path = place(file.folder) / file.name
    try:
        numbers = np.fromfile(path, file.dtype)
    except OSError as error:
        raise LostDataError(f"{path} cannot be read: {reason_of(error)}") from None
    if len(numbers) != file.n or _checksum(numbers) != file.checksum:
        path.unlink(missing_ok=True)
        raise LostDataError(f"{path} is damaged")
    return numbers


def names(folder: str) -> list[str]:
    """Return the files of a folder."""
    try:
        return [path.name for path in place(folder).iterdir() if path.is_file() and path.suffix != ".part"]
    except OSError:
        return []


def delete(folder: str, some: Iterable[str] | None = None) -> None:
    """Delete files, or the whole folder."""
    if some is None:
        shutil.rmtree(place(folder), ignore_errors=True)
        return
    for name in some:
        with contextlib.suppress(OSError):
            (place(folder) / name).unlink()
