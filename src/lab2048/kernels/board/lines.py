"""Line tables: every line of at most four cells, slid.

A line is a 16-bit index with a nibble per cell, cell 0 lowest.  TOWARDS_LOW slides the tiles to cell 0
for any length; towards the other end each length needs its own table.  SLID holds all four; kernels read it by
`slid_line`.

Two tiles of rank 15 do not merge here, because rank 16 does not fit in a nibble.  Callers must switch to
wide boards before two of them can meet (see lab2048.kernels.board.packed).
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board.memory import constant_table

U16 = np.uint16
_SIZES = (65536, 65536, 4096, 256)
TOWARDS_LOW = 0
TOWARDS_HIGH = {4: 65536, 3: 2 * 65536, 2: 2 * 65536 + 4096}  # offset of the table for each length


def _slide_low(lines: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Slide lines towards their lowest nibble."""
    cells = [lines >> U16(4 * i) & U16(15) for i in range(4)]
    for last in (3, 2, 1):  # close the gaps, like bubbles that rise
        for i in range(last):
            low, high = cells[i], cells[i + 1]
            cells[i], cells[i + 1] = np.where(low == 0, high, low), np.where(low == 0, low, high)
    for i in range(3):  # merge from the lowest cell on: what has merged is not met again
        merges = (cells[i] == cells[i + 1]) & (cells[i] > 0) & (cells[i] < 15)
        cells[i] = cells[i] + merges.astype(np.uint16)
        for k in range(i + 1, 4):
            cells[k] = np.where(merges, cells[k + 1] if k < 3 else U16(0), cells[k])
    slid: NDArray[np.uint16] = cells[0] | cells[1] << U16(4) | cells[2] << U16(8) | cells[3] << U16(12)
    return slid


def _reverse(lines: NDArray[np.uint16], length: int) -> NDArray[np.uint16]:
    """Reverse the order of the cells."""
    parts = [(lines >> U16(4 * i) & U16(15)) << U16(4 * (length - 1 - i)) for i in range(length)]
    reversed_lines: NDArray[np.uint16] = np.bitwise_or.reduce(parts)
    return reversed_lines


def _make_table() -> NDArray[np.uint16]:
    low = _slide_low(np.arange(65536, dtype=np.uint16))
    parts = [low]
    for size, length in zip(_SIZES[1:], (4, 3, 2), strict=True):
        parts.append(_reverse(low[_reverse(np.arange(size, dtype=np.uint16), length)], length))
    return np.concatenate(parts)


SLID = _make_table()
slid_line = constant_table("slid", SLID)


def _make_potentials() -> NDArray[np.int32]:
    ranks = np.arange(16)
    potential = np.where(ranks > 0, (ranks - 1) << ranks, 0)
    pairs = np.add.outer(potential, potential).ravel()
    return np.add.outer(pairs, pairs).ravel().astype(np.int32)


line_potential = constant_table("potentials", _make_potentials())  # of four tiles
