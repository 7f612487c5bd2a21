"""The root of a search: the value of every move, to a fixed depth or by iterative deepening."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, address_of, bits_float, call_clock, clock_address, load_u64, words_at
from lab2048.kernels.function_pointer import CHOOSE, call_chance, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.evaluate import N_TERMS
from lab2048.kernels.search.expectimax import chance_address
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
        return depth + 1
    return depth


@kernel
def allowance_at(context: I64, depth: I64) -> I64:
    """Return the allowance of a search of this depth."""
    return I64(load_u64(context, of.ALLOWANCE)) + depth * I64(load_u64(context, of.ALLOWANCE_EACH))


@kernel
def root_values(context: I64, plan: packed.Plan, board: U64, depth: I64, values: NDArray[np.float32]) -> None:
    """Compute the value of every move at `depth`; NONE for illegal moves."""
    allowance, chance = allowance_at(context, depth), I64(load_u64(context, of.CHANCE))
    for move in range(len(values)):
        after = packed.slide(plan, board, move)
        values[move] = NONE if after == board else call_chance(chance, context, after, depth - 1, allowance)


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
    deeper, depth = np.empty_like(values), I64(1)
    if (values > NONE).sum() == 1:
        return depth
    lead, ahead, times = bits_float(np.uint32(load_u64(context, of.LEAD))), I64(-1), I64(0)
    while depth < max_depth and times < STEADY:
        begun = call_clock(I64(load_u64(context, of.CLOCK)))
        root_values(context, plan, board, depth + 1, deeper)
        if load_u64(context, of.IS_STOPPED) != ZERO:
            break
        values[:] = deeper
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


def idle_context(plan: packed.Plan) -> tuple[NDArray[np.uint64], list[NDArray[Any]]]:
    """Make a context with which every board has value 0, and its arrays, for compiling."""
    words = np.zeros(of.SIZE, np.uint64)
    arrays: list[NDArray[Any]] = [
        np.zeros(65536, F32),
        np.zeros(N_TERMS),
        np.zeros(64, F32),
        np.zeros(4, np.uint64),
        plan,
    ]
    for name, array in zip((of.VALUES, of.TERMS, of.WEIGHTS, of.FAR, of.PLAN), arrays, strict=True):
        words[name] = address_of(array)
    words[of.NEAR] = words[of.FAR]
    words[of.CLOCK] = clock_address()
    words[of.TABLE_SHIFT], words[of.PLAN_SIZE], words[of.DEPTH], words[of.N_LIKELY] = 63, len(plan), 2, 1
    return words, arrays


def warm_up(plan: packed.Plan) -> None:
    """Call every kernel of this file once, so that it is compiled."""
    words, arrays = idle_context(plan)
    n_moves = int(plan[at.N_MOVES])
    for is_classic in (True, False):
        words[of.CHANCE] = chance_address(is_classic)
        choose_address()
        deepen(address_of(words), plan, U64(0x11), 2, np.zeros(n_moves, np.float32))
    leader(np.zeros(n_moves, np.float32), F32(0), I64(-1), I64(0))
    is_worth_more(address_of(words), I64(0))
    del arrays  # not before now: the context holds their addresses
