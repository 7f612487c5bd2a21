"""The frontier of a search: the states after one move and one spawn, distributed over threads.

The value of a state does not depend on the thread, and values are summed in the order of a single thread,
so the result is the same bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, bits_float, load_u64
from lab2048.kernels.function_pointer import call_chance
from lab2048.kernels.search import context as of
from lab2048.kernels.search.leaf import NONE, U32
from lab2048.kernels.search.root import allowance_at, set_end


class Frontier(NamedTuple):
    """States in the order of moves, spawns and cells; one index for all arrays."""

    states: NDArray[np.uint64]
    moves: NDArray[np.int64]  # the move that led there
    spawns: NDArray[np.int64]  # index of the spawn in the context
    left: NDArray[np.int64]  # the remaining allowance
    values: NDArray[np.float32]  # NaN = not computed yet


def make_frontier(size: int) -> Frontier:
    """Allocate `size` states."""
    moves, spawns, left = np.zeros((3, size), np.int64)
    return Frontier(np.zeros(size, np.uint64), moves, spawns, left, np.zeros(size, np.float32))


@kernel
def fill_frontier(context: I64, plan: packed.Plan, board: U64, depth: I64, frontier: Frontier) -> I64:
    """Collect the frontier of a board; return the number of states.

    Returns 0 if the search is too short to be worth distributing.
    """
    n = I64(0)
    set_end(context, plan, board)
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, board, move)
        if after == board:
            continue
        empty = packed.empty_bits(plan, after)
        allowance = allowance_at(context, depth) - I64(load_u64(context, of.COSTS + popcount(empty)))
        if depth < 3 or allowance < I64(load_u64(context, of.SPAWNS + 3)):
            return I64(0)
        for i in range(I64(load_u64(context, of.SPAWNS))):
            spawn, cells = of.SPAWNS + 1 + 3 * i, empty
            left = allowance - I64(load_u64(context, spawn + 2))
            if left < 0 and i >= I64(load_u64(context, of.N_LIKELY)):
                break
            while cells != ZERO:
                bit = cells & (ZERO - cells)
                cells ^= bit
                frontier.states[n] = after | (bit * load_u64(context, spawn))
                frontier.moves[n], frontier.spawns[n], frontier.left[n] = move, spawn, left
                frontier.values[n] = np.nan
                n += 1
    return n


@kernel
def state_value(context: I64, plan: packed.Plan, state: U64, depth: I64, allowance: I64) -> F32:
    """Return the value of the best move of a state."""
    chance, best, highest = I64(load_u64(context, of.CHANCE)), NONE, NONE
    margin = bits_float(U32(load_u64(context, of.MARGIN)))
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, state, move)
        if after != state:
            highest = max(highest, call_chance(chance, context, after, 0, 0))
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, state, move)
        if after != state and call_chance(chance, context, after, 0, 0) >= highest - margin:
            best = max(best, call_chance(chance, context, after, depth - 1, allowance))
    if best == NONE:
        is_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
        best = (
            call_chance(chance, context, state, of.LOST_DEPTH, 0)
            if is_evaluated
            else bits_float(U32(load_u64(context, of.LOST)))
        )
    return F32(best)


@kernel
def search_frontier(
    context: I64, plan: packed.Plan, frontier: Frontier, n: I64, depth: I64, first: I64, step: I64
) -> None:
    """Compute the values of n states from `first`; skip those that another thread has computed."""
    i = first
    for _ in range(n):
        if load_u64(context, of.IS_STOPPED) != ZERO:
            break
        if np.isnan(frontier.values[i]):
            value = state_value(context, plan, frontier.states[i], depth - 1, frontier.left[i])
            if load_u64(context, of.IS_STOPPED) == ZERO:
                frontier.values[i] = value
        i = (i + step + n) % n


@kernel
def join_frontier(context: I64, frontier: Frontier, n: I64, values: NDArray[np.float32]) -> None:
    """Combine the values of the states into move values; NONE for a move without states."""
    values[:] = NONE
    i = I64(0)
    while i < n:
        move = frontier.moves[i]
        total, share, n_empty = F32(0), F32(0), F32(0)
        while i < n and frontier.moves[i] == move:
            spawn, part, n_empty = frontier.spawns[i], F32(0), F32(0)
            while i < n and frontier.moves[i] == move and frontier.spawns[i] == spawn:
                part, n_empty, i = part + frontier.values[i], n_empty + F32(1), i + 1
            p = bits_float(U32(load_u64(context, spawn + 1)))
            part -= n_empty * bits_float(U32(load_u64(context, of.TOLLS + (spawn - of.SPAWNS - 1) // 3)))
            total, share = total + part * p, share + p
        values[move] = total / (share * n_empty)


def warm_up(plan: packed.Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    frontier = make_frontier(64)
    compile_for(fill_frontier, 0, plan, ZERO, 3, frontier)
    compile_for(search_frontier, 0, plan, frontier, 1, 2, 0, 1)
    compile_for(join_frontier, 0, frontier, 1, np.zeros(int(plan[at.N_MOVES]), np.float32))
