"""Compress networks: prune unimportant weights, quantize the others, and entropy-code them.

The accumulated error of a weight grows with how often it was looked up and how wrong it was, so it measures
its importance.  Quantized weights take a few bits each (lab2048.kernels.ntuple.range_coder).
"""

import dataclasses
import itertools
import os
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, OutOfRangeError, UsageError
from lab2048.kernels.ntuple import range_coder, range_decoder
from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.kernels.ntuple.planes import spread
from lab2048.models.ntuple.network import MAX_RADIX, Design, Network, huge_array
from lab2048.models.ntuple.order import to_digits
from lab2048.stop_flag import current

PART = 1 << 22
MAX_SHORT = 32767
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


def compress_weights(network: Network) -> dict[str, NDArray[Any]]:
    """Compress int16 weights, in digit order: the code of all tables, the size of each, and a checksum."""
    parts, radix, check = [], network.design.radix, 0
    for begin, end, n_cells, has_sets in network.design.tables:
        table = np.array(network.weights[begin:end])
        if radix == MAX_RADIX:
            table = to_digits(table, n_cells, has_sets=has_sets)
        check = zlib.crc32(table.data, check)
        data = np.zeros(4096, np.uint8)
        size = int(range_coder.compress(range_coder.make_state(data), table, radix, n_cells))
        if size > len(data):
            data = np.zeros(size, np.uint8)
            range_coder.compress(range_coder.make_state(data), table, radix, n_cells)
        parts.append(data[:size])
    sizes = np.array([len(part) for part in parts], np.uint64)
    return {
        "squeezed": np.concatenate(parts),
        "sizes": sizes,
        "checksum": np.array([check], np.uint64),
    }


def decompressed_bytes(design: Design) -> int:
    """Return the memory of decompressed weights, and of contexts and two tables for each thread meanwhile."""
    n_threads = min(N_THREADS, len(design.tables))
    contexts: int = (design.radix + 1) ** max(map(len, design.patterns))
    return 2 * (design.n_entries + n_threads * (contexts + 2 * max(design.table_sizes)))


def decompress_weights(
    design: Design,
    squeezed: NDArray[np.uint8],
    sizes: NDArray[np.uint64],
    check: int,
    add: Callable[[NDArray[np.int16]], None],
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Decompress weights; raise FileError if the checksum does not match, StoppedError if the thread is stopped.

    `add` is called with each table, in the order of the tables, and in the order of kernels.
    """
    tables = design.tables
    ends = [0, *itertools.accumulate(map(int, sizes))]
    if len(sizes) != len(tables) or ends[-1] != len(squeezed):
        raise FileError("its tables have other sizes than it says: the file is damaged", code="file.damaged")
    own, flag = threading.local(), current()
    checks: list[Future[int]] = []

    def unpack(i: int) -> int:
        flag.check()
        begin, end, n_cells, has_sets = tables[i]
        if not hasattr(own, "contexts"):  # of this thread
            own.contexts = huge_array((design.radix + 1) ** max(map(len, design.patterns)), np.int16)
            own.digits, own.planes = (huge_array(max(design.table_sizes), np.int16) for _ in range(2))
        contexts, table, planes = own.contexts, own.digits[: end - begin], own.planes[: end - begin]
        contexts[:] = table[:] = 0
        range_decoder.decompress(squeezed[ends[i] : ends[i + 1]], table, contexts, design.radix, n_cells)
        if design.radix == MAX_RADIX:
            planes[:] = 0
            spread(table, planes, n_cells, N_LARGE_SETS if has_sets else 0)
        found = zlib.crc32(table.data, checks[i - 1].result() if i else 0)  # waits for the table before
        add(planes if design.radix == MAX_RADIX else table)
        progress(i)
        return found

    with ThreadPoolExecutor(N_THREADS) as pool:
        for i in range(len(tables)):
            checks.append(pool.submit(unpack, i))  # noqa: PERF401 - threads read the list meanwhile
    if checks[-1].result() != check:
        raise FileError("its weights are not those that were written: the file is damaged", code="file.damaged")
