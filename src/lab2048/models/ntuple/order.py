"""Convert tables between digit order, in which files of format 1 and compressed tables store them, and plane order.

In digit order the position of a weight is a number whose digits are the ranks of the cells, the first cell being the
lowest digit.  Plane order (lab2048.kernels.ntuple.planes) is what kernels look up if the radix is 16.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.models.ntuple.network import MAX_RADIX, Design


@lru_cache(maxsize=2)
def plane_positions(n_cells: int) -> NDArray[np.uint32]:
    """Return the plane position of every digit position.

    >>> plane_positions(3)[[0x001, 0x321, 0x800]].tolist()
    [1, 53, 2048]
    """
    positions, ranks = np.zeros(1, np.uint32), np.arange(16, dtype=np.uint32)
    for cell in range(n_cells):
        bits = np.zeros(16, np.uint32)
        for bit in range(4):
            bits |= (ranks >> np.uint32(bit) & np.uint32(1)) << np.uint32(bit * n_cells + cell)
        positions = (bits[:, None] | positions).ravel()
    return positions


def offsets_of(design: Design, n_cells: int) -> NDArray[np.uint64]:
    """Return what each rank of each cell adds to the position of a weight, as kernels look it up: 16 words per cell."""
    ranks, axes = np.arange(MAX_RADIX), np.arange(n_cells)[:, None]
    if design.radix < MAX_RADIX:
        return (ranks * design.radix**axes).astype(np.uint64).ravel()
    bits = sum((ranks >> bit & 1) << bit * n_cells + axes for bit in range(4))
    return np.asarray(bits, np.uint64).ravel()


def to_planes(table: NDArray[Any], n_cells: int, *, has_sets: bool = False) -> NDArray[Any]:
    """Return a table of radix 16 in plane order; its first axis is that of the weights.

    Weights for sets of large tiles, if there are any, keep their places.
    """
    found, positions = np.empty_like(table), plane_positions(n_cells)
    found[positions] = table
    if has_sets:
        found[positions[-N_LARGE_SETS:]] = 0
        found[-N_LARGE_SETS:] = table[-N_LARGE_SETS:]
    return found


def to_digits(table: NDArray[Any], n_cells: int, *, has_sets: bool = False) -> NDArray[Any]:
    """Return a table of radix 16 in digit order."""
    positions = plane_positions(n_cells)
    found = np.asarray(table[positions])
    if has_sets:
        found[positions >= len(table) - N_LARGE_SETS] = 0
        found[-N_LARGE_SETS:] = table[-N_LARGE_SETS:]
    return found


def convert_to_planes(design: Design, numbers: NDArray[Any]) -> None:
    """Convert all tables of a network in place; there may be several numbers per weight."""
    if design.radix < MAX_RADIX:
        return
    rows = numbers.reshape(design.n_entries, -1)
    for table in design.tables:
        here = rows[table.begin : table.end]
        if here.any():  # pages that are never written use no memory
            here[:] = to_planes(here, table.n_cells, has_sets=table.has_sets)


def order_of(design: Design) -> str:
    """Return the order in which kernels look up a network: planes or digits."""
    return "planes" if design.radix == MAX_RADIX else "digits"
