"""Expectimax on packed boards: the expected value of an afterstate, to a depth and a likelihood.

A node's value is a function of its board, its depth and its allowance, and of nothing
else: not of the path that led to it, nor of what the table happens to hold.  So threads,
the size of the table and earlier searches change how fast an answer comes, never the answer.

The allowance counts, in quarters of a bit, how much less likely a line of spawns may
still become before it is judged where it stands.  It is a whole number, so that different
ways to the same board agree about it.

The two searches are alike but for their slides.  Each calls only itself: Numba's cache does
not survive functions that call each other in a circle.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels import classic, packed, wide
from lab2048.kernels import context as of
from lab2048.kernels import layout as at
from lab2048.kernels._jit import IS_COMPILED, kernel
from lab2048.kernels.address import (
    F32,
    address_of,
    bits_float,
    call_clock,
    float_bits,
    load_u64,
    store_u64,
    words_at,
)
from lab2048.kernels.bits import FOUR, I64, LOW_32, LOW_BITS, N32, NIBBLE, ONE, U64, ZERO, popcount
from lab2048.kernels.evaluate import N_TERMS, judge_classic, judge_packed

U32 = np.uint32
HASH = U64(0x9E37_79B9_7F4A_7C15)
DEPTH_SHIFT, ALLOWANCE_SHIFT = U64(of.DEPTH_SHIFT), U64(of.ALLOWANCE_SHIFT)
NONE = F32(-3.0e38)  # below every value
FEW_EMPTY = 7  # document 002 looks further below this
TOP_RANK = 14  # leaves room for one more merge in a nibble
LOOK_EVERY = U64(128)  # states between two looks at the clock: some 10 microseconds


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
    """Write a value into the table, unless the search was stopped half-way.

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
    if depth == 0 or allowance < 0:
        return judge_classic(context, board)
    # 2. Known already?
    table = I64(load_u64(context, of.TABLE))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    # 3. Every spawn, and the best move after it.
    empty = classic.taken_bits(board) ^ LOW_BITS
    n_empty, n_spawns = popcount(empty), I64(load_u64(context, of.SPAWNS))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    is_lost_judged = load_u64(context, of.IS_LOST_JUDGED) != ZERO
    lost = bits_float(U32(load_u64(context, of.LOST)))
    total = F32(0)
    for i in range(n_spawns):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, left = load_u64(context, spawn), allowance - I64(load_u64(context, spawn + 2))
        cells, part = empty, F32(0)
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            turned = classic.transpose(state)
            best = NONE
            after = classic.slide_low(state)
            if after != state:
                best = max(best, chance_classic(context, after, depth - 1, left))
            after = classic.slide_high(state)
            if after != state:
                best = max(best, chance_classic(context, after, depth - 1, left))
            after = classic.slide_low(turned)
            if after != turned:
                best = max(best, chance_classic(context, classic.transpose(after), depth - 1, left))
            after = classic.slide_high(turned)
            if after != turned:
                best = max(best, chance_classic(context, classic.transpose(after), depth - 1, left))
            if best == NONE:
                best = judge_classic(context, state) if is_lost_judged else lost
            part += best
        total += part * bits_float(U32(load_u64(context, spawn + 1)))
    total = F32(total / F32(n_empty))
    count_states(context, n_empty * n_spawns)
    remember(context, table, slot, board, mark, total)
    return total


@kernel
def chance_packed(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """The expected value of an afterstate of any packed board."""
    if depth == 0 or allowance < 0:
        return judge_packed(context, board)
    table = I64(load_u64(context, of.TABLE))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    empty, n_moves = packed.empty_bits(plan, board), I64(plan[at.N_MOVES])
    n_empty, n_spawns = popcount(empty), I64(load_u64(context, of.SPAWNS))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    is_lost_judged = load_u64(context, of.IS_LOST_JUDGED) != ZERO
    lost = bits_float(U32(load_u64(context, of.LOST)))
    total = F32(0)
    for i in range(n_spawns):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, left = load_u64(context, spawn), allowance - I64(load_u64(context, spawn + 2))
        cells, part = empty, F32(0)
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            best = NONE
            for move in range(n_moves):
                after = packed.slide(plan, state, move)
                if after != state:
                    best = max(best, chance_packed(context, after, depth - 1, left))
            if best == NONE:
                best = judge_packed(context, state) if is_lost_judged else lost
            part += best
        total += part * bits_float(U32(load_u64(context, spawn + 1)))
    total = F32(total / F32(n_empty))
    count_states(context, n_empty * n_spawns)
    remember(context, table, slot, board, mark, total)
    return total


if IS_COMPILED:
    from llvmlite import ir
    from numba import types

    from lab2048.kernels.address import intrinsic

    _SIGNATURE = (types.int64, types.uint64, types.int64, types.int64)

    @intrinsic
    def call_chance(typing_context: Any, address: Any, context: Any, board: Any, depth: Any, allowance: Any) -> Any:
        """Call the search at an address: whoever calls it so need not be compiled together with it."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.FloatType(), [ir.IntType(64)] * 4)
            return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

        return types.float32(types.int64, *_SIGNATURE), code

    def chance_address(is_classic: bool) -> int:
        """The address of a compiled search."""
        function: Any = chance_classic if is_classic else chance_packed
        function.compile(_SIGNATURE)
        result = function.overloads[_SIGNATURE]
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))

else:

    def call_chance(address: int, context: int, board: U64, depth: int, allowance: int) -> Any:
        """Call the search that a number stands for."""
        return (chance_classic if address else chance_packed)(context, board, depth, allowance)

    def chance_address(is_classic: bool) -> int:
        """The number of a search."""
        return int(is_classic)


@kernel
def depth_of(context: I64, plan: packed.Plan, board: U64) -> I64:
    """How many own moves to look ahead from a state."""
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
def root_values(context: I64, plan: packed.Plan, board: U64, depth: I64, values: NDArray[np.float32]) -> None:
    """The value of every move, `depth` own moves ahead; NONE for those that are not legal."""
    allowance, chance = I64(load_u64(context, of.ALLOWANCE)), I64(load_u64(context, of.CHANCE))
    for move in range(len(values)):
        after = packed.slide(plan, board, move)
        values[move] = NONE if after == board else call_chance(chance, context, after, depth - 1, allowance)


@kernel
def best_move(context: I64, plan: packed.Plan, board: U64) -> I64:
    """The move of the highest value, the first one of equals; -1 if there is none."""
    values = np.empty(I64(plan[at.N_MOVES]), np.float32)
    root_values(context, plan, board, depth_of(context, plan, board), values)
    best = I64(-1)
    for move in range(len(values)):
        if values[move] > NONE and (best < 0 or values[move] > values[best]):
            best = I64(move)
    return best


@kernel
def downgrade(ranks: NDArray[np.uint8]) -> U64:
    """A packed board that plays like one with tiles too high for a nibble.

    Where a rank is missing below the highest, every tile above it is one rank too high
    for what the others can do with it: lowering them all changes no merge of a long time.
    """
    shown = ranks.copy()
    while wide.max_rank(shown) > TOP_RANK:
        highest, missing = wide.max_rank(shown), I64(0)
        for rank in range(1, highest):
            if not (shown == rank).any():
                missing = I64(rank)
        if missing == 0:
            break
        for cell in range(len(shown)):
            if shown[cell] > missing:
                shown[cell] -= np.uint8(1)
    board = ZERO
    for cell in range(len(shown)):
        board |= min(U64(shown[cell]), NIBBLE) << U64(4 * cell)
    return board


def idle_context(plan: packed.Plan) -> tuple[NDArray[np.uint64], list[NDArray[Any]]]:
    """A context that makes every board worth nothing, and the arrays behind it."""
    words = np.zeros(of.SIZE, np.uint64)
    arrays: list[NDArray[Any]] = [
        np.zeros(65536, F32),
        np.zeros(N_TERMS),
        np.zeros(64, F32),
        np.zeros(4, np.uint64),
        plan,
    ]
    for name, array in zip((of.VALUES, of.TERMS, of.WEIGHTS, of.TABLE, of.PLAN), arrays, strict=True):
        words[name] = address_of(array)
    words[of.TABLE_SHIFT], words[of.PLAN_SIZE], words[of.DEPTH] = 63, len(plan), 2
    return words, arrays


def warm_up(plan: packed.Plan) -> None:
    """Call every kernel of this file once, so that it is compiled."""
    words, arrays = idle_context(plan)
    for is_classic in (True, False):
        words[of.CHANCE] = chance_address(is_classic)
        best_move(address_of(words), plan, U64(0x11))
    downgrade(np.ones(int(plan[at.N_CELLS]), np.uint8))
    del arrays  # not before now: the context holds their addresses
