"""Read and write n-tuple networks as safetensors files, with a JSON header in the metadata.

    weights   one float per weight
    rates     two TC accumulators per weight (only in checkpoints)
    cursors   where each training thread continues (only in checkpoints)

    squeezed  instead of weights, in a quantized network: the compressed tables (lab2048.models.ntuple.compress)
    sizes     the size of each compressed table in bytes
    checksum  the checksum of the weights

Reading a file never executes code.  Files are written under a temporary name, then renamed.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from lab2048.errors import FileError, LabError
from lab2048.models.ntuple.compress import compress_weights, decompress_weights
from lab2048.models.ntuple.network import Design, Network, huge_array
from lab2048.models.ntuple.order import convert_to_planes, in_digits
from lab2048.models.ntuple.pattern import write_patterns
from lab2048.records.atomic_file import replacing_bytes
from lab2048.rules import Rules

FORMAT = 1
DEEP = "lab2048-deep"  # metadata key of a deep network
PART = 1 << 22  # numbers that are read and checked at a time
_DTYPES = {
    "float32": "F32", "float64": "F64", "int16": "I16", "int64": "I64", "uint64": "U64", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip


@dataclass
class Header:
    """The header of a file, without its weights."""

    design: Design
    step: float | None
    facts: dict[str, Any]
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of the tensors


def save_network(path: Path, network: Network, **more: NDArray[Any]) -> None:
    """Write a network, its rates if it has any, and more arrays; an existing file is replaced."""
    arrays = (
        {"weights": in_digits(network.design, network.weights)} if network.step is None else compress_weights(network)
    )
    arrays |= more
    if network.rates is not None:
        arrays["rates"] = in_digits(network.design, network.rates)
    design = network.design
    about = {
        "format": FORMAT,
        "rules": design.rules.to_json(),
        "patterns": write_patterns(design.patterns),
        "stages": list(design.stages),
        "is_shared": design.is_shared,
        "is_promoting": design.is_promoting,
        "is_downgrading": design.is_downgrading,
        "step": network.step,
        "facts": network.facts,
    }
    write_tensors(path, arrays, {"lab2048": json.dumps(about)})


def write_tensors(path: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, str]) -> None:
    """Write a safetensors file array by array; the library would need memory for a copy of all arrays."""
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": _DTYPES[array.dtype.name], "shape": array.shape, "data_offsets": [begin, end]}
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    with replacing_bytes(path, force=True) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            _write(file, np.ascontiguousarray(array))


def _write(file: IO[bytes], array: NDArray[Any]) -> None:
    flat = array.reshape(-1)
    for begin in range(0, len(flat), PART):
        file.write(flat[begin : begin + PART].tobytes())


def open_tensors(path: Path) -> Any:
    """Open a safetensors file; raise FileError if it is not one."""
    try:
        if path.is_dir():
            raise FileError(f"{path} is a folder: expected a file written by lab2048 train", code="file.unreadable")
        return safe_open(path, "np")
    except FileNotFoundError:
        raise FileError(
            f"there is no file {path}: expected one written by lab2048 train", code="file.not_found"
        ) from None
    except (SafetensorError, OSError, ValueError) as error:
        raise FileError(f"{path} is not a complete safetensors file: {' '.join(str(error).split())}") from None


def is_deep(path: Path) -> bool:
    """Return True if a file contains a deep network (lab2048.models.deep.file)."""
    with open_tensors(path) as file:
        return DEEP in (file.metadata() or {})


def read_training(path: Path) -> dict[str, Any]:
    """Return the training history of a network of any kind; raise FileError if the file has none."""
    with open_tensors(path) as file:
        metadata = file.metadata() or {}
    try:
        training = json.loads(metadata.get(DEEP) or metadata["lab2048"])["facts"]["training"]
        if not isinstance(training["curve"], list) or not isinstance(training.get("trials", []), list):
            raise TypeError
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{path} does not say how it was trained: expected a file written by lab2048 train") from None
    return dict(training)


def read_header(path: Path) -> Header:
    """Read and check the header of a file; raise FileError if it is invalid."""
    with open_tensors(path) as file:
        metadata = file.metadata() or {}
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        types = {name: file.get_slice(name).get_dtype() for name in shapes}
    try:
        if DEEP in metadata:
            raise FileError(f"{path} is a deep network: expected one of lab2048 train ntuple; use it with c51 or net")
        about = json.loads(metadata["lab2048"])
        if about["format"] != FORMAT:
            raise FileError(
                f"{path} has format {about['format']}: expected {FORMAT}; another version of lab2048 wrote it",
                code="file.version",
            )
        rules = Rules.from_json(about["rules"])
        stages, is_promoting = tuple(about["stages"]), bool(about.get("is_promoting", False))
        is_shared = bool(about["is_shared"])
        design = Design.from_text(
            rules,
            about["patterns"],
            stages,
            is_shared=is_shared,
            is_promoting=is_promoting,
            is_downgrading=bool(about.get("is_downgrading", False)),
        )
        step = None if about["step"] is None else float(about["step"])
        facts = dict(about["facts"])
    except FileError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, LabError) as error:
        reason = str(error) if isinstance(error, LabError) else "its header was not written by lab2048 train"
        raise FileError(f"{path} is not a network: {reason}") from None
    if step is not None and not 0 < step < math.inf:
        raise FileError(f"{path} is not a network: its step is {step}, expected a number above 0")
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {"weights": ("F32", (design.n_weights,))}
    if step is not None:
        n_tables = design.n_stages * len(design.patterns)
        wanted = {
            "squeezed": ("U8", shapes.get("squeezed", (0,))),
            "sizes": ("U64", (n_tables,)),
            "checksum": ("U64", (1,)),
        }
    if "rates" in shapes:
        wanted["rates"] = ("F32", (2 * design.n_weights,))
    for name, (dtype, shape) in wanted.items():
        if shapes.get(name) != shape or types[name] != dtype:
            found = f"{types[name]} {shapes[name]}" if name in shapes else "none"
            raise FileError(f"{path} does not fit its network: {name} are {found}, expected {dtype} {shape}")
    return Header(design, step, facts, shapes)


def load_network(path: Path, *, with_rates: bool = False) -> Network:
    """Read a network; raise FileError if a weight is missing or not a number."""
    header = read_header(path)
    if header.step is not None:
        return Network(header.design, read_compressed(path, header), header.step, facts=header.facts)
    weights = huge_array(header.design.n_weights, np.float32)
    _read(path, "weights", weights, n_whole=header.design.stage_size)
    rates = None
    if with_rates and "rates" in header.shapes:
        rates = huge_array(2 * header.design.n_weights, np.float32)
        _read(path, "rates", rates, n_whole=len(rates))
        convert_to_planes(header.design, rates)
    convert_to_planes(header.design, weights)
    return Network(header.design, weights, None, rates, header.facts)


def read_compressed(
    path: Path, header: Header, progress: Callable[[int], object] = lambda _: None
) -> NDArray[np.int16]:
    """Read the weights of a quantized network; `progress` is called from any thread after each table."""
    squeezed, sizes, check = (load_array(path, name) for name in ("squeezed", "sizes", "checksum"))
    if squeezed is None or sizes is None or check is None:
        raise FileError(f"{path} is not a network: its weights are missing")
    try:
        return decompress_weights(header.design, squeezed, sizes, int(check[0]), progress)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def load_array(path: Path, name: str) -> NDArray[Any] | None:
    """Read an array of a file; return None if there is none of that name."""
    with open_tensors(path) as file:
        return file.get_tensor(name) if name in file.keys() else None  # noqa: SIM118


def _read(path: Path, name: str, array: NDArray[Any], n_whole: int) -> None:
    """Fill an array from a file; raise FileError unless numbers are finite, or NaN after the first `n_whole`."""
    with open_tensors(path) as file:
        for begin, part in _parts(path, file.get_slice(name), len(array)):
            if array.dtype == np.float32:
                is_bad = ~np.isfinite(part)
                if begin + len(part) > n_whole:
                    is_bad[max(0, n_whole - begin) :] &= ~np.isnan(part[max(0, n_whole - begin) :])
                if is_bad.any():
                    raise FileError(f"{path} has {name} that are not finite: expected finite numbers")
            if part.any():  # pages that are never written use no memory
                array[begin : begin + len(part)] = part


def _parts(path: Path, numbers: Any, n: int) -> Iterator[tuple[int, NDArray[Any]]]:
    for begin in range(0, n, PART):
        try:
            yield begin, numbers[begin : min(begin + PART, n)]
        except (SafetensorError, OSError, ValueError) as error:
            raise FileError(f"{path} ends too early: {' '.join(str(error).split())}", code="file.damaged") from None


def complete(network: Network) -> None:
    """Copy weights that are not set in later stages from the stage before."""
    size = network.design.stage_size
    for stage in range(1, network.design.n_stages) if network.step is None else ():
        before, here = network.weights[(stage - 1) * size : stage * size], network.weights[stage * size :][:size]
        np.copyto(here, before, where=np.isnan(here))
