"""Boards as bit planes: the order in which networks of radix 16 store their weights.

The *planes* of a board are its bits, transposed: the lowest bit of every cell in bits 0 to 15, the next bit of
every cell in bits 16 to 31, and so on.  The position of a pattern's weight has the same order: the highest bits
of all cells first.  So patterns of small tiles, which are looked up most often, are close together in memory:
lookups take half the time that they take with one digit per cell.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import CAN_EXTRACT, FOUR, I64, LOW_BITS, N16, N32, N48, ONE, TWO, U64, extract

THREE, N6, N8, N12, N24 = U64(3), U64(6), U64(8), U64(12), U64(24)
PAIRS_OF_BITS, NIBBLES, BYTES, HALVES = (
    U64(0x0303_0303_0303_0303),
    U64(0x000F_000F_000F_000F),
    U64(0x0000_00FF_0000_00FF),
    U64(0xFFFF),
)
SWAP_1, SWAP_2 = U64(0x0A0A_0A0A_0A0A_0A0A), U64(0x00CC_00CC_00CC_00CC)
EVEN_BITS, EVEN_PAIRS = U64(0x5555_5555_5555_5555), U64(0x3333_3333_3333_3333)
EVEN_ROWS, LOW_ROWS = U64(0x0F0F_0F0F_0F0F_0F0F), U64(0x00FF_00FF_00FF_00FF)


@kernel
def plane_of(board: U64) -> U64:
    """Gather the lowest bit of every cell."""
    if CAN_EXTRACT:
        return extract(board, LOW_BITS)
    bits = board & LOW_BITS
    bits = (bits | (bits >> THREE)) & PAIRS_OF_BITS
    bits = (bits | (bits >> N6)) & NIBBLES
    bits = (bits | (bits >> N12)) & BYTES
    return (bits | (bits >> N24)) & HALVES


@kernel
def planes_of(board: U64) -> U64:
    """Return the planes of a board."""
    low = plane_of(board) | (plane_of(board >> ONE) << N16)
    return low | (plane_of(board >> TWO) << N32) | (plane_of(board >> THREE) << N48)


@kernel
def transpose(planes: U64) -> U64:
    """Swap rows and columns of a classic board."""
    swap = (planes ^ (planes >> THREE)) & SWAP_1
    planes ^= swap ^ (swap << THREE)
    swap = (planes ^ (planes >> N6)) & SWAP_2
    return planes ^ swap ^ (swap << N6)


@kernel
def mirror(planes: U64) -> U64:
    """Reverse the columns of a classic board."""
    pairs = ((planes & EVEN_BITS) << ONE) | ((planes >> ONE) & EVEN_BITS)
    return ((pairs & EVEN_PAIRS) << TWO) | ((pairs >> TWO) & EVEN_PAIRS)


@kernel
def flip(planes: U64) -> U64:
    """Reverse the rows of a classic board."""
    pairs = ((planes & EVEN_ROWS) << FOUR) | ((planes >> FOUR) & EVEN_ROWS)
    return ((pairs & LOW_ROWS) << N8) | ((pairs >> N8) & LOW_ROWS)


@kernel
def close_lanes(lanes: U64, n_cells: U64) -> U64:
    """Join the lowest `n_cells` bits of the four planes."""
    gap = N16 - n_cells
    pairs = lanes | (lanes >> gap)
    low = (ONE << (n_cells + n_cells)) - ONE
    return (pairs & low) | (((pairs >> N32) & low) << (n_cells + n_cells))


@kernel
def spread(digits: NDArray[np.int16], planes: NDArray[np.int16], n_cells: I64, n_kept: I64) -> None:
    """Copy a table from digit order to plane order (lab2048.models.ntuple.order); `planes` must be zero.

    The last `n_kept` weights keep their places.
    """
    bits = np.zeros(16, np.int64)
    for rank in range(16):
        for bit in range(4):
            bits[rank] |= ((rank >> bit) & 1) << (bit * n_cells)
    n_spread = len(digits) - n_kept
    for begin in range(0, n_spread, 16):
        is_used = False
        for k in range(begin, begin + 16):
            is_used |= digits[k] != 0
        if is_used:
            position = I64(0)
            for axis in range(1, n_cells):
                position |= bits[(begin >> (4 * axis)) & 15] << axis
            for k in range(16):
                if digits[begin + k] != 0:
                    planes[position | bits[k]] = digits[begin + k]
    for k in range(n_spread, len(digits)):
        planes[k] = digits[k]


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the kernel that callers of Python use."""
    spread(np.zeros(16, np.int16), np.zeros(16, np.int16), 1, 0)
