"""Compress networks: prune unimportant weights, quantize the others, and entropy-code them.

The accumulated error of a weight grows with how often it was looked up and how wrong it was, so it measures
its importance.  Quantized weights take a few bits each (lab2048.kernels.ntuple.weight_model).
"""

import dataclasses
import itertools
import os
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, OutOfRangeError, UsageError
from lab2048.kernels.ntuple import range_decoder, rans_decoder, rans_encoder
from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.kernels.ntuple.planes import spread
from lab2048.kernels.ntuple.rans_decoder import N_STREAMS
from lab2048.kernels.ntuple.weight_model import make_scratch
from lab2048.models.ntuple.network import MAX_RADIX, Design, Network, Table, huge_array
from lab2048.models.ntuple.order import offsets_of, plane_positions, to_digits
from lab2048.stop_flag import current

PART = 1 << 22
MAX_SHORT = 32767
MAX_MODEL = 1 << 13  # words of the frequencies of a compressed table, at most
FINE = 20_000  # bytes of a compressed table from which the fine model is always shorter
N_THREADS = min(4, os.cpu_count() or 1)  # for decompression: tables are independent


def prune(network: Network, least: float) -> Network:
    """Return the network without weights whose accumulated error is below `least`; it cannot be trained further."""
    if network.rates is None:
        raise UsageError("the network has no learning rates: expected a checkpoint of lab2048 train with method tc")
    weights, size = huge_array(network.design.n_entries, np.float32), network.design.stage_size
    for stage in range(network.design.n_stages):
        for begin in range(stage * size, (stage + 1) * size, PART):
            end = min(begin + PART, (stage + 1) * size)
            errors = network.rates[2 * begin + 1 : 2 * end : 2]
            is_promoted = stage > 0 and network.design.is_promoting
            instead = weights[begin - size : end - size] if is_promoted else np.float32(0)
            weights[begin:end] = np.where(errors >= least, network.weights[begin:end], instead)
    return dataclasses.replace(network, weights=weights, rates=None, facts=_noted(network, {"pruned": least}))


def quantize(network: Network, step: float) -> Network:
    """Return the network with weights rounded to multiples of a step."""
    if not 0 < step < 1e6:
        raise OutOfRangeError("step", f"{step:g}", "above 0, below 1000000")
    if network.step is not None:
        raise UsageError(f"the network is quantized already, in steps of {network.step:g}: expected one with floats")
    weights = huge_array(network.design.n_entries, np.int16)
    for begin in range(0, len(weights), PART):
        part = np.rint(network.weights[begin : begin + PART] / np.float32(step))
        if np.abs(part).max(initial=0) > MAX_SHORT:
            least = np.abs(network.weights).max() / MAX_SHORT
            raise UsageError(
                f"step {step:g} is too small for these weights: expected at least {least:.3g}", field="step"
            )
        weights[begin : begin + PART] = part
    facts = _noted(network, {"step": step})
    return dataclasses.replace(network, weights=weights, step=float(step), rates=None, facts=facts)


def _noted(network: Network, change: dict[str, Any]) -> dict[str, Any]:
    return {**network.facts, "changes": [*network.facts.get("changes", []), change]}


class Compressed(NamedTuple):
    """Compressed tables, as files store them."""

    squeezed: NDArray[np.uint8]  # the code of all tables
    sizes: NDArray[np.uint64]  # the bytes of each
    checksum: int  # CRC-32 of the code; in format 1, of the weights
    is_old: bool = False  # compressed by a range coder, as in files of format 1


def compress_weights(network: Network) -> Compressed:
    """Compress int16 weights."""
    parts, radix = [], network.design.radix
    scratch = make_scratch(radix, max(map(len, network.design.patterns)))
    for begin, end, n_cells, has_sets in network.design.tables:
        table = np.array(network.weights[begin:end])
        if radix == MAX_RADIX:
            table = to_digits(table, n_cells, has_sets=has_sets)
        parts.append(_compress_table(table, radix, n_cells, scratch))
    sizes, squeezed = np.array([len(part) for part in parts], np.uint64), np.concatenate(parts)
    return Compressed(squeezed, sizes, zlib.crc32(squeezed.data))


def _compress_table(
    table: NDArray[np.int16], radix: int, n_cells: int, scratch: NDArray[np.uint32]
) -> NDArray[np.uint8]:
    """Return the code of a table by the model that gives the shorter one."""
    fine = _code_of(table, radix, n_cells, scratch, 1)
    return fine if len(fine) > FINE else min(_code_of(table, radix, n_cells, scratch, 0), fine, key=len)


def _code_of(
    table: NDArray[np.int16], radix: int, n_cells: int, scratch: NDArray[np.uint32], is_fine: int
) -> NDArray[np.uint8]:
    """Return the code of a table: where each of its streams begins, and the streams."""
    n_events = rans_encoder.list_events(table, scratch, radix, n_cells, is_fine, np.zeros(1, np.uint64))
    events = np.zeros(n_events, np.uint64)
    rans_encoder.list_events(table, scratch, radix, n_cells, is_fine, events)
    streams = []
    for stream in range(N_STREAMS):
        words = np.zeros(2 * n_events + MAX_MODEL, np.uint32)  # an event takes at most two
        streams.append(words[len(words) - rans_encoder.compress(events, stream, is_fine, words) :])
    begins = N_STREAMS + np.cumsum([0, *map(len, streams[:-1])])
    return np.concatenate([begins.astype(np.uint32), *streams]).view(np.uint8)


def decompressed_bytes(design: Design) -> int:
    """Return the memory of decompressed weights, and of the tables and scratch memory of each thread meanwhile."""
    n_threads = min(N_THREADS, len(design.tables))
    contexts: int = (design.radix + 1) ** max(map(len, design.patterns))
    return 2 * (design.n_entries + n_threads * (contexts + 2 * max(design.table_sizes)))


def decompress_weights(
    design: Design,
    code: Compressed,
    add: Callable[[NDArray[np.int16]], None],
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Decompress weights; raise FileError if the checksum does not match, StoppedError if the thread is stopped.

    `add` is called with each table, in the order of the tables, and in the order of kernels.
    """
    tables = design.tables
    ends = [0, *itertools.accumulate(map(int, code.sizes))]
    if len(code.sizes) != len(tables) or ends[-1] != len(code.squeezed):
        raise FileError("its tables have other sizes than it says: the file is damaged", code="file.damaged")
    if not code.is_old and zlib.crc32(code.squeezed.data) != code.checksum:
        raise _damaged()
    own, flag = threading.local(), current()
    checks: list[Future[int]] = []

    def unpack(i: int) -> int:
        flag.check()
        if not hasattr(own, "decoder"):  # of this thread
            own.decoder = _OldDecoder(design) if code.is_old else _Decoder(design)
        table = own.decoder.decode(tables[i], code.squeezed[ends[i] : ends[i + 1]])
        before = checks[i - 1].result() if i else 0  # waits for the table before
        found = zlib.crc32(own.decoder.digits.data, before) if code.is_old else 0
        add(table)
        progress(i)
        return found

    with ThreadPoolExecutor(N_THREADS) as pool:
        for i in range(len(tables)):
            checks.append(pool.submit(unpack, i))  # noqa: PERF401 - threads read the list meanwhile
    if checks[-1].result() != (code.checksum if code.is_old else 0):
        raise _damaged()


def _damaged() -> FileError:
    return FileError("its weights are not those that were written: the file is damaged", code="file.damaged")


class _Decoder:
    """Decompress tables one after the other."""

    def __init__(self, design: Design) -> None:
        self._design, self._model = design, rans_decoder.make_model()
        self._scratch = make_scratch(design.radix, max(map(len, design.patterns)))
        self._room = huge_array(max(design.table_sizes), np.int16)

    def decode(self, table: Table, code: NDArray[np.uint8]) -> NDArray[np.int16]:
        """Return a table in the order of kernels; the next call overwrites it."""
        if len(code) % 4 or not len(code):
            raise _damaged()
        words = np.array(code).view(np.uint32)
        found, n_cells, radix = self._room[: table.end - table.begin], table.n_cells, self._design.radix
        found[:] = 0
        offsets = offsets_of(self._design, n_cells)
        if rans_decoder.decompress(words, found, self._scratch, self._model, offsets, radix, n_cells) < 0:
            raise _damaged()
        if table.has_sets:  # the last weights in digit order, and also in the order of kernels
            places = plane_positions(n_cells)[-N_LARGE_SETS:]
            sets = found[places]
            found[places] = 0
            found[-N_LARGE_SETS:] = sets
        return found


class _OldDecoder:
    """Decompress tables of files of format 1."""

    def __init__(self, design: Design) -> None:
        self._design, size = design, max(design.table_sizes)
        self._contexts = huge_array((design.radix + 1) ** max(map(len, design.patterns)), np.int16)
        self._digits, self._planes = huge_array(size, np.int16), huge_array(size, np.int16)
        self.digits = self._digits  # the last table in digit order

    def decode(self, table: Table, code: NDArray[np.uint8]) -> NDArray[np.int16]:
        """Return a table in the order of kernels; the next call overwrites it."""
        size, radix = table.end - table.begin, self._design.radix
        self.digits = self._digits[:size]
        self._contexts[:] = self.digits[:] = 0
        range_decoder.decompress(code, self.digits, self._contexts, radix, table.n_cells)
        if radix < MAX_RADIX:
            return self.digits
        planes = self._planes[:size]
        planes[:] = 0
        spread(self.digits, planes, table.n_cells, N_LARGE_SETS if table.has_sets else 0)
        return planes
