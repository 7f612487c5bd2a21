"""Read and write n-tuple networks as safetensors files, with a JSON header in the metadata.

    blocks, masks  which weights are stored: the visited ones (lab2048.models.ntuple.visited)
    weights        one float per visited weight; the others have their initial value
    rates          two TC accumulators per visited weight (only in checkpoints)
    cursors        where each training thread continues (only in checkpoints)

    squeezed       instead of these, in a quantized network: the compressed tables (lab2048.models.ntuple.compress)
    sizes          the size of each compressed table in bytes
    checksum       the checksum of the compressed tables

Format 1 has no blocks and masks: all weights are stored, in digit order (lab2048.models.ntuple.order), or compressed by
an older coder, with a checksum of the weights.  Format 2 stores float weights in the order of kernels; "gap" in its
header is the number of unused places after each large table.  Format 3 is that of quantized networks.

Reading a file never executes code.  Files are written under a temporary name, then renamed.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from lab2048.errors import FileError, LabError, reason_of
from lab2048.models.ntuple.compress import Compressed, compress_weights, decompress_weights, decompressed_bytes
from lab2048.models.ntuple.network import GAP, Design, Network, huge_array
from lab2048.models.ntuple.order import convert_to_planes, order_of
from lab2048.models.ntuple.pattern import write_patterns
from lab2048.models.ntuple.visited import PART, Visited, count_blocks, count_pages, set_initial
from lab2048.models.training_facts import check_facts
from lab2048.records.atomic_file import replacing_bytes
from lab2048.records.input_file import open_file, parse_json
from lab2048.records.memory import check_memory
from lab2048.rules import Rules
from lab2048.stop_flag import current

DENSE, SPARSE, QUANTIZED = FORMATS = 1, 2, 3
ZERO = np.float32(0)
DEEP = "lab2048-deep"  # metadata key of a deep network
MAX_STEP, MAX_WEIGHT = 1e6, 1e15  # sums of such weights are far from the limits of 32-bit floats
UNREADABLE = (SafetensorError, OSError, ValueError, TypeError, AttributeError)  # raised by damaged tensors
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
    initial: np.float32 | None = None  # value of weights that are not stored; None: all are
    format: int = SPARSE


@dataclass
class Stream:
    """An array that is written in parts, without a copy in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    parts: Iterator[NDArray[Any]]

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


def save_network(path: Path, network: Network, initial: np.float32 = ZERO, **more: NDArray[Any]) -> None:
    """Write a network, its rates if it has any, and more arrays; an existing file is replaced.

    Weights equal to `initial`, the value of an untrained weight, take no space.
    """
    design, is_sparse = network.design, network.step is None
    arrays: dict[str, NDArray[Any] | Stream] = dict(more)
    arrays |= _visited_arrays(network, initial) if is_sparse else _compressed_arrays(network)
    about = {
        "format": SPARSE if is_sparse else QUANTIZED,
        "rules": design.rules.to_json(),
        "patterns": write_patterns(design.patterns),
        "stages": list(design.stages),
        "is_shared": design.is_shared,
        "is_promoting": design.is_promoting,
        "is_downgrading": design.is_downgrading,
        "step": network.step,
        "facts": network.facts,
    }
    if is_sparse:
        about |= {"order": order_of(design), "gap": design.gap, "initial": float(initial)}
    write_tensors(path, arrays, {"lab2048": json.dumps(about)})


def _visited_arrays(network: Network, initial: np.float32) -> dict[str, NDArray[Any] | Stream]:
    visited = Visited.find(network, initial)
    n = visited.n_visited

    def parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
        return (array[begin : begin + len(here)][here] for begin, here in visited.parts())

    arrays: dict[str, NDArray[Any] | Stream] = {"masks": visited.masks}
    arrays["weights"] = Stream(np.dtype(np.float32), (n,), parts(network.weights))
    if network.rates is not None:
        pairs = network.rates.reshape(-1, 2)
        arrays["rates"] = Stream(np.dtype(np.float32), (2 * n,), parts(pairs))
    return arrays | {"blocks": visited.blocks}


def _compressed_arrays(network: Network) -> dict[str, NDArray[Any] | Stream]:
    code = compress_weights(network)
    return {"squeezed": code.squeezed, "sizes": code.sizes, "checksum": np.array([code.checksum], np.uint64)}


def write_tensors(path: Path, arrays: Mapping[str, NDArray[Any] | Stream], metadata: dict[str, str]) -> None:
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
            for part in array.parts if isinstance(array, Stream) else [array]:
                _write(file, np.ascontiguousarray(part))


def _write(file: IO[bytes], array: NDArray[Any]) -> None:
    flat = array.reshape(-1)
    for begin in range(0, len(flat), PART):
        file.write(flat[begin : begin + PART].tobytes())


def rewrite_facts(path: Path, facts: dict[str, Any]) -> None:
    """Replace the facts of a network's file; everything else stays as it is."""
    read_header(path)
    with open_tensors(path) as file:
        metadata = dict(file.metadata())
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    about = parse_json(metadata["lab2048"])
    write_tensors(path, arrays, {**metadata, "lab2048": json.dumps({**about, "facts": facts})})


def open_tensors(path: Path) -> Any:
    """Open a safetensors file; raise FileError if it is not one."""
    try:
        open_file(path).close()  # safetensors does not say why a file cannot be opened
        return safe_open(path, "np")
    except FileNotFoundError:
        raise FileError(
            f"there is no file {path}: expected one written by lab2048 train", code="file.not_found"
        ) from None
    except IsADirectoryError:
        raise FileError(
            f"{path} is a folder: expected a file written by lab2048 train", code="file.unreadable"
        ) from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    except (SafetensorError, ValueError) as error:
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
        training = check_facts(parse_json(metadata.get(DEEP) or metadata["lab2048"])["facts"])["training"]
        if training is None or "curve" not in training:
            raise KeyError("curve")
    except (KeyError, TypeError):
        raise FileError(f"{path} does not say how it was trained: expected a file written by lab2048 train") from None
    except ValueError as error:
        raise FileError(f"{path} is damaged: {error}", code="file.damaged") from None
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
        about = parse_json(metadata["lab2048"])
        if about["format"] not in FORMATS or type(about["format"]) is not int:
            raise FileError(
                f"{path} has format {str(about['format'])[:40]}: expected {DENSE} to {QUANTIZED}; "
                "another version of lab2048 wrote it",
                code="file.version",
            )
        rules = Rules.from_json(about["rules"])
        flags = {name: about.get(name, False) for name in ("is_promoting", "is_downgrading")}
        flags["is_shared"] = about["is_shared"]
        stages = tuple(about["stages"])
        gap = about.get("gap", 0) if about["step"] is None else GAP  # compressed tables have no gaps in the file
        are_right = all(type(number) is int for number in (*stages, gap)) and 0 <= gap <= GAP
        are_right &= all(type(flag) is bool for flag in flags.values())
        if not are_right or any(isinstance(about.get(name), str | bool) for name in ("step", "initial")):
            raise TypeError("design")
        design = Design.from_text(rules, about["patterns"], stages, gap=gap, **flags)
        step = None if about["step"] is None else float(about["step"])
        if step is None and about["format"] == QUANTIZED:
            raise TypeError("step")
        facts = check_facts(about["facts"])
        with np.errstate(over="ignore"):  # infinite numbers are refused below
            initial = np.float32(about["initial"]) if about["format"] == SPARSE and step is None else None
        if initial is not None and about["order"] != order_of(design):
            found = str(about["order"])[:40]
            raise FileError(f"{path} has its weights in order {found}: expected {order_of(design)}")
    except FileError:
        raise
    except (ValueError, LabError) as error:
        raise FileError(f"{path} is not a network: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise FileError(f"{path} is not a network: its header was not written by lab2048 train") from None
    if step is not None and not 0 < step < MAX_STEP:
        raise FileError(f"{path} is not a network: its step is {step}, expected above 0 and below {MAX_STEP:g}")
    if initial is not None and not abs(initial) <= MAX_WEIGHT:
        raise FileError(f"{path} is not a network: its initial weight is {initial}, expected at most {MAX_WEIGHT:g}")
    header = Header(design, step, facts, shapes, initial, about["format"])
    for name, (dtype, shape) in _expected_arrays(header).items():
        if shapes.get(name) != shape or types[name] != dtype:
            found = f"{types[name]} {shapes[name]}" if name in shapes else "none"
            raise FileError(f"{path} does not fit its network: {name} are {found}, expected {dtype} {shape}")
    return header


def _expected_arrays(header: Header) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the type and the shape of each array that a network needs."""
    design, shapes, n_stored = header.design, header.shapes, header.design.n_entries
    if header.step is not None:
        return {
            "squeezed": ("U8", shapes.get("squeezed", (0,))),
            "sizes": ("U64", (design.n_stages * len(design.patterns),)),
            "checksum": ("U64", (1,)),
        }
    expected: dict[str, tuple[str, tuple[int, ...]]] = {}
    if header.initial is not None:
        n_blocks = count_blocks(n_stored)
        n_stored = min(n_stored, math.prod(shapes.get("weights", (0,))))
        n_masks = min(n_blocks, math.prod(shapes.get("masks", (0,))))
        expected = {"blocks": ("U8", (-(-n_blocks // 8),)), "masks": ("U64", (n_masks,))}
    expected["weights"] = ("F32", (n_stored,))
    if "rates" in shapes:
        expected["rates"] = ("F32", (2 * n_stored,))
    return expected


def load_network(path: Path, *, with_rates: bool = False) -> Network:
    """Read a network; raise FileError if a weight is missing or not a number, StoppedError if the thread is stopped."""
    header = read_header(path)
    if header.step is not None:
        check_memory(decompressed_bytes(header.design), path)
        short, tables = huge_array(header.design.n_entries, np.int16), iter(header.design.tables)

        def add(table: NDArray[np.int16]) -> None:
            begin, end, *_ = next(tables)
            short[begin:end] = table

        read_compressed(path, header, add)
        return Network(header.design, short, header.step, facts=header.facts)
    with_rates = with_rates and "rates" in header.shapes
    visited = None if header.initial is None else _read_visited(path, header)
    check_memory(_n_bytes(header, visited, with_rates=with_rates), path)
    weights, rates = huge_array(header.design.n_entries, np.float32), None
    if header.initial is not None:
        set_initial(header.design, weights, header.initial)
    _read(path, "weights", weights.reshape(-1, 1), visited, n_whole=header.design.stage_size)
    if with_rates:
        rates = huge_array(2 * header.design.n_entries, np.float32)
        _read(path, "rates", rates.reshape(-1, 2), visited, n_whole=header.design.n_entries)
    if visited is None:
        for numbers in (weights, rates) if rates is not None else (weights,):
            convert_to_planes(header.design, numbers)
    return Network(header.design, weights, None, rates, header.facts)


def _n_bytes(header: Header, visited: Visited | None, *, with_rates: bool) -> int:
    """Return the memory of the weights and rates; pages that only hold zeros take none."""
    design = header.design
    everything = 4 * design.n_entries
    if visited is None:
        return everything * (3 if with_rates else 1)
    is_zero = header.initial == ZERO and not design.is_promoting
    touched = min(everything, count_pages(visited, 4)) if is_zero else everything
    return touched + (min(2 * everything, count_pages(visited, 8)) if with_rates else 0)


def _read_visited(path: Path, header: Header) -> Visited:
    blocks, masks = load_array(path, "blocks"), load_array(path, "masks")
    if blocks is None or masks is None:
        raise FileError(f"{path} is not a network: its masks are missing")
    visited = Visited(header.design.n_entries, blocks, masks)
    if not visited.is_valid(header.shapes["weights"][0]):
        raise FileError(f"{path} is damaged: its masks do not fit its weights", code="file.damaged")
    return visited


def read_compressed(
    path: Path,
    header: Header,
    add: Callable[[NDArray[np.int16]], None],
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Read the weights of a quantized network, table by table, as `decompress_weights` does.

    `add` and `progress` are called from any thread.
    """
    squeezed, sizes, check = (load_array(path, name) for name in ("squeezed", "sizes", "checksum"))
    if squeezed is None or sizes is None or check is None:
        raise FileError(f"{path} is not a network: its weights are missing")
    try:
        code = Compressed(squeezed, sizes, int(check[0]), header.format != QUANTIZED)
        decompress_weights(header.design, code, add, progress)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def load_array(path: Path, name: str) -> NDArray[Any] | None:
    """Read an array of a file; return None if there is none of that name."""
    with open_tensors(path) as file:
        try:
            return file.get_tensor(name) if name in file.keys() else None  # noqa: SIM118
        except UNREADABLE as error:
            raise _ends_early(path, error) from None


def _read(path: Path, name: str, rows: NDArray[Any], visited: Visited | None, n_whole: int) -> None:
    """Fill the stored rows; raise FileError unless numbers are finite, or NaN after the first `n_whole` rows."""
    width, n_read = rows.shape[1], 0
    with open_tensors(path) as file:
        numbers = file.get_slice(name)
        for begin, here in visited.parts() if visited else _all_parts(len(rows)):
            current().check()
            n = int(here.sum())
            part = _slice(path, numbers, width * n_read, width * (n_read + n)).reshape(-1, width)
            n_read += n
            n_checked = int(here[: max(0, n_whole - begin)].sum())
            is_bad = ~(np.abs(part) <= (MAX_WEIGHT if name == "weights" else np.finfo(np.float32).max))
            is_bad[n_checked:] &= ~np.isnan(part[n_checked:])
            if is_bad.any():
                raise FileError(f"{path} has {name} that are not finite: expected finite numbers", code="file.damaged")
            target = rows[begin : begin + len(here)]
            if visited:
                target[here] = part
            elif part.any():  # pages that are never written use no memory
                target[:] = part


def _all_parts(n: int) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    for begin in range(0, n, PART):
        yield begin, np.ones(min(PART, n - begin), bool)


def _slice(path: Path, numbers: Any, begin: int, end: int) -> NDArray[Any]:
    try:
        found: NDArray[Any] = numbers[begin:end]
    except UNREADABLE as error:
        raise _ends_early(path, error) from None
    return found


def _ends_early(path: Path, error: Exception) -> FileError:
    return FileError(f"{path} ends too early: {' '.join(str(error).split())}", code="file.damaged")


def complete(network: Network) -> None:
    """Copy weights that are not set in later stages from the stage before."""
    size = network.design.stage_size
    for stage in range(1, network.design.n_stages) if network.step is None else ():
        before, here = network.weights[(stage - 1) * size : stage * size], network.weights[stage * size :][:size]
        np.copyto(here, before, where=np.isnan(here))
