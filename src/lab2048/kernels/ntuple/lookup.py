"""Compiled lookups of n-tuple networks: find the weights of a board and sum them.

The value of a board is a sum of weights.  Each pattern (a set of cells) has a table with one
weight for every combination of ranks on its cells, and is looked up once per symmetric copy of
the board.  The number of ranks that can appear on the board, at most 16, is the *radix*.  With radix 16
the position in the table is made of the bits of the ranks, in the order of lab2048.kernels.ntuple.planes.
With a smaller radix it is a number whose digits are the ranks of the cells, the first cell being the lowest digit.

Where the processor can, one instruction extracts all cells of a pattern.  Elsewhere, cells that are
adjacent form a *run*, which takes one shift and one mask.

    net[0 : PATTERNS]   the fields named below
    net[PATTERNS : ]    PATTERN_SIZE words per pattern: start of its table, mask and number of its cells,
                        number of runs, and (shift, mask) of each run; masks are of planes if the radix is 16,
                        else of packed boards

lab2048.models.ntuple.network builds this array.  The caller of a kernel must keep it and the weights
alive.  An *index* is the list of weights that a board looks up, as stored: N_LOOKUPS words at an address.
"""

import numpy as np

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import CAN_EXTRACT, FOUR, I64, N16, ONE, U64, ZERO, extract
from lab2048.kernels.board.memory import (
    F32,
    bits_float,
    load_f32,
    load_i16,
    load_u64,
    prefetch,
    store_f32,
    store_u64,
    words_at,
)
from lab2048.kernels.ntuple.large import close_gaps
from lab2048.kernels.ntuple.pages import in_page
from lab2048.kernels.ntuple.planes import close_lanes, flip, mirror, planes_of, transpose

N_PATTERNS = 0
N_COPIES = 1  # symmetric copies that are looked up; 1: only the board itself
N_LOOKUPS = 2
WEIGHTS = 3  # address of the weights: float32, or int16 if STEP is set
STEP = 4  # bits of the float that int16 weights are multiplied by; 0: weights are float32
RATES = 5  # address of the two TC accumulators of each weight; 0: none
STAGE_SIZE = 6  # weights per stage
N_STAGES = 7
STAGES = 8  # the highest rank at which each stage begins
MAX_STAGES = 8
PLAN = 16  # address of the plan
PLAN_SIZE = 17
HAS_EIGHT = 18  # 1 if `eight_copies` can be used: all copies of the classic board are looked up, with few runs
RADIX = 19
# Start of the weights for sets of large tiles, if large tiles are looked up by their order
# (lab2048.kernels.ntuple.large); 0: no tile downgrading.  They are the last entries of the first table, which
# no board reaches: two of its cells would be 32768.
LARGE_SETS = 20
PAGES = 21  # address of the page table (lab2048.kernels.ntuple.pages); 0: all weights are stored
PATTERNS = 22
MAX_RUNS = 8
FIRST, CELLS, N_CELLS, N_RUNS, RUNS = range(5)  # fields of a pattern
PATTERN_SIZE = RUNS + 2 * MAX_RUNS
EIGHT_RUNS = MAX_RUNS if CAN_EXTRACT else 3  # most runs of a pattern if HAS_EIGHT

U32 = np.uint32
EVERY_OTHER, EVERY_OTHER_CELL = U64(0x0101_0101_0101_0101), U64(0x0F0F_0F0F_0F0F_0F0F)
CARRIES = U64(0x1010_1010_1010_1010)
BYTES_OF_NIBBLES, PAIRS_OF_BYTES, LOW_16 = U64(0x0F0F_0F0F), U64(0x00FF_00FF), U64(0xFFFF)
N8, N15 = U64(8), U64(15)


@kernel
def stage_of(net: I64, board: U64) -> I64:
    """Return the stage that evaluates a board, chosen by its highest tile."""
    stage = I64(0)
    for i in range(1, I64(load_u64(net, N_STAGES))):
        # A nibble overflows if its rank is at least the stage's.
        lift = (N16 - load_u64(net, STAGES + i)) * EVERY_OTHER
        high = ((board & EVERY_OTHER_CELL) + lift) | (((board >> FOUR) & EVERY_OTHER_CELL) + lift)
        stage += I64((high & CARRIES) != ZERO)
    return stage


@kernel
def cut(net: I64, pattern: I64, word: U64) -> U64:
    """Extract the cells of a pattern from planes, or from a packed board if the radix is below 16."""
    if CAN_EXTRACT:
        return extract(word, load_u64(net, pattern + CELLS))
    found = ZERO
    for run in range(pattern + RUNS, pattern + RUNS + 2 * I64(load_u64(net, pattern + N_RUNS)), 2):
        found |= (word >> load_u64(net, run)) & load_u64(net, run + 1)
    return close_lanes(found, load_u64(net, pattern + N_CELLS)) if load_u64(net, RADIX) == N16 else found


@kernel
def cut_short(net: I64, pattern: I64, word: U64) -> U64:
    """Extract the cells of a pattern of at most three runs from planes."""
    if CAN_EXTRACT:
        return extract(word, load_u64(net, pattern + CELLS))
    run = pattern + RUNS
    first, second = load_u64(net, run), load_u64(net, run + 2)
    found = ((word >> first) & load_u64(net, run + 1)) | ((word >> second) & load_u64(net, run + 3))
    return close_lanes(
        found | ((word >> load_u64(net, run + 4)) & load_u64(net, run + 5)), load_u64(net, pattern + N_CELLS)
    )


@kernel
def eight_copies(board: U64) -> tuple[U64, U64, U64, U64, U64, U64, U64, U64]:
    """Return the planes of all symmetric copies of a classic board."""
    b0 = planes_of(board)
    b1, b4 = mirror(b0), transpose(b0)
    b5 = mirror(b4)
    return b0, b1, flip(b0), flip(b1), b4, b5, flip(b4), flip(b5)


@kernel
def add_lookup(weights: I64, size: I64, index: I64, i: I64, word: U64) -> None:
    """Write an entry of an index, and prefetch its weight."""
    store_u64(index, i, word)
    prefetch(weights, I64(word) * size)


@kernel
def find_eight(net: I64, board: U64, index: I64) -> None:
    """Write the index of a classic board with all eight symmetric copies."""
    sets, large = load_u64(net, LARGE_SETS), ZERO
    if sets != ZERO:
        board, large = close_gaps(board)
    b0, b1, b2, b3, b4, b5, b6, b7 = eight_copies(board)
    weights, size = I64(load_u64(net, WEIGHTS)), I64(4) if load_u64(net, STEP) == ZERO else I64(2)
    pages = I64(load_u64(net, PAGES))
    base = U64(stage_of(net, board)) * load_u64(net, STAGE_SIZE)
    for p in range(I64(load_u64(net, N_PATTERNS))):
        # Load everything before the first store: the compiler must assume that a store changes `net`.
        here, k = PATTERNS + p * PATTERN_SIZE, 8 * p
        first = base + load_u64(net, here + FIRST)
        w0, w1 = in_page(pages, first + cut_short(net, here, b0)), in_page(pages, first + cut_short(net, here, b1))
        w2, w3 = in_page(pages, first + cut_short(net, here, b2)), in_page(pages, first + cut_short(net, here, b3))
        w4, w5 = in_page(pages, first + cut_short(net, here, b4)), in_page(pages, first + cut_short(net, here, b5))
        w6, w7 = in_page(pages, first + cut_short(net, here, b6)), in_page(pages, first + cut_short(net, here, b7))
        add_lookup(weights, size, index, k, w0)
        add_lookup(weights, size, index, k + 1, w1)
        add_lookup(weights, size, index, k + 2, w2)
        add_lookup(weights, size, index, k + 3, w3)
        add_lookup(weights, size, index, k + 4, w4)
        add_lookup(weights, size, index, k + 5, w5)
        add_lookup(weights, size, index, k + 6, w6)
        add_lookup(weights, size, index, k + 7, w7)
    if sets != ZERO:
        add_lookup(weights, size, index, 8 * I64(load_u64(net, N_PATTERNS)), in_page(pages, base + sets + large))


@kernel
def clamp(board: U64, radix: U64) -> U64:
    """Replace every rank above radix - 1 by radix - 1."""
    # A nibble overflows if its rank is at least the radix; its byte of `over` is then 1.
    even, odd, lift = board & EVERY_OTHER_CELL, (board >> FOUR) & EVERY_OTHER_CELL, (N16 - radix) * EVERY_OTHER
    over_even, over_odd = ((even + lift) & CARRIES) >> FOUR, ((odd + lift) & CARRIES) >> FOUR
    over = over_even | (over_odd << FOUR)
    return (board & ~(over * N15)) | (over * (radix - ONE))


@kernel
def number_of(nibbles: U64, r1: U64, r2: U64, r4: U64) -> U64:
    """Read eight nibbles as digits of a number; r1, r2 and r4 are the radix and its second and fourth power.

    All pairs of digits are combined in parallel, then pairs of pairs:

        g f e d c b a 9  ->  gf ed cb a9  ->  gfed cba9  ->  gfedcba9
    """
    bytes_ = (nibbles & BYTES_OF_NIBBLES) + r1 * ((nibbles >> FOUR) & BYTES_OF_NIBBLES)
    pairs = (bytes_ & PAIRS_OF_BYTES) + r2 * ((bytes_ >> N8) & PAIRS_OF_BYTES)
    return (pairs & LOW_16) + r4 * (pairs >> N16)


@kernel
def find_any(net: I64, board: U64, index: I64) -> None:
    """Write the index of a board of any shape.

    Tiles above the highest one that the network's rules allow are clamped to it, so that no
    lookup leaves the tables.
    """
    plan = words_at(I64(load_u64(net, PLAN)), I64(load_u64(net, PLAN_SIZE)))
    n_patterns, n_copies = I64(load_u64(net, N_PATTERNS)), I64(load_u64(net, N_COPIES))
    weights, size = I64(load_u64(net, WEIGHTS)), I64(4) if load_u64(net, STEP) == ZERO else I64(2)
    pages = I64(load_u64(net, PAGES))
    sets, large = load_u64(net, LARGE_SETS), ZERO
    if sets != ZERO:
        board, large = close_gaps(board)
    base = U64(stage_of(net, board)) * load_u64(net, STAGE_SIZE)
    r1 = load_u64(net, RADIX)
    r2, board = r1 * r1, clamp(board, r1)
    r4 = r2 * r2
    for i in range(n_copies):
        copy = packed.carry(plan, board, i)
        if r1 == N16:
            copy = planes_of(copy)
        for p in range(n_patterns):
            here = PATTERNS + p * PATTERN_SIZE
            position = cut(net, here, copy)
            if r1 != N16:
                position = number_of(position, r1, r2, r4)
            position = in_page(pages, base + load_u64(net, here + FIRST) + position)
            add_lookup(weights, size, index, n_copies * p + i, position)
    if sets != ZERO:
        add_lookup(weights, size, index, n_copies * n_patterns, in_page(pages, base + sets + large))


@kernel
def find(net: I64, board: U64, index: I64) -> None:
    """Write the index of a board, and prefetch its weights."""
    if load_u64(net, HAS_EIGHT) != ZERO:
        find_eight(net, board, index)
    else:
        find_any(net, board, index)


@kernel
def sum_weights(net: I64, index: I64) -> F32:
    """Sum the weights of an index; the result is NaN if a weight of a later stage is not set."""
    weights, n = I64(load_u64(net, WEIGHTS)), I64(load_u64(net, N_LOOKUPS))
    step = load_u64(net, STEP)
    if step != ZERO:
        whole = I64(0)
        for i in range(n):
            whole += I64(load_i16(weights, I64(load_u64(index, i))))
        return F32(F32(whole) * bits_float(U32(step)))
    # Four independent sums, so that additions overlap.
    a, b, c, d, i = F32(0), F32(0), F32(0), F32(0), I64(0)
    while i + 4 <= n:
        a += load_f32(weights, I64(load_u64(index, i)))
        b += load_f32(weights, I64(load_u64(index, i + 1)))
        c += load_f32(weights, I64(load_u64(index, i + 2)))
        d += load_f32(weights, I64(load_u64(index, i + 3)))
        i += 4
    while i < n:
        a += load_f32(weights, I64(load_u64(index, i)))
        i += 1
    return F32((a + b) + (c + d))


@kernel
def fill_from_earlier_stage(net: I64, index: I64) -> F32:
    """Copy the weights of an index that are not set from the nearest earlier stage; return the sum."""
    weights, size = I64(load_u64(net, WEIGHTS)), I64(load_u64(net, STAGE_SIZE))
    for i in range(I64(load_u64(net, N_LOOKUPS))):
        here = I64(load_u64(index, i))
        there = here
        while np.isnan(load_f32(weights, there)) and there >= size:
            there -= size
        store_f32(weights, here, load_f32(weights, there))
    return sum_weights(net, index)


@kernel
def evaluate(net: I64, board: U64, index: I64) -> F32:
    """Return the value of a board; `index` is memory for its index.  NaN if a weight of a later stage is not set."""
    find(net, board, index)
    return sum_weights(net, index)


@kernel
def value_of(net: I64, index: I64) -> F32:
    """Return the value of an index; weights that are not set are filled from earlier stages."""
    value = sum_weights(net, index)
    return fill_from_earlier_stage(net, index) if np.isnan(value) else value
