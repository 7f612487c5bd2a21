"""Files of deep networks: safetensors with the architecture and training facts as JSON in the header.

Tensors needed to resume training have the prefix `training.`.  No code is loaded from such a file.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, reason_of
from lab2048.models.deep.header import read_deep_header, write_deep_header
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.models.ntuple.file import UNREADABLE, open_tensors, write_tensors
from lab2048.records.memory import check_memory

TRAINING = "training."


def save_deep(path: Path, network: DeepNetwork, more: dict[str, NDArray[Any]] | None = None) -> None:
    """Write a network and further arrays of its training, replacing an existing file."""
    arrays = {name: tensor.detach().numpy() for name, tensor in network.weights.items()}
    arrays |= {TRAINING + name: array for name, array in (more or {}).items()}
    write_tensors(path, arrays, write_deep_header(network.design, network.facts))


def load_deep(path: Path) -> tuple[DeepNetwork, dict[str, NDArray[Any]]]:
    """Read a network and the arrays of its training; raise FileError if a tensor is missing or not finite."""
    design, facts = read_deep_header(path)
    check_memory(2 * path.stat().st_size, path)
    with open_tensors(path) as file:
        try:
            arrays: dict[str, NDArray[Any]] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except UNREADABLE as error:
            raise FileError(f"{path} ends too early: {' '.join(str(error).split())}", code="file.damaged") from None
    weights = {}
    for name, shape in design.shapes().items():
        array = arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float32:
            found = "none" if array is None else f"{array.dtype.name} {array.shape}"
            raise FileError(f"{path} does not fit its network: {name} is {found}, expected float32 {shape}")
        if not np.isfinite(array).all():
            raise FileError(f"{path} has weights in {name} that are not finite: expected finite numbers")
        weights[name] = torch.from_numpy(array.copy())
    more = {name.removeprefix(TRAINING): array for name, array in arrays.items() if name.startswith(TRAINING)}
    return DeepNetwork(design, weights, facts), more


def take_deep(name: str) -> DeepNetwork:
    """Return the network of a file, which is read once and shared."""
    path = Path(name)
    try:
        stamp = path.stat()
    except OSError as error:
        raise FileError(f"weights={path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> DeepNetwork:  # noqa: ARG001 - a file that changes is read again
    return load_deep(path)[0]
