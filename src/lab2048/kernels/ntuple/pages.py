"""Weights in pages: pages without weights that matter are not stored.

The page table has, for each page of a network, where its weights are stored.  The first stored page is all zero and
stands for every page that is left out, so that a lookup needs no branch.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, U64
from lab2048.kernels.board.memory import load_i16, load_u32, store_i16

# Smaller pages leave out more, but lookups in their larger page table wait for memory: with 64 weights a page, play at
# depth 1 is a quarter slower.
PAGE = 256
PAGE_SHIFT, IN_PAGE = U64(8), U64(255)


@kernel
def in_page(pages: I64, place: U64) -> U64:
    """Return where the weight at a place of the network is stored; `pages` is 0 if all are."""
    if pages == 0:
        return place
    return U64(load_u32(pages, I64(place >> PAGE_SHIFT))) + (place & IN_PAGE)


@kernel
def add_pages(
    table: NDArray[np.int16], pages: NDArray[np.uint32], stored: NDArray[np.int16], n_stored: I64, least: I64
) -> I64:
    """Append the pages of a table to the `n_stored` ones, and return their new number; `pages` must be zero.

    A page is left out if the absolute values of its weights add up to less than `least`.
    """
    first, target = I64(table.ctypes.data), I64(stored.ctypes.data)
    for page in range(len(pages)):
        begin, total = PAGE * page, np.int32(0)
        size = min(PAGE, len(table) - begin)
        here, there = first + 2 * begin, target + 2 * PAGE * n_stored
        for k in range(size):
            total += np.int32(abs(np.int32(load_i16(here, k))))
        if total >= least:
            pages[page] = PAGE * n_stored
            for k in range(size):
                store_i16(there, k, load_i16(here, k))
            n_stored += 1
    return n_stored


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the kernel that Python calls."""
    compile_for(add_pages, np.zeros(1, np.int16), np.zeros(1, np.uint32), np.zeros(1, np.int16), 1, 1)
