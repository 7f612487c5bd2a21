"""A statistical model of the weights of a table: how likely each value is, given the weights before it.

A weight resembles the weights whose pattern has one tile a rank lower; they are its *neighbours*, and are coded
before it.  Their mean size gives the *level* of a weight, and together with their signs its *context*:

    no neighbour is nonzero    mostly zeros: the length of each run of zeros is coded, then the nonzero weight
    some are                   is the weight zero?  This depends on the level and on the number of neighbours.
                               If not, its symbol depends on the level and on how far the signs agree.

In a table with few weights, these contexts would take more space than they save.  Its model is not *fine*: all weights
have the same level, and the number of neighbours is not told apart.

A *symbol* is a sign and a magnitude: 1, 2, 3, 4 or 5, 6 or 7, 8 to 11, 12 to 15, 16 to 23 ...  The position in such a
range takes a few more bits, which are not modelled.

Weights are coded in digit order (lab2048.models.ntuple.order), in *blocks*: the weights that differ only in the ranks
of the first two cells, a row for each rank of the second.  The neighbours of a weight are the one above it, in the row
before, and one in each of up to six earlier blocks.  The weight before it in its row is not used, so that a whole row
can be decoded at a time.  What a weight contributes to the
contexts of others is its *mark*, a 32-bit word.  Marks are added:

    bits 0-12    size, at most MAX_SIZE
    bits 13-16   1, if it is not zero
    bits 17-31   the weight with its sign, at most MAX_SIZE

lab2048.kernels.ntuple.rans_encoder and rans_decoder code by this model.  Their scratch memory has

    marks     BLOCK words per block
    digits    the digits of the current block, then the distance in blocks to the neighbours of each axis
    zeros     LANES words: the row above the first one
    used      one byte per block: it is not all zero
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, U64, ZERO
from lab2048.kernels.board.memory import load_u8, load_u32, load_u64, store_u8, store_u32

LANES = 16  # marks per row, whatever the radix: a cache line
BLOCK = LANES * LANES
MAX_CELLS, MAX_SIZE = 8, 1023
COUNT_SHIFT, SUM_SHIFT, SIZE_BITS, COUNT_BITS, WORD_BITS = 13, 17, 0x1FFF, 15, 0xFFFF_FFFF

# Contexts of symbols.
N_LEVELS, N_SIGNS = 16, 3
EMPTY = N_LEVELS * N_SIGNS  # no neighbour is nonzero
RUN = EMPTY + 1  # the length of a run of zeros, given the number of bits of the one before
N_RUN_SYMBOLS = 26
N_CONTEXTS = RUN + N_RUN_SYMBOLS
N_SYMBOLS = 64  # at most, in any context
# Contexts of the question whether a weight is zero: level, number of nonzero neighbours, number of neighbours.
N_COUNTS = MAX_CELLS + 1
N_QUESTIONS = N_LEVELS * N_COUNTS * N_COUNTS

INVERSE = np.array([0] + [(4 << 16) // n for n in range(1, COUNT_BITS + 1)], np.int64)
LEVEL_OF = np.array([min(round(1.5 * np.log2(i / 4 + 1)), N_LEVELS - 1) for i in range(4 * 8192)], np.uint8)


@kernel
def mark_of(number: I64) -> I64:
    """Return the mark of a weight."""
    size = min(abs(number), MAX_SIZE)
    signed = size if number > 0 else -size
    return (size | (I64(number != 0) << COUNT_SHIFT) | (signed << SUM_SHIFT)) & WORD_BITS


@kernel
def level_of(marks: I64) -> I64:
    """Return the level of a weight, given the sum of its neighbours' marks."""
    inverse = I64(INVERSE[U64((marks >> COUNT_SHIFT) & COUNT_BITS)])
    return I64(LEVEL_OF[U64(((marks & SIZE_BITS) * inverse) >> 16)])


@kernel
def sum_of(marks: I64) -> I64:
    """Return the sum of the neighbours with their signs."""
    return ((marks >> SUM_SHIFT) ^ 0x4000) - 0x4000


@kernel
def question_of(marks: I64, level: I64, n_neighbours: I64) -> I64:
    """Return the context of the question whether a weight is zero."""
    return (level * N_COUNTS + min((marks >> COUNT_SHIFT) & COUNT_BITS, MAX_CELLS)) * N_COUNTS + n_neighbours


@kernel
def context_of(marks: I64, level: I64, total: I64) -> I64:
    """Return the context of a symbol; `total` is the sum of the neighbours."""
    agreement, size = 4 * abs(total), marks & SIZE_BITS
    return level * N_SIGNS + I64(agreement >= size) + I64(agreement >= 3 * size)


def make_scratch(radix: int, n_cells: int) -> NDArray[np.uint32]:
    """Allocate the scratch memory for a table of radix^n_cells weights."""
    n_blocks = radix ** max(n_cells - 2, 0)
    return np.zeros(BLOCK * n_blocks + 2 * MAX_CELLS + LANES + n_blocks // 4 + 1, np.uint32)


@kernel
def begin_blocks(marks: I64, radix: I64, n_cells: I64) -> tuple[I64, I64, I64, I64]:
    """Prepare the scratch memory; return the number of blocks, and the addresses of digits, zeros and used."""
    n_blocks = I64(1)
    for _ in range(2, n_cells):
        n_blocks *= radix
    digits = marks + 4 * BLOCK * n_blocks
    zeros, stride = digits + 8 * MAX_CELLS, I64(1)
    used = zeros + 4 * LANES
    for k in range(LANES):
        store_u32(zeros, k, np.uint32(0))
    for axis in range(2, n_cells):
        store_u32(digits, axis, np.uint32(0))
        store_u32(digits, MAX_CELLS + axis, np.uint32(stride))
        stride *= radix
    for block in range(n_blocks):
        store_u8(used, block, np.uint8(0))
    return n_blocks, digits, zeros, used


@kernel
def count_blocks(used: I64, block: I64, digits: I64, n_cells: I64) -> tuple[I64, I64]:
    """Count the earlier blocks that have neighbours of a block, and those that are not all zero."""
    n_blocks, n_used = I64(0), I64(0)
    for axis in range(2, n_cells):
        if load_u32(digits, axis) != 0:
            n_blocks += 1
            n_used += I64(load_u8(used, block - I64(load_u32(digits, MAX_CELLS + axis))))
    return n_blocks, n_used


@kernel
def add_marks(marks: I64, used: I64, block: I64, digits: I64, n_cells: I64) -> None:
    """Write the sums of the marks of earlier blocks into a block."""
    here = marks + 4 * BLOCK * block
    for i in range(BLOCK):
        store_u32(here, i, np.uint32(0))
    for axis in range(2, n_cells):
        if load_u32(digits, axis) == 0:
            continue
        other = block - I64(load_u32(digits, MAX_CELLS + axis))
        if load_u8(used, other) != 0:
            there = marks + 4 * BLOCK * other
            for i in range(BLOCK):
                store_u32(here, i, np.uint32((I64(load_u32(here, i)) + I64(load_u32(there, i))) & WORD_BITS))


@kernel
def is_empty_row(here: I64, above: I64) -> bool:
    """Return True if no weight of a row has a nonzero neighbour."""
    first, second = ZERO, ZERO
    for k in range(LANES // 2):
        first |= load_u64(here, k)
        second |= load_u64(above, k)
    return bool((first | second) == ZERO)


@kernel
def next_block(digits: I64, radix: I64, n_cells: I64) -> None:
    """Count the digits of a block up by one, like an odometer."""
    for axis in range(2, n_cells):
        digit = I64(load_u32(digits, axis)) + 1
        if digit < radix:
            store_u32(digits, axis, np.uint32(digit))
            return
        store_u32(digits, axis, np.uint32(0))
