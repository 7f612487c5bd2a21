"""Detect boards that a network hardly knows, and choose their moves with a fallback search.

A weight that was never trained is 0.  On boards like those of its training, nearly all weights that a network looks up
are trained; on unfamiliar boards many are not, and their sum is unreliable.  Late in a game, a search with another
evaluator, the *fallback*, chooses the move on such boards.
"""

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, U64, ZERO
from lab2048.kernels.board.memory import F32, bits_float, load_f32, load_i16, load_u64
from lab2048.kernels.function_pointer import CHOOSE, call_choose, function_address
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.search import context as of
from lab2048.kernels.search.leaf import U32
from lab2048.kernels.search.network import slide_all

LATE_RANK = 13  # rank of 8192; before it, even a guessing network plays better than its fallback


@kernel
def known_share(net: I64, index: I64) -> F32:
    """Return the share of the weights of an index that were ever trained."""
    weights, n, n_known = I64(load_u64(net, lookup.WEIGHTS)), I64(load_u64(net, lookup.N_LOOKUPS)), I64(0)
    is_float = load_u64(net, lookup.STEP) == ZERO
    for i in range(n):
        here = I64(load_u64(index, i))
        n_known += I64(load_f32(weights, here) != F32(0) if is_float else load_i16(weights, here) != 0)
    return F32(F32(n_known) / F32(n))


@kernel
def confidence(context: I64, board: U64) -> F32:
    """Return the highest share of trained weights among the afterstates of a state; 1 if there is no move."""
    afters, net = I64(load_u64(context, of.AFTERS)), I64(load_u64(context, of.NET))
    index, best, n_legal = I64(load_u64(context, of.INDEX)), F32(0), I64(0)
    slide_all(context, board, afters)
    for move in range(I64(load_u64(I64(load_u64(context, of.PLAN)), at.N_MOVES))):
        after = load_u64(afters, move)
        if after != board:
            lookup.find(net, after, index)
            best = max(best, known_share(net, index))
            n_legal += 1
    return best if n_legal > 0 else F32(1)


@kernel
def is_guessing(context: I64, board: U64) -> bool:
    """Return True if the fallback should choose: late in the game, on a board that the network hardly knows."""
    if load_u64(context, of.FALLBACK) == ZERO or packed.max_rank(board) < LATE_RANK:
        return False
    return bool(confidence(context, board) < bits_float(U32(load_u64(context, of.TRUST))))


@kernel
def choose_or_fall_back(context: I64, board: U64) -> I64:
    """Choose a move with the network, or with the fallback where the network is guessing; -1 if there is none."""
    if is_guessing(context, board):
        fallback = I64(load_u64(context, of.FALLBACK))
        return I64(call_choose(I64(load_u64(fallback, of.CHOOSE)), fallback, board))
    return I64(call_choose(I64(load_u64(context, of.CONFIDENT_CHOOSE)), context, board))


def choose_address() -> int:
    """Return the address of `choose_or_fall_back`."""
    return function_address(choose_or_fall_back, CHOOSE)


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the kernels of this file that Python calls."""
    compile_for(confidence, 0, ZERO)


def warm_up_games(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile what whole games call."""
    choose_address()
