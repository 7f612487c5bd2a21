"""Networks that are in use: each is read once and shared by all who play with it.

The network that comes with lab2048 is squeezed.  It is unpacked once, into the user's
cache, and read from there ever after.
"""

import contextlib
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError
from lab2048.kernels._jit import cache_root
from lab2048.models.file import Header, complete, load_array, load_network, read_header, read_squeezed
from lab2048.models.network import Network, huge_array
from lab2048.models.squeeze import checksum
from lab2048.records.whole import replacing_bytes

SHIPPED = Path(__file__).parent / "shipped.safetensors"
_listeners: list[Callable[[int], object]] = []  # to an unpacking


def take_network(name: str | None) -> Network:
    """The network of a file, or the one that comes with lab2048."""
    if name is None and not SHIPPED.exists():
        raise FileError("no network comes with this lab2048: expected weights=FILE, as lab2048 train makes it")
    path = SHIPPED if name is None else Path(name)
    try:
        stamp = path.stat()
    except OSError as error:
        raise FileError(f"weights={path} cannot be read: {error.strerror}") from None
    return _read(path.resolve(), stamp.st_mtime_ns, stamp.st_size)


def is_unpacked() -> bool:
    """True if nobody has to wait for the network that comes with lab2048 to be unpacked."""
    if not SHIPPED.exists():
        return True  # there is none
    with contextlib.suppress(OSError):
        return _place(SHIPPED).stat().st_size == 2 * read_header(SHIPPED).design.n_weights
    return False


def n_tables() -> int:
    """How many tables there are to unpack."""
    design = read_header(SHIPPED).design
    return design.n_stages * len(design.patterns)


def unpack(told: Callable[[int], object]) -> None:
    """Take the network that comes with lab2048; `told` is called when a table is unpacked, on some thread."""
    _listeners.append(told)
    try:
        take_network(None)
    finally:
        _listeners.remove(told)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Network:  # noqa: ARG001 - a file that changes is read again
    if path == SHIPPED.resolve():
        header = read_header(path)
        return Network(header.design, _unpacked(path, header), header.step, facts=header.facts)
    network = load_network(path)
    complete(network)
    return network


def _place(path: Path) -> Path:
    """Where the weights of a squeezed network are kept in the cache."""
    stamp = path.stat()
    return cache_root() / "networks" / f"{_digest(path.resolve(), stamp.st_mtime_ns, stamp.st_size)[:16]}.i16"


@lru_cache(maxsize=4)
def _digest(path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - as above
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpacked(path: Path, header: Header) -> NDArray[np.int16]:
    """The weights of a squeezed network, from the cache if they are there as they were written."""
    check = load_array(path, "checksum")
    weights = huge_array(header.design.n_weights, np.int16)
    with contextlib.suppress(OSError), _place(path).open("rb") as file:
        if file.readinto(weights.data) == weights.nbytes and check is not None and checksum(weights) == check[0]:
            return weights
    weights, kept = read_squeezed(path, header, _tell), _place(path)
    with contextlib.suppress(OSError, FileError):  # a cache that cannot be written is no harm
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob("*.i16"):  # of another version
            old.unlink()
        with replacing_bytes(kept, force=True) as file:
            file.write(weights.data)
    return weights


def _tell(table: int) -> None:
    for listener in _listeners:
        listener(table)
