"""The root of a search: the value of every move, to a fixed depth or by iterative deepening."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, bits_float, call_clock, load_u64, store_u64, words_at
from lab2048.kernels.function_pointer import CHOOSE, call_chance, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.leaf import NONE

STEADY = 3  # consecutive depths at which the same move must lead to stop early
FEW_EMPTY = 7  # below this Miah 2023 searches deeper


@kernel
def depth_of(context: I64, plan: packed.Plan, board: U64) -> I64:
    """Return the search depth for a state."""
    depth, deepen = I64(load_u64(context, of.DEPTH)), I64(load_u64(context, of.DEEPEN))
    if deepen == of.BY_TILES:
        seen, word = I64(0), board
        while word != ZERO:
            seen |= I64(1) << I64(word & NIBBLE)
            word >>= FOUR
        return max(depth, popcount(U64(seen >> 1)) - 1)
    if deepen == of.BY_EMPTY and popcount(packed.empty_bits(plan, board)) < FEW_EMPTY:
        return depth + I64(load_u64(context, of.IS_STATE_EVALUATED) == ZERO)
    return depth


@kernel
def set_end(context: I64, plan: packed.Plan, board: U64) -> None:
    """Set whether the leaves of a search from a state are states; a deeper search makes one more move at them."""
    is_few = popcount(packed.empty_bits(plan, board)) < FEW_EMPTY
    is_deeper = is_few and load_u64(context, of.DEEPEN) == U64(of.BY_EMPTY)
    is_end = load_u64(context, of.IS_STATE_EVALUATED) != ZERO and not is_deeper
    store_u64(context, of.ENDS_AT_STATE, U64(is_end))


@kernel
def allowance_at(context: I64, depth: I64) -> I64:
    """Return the allowance of a search of this depth."""
    return I64(load_u64(context, of.ALLOWANCE)) + depth * I64(load_u64(context, of.ALLOWANCE_EACH))


@kernel
def root_values(context: I64, plan: packed.Plan, board: U64, depth: I64, values: NDArray[np.float32]) -> None:
    """Compute the value of every move at `depth`; NONE for illegal moves."""
    allowance, chance = allowance_at(context, depth), I64(load_u64(context, of.CHANCE))
    if load_u64(context, of.IS_STATE_EVALUATED) != ZERO:
        set_end(context, plan, board)
    for move in range(len(values)):
        after = packed.slide(plan, board, move)
        is_legal = after != board or packed.is_legal(plan, board, after, move)
        values[move] = call_chance(chance, context, after, depth - 1, allowance) if is_legal else NONE


@kernel
def leader(values: NDArray[np.float32], lead: F32, ahead: I64, times: I64) -> tuple[I64, I64]:
    """Return the move that leads all others by more than `lead`, or -1, and how often in a row (`times` before)."""
    best, first, second = I64(-1), NONE, NONE
    for move in range(len(values)):
        if values[move] > first:
            best, first, second = I64(move), values[move], first
        elif values[move] > second:
            second = values[move]
    if not first - second > lead:
        return I64(-1), I64(0)
    return best, (times + 1 if best == ahead else I64(1))


@kernel
def is_worth_more(context: I64, begun: I64) -> bool:
    """Return True if the next deeper search can be expected to finish before the deadline."""
    now, deadline = call_clock(I64(load_u64(context, of.CLOCK))), I64(load_u64(context, of.DEADLINE))
    return bool(2 * (deadline - now) > 3 * (now - begun))


@kernel
def deepen(context: I64, plan: packed.Plan, board: U64, max_depth: I64, values: NDArray[np.float32]) -> I64:
    """Iterative deepening until the deadline or until the move is settled; return the depth.

    An unfinished search is useless, so none is started that cannot be expected to finish.
    """
    root_values(context, plan, board, 1, values)
    deeper, depth = np.empty(len(values), np.float32), I64(1)
    n_legal = I64(0)
    for value in values:
        n_legal += I64(value > NONE)
    if n_legal == 1:
        return depth
    lead, ahead, times = bits_float(np.uint32(load_u64(context, of.LEAD))), I64(-1), I64(0)
    while depth < max_depth and times < STEADY:
        begun = call_clock(I64(load_u64(context, of.CLOCK)))
        root_values(context, plan, board, depth + 1, deeper)
        if load_u64(context, of.IS_STOPPED) != ZERO:
            break
        for move in range(len(values)):  # an array assignment takes seconds to compile
            values[move] = deeper[move]
        depth += 1
        ahead, times = leader(values, lead, ahead, times)
        if not is_worth_more(context, begun):
            break
    return depth


@kernel
def best_move(context: I64, plan: packed.Plan, board: U64) -> I64:
    """Return the first move with the highest value; -1 if there is none."""
    values = np.empty(I64(plan[at.N_MOVES]), np.float32)
    root_values(context, plan, board, depth_of(context, plan, board), values)
    best = I64(-1)
    for move in range(len(values)):
        if values[move] > NONE and (best < 0 or values[move] > values[best]):
            best = I64(move)
    return best


@kernel
def choose_search(context: I64, board: U64) -> I64:
    """Choose a move given only the context; -1 if there is none."""
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    return best_move(context, plan, downgrade_packed(board, I64(load_u64(context, of.TOP))))


def choose_address() -> int:
    """Return the address of the kernel that chooses by search."""
    return function_address(choose_search, CHOOSE)


def warm_up(plan: packed.Plan) -> None:
    """Compile the search to a fixed depth."""
    compile_for(root_values, 0, plan, ZERO, 1, np.zeros(int(plan[at.N_MOVES]), np.float32))
    compile_for(depth_of, 0, plan, ZERO)


def warm_up_timed(plan: packed.Plan) -> None:
    """Compile iterative deepening."""
    values = np.zeros(int(plan[at.N_MOVES]), np.float32)
    compile_for(deepen, 0, plan, ZERO, 2, values)
    compile_for(leader, values, F32(0), -1, 0)
    compile_for(is_worth_more, 0, 0)


def warm_up_games(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile what whole games call."""
    choose_address()
