"""Load networks, each once and shared by all players.

The network shipped with lab2048 is compressed.  It is decompressed once into the user's cache, and mapped
from there afterwards.
"""

import contextlib
import hashlib
import mmap
import os
import struct
import threading
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np

from lab2048.errors import FileError, reason_of
from lab2048.kernels._jit import cache_root
from lab2048.kernels.group import UNPACK, UNPACK_OLD
from lab2048.models import SHIPPED
from lab2048.models.ntuple.file import DENSE, Header, complete, load_network, read_compressed, read_header
from lab2048.models.ntuple.network import Network
from lab2048.models.ntuple.pages import PageBuilder, Pages
from lab2048.records.atomic_file import replacing_bytes
from lab2048.stop_flag import current

_MAGIC = b"lab2048\x03"  # the version of the cache file
_HEAD = struct.Struct("<8s3Q")  # magic, number of pages, number of weights, CRC-32 of the page table
_ALIGNMENT = 4096  # of the page table and of the weights in the cache file
# Pages whose absolute weights add up to fewer steps are left out: in an earlier network a sixth of all pages, 0.4% of
# the sum.  Over 6,000 games of it at depth 1 the mean score changed by -230 +- 335 of 255,268 points.
LEAST = 32
_LOOK_SECONDS = 0.1  # between looks at the stop flag
_locks: dict[Path, threading.Lock] = {}  # held while a network is read: two copies may not fit into the memory
_locks_lock = threading.Lock()
FILE = Path(__file__).parent / f"{SHIPPED}.safetensors"


def take_network(name: str | None) -> Network:
    """Return the network of a file, or the shipped one; threads that want the same one wait for it.

    Raises StoppedError if the calling thread is stopped meanwhile.
    """
    path, stamp = _found(name)
    path = path.resolve()
    with _locks_lock:
        lock = _locks.setdefault(path, threading.Lock())
    while not lock.acquire(timeout=_LOOK_SECONDS):
        current().check()
    try:
        return _read(path, stamp.st_mtime_ns, stamp.st_size)
    finally:
        lock.release()


def take_header(name: str | None, option: str = "weights") -> Header:
    """Return the header of a network's file, or of the shipped one, without reading weights.

    `option` named the file, and is named by an error.
    """
    return read_header(_found(name, option)[0])


def network_path(name: str | None) -> Path:
    """Return the file of a network, or of the shipped one; raise FileError if it does not exist."""
    return _found(name)[0]


def _found(name: str | None, option: str = "weights") -> tuple[Path, os.stat_result]:
    """Return the path of a network; raise FileError if it does not exist."""
    if name is None and not FILE.exists():
        raise FileError("this lab2048 has no shipped network: expected weights=FILE, written by lab2048 train")
    path = FILE if name is None else Path(name)
    try:
        return path, path.stat()
    except OSError as error:
        raise FileError(f"{option}={path} cannot be read: {reason_of(error)}", code="file.unreadable") from None


def is_unpacked() -> bool:
    """Return True if the shipped network is in the cache, or there is none."""
    if not FILE.exists():
        return True
    with contextlib.suppress(OSError), _unpacked_file().open("rb") as file:
        return _read_head(file) is not None
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


def decoder_group(header: Header | None = None) -> str:
    """Return the kernels that decompress a network, or the shipped one."""
    return UNPACK_OLD if (header or read_header(FILE)).format == DENSE else UNPACK


def n_tables() -> int:
    """Return the number of tables to decompress."""
    design = read_header(FILE).design
    return design.n_stages * len(design.patterns)


def unpack(progress: Callable[[int], object] = lambda _: None) -> Pages:
    """Decompress the shipped network into the cache, and return its weights.

    `progress` is called from any thread after each table.
    """
    header, unpacked = read_header(FILE), _unpacked_file()
    builder = PageBuilder(header.design, LEAST if header.step else 1)
    read_compressed(FILE, header, builder.add, progress)
    pages = builder.build()
    with contextlib.suppress(OSError, FileError):  # an unwritable cache is not an error
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        for old in (*unpacked.parent.glob("*.i16"), *unpacked.parent.glob("*.pages")):  # from another version
            with contextlib.suppress(OSError):  # Windows keeps what another process has mapped
                old.unlink()
        with replacing_bytes(unpacked, force=True) as file:
            file.write(_HEAD.pack(_MAGIC, len(pages.table), len(pages.weights), zlib.crc32(pages.table.data)))
            file.seek(_ALIGNMENT)
            file.write(pages.table.data)
            file.seek(_weights_at(len(pages.table)))
            file.write(pages.weights.data)  # in one piece, so that Linux keeps it in huge pages
    return pages


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Network:  # noqa: ARG001 - a changed file is read again
    if path == FILE.resolve():
        header, found = read_header(path), _mapped() or unpack()
        return Network(header.design, found.weights, header.step, facts=header.facts, pages=found.table)
    network = load_network(path)
    complete(network)
    return network


def _unpacked_file() -> Path:
    """Return the cache file of the shipped network's weights."""
    stamp = FILE.stat()
    return cache_folder() / f"{_digest(FILE.resolve(), stamp.st_mtime_ns, stamp.st_size)[:16]}.pages"


@lru_cache(maxsize=4)
def _digest(path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - as above
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_head(file: IO[bytes]) -> tuple[int, int, int] | None:
    """Read the head of a cache file: the numbers of pages and weights, and a checksum; None if it is damaged."""
    head = file.read(_HEAD.size)
    magic, n_pages, n_weights, check = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0, 0, 0)
    is_whole = magic == _MAGIC and os.fstat(file.fileno()).st_size == _weights_at(n_pages) + 2 * n_weights
    return (n_pages, n_weights, check) if is_whole else None


def _weights_at(n_pages: int) -> int:
    """Return where the weights begin in a cache file: at the start of a memory page."""
    return _ALIGNMENT + -(-4 * n_pages // _ALIGNMENT) * _ALIGNMENT


def _mapped() -> Pages | None:
    """Map the shipped network in the cache; return None if it is not there or damaged.

    Mapping is quicker than reading, all processes share the memory, and only what is looked up is resident.  For
    the same reason only the page table is checked: a wrong place there would crash the process.
    """
    with contextlib.suppress(OSError), _unpacked_file().open("rb") as file:
        head = _read_head(file)
        if head is not None:
            n_pages, n_weights, check = head
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                memory.madvise(mmap.MADV_HUGEPAGE)
            table = np.frombuffer(memory, np.uint32, n_pages, _ALIGNMENT)
            if zlib.crc32(table.data) == check:
                return Pages(table, np.frombuffer(memory, np.int16, n_weights, _weights_at(n_pages)))
    return None
