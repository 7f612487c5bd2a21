"""Expectimax on packed boards, limited by depth and by the probability of spawns.

The value of a node depends only on its board, depth and allowance, not on the path to it or the contents
of the transposition table.  So threads, table size and earlier searches affect the speed, never the
result.

The allowance is how much less likely a sequence of spawns may still become before the probability cutoff,
in quarters of a bit; it is an integer so that transpositions agree.  One move before the leaves, only the
likely spawns are considered: the others cost as much and change very little.  A move whose afterstate is
worse than the best by more than the margin is not searched.

The search of the classic board (lab2048.kernels.search.classic) differs only in its slides.
"""

import numpy as np

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, LOW_32, N32, ONE, U64, ZERO, popcount
from lab2048.kernels.board.dice import mix
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
from lab2048.kernels.search.evaluate import evaluate_packed
from lab2048.kernels.search.leaf import NONE

U32 = np.uint32
HASH = U64(0x9E37_79B9_7F4A_7C15)
DEPTH_SHIFT, ALLOWANCE_SHIFT, END_SHIFT = U64(of.DEPTH_SHIFT), U64(of.ALLOWANCE_SHIFT), U64(of.END_SHIFT)
NEAR_DEPTH = 2  # maximum depth of entries in the near table
LOOK_EVERY = U64(64)  # states between two looks at the stop flag and the clock: a few microseconds


@kernel
def count_states(context: I64, n: I64) -> None:
    """Count states, and look at the stop flag and the clock every LOOK_EVERY states."""
    n_states = load_u64(context, of.N_STATES) + U64(n)
    store_u64(context, of.N_STATES, n_states)
    if n_states >= load_u64(context, of.LOOK_AT):
        store_u64(context, of.LOOK_AT, n_states + LOOK_EVERY)
        deadline = I64(load_u64(context, of.DEADLINE))
        is_late = deadline != 0 and call_clock(I64(load_u64(context, of.CLOCK))) >= deadline
        if is_late or load_u64(I64(load_u64(context, of.STOP)), 0) != ZERO:
            store_u64(context, of.IS_STOPPED, ONE)


@kernel
def remember(context: I64, table: I64, slot: I64, board: U64, mark: U64, value: F32) -> None:
    """Store a value in the table, replacing the old entry, unless the search was stopped.

    The key is XORed with the entry, so that an entry half-written by another thread matches no board.
    """
    if load_u64(context, of.IS_STOPPED) == ZERO:
        entry = mark | U64(float_bits(value))
        store_u64(table, slot, board ^ entry)
        store_u64(table, slot + 1, entry)


@kernel
def chance_packed(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """Return the expected value of an afterstate of any packed board."""
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    has_extra_tile = load_u64(context, of.HAS_EXTRA_TILE) != ZERO
    if has_extra_tile:  # a function of the board, so that the value of a node still is
        board = packed.fair_spawn(plan, board, mix(board))[0]
    if depth <= 0 or allowance < 0:
        return evaluate_packed(context, board)
    table = I64(load_u64(context, of.NEAR if depth <= NEAR_DEPTH else of.FAR))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    ends_at_state = load_u64(context, of.ENDS_AT_STATE)
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT) | (ends_at_state << END_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    empty, n_moves = packed.empty_bits(plan, board), I64(plan[at.N_MOVES])
    n_empty, n_likely = popcount(empty), I64(load_u64(context, of.N_LIKELY))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    is_lost_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
    is_end = depth == 1 and ends_at_state != ZERO
    lost, margin = bits_float(U32(load_u64(context, of.LOST))), bits_float(U32(load_u64(context, of.MARGIN)))
    if has_extra_tile and empty == ZERO:
        return F32(lost)
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
                    if packed.is_legal(plan, state, after, move):
                        highest = max(highest, evaluate_packed(context, after))
            best = NONE
            for move in range(n_moves):
                after = packed.slide(plan, state, move)
                if not packed.is_legal(plan, state, after, move):
                    continue
                if is_end:
                    best = evaluate_packed(context, state)
                    break
                if is_last or evaluate_packed(context, after) >= highest - margin:
                    best = max(best, chance_packed(context, after, depth - 1, rest))
            if best == NONE:
                best = evaluate_packed(context, state) if is_lost_evaluated else lost
            part += best
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    total = F32(total / (share * F32(n_empty)))
    count_states(context, n_states)
    remember(context, table, slot, board, mark, total)
    return total


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the search of packed boards."""
    function_address(chance_packed, CHANCE)
