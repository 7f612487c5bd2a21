"""Search against a spawner that leaves nothing to chance: every afterstate has one following state.

Leaves are evaluated by the kernel of the search with chance (LEAF_CHANCE in lab2048.kernels.search.context).
There is no transposition table: the tree has one branch per move, and no more.
"""

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, U64, ZERO
from lab2048.kernels.board.memory import F32, bits_float, load_u64, words_at
from lab2048.kernels.function_pointer import CHANCE, call_chance, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.search.expectimax import U32, count_states
from lab2048.kernels.search.leaf import NONE


@kernel
def chance_forced(context: I64, board: U64, depth: I64, allowance: I64) -> F32:
    """Return the value of an afterstate: that of the best move after the only spawn."""
    leaf = I64(load_u64(context, of.LEAF_CHANCE))
    if depth <= 0 or load_u64(context, of.IS_STOPPED) != ZERO:
        return F32(call_chance(leaf, context, board, min(depth, I64(0)), I64(0)))
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    state, rank = packed.forced_spawn(plan, board)
    is_end = depth == 1 and load_u64(context, of.IS_STATE_EVALUATED) != ZERO
    best = NONE
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, state, move)
        if after == state:
            continue
        if is_end:
            best = F32(call_chance(leaf, context, state, I64(0), I64(0)))
            break
        best = max(best, chance_forced(context, after, depth - 1, allowance))
    if best == NONE:
        is_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
        lost = bits_float(U32(load_u64(context, of.LOST)))
        best = F32(call_chance(leaf, context, state, I64(of.LOST_DEPTH), I64(0))) if is_evaluated else lost
    count_states(context, I64(1))
    toll = packed.tile_potential(rank) if load_u64(context, of.NET) != ZERO else I64(0)  # it was not earned
    return F32(best - F32(toll))


def chance_address() -> int:
    """Return the address of the search."""
    return function_address(chance_forced, CHANCE)


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the search."""
    chance_address()
