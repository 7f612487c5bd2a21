"""Layers: all boards of one tile sum, up to symmetry, sorted.

Boards are stored as keys (see lab2048.kernels.board.block).  Only a spawn changes the tile sum: the
states of a sum come from afterstates of smaller sums, and their slides are the afterstates of the same
sum.

    afterstates --spawn--> states --slide--> afterstates
       sum s          s + tile           s + tile

Kernels fill an array of bounded size and return where they stopped.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.block import (
    BLOCK,
    GATHER,
    SCATTER,
    Words,
    canonical_block,
    copies_block,
    is_made,
    slide_block,
    spawn_block,
)
from lab2048.kernels.board.packed import Plan

# What `slide_all` counts
STATES, STATES_RAW, LOST, LOST_RAW, N_COUNTS = 0, 1, 2, 3, 4
COARSE = 11  # bits by which keys are sorted at a time
MOST_NEIGHBOURS = 64  # keys with equal highest bits, beyond which sorting them one by one is slow


@kernel
def sift(boards: Words, n: I64, seen: Words, found: Words, n_found: I64) -> I64:
    """Append the keys of n boards except recently seen ones; return the new number of keys.

    Most boards are reached several times, and checking `seen` is cheaper than sorting.
    """
    shift = U64(64)
    size = len(seen)
    while size > 1:
        size >>= 1
        shift -= ONE
    for i in range(n):
        key = boards[i] * SCATTER
        # Always written, counted only if new: avoids an unpredictable branch.
        slot = I64((key << U64(8)) >> shift)
        found[n_found] = key
        n_found += I64(seen[slot] != key)
        seen[slot] = key
    return n_found


@kernel
def spawn_all(plan: Plan, keys: Words, begin: I64, rank: U64, seen: Words, found: Words) -> tuple[I64, I64]:
    """Find the states after a spawn of this rank; return the next index and the number of states."""
    states, spare = np.empty(BLOCK, np.uint64), np.empty(2 * BLOCK, np.uint64)
    n_found, room = I64(0), len(found) - BLOCK - 1
    while begin < len(keys) and n_found <= room:
        begin, n = spawn_block(plan, keys, begin, rank, states)
        canonical_block(plan, states, n, spare)
        n_found = sift(states, n, seen, found, n_found)
    return begin, n_found


@kernel
def slide_all(
    plan: Plan,
    keys: Words,
    begin: I64,
    goal_rank: U64,
    seen: Words,
    found: Words,
    won: Words,
    counts: NDArray[np.int64],
) -> tuple[I64, I64, I64]:
    """Find the afterstates of states; return the next index and the numbers of afterstates and of won ones.

    A goal rank of 0 means no goal; boards where it was made on the wrong cell are lost, and left out.  `counts`
    accumulates states with and without a move.
    """
    boards, slid, legal = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    after, win = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    spare = np.empty(2 * BLOCK, np.uint64)
    n_moves, goal_cells = I64(plan[at.N_MOVES]), plan[at.GOAL_NIBBLES]
    n_found, n_won = I64(0), I64(0)
    room = min(len(found), len(won)) - n_moves * BLOCK - 1
    while begin < len(keys) and max(n_found, n_won) <= room:
        n = min(BLOCK, len(keys) - begin)
        for i in range(n):
            boards[i] = keys[begin + i] * GATHER
            legal[i] = ZERO
        begin += n
        for move in range(n_moves):
            slide_block(plan, boards, n, move, slid, spare)
            n_after, n_win = I64(0), I64(0)
            for i in range(n):
                is_legal = slid[i] != boards[i]
                legal[i] |= U64(is_legal)
                ends = is_made(slid[i], goal_rank)
                after[n_after] = slid[i]
                n_after += I64(is_legal and not ends)
                win[n_win] = slid[i]
                n_win += I64(is_legal and ends)
            canonical_block(plan, after, n_after, spare)
            n_found = sift(after, n_after, seen, found, n_found)
            if n_win:
                n_ends, n_win = n_win, I64(0)
                for i in range(n_ends):
                    win[n_win] = win[i]
                    n_win += I64(is_made(win[i] & goal_cells, goal_rank))
                canonical_block(plan, win, n_win, spare)
                n_won = sift(win, n_win, seen, won, n_won)
        copies_block(plan, boards, n, slid, spare)
        for i in range(n):
            counts[STATES] += I64(legal[i])
            counts[STATES_RAW] += I64(legal[i] * slid[i])
            counts[LOST] += I64(ONE - legal[i])
            counts[LOST_RAW] += I64((ONE - legal[i]) * slid[i])
    return begin, n_found, n_won


@kernel
def make_canonical(plan: Plan, boards: Words) -> None:
    """Replace boards by their canonical forms."""
    spare, begin = np.empty(2 * BLOCK, np.uint64), I64(0)
    while begin < len(boards):
        n = min(BLOCK, len(boards) - begin)
        canonical_block(plan, boards[begin : begin + n], n, spare)
        begin += n


@kernel
def count_raw(plan: Plan, keys: Words) -> I64:
    """Count the boards including all symmetric copies."""
    boards, copies, spare = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(2 * BLOCK, np.uint64)
    total, begin = ZERO, I64(0)
    while begin < len(keys):
        n = min(BLOCK, len(keys) - begin)
        for i in range(n):
            boards[i] = keys[begin + i] * GATHER
        begin += n
        copies_block(plan, boards, n, copies, spare)
        for i in range(n):
            total += copies[i]
    return I64(total)


@kernel
def sort_keys(keys: Words, spare: Words) -> None:
    """Sort keys in place.

    Keys are spread over the whole range of a word, so their highest bits say where they belong: first about
    (COARSE), then within a part that fits in the L1 cache, and at last a few neighbours change places.
    `spare` has at least as many words.
    """
    n, n_bits = len(keys), 0
    while n >> n_bits > 1:
        n_bits += 1
    coarse = max(1, min(COARSE, n_bits - 9))
    fine = max(1, min(COARSE, n_bits - 1 - coarse))
    coarse_shift, fine_shift, fine_mask = U64(64 - coarse), U64(64 - coarse - fine), U64((1 << fine) - 1)
    ends, fine_ends = np.zeros((1 << coarse) + 1, np.int64), np.zeros((1 << fine) + 1, np.int64)
    for i in range(n):
        ends[I64(keys[i] >> coarse_shift) + 1] += 1
    for part in range(1 << coarse):
        ends[part + 1] += ends[part]
    for i in range(n):
        part = I64(keys[i] >> coarse_shift)
        spare[ends[part]] = keys[i]
        ends[part] += 1
    begin = I64(0)
    for part in range(1 << coarse):
        end = ends[part]
        for drawer in range(len(fine_ends)):
            fine_ends[drawer] = 0
        most = I64(0)
        for i in range(begin, end):
            fine_ends[I64((spare[i] >> fine_shift) & fine_mask) + 1] += 1
        for drawer in range(1 << fine):
            most = max(most, fine_ends[drawer + 1])
            fine_ends[drawer + 1] += fine_ends[drawer]
        for i in range(begin, end):
            drawer = I64((spare[i] >> fine_shift) & fine_mask)
            keys[begin + fine_ends[drawer]] = spare[i]
            fine_ends[drawer] += 1
        gap = I64(1)  # neighbours only, unless many keys share a drawer
        while most > MOST_NEIGHBOURS and gap < (end - begin) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(begin + gap, end):
                key, j = keys[i], i
                while j >= begin + gap and keys[j - gap] > key:
                    keys[j] = keys[j - gap]
                    j -= gap
                keys[j] = key
            gap //= 3
        begin = end


@kernel
def drop_doubles(keys: Words) -> I64:
    """Deduplicate sorted keys in place; return the number of distinct keys."""
    n, last = I64(0), ZERO
    for i in range(len(keys)):
        key = keys[i]
        keys[n] = key
        n += I64(key != last)  # no key is 0, because no board is empty
        last = key
    return n


@kernel
def merge(one: Words, other: Words, merged: Words) -> I64:
    """Merge two sorted arrays without duplicates; return the length."""
    i, j, n = I64(0), I64(0), I64(0)
    while i < len(one) and j < len(other):
        a, b = one[i], other[j]
        merged[n] = min(a, b)
        i += I64(a <= b)
        j += I64(b <= a)
        n += 1
    while i < len(one):
        merged[n] = one[i]
        i, n = i + 1, n + 1
    while j < len(other):
        merged[n] = other[j]
        j, n = j + 1, n + 1
    return n


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    keys, counts = np.zeros(1, np.uint64), np.zeros(N_COUNTS, np.int64)
    compile_for(spawn_all, plan, keys, 0, ONE, keys, keys)
    compile_for(slide_all, plan, keys, 0, ZERO, keys, keys, keys, counts)
    compile_for(make_canonical, plan, keys)
    compile_for(count_raw, plan, keys)
    compile_for(sort_keys, keys, keys)
    compile_for(drop_doubles, keys)
    compile_for(merge, keys, keys, keys)
