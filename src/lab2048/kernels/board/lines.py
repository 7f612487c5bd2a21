"""Line tables: every line of at most four cells, slid.

A line is a 16-bit index with a nibble per cell, cell 0 lowest.  TOWARDS_LOW slides the tiles to cell 0
for any length; towards the other end each length needs its own table.  SLID holds all four.

Two tiles of rank 15 do not merge here, because rank 16 does not fit in a nibble.  Callers must switch to
wide boards before two of them can meet (see lab2048.kernels.board.packed).
"""

import numpy as np
from numpy.typing import NDArray

_SIZES = (65536, 65536, 4096, 256)
TOWARDS_LOW = 0
TOWARDS_HIGH = {4: 65536, 3: 2 * 65536, 2: 2 * 65536 + 4096}  # offset of the table for each length


def _slide_low(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Slide n lines, given as a 4 x n array of ranks, towards row 0."""
    slid = np.zeros_like(lines)
    n = lines.shape[1]
    count = np.zeros(n, np.int64)  # tiles placed so far
    may_merge = np.zeros(n, bool)
    each = np.arange(n)
    for rank in lines:
        last = slid[np.maximum(count - 1, 0), each]
        merges = may_merge & (rank > 0) & (rank == last) & (rank < 15)
        is_placed = (rank > 0) & ~merges
        slid[count[merges] - 1, each[merges]] += 1
        slid[count[is_placed], each[is_placed]] = rank[is_placed]
        count[is_placed] += 1
        may_merge = np.where(rank > 0, is_placed, may_merge)
    return slid


def _make_table() -> NDArray[np.uint16]:
    parts: list[NDArray[np.uint16]] = []
    for size, length in zip(_SIZES, (4, 4, 3, 2), strict=True):
        index = np.arange(size)
        ranks = np.stack([index >> 4 * i & 15 for i in range(4)])
        if parts:  # reverse the cells, slide, reverse again
            ranks[:length] = ranks[:length][::-1].copy()
        slid = _slide_low(ranks)
        if parts:
            slid[:length] = slid[:length][::-1].copy()
        parts.append(sum(slid[i] << 4 * i for i in range(4)).astype(np.uint16))
    return np.concatenate(parts)


SLID = _make_table()


def _make_potentials() -> NDArray[np.int32]:
    ranks = np.arange(16)
    potential = np.where(ranks > 0, (ranks - 1) << ranks, 0)
    pairs = np.add.outer(potential, potential).ravel()
    return np.add.outer(pairs, pairs).ravel().astype(np.int32)


POTENTIAL = _make_potentials()  # the potential of four tiles
