"""Expectimax on packed boards: the expected value of an afterstate, to a depth and a likelihood.

A node's value is a function of its board, its depth and its allowance, and of nothing
else: not of the path that led to it, nor of what the table happens to hold.  So threads,
the size of the table and earlier searches change how fast an answer comes, never the answer.

The allowance counts, in quarters of a bit, how much less likely a line of spawns may
still become before it is judged where it stands.  It is a whole number, so that different
ways to the same board agree about it.  Where every move would be judged at once, only the
likely spawns are looked at: the others cost as much and change next to nothing.  A move
whose afterstate is judged worse than another's by more than the margin is not searched.

The two searches are alike but for their slides.  Each calls only itself: Numba's cache does
not survive functions that call each other in a circle.
"""

import numpy as np

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, LOW_32, LOW_BITS, N32, ONE, U64, ZERO, popcount
from lab2048.kernels.board.memory import (
    F32,
    bits_float,
    call_clock,
    float_bits,
    load_u64,
    store_u64,
    words_at,
)
from lab2048.kernels.function_pointer import CHANCE, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search.evaluate import judge_classic, judge_packed
from lab2048.kernels.search.leaf import NONE, last_chance

U32 = np.uint32
HASH = U64(0x9E37_79B9_7F4A_7C15)
DEPTH_SHIFT, ALLOWANCE_SHIFT = U64(of.DEPTH_SHIFT), U64(of.ALLOWANCE_SHIFT)
NEAR_DEPTH = 2  # entries of the near table look no further ahead
LOOK_EVERY = U64(64)  # states between two looks at the clock: some microseconds


@kernel
def count_states(context: I64, n: I64) -> None:
    """Add to the number of states, and see now and then whether the time is up."""
    n_states = load_u64(context, of.N_STATES) + U64(n)
    store_u64(context, of.N_STATES, n_states)
    if n_states >= load_u64(context, of.LOOK_AT) and load_u64(context, of.DEADLINE) != ZERO:
        store_u64(context, of.LOOK_AT, n_states + LOOK_EVERY)
        if call_clock(I64(load_u64(context, of.CLOCK))) >= I64(load_u64(context, of.DEADLINE)):
            store_u64(context, of.IS_STOPPED, ONE)


@kernel
def remember(context: I64, table: I64, slot: I64, board: U64, mark: U64, value: F32) -> None:
    """Write a value into the table, unless the search was stopped half-way; what was there gives way.

    The key is mixed with the entry, so that an entry of which another thread has
    written only half belongs to no board.
    """
    if load_u64(context, of.IS_STOPPED) == ZERO:
        entry = mark | U64(float_bits(value))
        store_u64(table, slot, board ^ entry)
        store_u64(table, slot + 1, entry)


@kernel
def chance_classic(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """The expected value of an afterstate of the classic board."""
    # 1. Far or unlikely enough: judge it.
    if depth <= 0 or allowance < 0:
        return judge_classic(context, board)
    # 2. Known already?
    table = I64(load_u64(context, of.NEAR if depth <= NEAR_DEPTH else of.FAR))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    # 3. The last spawns before the judgement.
    empty = classic.taken_bits(board) ^ LOW_BITS
    n_empty = popcount(empty)
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    n_likely = I64(load_u64(context, of.N_LIKELY))
    if depth == 1 or allowance < I64(load_u64(context, of.SPAWNS + 3)):
        total = last_chance(context, board, empty, n_likely)
        count_states(context, n_empty * n_likely)
        remember(context, table, slot, board, mark, total)
        return total
    # 4. Every spawn, and the best move after it.
    is_lost_judged = load_u64(context, of.IS_LOST_JUDGED) != ZERO
    lost, margin = bits_float(U32(load_u64(context, of.LOST))), bits_float(U32(load_u64(context, of.MARGIN)))
    total, share, n_states = F32(0), F32(0), I64(0)
    for i in range(I64(load_u64(context, of.SPAWNS))):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, rest = load_u64(context, spawn), allowance - I64(load_u64(context, spawn + 2))
        if rest < 0 and i >= n_likely:
            break
        cells, part = empty, F32(0)
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            turned = classic.transpose(state)
            left, right = classic.slide_low(state), classic.slide_high(state)
            up, down = classic.transpose(classic.slide_low(turned)), classic.transpose(classic.slide_high(turned))
            by_left = judge_classic(context, left) if left != state else NONE
            by_right = judge_classic(context, right) if right != state else NONE
            by_up = judge_classic(context, up) if up != state else NONE
            by_down = judge_classic(context, down) if down != state else NONE
            low = max(max(by_left, by_right), max(by_up, by_down)) - margin
            best = NONE
            # Same move order as chance_packed, so that table collisions, and so n_states, are the same in both.
            if up != state and by_up >= low:
                best = max(best, chance_classic(context, up, depth - 1, rest))
            if right != state and by_right >= low:
                best = max(best, chance_classic(context, right, depth - 1, rest))
            if down != state and by_down >= low:
                best = max(best, chance_classic(context, down, depth - 1, rest))
            if left != state and by_left >= low:
                best = max(best, chance_classic(context, left, depth - 1, rest))
            if best == NONE:
                best = judge_classic(context, state) if is_lost_judged else lost
            part += best
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    total = F32(total / (share * F32(n_empty)))
    count_states(context, n_states)
    remember(context, table, slot, board, mark, total)
    return total


@kernel
def chance_packed(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """The expected value of an afterstate of any packed board."""
    if depth <= 0 or allowance < 0:
        return judge_packed(context, board)
    table = I64(load_u64(context, of.NEAR if depth <= NEAR_DEPTH else of.FAR))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    empty, n_moves = packed.empty_bits(plan, board), I64(plan[at.N_MOVES])
    n_empty, n_likely = popcount(empty), I64(load_u64(context, of.N_LIKELY))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    is_lost_judged = load_u64(context, of.IS_LOST_JUDGED) != ZERO
    is_end = depth == 1 and load_u64(context, of.IS_STATE_JUDGED) != ZERO
    lost, margin = bits_float(U32(load_u64(context, of.LOST))), bits_float(U32(load_u64(context, of.MARGIN)))
    total, share, n_states = F32(0), F32(0), I64(0)
    for i in range(I64(load_u64(context, of.SPAWNS))):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, rest = load_u64(context, spawn), allowance - I64(load_u64(context, spawn + 2))
        if (rest < 0 or depth == 1) and i >= n_likely:
            break
        is_last = rest < 0 or depth == 1
        cells, part = empty, F32(0)
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            highest = NONE
            if not is_last:
                for move in range(n_moves):
                    after = packed.slide(plan, state, move)
                    if after != state:
                        highest = max(highest, judge_packed(context, after))
            best = NONE
            for move in range(n_moves):
                after = packed.slide(plan, state, move)
                if after != state and is_end:
                    best = judge_packed(context, state)
                    break
                if after != state and (is_last or judge_packed(context, after) >= highest - margin):
                    best = max(best, chance_packed(context, after, depth - 1, rest))
            if best == NONE:
                best = judge_packed(context, state) if is_lost_judged else lost
            part += best
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    total = F32(total / (share * F32(n_empty)))
    count_states(context, n_states)
    remember(context, table, slot, board, mark, total)
    return total


def chance_address(is_classic: bool) -> int:
    """The address of a search."""
    return function_address(chance_classic if is_classic else chance_packed, CHANCE)
