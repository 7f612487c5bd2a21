"""N-tuple networks in compiled form: which weights a board looks up, and what they add up to.

A network's value of a board is a sum of weights.  Each pattern, a handful of cells, has
a table with a weight for every filling of its cells, and is looked up once in each turned
or mirrored copy of the board.  A filling's number has the ranks of the pattern's cells as
its digits, the first cell's the lowest.  A digit has as many values as ranks can appear on
the board, the *radix*, at most 16.  Many processors cut the cells out with one instruction; on
others those that are neighbours in the word are cut out together, a *run*, so that one shift and
one mask serve for several.  What was cut out has four bits a digit, and is the number itself if the
radix is 16.

    net[0 : PATTERNS]   the numbers named below
    net[PATTERNS : ]    PATTERN_SIZE words a pattern: where its table begins, its cells in the word,
                        how many runs it has, and (shift, mask) of each

lab2048.models.ntuple.network makes it; whoever hands its address to a kernel keeps it and the
weights alive.  An *index* is the list of the weights that a board looks up, as many words at
an address as the network has lookups.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board.bits import CAN_EXTRACT, FOUR, I64, N16, N48, ONE, U64, ZERO, extract
from lab2048.kernels.board.memory import (
    F32,
    address_of,
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

GROUP = "network"

N_PATTERNS = 0
N_COPIES = 1  # of a board that are looked at: its symmetries, or the board alone
N_LOOKUPS = 2
WEIGHTS = 3  # address of the weights: floats, or if there is a step short numbers
STEP = 4  # bits of the float that a short number is multiplied with; 0: weights are floats
RATES = 5  # address of the two sums behind the learning rate of each weight; 0: none
STAGE_SIZE = 6  # weights of a stage
N_STAGES = 7
STAGES = 8  # the rank from which on each stage serves
MAX_STAGES = 8
PLAN = 16  # address of the plan
PLAN_SIZE = 17
HAS_EIGHT = 18  # 1 if all eight copies of the classic board are looked at, and no pattern has more than EIGHT_RUNS
RADIX = 19
# Where the weights of the sets of large tiles begin, if those are looked up by their order
# (lab2048.kernels.ntuple.large); 0: tiles are looked up as they are.  They are the fillings of the first pattern with
# nothing but 32768 behind its first cell, which no board can have.
LARGE_SETS = 20
PATTERNS = 21
MAX_RUNS = 8
FIRST, CELLS, N_RUNS, RUNS = range(4)  # the words of a pattern
PATTERN_SIZE = RUNS + 2 * MAX_RUNS
EIGHT_RUNS = 3  # at most, in a pattern of which eight copies are cut out at once

U32 = np.uint32
N12 = U64(12)
MIDDLE = U64(0xFFFF_0000)
COLUMN_0, COLUMN_1 = U64(0x000F_000F_000F_000F), U64(0x00F0_00F0_00F0_00F0)
COLUMN_2, COLUMN_3 = U64(0x0F00_0F00_0F00_0F00), U64(0xF000_F000_F000_F000)
EVERY_OTHER, EVERY_OTHER_CELL = U64(0x0101_0101_0101_0101), U64(0x0F0F_0F0F_0F0F_0F0F)
CARRIES = U64(0x1010_1010_1010_1010)
BYTES_OF_NIBBLES, PAIRS_OF_BYTES, LOW_16 = U64(0x0F0F_0F0F), U64(0x00FF_00FF), U64(0xFFFF)
N8, N15 = U64(8), U64(15)


@kernel
def mirror(board: U64) -> U64:
    """The classic board with its columns in reverse order."""
    inner = ((board & COLUMN_1) << FOUR) | ((board & COLUMN_2) >> FOUR)
    return ((board & COLUMN_0) << N12) | inner | ((board & COLUMN_3) >> N12)


@kernel
def flip(board: U64) -> U64:
    """The classic board with its rows in reverse order."""
    return (board << N48) | ((board & MIDDLE) << N16) | ((board >> N16) & MIDDLE) | (board >> N48)


@kernel
def stage_of(net: I64, board: U64) -> I64:
    """The stage of a network that serves a board: by the highest tile."""
    stage = I64(0)
    for i in range(1, I64(load_u64(net, N_STAGES))):
        # A nibble overflows if its rank is at least the stage's.
        lift = (N16 - load_u64(net, STAGES + i)) * EVERY_OTHER
        high = ((board & EVERY_OTHER_CELL) + lift) | (((board >> FOUR) & EVERY_OTHER_CELL) + lift)
        stage += I64((high & CARRIES) != ZERO)
    return stage


@kernel
def cut(board: U64, cells: U64, s1: U64, m1: U64, s2: U64, m2: U64, s3: U64, m3: U64) -> U64:
    """Some cells of a board, put together; they are at most three runs."""
    if CAN_EXTRACT:
        return extract(board, cells)
    return ((board >> s1) & m1) | ((board >> s2) & m2) | ((board >> s3) & m3)


@kernel
def note(weights: I64, size: I64, index: I64, i: I64, word: U64) -> None:
    """Write down a lookup, and ask for its weight to be brought near."""
    store_u64(index, i, word)
    prefetch(weights, I64(word) * size)


@kernel
def find_eight(net: I64, board: U64, index: I64) -> None:
    """The index of a classic board, all eight copies."""
    sets, large = load_u64(net, LARGE_SETS), ZERO
    if sets != ZERO:
        board, large = close_gaps(board)
    b1, b4 = mirror(board), classic.transpose(board)
    b5 = mirror(b4)
    b2, b3, b6, b7 = flip(board), flip(b1), flip(b4), flip(b5)
    weights, size = I64(load_u64(net, WEIGHTS)), I64(4) if load_u64(net, STEP) == ZERO else I64(2)
    base = U64(stage_of(net, board)) * load_u64(net, STAGE_SIZE)
    for p in range(I64(load_u64(net, N_PATTERNS))):
        # Everything is loaded before anything is stored: for all the compiler knows, a store changes what comes next.
        here, k = PATTERNS + p * PATTERN_SIZE, 8 * p
        first, cells = base + load_u64(net, here + FIRST), load_u64(net, here + CELLS)
        s1, m1 = load_u64(net, here + RUNS), load_u64(net, here + RUNS + 1)
        s2, m2 = load_u64(net, here + RUNS + 2), load_u64(net, here + RUNS + 3)
        s3, m3 = load_u64(net, here + RUNS + 4), load_u64(net, here + RUNS + 5)
        w0, w1 = first + cut(board, cells, s1, m1, s2, m2, s3, m3), first + cut(b1, cells, s1, m1, s2, m2, s3, m3)
        w2, w3 = first + cut(b2, cells, s1, m1, s2, m2, s3, m3), first + cut(b3, cells, s1, m1, s2, m2, s3, m3)
        w4, w5 = first + cut(b4, cells, s1, m1, s2, m2, s3, m3), first + cut(b5, cells, s1, m1, s2, m2, s3, m3)
        w6, w7 = first + cut(b6, cells, s1, m1, s2, m2, s3, m3), first + cut(b7, cells, s1, m1, s2, m2, s3, m3)
        note(weights, size, index, k, w0)
        note(weights, size, index, k + 1, w1)
        note(weights, size, index, k + 2, w2)
        note(weights, size, index, k + 3, w3)
        note(weights, size, index, k + 4, w4)
        note(weights, size, index, k + 5, w5)
        note(weights, size, index, k + 6, w6)
        note(weights, size, index, k + 7, w7)
    if sets != ZERO:
        note(weights, size, index, 8 * I64(load_u64(net, N_PATTERNS)), base + sets + large)


@kernel
def clamp(board: U64, radix: U64) -> U64:
    """The board with radix - 1 in place of every higher rank."""
    # A nibble overflows if its rank is at least the radix; its byte of `over` is then 1.
    even, odd, lift = board & EVERY_OTHER_CELL, (board >> FOUR) & EVERY_OTHER_CELL, (N16 - radix) * EVERY_OTHER
    over_even, over_odd = ((even + lift) & CARRIES) >> FOUR, ((odd + lift) & CARRIES) >> FOUR
    over = over_even | (over_odd << FOUR)
    return (board & ~(over * N15)) | (over * (radix - ONE))


@kernel
def number_of(nibbles: U64, r1: U64, r2: U64, r4: U64) -> U64:
    """The number whose digits are eight nibbles: r1 is the radix, r2 its square, r4 the square of that.

    Digits are put together in pairs, all at once; a pair fits the byte that it leaves, and so on:

        g f e d c b a 9  ->  gf ed cb a9  ->  gfed cba9  ->  gfedcba9
    """
    bytes_ = (nibbles & BYTES_OF_NIBBLES) + r1 * ((nibbles >> FOUR) & BYTES_OF_NIBBLES)
    pairs = (bytes_ & PAIRS_OF_BYTES) + r2 * ((bytes_ >> N8) & PAIRS_OF_BYTES)
    return (pairs & LOW_16) + r4 * (pairs >> N16)


@kernel
def find_any(net: I64, board: U64, index: I64) -> None:
    """The index of a board of any shape.

    A tile higher than the network's rules allow counts as the highest that they do, so
    that no board whatever looks outside of the tables.
    """
    plan = words_at(I64(load_u64(net, PLAN)), I64(load_u64(net, PLAN_SIZE)))
    n_patterns, n_copies = I64(load_u64(net, N_PATTERNS)), I64(load_u64(net, N_COPIES))
    weights, size = I64(load_u64(net, WEIGHTS)), I64(4) if load_u64(net, STEP) == ZERO else I64(2)
    sets, large = load_u64(net, LARGE_SETS), ZERO
    if sets != ZERO:
        board, large = close_gaps(board)
    base = U64(stage_of(net, board)) * load_u64(net, STAGE_SIZE)
    r1 = load_u64(net, RADIX)
    r2, board = r1 * r1, clamp(board, r1)
    r4 = r2 * r2
    for i in range(n_copies):
        copy = packed.carry(plan, board, i)
        for p in range(n_patterns):
            here = PATTERNS + p * PATTERN_SIZE
            first, nibbles = base + load_u64(net, here + FIRST), ZERO
            if CAN_EXTRACT:
                nibbles = extract(copy, load_u64(net, here + CELLS))
            else:
                for run in range(here + RUNS, here + RUNS + 2 * I64(load_u64(net, here + N_RUNS)), 2):
                    nibbles |= (copy >> load_u64(net, run)) & load_u64(net, run + 1)
            note(weights, size, index, n_copies * p + i, first + number_of(nibbles, r1, r2, r4))
    if sets != ZERO:
        note(weights, size, index, n_copies * n_patterns, base + sets + large)


@kernel
def find(net: I64, board: U64, index: I64) -> None:
    """Write down which weights a board looks up, and ask for them to be brought near."""
    if load_u64(net, HAS_EIGHT) != ZERO:
        find_eight(net, board, index)
    else:
        find_any(net, board, index)


@kernel
def add_up(net: I64, index: I64) -> F32:
    """The value of the board that an index was made of."""
    weights, n = I64(load_u64(net, WEIGHTS)), I64(load_u64(net, N_LOOKUPS))
    step = load_u64(net, STEP)
    if step != ZERO:
        whole = I64(0)
        for i in range(n):
            whole += I64(load_i16(weights, I64(load_u64(index, i))))
        return F32(F32(whole) * bits_float(U32(step)))
    # Four sums side by side: the next one need not wait for the last.
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
def settle(net: I64, index: I64) -> F32:
    """The value of a board, some of whose weights are not set yet: they are copied from the stage before."""
    weights, size = I64(load_u64(net, WEIGHTS)), I64(load_u64(net, STAGE_SIZE))
    for i in range(I64(load_u64(net, N_LOOKUPS))):
        here = I64(load_u64(index, i))
        there = here
        while np.isnan(load_f32(weights, there)) and there >= size:
            there -= size
        store_f32(weights, here, load_f32(weights, there))
    return add_up(net, index)


@kernel
def value_of(net: I64, index: I64) -> F32:
    """The value of the board that an index was made of, whatever stage it belongs to."""
    value = add_up(net, index)
    return settle(net, index) if np.isnan(value) else value


def idle_net(plan: packed.Plan, weights: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A network of one cell on the rules of a plan; its 16 weights are the caller's to keep."""
    net = np.zeros(PATTERNS + PATTERN_SIZE, np.uint64)
    net[N_PATTERNS] = net[N_COPIES] = net[N_LOOKUPS] = net[N_STAGES] = net[PATTERNS + N_RUNS] = 1
    net[WEIGHTS], net[STAGE_SIZE], net[RADIX] = address_of(weights), 16, 16
    net[PATTERNS + CELLS] = net[PATTERNS + RUNS + 1] = 0xF
    net[PLAN], net[PLAN_SIZE] = address_of(plan), len(plan)
    return net


def warm_up(plan: packed.Plan) -> None:
    """Call the kernels of this file that others call, so that they are compiled."""
    weights, index = np.zeros(16, F32), np.zeros(8, np.uint64)
    net = idle_net(plan, weights)
    find(address_of(net), U64(0x11), address_of(index))
    value_of(address_of(net), address_of(index))
