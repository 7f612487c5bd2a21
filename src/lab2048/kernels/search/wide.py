"""Expectimax on wide boards, without a transposition table."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import wide
from lab2048.kernels.board.bits import I64, ZERO
from lab2048.kernels.board.memory import F32, bits_float, load_u64, words_at
from lab2048.kernels.board.packed import FAIR, Plan
from lab2048.kernels.search import context as of
from lab2048.kernels.search.evaluate import evaluate_ranks
from lab2048.kernels.search.expectimax import U32, count_states
from lab2048.kernels.search.leaf import NONE
from lab2048.kernels.search.root import allowance_at

U8 = np.uint8


@kernel
def evaluate_wide(context: I64, ranks: NDArray[np.uint8]) -> F32:
    """Evaluate a board."""
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    return evaluate_ranks(context, plan, ranks)


@kernel
def chance_wide(context: I64, ranks: NDArray[np.uint8], depth: I64, allowance: I64) -> F32:
    """Return the expected value of an afterstate."""
    if depth == 0 or allowance < 0:
        return evaluate_wide(context, ranks)
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    n_moves, n_likely = I64(plan[at.N_MOVES]), I64(load_u64(context, of.N_LIKELY))
    is_end = depth == 1 and load_u64(context, of.IS_STATE_EVALUATED) != ZERO
    state, n_empty = ranks.copy(), len(ranks) - wide.count_tiles(ranks)
    if plan[at.SPAWNER] != FAIR:  # not a kernel of its own: the two would call each other
        wide.spawn(plan, state, ZERO)
        only = NONE
        for move in range(n_moves):
            after = state.copy()
            if wide.slide(plan, after, move) >= 0 and load_u64(context, of.IS_STOPPED) == ZERO:
                deeper = evaluate_wide(context, state) if is_end else chance_wide(context, after, depth - 1, allowance)
                only = max(only, deeper)
        count_states(context, I64(1))
        if only != NONE:
            return F32(only)
        if load_u64(context, of.IS_LOST_EVALUATED) != ZERO:
            return evaluate_wide(context, state)
        return F32(bits_float(U32(load_u64(context, of.LOST))))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    margin = bits_float(U32(load_u64(context, of.MARGIN)))
    total, share, n_states = F32(0), F32(0), I64(0)
    for i in range(I64(load_u64(context, of.SPAWNS))):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, rest = U8(load_u64(context, spawn)), allowance - I64(load_u64(context, spawn + 2))
        if (rest < 0 or depth == 1) and i >= n_likely:
            break
        is_last, part = rest < 0 or depth == 1, F32(0)
        for cell in range(len(state)):
            if state[cell] != 0 or load_u64(context, of.IS_STOPPED) != ZERO:
                continue
            state[cell] = rank
            highest = NONE
            if not is_last:
                for move in range(n_moves):
                    after = state.copy()
                    if wide.slide(plan, after, move) >= 0:
                        highest = max(highest, evaluate_wide(context, after))
            best = NONE
            for move in range(n_moves):
                after = state.copy()
                is_legal = wide.slide(plan, after, move) >= 0
                if is_legal and is_end:
                    best = evaluate_wide(context, state)
                    break
                if is_legal and (is_last or evaluate_wide(context, after) >= highest - margin):
                    best = max(best, chance_wide(context, after, depth - 1, rest))
            if best == NONE:
                is_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
                best = evaluate_wide(context, state) if is_evaluated else bits_float(U32(load_u64(context, of.LOST)))
            part += best
            state[cell] = U8(0)
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    count_states(context, n_states)
    return F32(total / (share * F32(n_empty)))


@kernel
def root_values_wide(
    context: I64, plan: Plan, ranks: NDArray[np.uint8], depth: I64, values: NDArray[np.float32]
) -> None:
    """Compute the value of every move at `depth`; NONE for illegal moves."""
    allowance = allowance_at(context, depth)
    for move in range(len(values)):
        after = ranks.copy()
        is_legal = wide.slide(plan, after, move) >= 0
        values[move] = chance_wide(context, after, depth - 1, allowance) if is_legal else NONE


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    values, ranks = np.zeros(int(plan[at.N_MOVES]), np.float32), np.ones(int(plan[at.N_CELLS]), np.uint8)
    compile_for(root_values_wide, 0, plan, ranks, 2, values)
