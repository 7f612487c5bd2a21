"""Compact tables: the positions of a formation as one sorted set, and their odds in 16 bits.

    index    the number of a position, by a numbering (lab2048.kernels.solve.position_index)
    block    `width` indexes in a row: two words, with a bit per index that the table has; the second word also
             counts, from bit HIGH on, the positions of all blocks before
    group    64 blocks: two words, a bit per block that has positions, and how many such blocks come before
    code     the odds of a position: 0 and CERTAIN are exact, the others are logarithms in steps of 1 / STEPS

Only blocks that have positions are stored.  A lookup reads a group, a block and a code.
"""

import math

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO, lowest_bit, popcount
from lab2048.kernels.board.block import GATHER, Words, is_made
from lab2048.kernels.board.memory import load_u16, load_u64, prefetch, store_u16, store_u64
from lab2048.kernels.board.packed import Plan, canonical, empty_bits, slide
from lab2048.kernels.solve.backup import Values
from lab2048.kernels.solve.position_index import board_of, index_of

HIGH = 17  # bits of a block's second word that stand for indexes
MAX_WIDTH = 64 + HIGH
NEVER, EVEN, CERTAIN = 0, 1 << 15, (1 << 16) - 1  # codes of the odds 0, 1 and infinity
STEPS = 1600.0  # codes per unit of the natural logarithm of the odds
MISSING = -1
BATCH = 256  # positions whose places are found together


@kernel
def code_of(odds: float) -> I64:
    """Return the code that is nearest to some odds."""
    if odds <= 0.0:
        return I64(NEVER)
    if odds == np.inf:
        return I64(CERTAIN)
    return I64(min(max(float(EVEN) + np.rint(STEPS * math.log(odds)), NEVER + 1.0), CERTAIN - 1.0))


@kernel
def odds_of(code: I64) -> float:
    """Return the odds that a code stands for."""
    if code == NEVER:
        return 0.0
    return np.inf if code == CERTAIN else math.exp(float(code - EVEN) / STEPS)


@kernel
def block_at(groups: I64, block: I64) -> I64:
    """Return the number of a block among those that are stored; MISSING if it has no positions."""
    group, bit = 2 * (block >> 6), ONE << U64(block & 63)
    bits = load_u64(groups, group)
    if bits & bit == ZERO:
        return I64(MISSING)
    return I64(load_u64(groups, group + 1)) + popcount(bits & (bit - ONE))


@kernel
def position_at(groups: I64, blocks: I64, width: I64, index: I64) -> I64:
    """Return the number of a position among all of the table; MISSING if the table does not have it."""
    block = index // width
    within, stored = index - block * width, block_at(groups, block)
    if stored < 0:
        return stored
    low, high = load_u64(blocks, 2 * stored), load_u64(blocks, 2 * stored + 1)
    if within < 64:
        bit = ONE << U64(within)
        is_there, before = low & bit != ZERO, popcount(low & (bit - ONE))
    else:
        bit = ONE << U64(within - 64)
        is_there, before = high & bit != ZERO, popcount(low) + popcount(high & (bit - ONE))
    return I64(high >> U64(HIGH)) + before if is_there else I64(MISSING)


@kernel
def mark_groups(keys: Words, numbering: I64, width: I64, groups: I64) -> None:
    """Mark the blocks that have one of these positions, given as keys of a layer."""
    for i in range(len(keys)):
        block = index_of(numbering, keys[i] * GATHER) // width
        group = 2 * (block >> 6)
        store_u64(groups, group, load_u64(groups, group) | (ONE << U64(block & 63)))


@kernel
def count_groups(groups: I64, n_groups: I64) -> I64:
    """Count the blocks before each group, after all are marked; return their number."""
    n = I64(0)
    for group in range(n_groups):
        store_u64(groups, 2 * group + 1, U64(n))
        n += popcount(load_u64(groups, 2 * group))
    return n


@kernel
def mark_blocks(keys: Words, numbering: I64, width: I64, groups: I64, blocks: I64) -> None:
    """Mark positions in their blocks."""
    spots, bits = np.empty(BATCH, np.int64), np.empty(BATCH, np.uint64)
    begin = I64(0)
    while begin < len(keys):
        n = min(BATCH, len(keys) - begin)
        for i in range(n):  # first where they are, so that the memory fetches many at a time
            index = index_of(numbering, keys[begin + i] * GATHER)
            block = index // width
            within = index - block * width
            spots[i] = 2 * block_at(groups, block) + (within >> 6)
            bits[i] = ONE << U64(within & 63)
            prefetch(blocks, 8 * spots[i])
        for i in range(n):
            store_u64(blocks, spots[i], load_u64(blocks, spots[i]) | bits[i])
        begin += n


@kernel
def count_blocks(blocks: I64, n_blocks: I64) -> I64:
    """Count the positions before each block, after all are marked; return their number."""
    n = I64(0)
    for block in range(n_blocks):
        bits = load_u64(blocks, 2 * block + 1)
        store_u64(blocks, 2 * block + 1, bits | (U64(n) << U64(HIGH)))
        n += popcount(load_u64(blocks, 2 * block)) + popcount(bits)
    return n


@kernel
def write_codes(
    keys: Words, odds: NDArray[np.float32], numbering: I64, width: I64, groups: I64, blocks: I64, codes: I64
) -> None:
    """Write the codes of positions, given as keys of a layer and their odds."""
    indexes, spots = np.empty(BATCH, np.int64), np.empty(BATCH, np.int64)
    begin = I64(0)
    while begin < len(keys):
        n = min(BATCH, len(keys) - begin)
        for i in range(n):
            indexes[i] = index_of(numbering, keys[begin + i] * GATHER)
            prefetch(blocks, 16 * block_at(groups, indexes[i] // width))
        for i in range(n):
            spots[i] = position_at(groups, blocks, width, indexes[i])
            prefetch(codes, 2 * spots[i])
        for i in range(n):
            store_u16(codes, spots[i], code_of(float(odds[begin + i])))
        begin += n


@kernel
def list_boards(
    groups: I64, blocks: I64, n_groups: I64, numbering: I64, width: I64, chosen: NDArray[np.int64], out: Words
) -> None:
    """Write the boards at `chosen` numbers of positions, which are sorted."""
    at_chosen, n = I64(0), I64(0)
    for block in range(64 * n_groups):
        stored = block_at(groups, block)
        if stored < 0:
            continue
        for part in range(2):
            bits = load_u64(blocks, 2 * stored + part)
            bits &= (ONE << U64(HIGH)) - ONE if part else ~ZERO
            while bits != ZERO and at_chosen < len(chosen):
                if chosen[at_chosen] == n:
                    index = I64(block) * width + 64 * part + I64(lowest_bit(bits))
                    out[at_chosen] = board_of(numbering, index)
                    at_chosen += 1
                bits &= bits - ONE
                n += 1


@kernel
def recompute(
    plan: Plan,
    boards: Words,
    ranks: Words,
    chances: Values,
    numbering: I64,
    width: I64,
    groups: I64,
    blocks: I64,
    codes: I64,
    odds: Values,
) -> I64:
    """Compute the odds of afterstates from those of their successors; return how many successors are missing."""
    goal, n_missing = plan[at.GOAL_RANK], I64(0)
    goal_cells = plan[at.GOAL_NIBBLES]
    for i in range(len(boards)):
        win, lose = 0.0, 0.0
        for spawn in range(len(ranks)):
            cells = empty_bits(plan, boards[i])
            while cells != ZERO:
                state = boards[i] | (ranks[spawn] << U64(lowest_bit(cells)))
                cells &= cells - ONE
                best = I64(NEVER)
                for move in range(I64(plan[at.N_MOVES])):
                    after = slide(plan, state, move)
                    if after == state:
                        continue
                    if is_made(after, goal):
                        best = I64(CERTAIN) if is_made(after & goal_cells, goal) else best
                        continue
                    found = position_at(groups, blocks, width, index_of(numbering, canonical(plan, after)))
                    n_missing += I64(found < 0)
                    best = max(best, I64(load_u16(codes, found)) if found >= 0 else I64(NEVER))
                loss = 1.0 / (1.0 + odds_of(best))
                win, lose = win + chances[spawn] * (1.0 - loss), lose + chances[spawn] * loss
        odds[i] = win / lose if lose > 0.0 else np.inf
    return n_missing


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    words, chances = np.zeros(1, np.uint64), np.zeros(1)
    compile_for(index_of, 0, ZERO)
    compile_for(odds_of, 0)
    compile_for(position_at, 0, 0, 1, 0)
    compile_for(mark_groups, words, 0, 2, 0)
    compile_for(count_groups, 0, 0)
    compile_for(mark_blocks, words, 0, 2, 0, 0)
    compile_for(count_blocks, 0, 0)
    compile_for(write_codes, words, np.zeros(1, np.float32), 0, 2, 0, 0, 0)
    compile_for(list_boards, 0, 0, 0, 0, 2, np.zeros(1, np.int64), words)
    compile_for(recompute, plan, words, words, chances, 0, 2, 0, 0, 0, chances)
