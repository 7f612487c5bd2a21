"""Networks that are in use: each is read once and shared by all who play with it.

The network that comes with lab2048 is squeezed.  It is unpacked once, into the user's
cache, and read from there ever after.
"""

import contextlib
import hashlib
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


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Network:  # noqa: ARG001 - a file that changes is read again
    if path == SHIPPED.resolve():
        header = read_header(path)
        return Network(header.design, _unpacked(path, header), header.step, facts=header.facts)
    network = load_network(path)
    complete(network)
    return network


def _unpacked(path: Path, header: Header) -> NDArray[np.int16]:
    """The weights of a squeezed network, from the cache if they are there as they were written."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept, check = cache_root() / "networks" / f"{digest[:16]}.i16", load_array(path, "checksum")
    weights = huge_array(header.design.n_weights, np.int16)
    with contextlib.suppress(OSError), kept.open("rb") as file:
        if file.readinto(weights.data) == weights.nbytes and check is not None and checksum(weights) == check[0]:
            return weights
    weights = read_squeezed(path, header)
    with contextlib.suppress(OSError, FileError):  # a cache that cannot be written is no harm
        kept.parent.mkdir(parents=True, exist_ok=True)
        for old in kept.parent.glob("*.i16"):  # of another version
            old.unlink()
        with replacing_bytes(kept, force=True) as file:
            file.write(weights.data)
    return weights
