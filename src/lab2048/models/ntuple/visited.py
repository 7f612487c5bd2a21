"""Visited weights: those that a training has changed.  Files store only these.

Visited weights are marked at two levels, in blocks of 64 consecutive weights:

    blocks   one bit per block: it has visited weights
    masks    one 64-bit word per such block: which of its weights are visited

A weight is visited if it or one of its rates differs from its initial value, bit by bit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab2048.models.ntuple.network import Design, Network

BLOCK = 64
PART = 1 << 22  # weights that are processed at a time; a multiple of BLOCK
SAMPLE = 1 << 13  # blocks from which the size of a file is estimated
HUGE_PAGE = 2**21  # bytes
NAN = np.float32(np.nan)  # a weight of a later stage that is not set


@dataclass
class Visited:
    """The marks of visited weights."""

    n_entries: int
    blocks: NDArray[np.uint8]
    masks: NDArray[np.uint64]

    @property
    def n_visited(self) -> int:
        return sum(
            int(np.unpackbits(self.masks[i : i + PART].view(np.uint8)).sum()) for i in range(0, len(self.masks), PART)
        )

    @classmethod
    def find(cls, network: Network, initial: np.float32) -> "Visited":
        """Compare all weights and rates with their initial values."""
        n = network.design.n_entries
        blocks, masks = [], []
        for begin in range(0, n, PART):
            words = _words(_is_visited(network, initial, begin, min(begin + PART, n)))
            blocks.append(words != 0)
            masks.append(words[words != 0])
        return cls(n, np.packbits(np.concatenate(blocks), bitorder="little"), np.concatenate(masks))

    def is_valid(self, n_visited: int) -> bool:
        """Return True if the marks fit the network and mark `n_visited` weights."""
        bits, n_blocks = np.unpackbits(self.blocks, bitorder="little"), count_blocks(self.n_entries)
        n_last = self.n_entries - (n_blocks - 1) * BLOCK  # weights of the last block
        fits_last = not bits[n_blocks - 1] or int(self.masks[-1:].sum()) < 1 << n_last
        return bool(
            not bits[n_blocks:].any()
            and int(bits.sum(dtype=np.int64)) == len(self.masks)
            and self.masks.all()
            and fits_last
            and self.n_visited == n_visited
        )

    def parts(self) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Return the first weight of each part that has visited weights, and which of the part are visited."""
        n_done, is_marked = 0, np.unpackbits(self.blocks, bitorder="little").astype(bool)
        for begin in range(0, self.n_entries, PART):
            here = is_marked[begin // BLOCK : count_blocks(min(begin + PART, self.n_entries))]
            n = int(here.sum())
            if n:
                words = np.zeros(len(here), "<u8")
                words[here] = self.masks[n_done : n_done + n]
                n_done += n
                bits = np.unpackbits(words.view(np.uint8), bitorder="little").view(bool)
                yield begin, bits[: self.n_entries - begin]


def count_blocks(n_entries: int) -> int:
    return -(-n_entries // BLOCK)


def count_pages(visited: Visited, n_bytes: int) -> int:
    """Return the bytes of the huge pages that have visited weights, of `n_bytes` per weight."""
    n_blocks = HUGE_PAGE // (n_bytes * BLOCK)
    bits = np.pad(visited.blocks, (0, -len(visited.blocks) % (n_blocks // 8)))
    return HUGE_PAGE * int(bits.reshape(-1, n_blocks // 8).any(axis=1).sum())


def set_initial(design: Design, weights: NDArray[np.float32], initial: np.float32) -> None:
    """Give zeros the values of an untrained network; weights of later stages are not set if they will be promoted."""
    if initial.view(np.uint32):
        weights[:] = initial
    if design.is_promoting:
        weights[design.stage_size :] = NAN


def estimate_bytes(network: Network, initial: np.float32) -> int:
    """Estimate from a sample of blocks how much the visited weights take in a file."""
    design, n_blocks = network.design, count_blocks(network.design.n_entries)
    stride = n_blocks // SAMPLE | 1  # odd, because tables repeat at powers of two
    whole = design.n_entries // BLOCK * BLOCK if stride > 1 else 0
    if not whole:
        visited = Visited.find(network, initial)
        return _n_bytes(design, visited.n_visited, len(visited.masks), has_rates=network.rates is not None)
    found = network.weights[:whole].view(np.uint32).reshape(-1, BLOCK)[::stride] != initial.view(np.uint32)
    if design.is_promoting:
        later = -(-design.stage_size // (stride * BLOCK))
        found[later:] = ~np.isnan(network.weights[:whole].reshape(-1, BLOCK)[::stride][later:])
    if network.rates is not None:
        found |= network.rates[: 2 * whole].view(np.uint64).reshape(-1, BLOCK)[::stride] != 0
    scale = n_blocks / len(found)
    n_visited, n_masks = round(scale * int(found.sum())), round(scale * int(found.any(axis=1).sum()))
    return _n_bytes(design, n_visited, n_masks, has_rates=network.rates is not None)


def most_bytes(design: Design, *, has_rates: bool) -> int:
    """Return the size of the weights, rates and marks in a file if all weights are visited."""
    return _n_bytes(design, design.n_weights, count_blocks(design.n_weights), has_rates=has_rates)


def _n_bytes(design: Design, n_visited: int, n_masks: int, *, has_rates: bool) -> int:
    """Return the size of visited weights, their rates and their marks in a file."""
    return (12 if has_rates else 4) * n_visited + 8 * n_masks + -(-count_blocks(design.n_entries) // 8)


def _is_visited(network: Network, initial: np.float32, begin: int, end: int) -> NDArray[np.bool_]:
    bits = network.weights[begin:end].view(np.uint32)
    found: NDArray[np.bool_] = bits != initial.view(np.uint32)
    n_first = max(0, network.design.stage_size - begin)
    if network.design.is_promoting and n_first < len(bits):
        found[n_first:] = bits[n_first:] != NAN.view(np.uint32)
    if network.rates is not None:
        found |= network.rates[2 * begin : 2 * end].view(np.uint64) != 0
    return found


def _words(is_visited: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack booleans into words of 64 bits; the last word is filled up with zeros."""
    packed = np.packbits(is_visited, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view("<u8")
