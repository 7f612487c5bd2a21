"""Expectimax on the classic board, as lab2048.kernels.search.expectimax describes it."""

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board.bits import I64, LOW_32, LOW_BITS, N32, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, bits_float, load_u64
from lab2048.kernels.function_pointer import CHANCE, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search.evaluate import evaluate_classic
from lab2048.kernels.search.expectimax import (
    ALLOWANCE_SHIFT,
    DEPTH_SHIFT,
    HASH,
    NEAR_DEPTH,
    U32,
    count_states,
    remember,
)
from lab2048.kernels.search.leaf import NONE, last_chance


@kernel
def chance_classic(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """Return the expected value of an afterstate of the classic board."""
    # 1. Leaf by depth or probability cutoff: evaluate.
    if depth <= 0 or allowance < 0:
        return evaluate_classic(context, board)
    # 2. Probe the transposition table.
    table = I64(load_u64(context, of.NEAR if depth <= NEAR_DEPTH else of.FAR))
    slot = I64((board * HASH) >> load_u64(context, of.TABLE_SHIFT)) * 2
    mark = (U64(depth) << DEPTH_SHIFT) | (U64(allowance) << ALLOWANCE_SHIFT)
    entry = load_u64(table, slot + 1)
    if (load_u64(table, slot) ^ entry) == board and ((entry ^ mark) >> N32) == ZERO:
        return F32(bits_float(U32(entry & LOW_32)))
    # 3. The last spawns before the leaves.
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
    is_lost_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
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
            by_left = evaluate_classic(context, left) if left != state else NONE
            by_right = evaluate_classic(context, right) if right != state else NONE
            by_up = evaluate_classic(context, up) if up != state else NONE
            by_down = evaluate_classic(context, down) if down != state else NONE
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
                best = evaluate_classic(context, state) if is_lost_evaluated else lost
            part += best
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share, n_states = total + part * p, share + p, n_states + n_empty
    total = F32(total / (share * F32(n_empty)))
    count_states(context, n_states)
    remember(context, table, slot, board, mark, total)
    return total


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the search of the classic board."""
    function_address(chance_classic, CHANCE)
