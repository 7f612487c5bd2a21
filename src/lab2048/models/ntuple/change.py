"""Packets of weight changes, which nodes of a cluster exchange while they train (lab2048.kernels.ntuple.exchange)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lab2048.kernels.ntuple import exchange
from lab2048.kernels.ntuple.exchange import ENTRY_BYTES, N_COLUMNS, N_SIZES, SIZE_SHIFT, Floats, Indexes

LEAST = np.float32(1e-3)  # points; smaller changes wait until they have grown


class Packet(NamedTuple):
    """Changes at sorted indexes: of the weight, of the sum of errors and of the sum of absolute errors."""

    indexes: Indexes
    changes: Floats

    def copy(self) -> "Packet":
        """Return a packet with arrays of its own, which can be written: kernels are compiled for such arrays."""
        return Packet(self.indexes.copy(), self.changes.copy())

    def apply(
        self, weights: Floats, common: Floats, rates: Floats | None, common_rates: Floats | None, own: "Packet"
    ) -> None:
        """Add merged changes to the common weights and, less this node's `own` part of them, to its weights."""
        exchange.apply_changes(weights, common, 1, 0, self.indexes, self.changes, own.changes, own.indexes)
        if rates is not None and common_rates is not None:
            exchange.apply_changes(rates, common_rates, 2, 1, self.indexes, self.changes, own.changes, own.indexes)

    def add_to(self, weights: Floats, rates: Floats | None) -> None:
        """Add merged changes to the common weights where there are no others."""
        weights[self.indexes] += self.changes[:, 0]  # each weight is there once
        if rates is not None:
            rates.reshape(-1, 2)[self.indexes] += self.changes[:, 1:]


def no_changes() -> Packet:
    return Packet(np.zeros(0, np.uint32), np.zeros((0, N_COLUMNS), np.float32))


def collect(
    weights: Floats, common: Floats, rates: Floats | None, common_rates: Floats | None, most_bytes: float
) -> Packet:
    """Return the largest changes of a node, at most so many bytes; the others stay for the next packet."""
    counts, n_most = np.zeros(N_SIZES, np.int64), int(min(most_bytes // ENTRY_BYTES, len(weights)))
    listed = np.empty(len(weights), np.uint32)  # the system gives memory to the part that is written
    indexes = listed[: exchange.list_changes(weights, common, LEAST, counts, listed)]
    if len(indexes) > n_most:  # classes that fit as a whole; if none does, a part of the highest
        listed, indexes = indexes, np.empty(n_most, np.uint32)
        n_above = np.cumsum(counts[::-1])[::-1]
        size = int(np.argmax(n_above <= n_most))
        n = exchange.choose_large(weights, common, _least_of(size), listed, indexes)
        if n == 0:
            n = exchange.choose_large(weights, common, _least_of(size - 1), listed, indexes)
        indexes = indexes[:n]
    changes = np.zeros((len(indexes), N_COLUMNS), np.float32)
    exchange.read_changes(weights, common, 1, 0, indexes, changes)
    if rates is not None and common_rates is not None:
        exchange.read_changes(rates, common_rates, 2, 1, indexes, changes)
    return Packet(indexes, changes)


def _least_of(size: int) -> np.float32:
    """Return the smallest change of a class of sizes."""
    return np.float32(np.array([size << SIZE_SHIFT], np.uint32).view(np.float32)[0])


def merge(packets: Sequence[Packet]) -> Packet:
    """Merge the packets of several nodes into one change for each weight, the same in any order but for rounding."""
    firsts = np.cumsum([0, *(len(packet.indexes) for packet in packets)], dtype=np.int64)
    indexes = np.concatenate([packet.indexes for packet in packets])
    changes = np.concatenate([packet.changes for packet in packets])
    at, merged = np.zeros(len(indexes), np.uint32), np.zeros((len(indexes), N_COLUMNS), np.float32)
    n = exchange.merge_packets(indexes, firsts, changes, np.zeros(len(packets), np.int64), merged, at)
    return Packet(at[:n], merged[:n])
