"""Expectimax with an n-tuple network as evaluator, including rewards.

The value of a board is its potential (the score needed to build its tiles) plus the expected future score,
so rewards along the way need no summing.  The potential of a spawned tile was not earned, so each spawn
subtracts it (its toll).

Network values are cached in a separate table: half of the leaves of a search repeat, and an evaluation is
expensive.
"""

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, LOW_32, N32, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, bits_float, float_bits, load_u64, store_u64, words_at
from lab2048.kernels.function_pointer import CHANCE, CHOOSE, function_address
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.expectimax import ALLOWANCE_SHIFT, DEPTH_SHIFT, HASH, NEAR_DEPTH, count_states, remember
from lab2048.kernels.search.leaf import NONE, U32

UNKNOWN = F32(-2.0e38)  # legal, but not evaluated yet


@kernel
def slide_all(context: I64, state: U64, afters: I64) -> None:
    """Write the afterstate of every move; for an illegal move it equals the state."""
    plan = I64(load_u64(context, of.PLAN))
    if load_u64(plan, at.IS_CLASSIC) != ZERO:
        turned = classic.transpose(state)
        store_u64(afters, 0, classic.transpose(classic.slide_low(turned)))
        store_u64(afters, 1, classic.slide_high(state))
        store_u64(afters, 2, classic.transpose(classic.slide_high(turned)))
        store_u64(afters, 3, classic.slide_low(state))
        return
    words = words_at(plan, I64(load_u64(context, of.PLAN_SIZE)))
    for move in range(I64(load_u64(plan, at.N_MOVES))):
        store_u64(afters, move, packed.slide(words, state, move))


@kernel
def known(context: I64, board: U64) -> F32:
    """Return the cached value of an afterstate, or UNKNOWN."""
    leaves = I64(load_u64(context, of.LEAVES))
    slot = I64((board * HASH) >> load_u64(context, of.LEAVES_SHIFT)) * 2
    entry = load_u64(leaves, slot + 1)
    return bits_float(U32(entry & LOW_32)) if (load_u64(leaves, slot) ^ entry) == board else UNKNOWN


@kernel
def evaluate_new(context: I64, board: U64) -> F32:
    """Evaluate an afterstate, and cache the value."""
    leaves, index = I64(load_u64(context, of.LEAVES)), I64(load_u64(context, of.INDEX))
    value = F32(lookup.evaluate(I64(load_u64(context, of.NET)), board, index) + F32(packed.potential(board)))
    slot = I64((board * HASH) >> load_u64(context, of.LEAVES_SHIFT)) * 2
    entry = U64(float_bits(value))
    store_u64(leaves, slot, board ^ entry)
    store_u64(leaves, slot + 1, entry)
    return value


@kernel
def evaluate_one(context: I64, board: U64) -> F32:
    """Evaluate one afterstate."""
    value = known(context, board)
    return evaluate_new(context, board) if value == UNKNOWN else value


@kernel
def evaluate_all(context: I64, state: U64, afters: I64) -> F32:
    """Evaluate the afterstates of a state, NONE for illegal moves; return the highest."""
    highest = NONE
    for move in range(I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))):
        after, value = load_u64(afters, move), NONE
        if after != state:
            value = evaluate_one(context, after)
            highest = max(highest, value)
        store_u64(afters, of.MOST_MOVES + move, U64(float_bits(value)))
    return highest


@kernel
def chance_network(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """Return the expected value of an afterstate, as in lab2048.kernels.search.expectimax but with a network."""
    if depth <= 0 or allowance < 0:
        # A board without moves is worth its potential.
        return F32(packed.potential(board)) if depth == of.LOST_DEPTH else evaluate_one(context, board)
    table = I64(load_u64(context, of.NEAR if depth <= NEAR_DEPTH else of.FAR))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    plan = I64(load_u64(context, of.PLAN))
    taken = classic.taken_bits(board)
    empty, n_moves = ~taken & load_u64(plan, at.CELL_BITS), I64(load_u64(plan, at.N_MOVES))
    n_empty, n_likely = popcount(empty), I64(load_u64(context, of.N_LIKELY))
    allowance -= I64(load_u64(context, of.COSTS + n_empty))
    margin = bits_float(U32(load_u64(context, of.MARGIN)))
    afters = I64(load_u64(context, of.AFTERS)) + 8 * of.AFTERS_SIZE * depth
    total, share, n_states = F32(0), F32(0), I64(0)
    for i in range(I64(load_u64(context, of.SPAWNS))):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, rest = load_u64(context, spawn), allowance - I64(load_u64(context, spawn + 2))
        is_last = rest < 0 or depth == 1
        if is_last and i >= n_likely:
            break
        cells, part = empty, F32(0)
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            slide_all(context, state, afters)
            best = evaluate_all(context, state, afters)
            if best == NONE:
                best = F32(packed.potential(state))
            elif not is_last:
                low, best = best - margin, NONE
                for move in range(n_moves):
                    if (
                        bits_float(U32(load_u64(afters, of.MOST_MOVES + move))) >= low
                        and load_u64(afters, move) != state
                    ):
                        best = max(best, chance_network(context, load_u64(afters, move), depth - 1, rest))
            part += best
        p = bits_float(U32(load_u64(context, spawn + 1)))
        part -= F32(n_empty) * bits_float(U32(load_u64(context, of.TOLLS + i)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    total = F32(total / (share * F32(n_empty)))
    count_states(context, n_states)
    remember(context, table, slot, board, mark, total)
    return total


@kernel
def choose_network(context: I64, board: U64) -> I64:
    """Return the first move with the highest reward + afterstate value; -1 if there is none."""
    afters, net = I64(load_u64(context, of.AFTERS)), I64(load_u64(context, of.NET))
    index, n_moves = I64(load_u64(context, of.INDEX)), I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))
    board = downgrade_packed(board, I64(load_u64(context, of.TOP)))
    slide_all(context, board, afters)
    best, highest = I64(-1), NONE
    for move in range(n_moves):
        after = load_u64(afters, move)
        if after != board:
            value = F32(lookup.evaluate(net, after, index) + F32(packed.potential(after)))
            # Selected without a branch: it would be mispredicted, and all lookups after it begun anew.
            is_better = value > highest
            best, highest = I64(move) if is_better else best, value if is_better else highest
    return best


def chance_address() -> int:
    """Return the address of the search with a network."""
    return function_address(chance_network, CHANCE)


def choose_address() -> int:
    """Return the address of the kernel that chooses without search."""
    return function_address(choose_network, CHOOSE)


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the search, and the potential that Python subtracts from its values."""
    chance_address()
    compile_for(packed.potential, ZERO)


def warm_up_games(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile what whole games call."""
    choose_address()
