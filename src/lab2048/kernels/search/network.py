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
from lab2048.kernels.search.table_leaf import least_value

PENDING = U64(1 << 32)  # above the bits of every value


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
def leaf_entry(context: I64, board: U64) -> I64:
    """Return the address of an afterstate's entry in the cache of leaf values."""
    slot = I64((board * HASH) >> load_u64(context, of.LEAVES_SHIFT))
    return I64(load_u64(context, of.LEAVES)) + 16 * slot


@kernel
def find_leaves(context: I64, state: U64, afters: I64, n_new: I64) -> I64:
    """Write the afterstates of a state and their values: bits of a float, NONE for illegal moves.

    An afterstate without a cached value is added to the list of new leaves and its weights are prefetched;
    its value is then PENDING plus its place in the list.  Returns the length of the list, which is `n_new` before.
    """
    net, index, new = I64(load_u64(context, of.NET)), I64(load_u64(context, of.INDEX)), I64(load_u64(context, of.NEW))
    index_size = 8 * I64(load_u64(net, lookup.N_LOOKUPS))
    slide_all(context, state, afters)
    for move in range(I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))):
        after, value = load_u64(afters, move), U64(float_bits(NONE))
        if after != state:
            entry = leaf_entry(context, after)
            value = load_u64(entry, 1)
            if (load_u64(entry, 0) ^ value) != after:
                value = PENDING + U64(n_new)
                store_u64(entry, 0, after ^ value)  # so that the list has it only once
                store_u64(entry, 1, value)
                store_u64(new, n_new, after)
                lookup.find(net, after, index + n_new * index_size)
                n_new += 1
        store_u64(afters, of.MOST_MOVES + move, value)
    return n_new


@kernel
def evaluate_leaves(context: I64, n_new: I64) -> None:
    """Replace the list of new leaves by their values, and cache these."""
    net, index, new = I64(load_u64(context, of.NET)), I64(load_u64(context, of.INDEX)), I64(load_u64(context, of.NEW))
    index_size = 8 * I64(load_u64(net, lookup.N_LOOKUPS))
    has_tables = load_u64(context, of.BOOK) != ZERO
    for i in range(n_new):
        board, here = load_u64(new, i), index + i * index_size
        found = F32(lookup.sum_weights(net, here) + F32(packed.potential(board)))
        if has_tables:
            found = max(found, least_value(context, board, here))
        value = U64(float_bits(found))
        entry = leaf_entry(context, board)
        store_u64(entry, 0, board ^ value)
        store_u64(entry, 1, value)
        store_u64(new, i, value)


@kernel
def leaf_value(context: I64, afters: I64, move: I64) -> F32:
    """Return the value of an afterstate, after `evaluate_leaves`."""
    value = load_u64(afters, of.MOST_MOVES + move)
    if value >= PENDING:
        value = load_u64(I64(load_u64(context, of.NEW)), I64(value - PENDING))
    return F32(bits_float(U32(value & LOW_32)))


@kernel
def evaluate_one(context: I64, board: U64) -> F32:
    """Evaluate one afterstate."""
    entry = leaf_entry(context, board)
    value = load_u64(entry, 1)
    if (load_u64(entry, 0) ^ value) == board:
        return F32(bits_float(U32(value & LOW_32)))
    net, index = I64(load_u64(context, of.NET)), I64(load_u64(context, of.INDEX))
    found = F32(lookup.evaluate(net, board, index) + F32(packed.potential(board)))
    if load_u64(context, of.BOOK) != ZERO:
        found = max(found, least_value(context, board, index))
    store_u64(entry, 0, board ^ U64(float_bits(found)))
    store_u64(entry, 1, U64(float_bits(found)))
    return found


@kernel
def evaluate_all(context: I64, state: U64, afters: I64) -> F32:
    """Evaluate the afterstates of a state, NONE for illegal moves; return the highest."""
    evaluate_leaves(context, find_leaves(context, state, afters, I64(0)))
    highest = NONE
    for move in range(I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))):
        value = leaf_value(context, afters, move)
        highest = max(highest, value)
        store_u64(afters, of.MOST_MOVES + move, U64(float_bits(value)))
    return highest


@kernel
def sum_of_best(context: I64, board: U64, cells: U64, rank: U64) -> F32:
    """Return the sum, over the states with a spawn on one of `cells`, of the value after the best move.

    Several states are evaluated together, so that the memory fetches the weights of all their leaves at a time.
    """
    n_moves, total = I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES)), F32(0)
    batch = I64(load_u64(context, of.BATCH))
    while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
        n_states, n_new, rest = I64(0), I64(0), cells
        while rest != ZERO and n_states < of.BATCH_STATES:
            bit = rest & (ZERO - rest)
            rest ^= bit
            n_new = find_leaves(context, board | (bit * rank), batch + 8 * of.AFTERS_SIZE * n_states, n_new)
            n_states += 1
        evaluate_leaves(context, n_new)
        for i in range(n_states):
            bit = cells & (ZERO - cells)
            cells ^= bit
            best, afters = NONE, batch + 8 * of.AFTERS_SIZE * i
            for move in range(n_moves):
                best = max(best, leaf_value(context, afters, move))
            total += best if best != NONE else F32(packed.potential(board | (bit * rank)))
    return total


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
        if is_last:
            part, cells = sum_of_best(context, board, empty, rank), ZERO
        while cells != ZERO and load_u64(context, of.IS_STOPPED) == ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            state = board | (bit * rank)
            highest = evaluate_all(context, state, afters)
            best = F32(packed.potential(state)) if highest == NONE else NONE
            for move in range(n_moves):
                value = bits_float(U32(load_u64(afters, of.MOST_MOVES + move)))
                if value != NONE and value >= highest - margin:
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
    index_size = 8 * I64(load_u64(net, lookup.N_LOOKUPS))
    for move in range(n_moves):
        if load_u64(afters, move) != board:
            lookup.find(net, load_u64(afters, move), index + move * index_size)
    has_tables = load_u64(context, of.BOOK) != ZERO
    best, highest = I64(-1), NONE
    for move in range(n_moves):
        after = load_u64(afters, move)
        if after != board:
            value = F32(lookup.sum_weights(net, index + move * index_size) + F32(packed.potential(after)))
            if has_tables:
                value = max(value, least_value(context, after, index + move * index_size))
            # Selected without a branch: it would be mispredicted.
            is_better = value > highest
            best, highest = I64(move) if is_better else best, value if is_better else highest
    return best


@kernel
def choose_by_value(context: I64, board: U64) -> I64:
    """Return the first move with the highest afterstate value, without its reward; -1 if there is none."""
    afters, net = I64(load_u64(context, of.AFTERS)), I64(load_u64(context, of.NET))
    index = I64(load_u64(context, of.INDEX))
    board = downgrade_packed(board, I64(load_u64(context, of.TOP)))
    slide_all(context, board, afters)
    best, highest = I64(-1), NONE
    for move in range(I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))):
        after = load_u64(afters, move)
        value = lookup.evaluate(net, after, index) if after != board else NONE
        if value > highest:
            best, highest = I64(move), value
    return best


def chance_address() -> int:
    """Return the address of the search with a network."""
    return function_address(chance_network, CHANCE)


def choose_address(*, is_by_value: bool = False) -> int:
    """Return the address of the kernel that chooses without search: by the reward and the value, or by value alone."""
    return function_address(choose_by_value if is_by_value else choose_network, CHOOSE)


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the search, and the potential that Python subtracts from its values."""
    chance_address()
    compile_for(packed.potential, ZERO)


def warm_up_games(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile what whole games call."""
    choose_address()
