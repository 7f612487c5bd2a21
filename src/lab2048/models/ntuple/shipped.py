"""Load networks, each once and shared by all players.

The network shipped with lab2048 is compressed.  It is decompressed once into the user's cache, and mapped
from there afterwards.
"""

import contextlib
import hashlib
import mmap
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, reason_of
from lab2048.kernels._jit import cache_root
from lab2048.models import SHIPPED
from lab2048.models.ntuple.file import Header, complete, load_network, read_compressed, read_header
from lab2048.models.ntuple.network import Network
from lab2048.records.atomic_file import replacing_bytes

_MAGIC = b"lab2048\x02"  # the version of the cache file
_HEAD_SIZE = 4096  # bytes, so that weights begin at the start of a memory page
FILE = Path(__file__).parent / f"{SHIPPED}.safetensors"


def take_network(name: str | None) -> Network:
    """Return the network of a file, or the shipped one."""
    path, stamp = _found(name)
    return _read(path.resolve(), stamp.st_mtime_ns, stamp.st_size)


def take_header(name: str | None) -> Header:
    """Return the header of a network's file, or of the shipped one, without reading weights."""
    return read_header(_found(name)[0])


def _found(name: str | None) -> tuple[Path, os.stat_result]:
    """Return the path of a network; raise FileError if it does not exist."""
    if name is None and not FILE.exists():
        raise FileError("this lab2048 has no shipped network: expected weights=FILE, written by lab2048 train")
    path = FILE if name is None else Path(name)
    try:
        return path, path.stat()
    except OSError as error:
        raise FileError(f"weights={path} cannot be read: {reason_of(error)}", code="file.unreadable") from None


def is_unpacked() -> bool:
    """Return True if the shipped network is in the cache, or there is none."""
    if not FILE.exists():
        return True
    with contextlib.suppress(OSError), _unpacked_file().open("rb") as file:
        return _is_whole(file, read_header(FILE).design.n_weights)
    return False


def can_keep() -> bool:
    """Return True if the cache is writable; otherwise every process decompresses the network itself."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder.is_dir() and os.access(folder, os.W_OK)


def cache_folder() -> Path:
    """Return the cache folder for networks."""
    return cache_root() / "networks"


def n_tables() -> int:
    """Return the number of tables to decompress."""
    design = read_header(FILE).design
    return design.n_stages * len(design.patterns)


def unpack(progress: Callable[[int], object] = lambda _: None) -> NDArray[np.int16]:
    """Decompress the shipped network into the cache, and return its weights.

    `progress` is called from any thread after each table.
    """
    weights, unpacked = read_compressed(FILE, read_header(FILE), progress), _unpacked_file()
    with contextlib.suppress(OSError, FileError):  # an unwritable cache is not an error
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        for old in unpacked.parent.glob("*.i16"):  # from another version
            with contextlib.suppress(OSError):  # Windows keeps what another process has mapped
                old.unlink()
        with replacing_bytes(unpacked, force=True) as file:
            file.write(_head(len(weights)))
            file.write(weights.data)  # in one piece, so that Linux keeps it in huge pages
    return weights


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Network:  # noqa: ARG001 - a changed file is read again
    if path == FILE.resolve():
        header = read_header(path)
        weights = _mapped(header)
        return Network(header.design, unpack() if weights is None else weights, header.step, facts=header.facts)
    network = load_network(path)
    complete(network)
    return network


def _unpacked_file() -> Path:
    """Return the cache file of the shipped network's weights."""
    stamp = FILE.stat()
    return cache_folder() / f"{_digest(FILE.resolve(), stamp.st_mtime_ns, stamp.st_size)[:16]}-planes.i16"


@lru_cache(maxsize=4)
def _digest(path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - as above
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _head(n_weights: int) -> bytes:
    return (_MAGIC + n_weights.to_bytes(8, "little")).ljust(_HEAD_SIZE, b"\0")


def _is_whole(file: IO[bytes], n_weights: int) -> bool:
    """Return True if a cache file is complete; its weights have no checksum, because reading all would take long."""
    return file.read(_HEAD_SIZE) == _head(n_weights) and os.fstat(file.fileno()).st_size == _HEAD_SIZE + 2 * n_weights


def _mapped(header: Header) -> NDArray[np.int16] | None:
    """Map the weights in the cache; return None if they are not there or not complete.

    Mapping is quicker than reading, all processes share the memory, and only what is looked up is resident.
    """
    n = header.design.n_weights
    with contextlib.suppress(OSError), _unpacked_file().open("rb") as file:
        if _is_whole(file, n):
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                memory.madvise(mmap.MADV_HUGEPAGE)
            return np.frombuffer(memory, np.int16, n, _HEAD_SIZE)
    return None
