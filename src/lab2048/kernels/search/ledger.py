"""Values for the ledger of a game: of every move made, and of what could have spawned after it.

The value of a state is that of its best move: the score still to come.  A board is downgraded by itself, so that its
value does not depend on where it is met.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.memory import F32, load_u64
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.leaf import NONE
from lab2048.kernels.search.root import root_values


@kernel
def move_values(context: I64, plan: packed.Plan, board: U64, depth: I64, values: NDArray[np.float32]) -> F32:
    """Write the value of every move of a state, NONE for illegal ones; return the highest, 0 if there is none."""
    board = downgrade_packed(board, I64(load_u64(context, of.TOP)))
    root_values(context, plan, board, depth, values)
    highest, potential = NONE, F32(packed.potential(board))
    for move in range(len(values)):
        if values[move] > NONE:
            values[move] -= potential
            highest = max(highest, values[move])
    return highest if highest > NONE else F32(0)


@kernel
def value_turns(
    context: I64,
    plan: packed.Plan,
    boards: NDArray[np.uint64],
    afters: NDArray[np.uint64],
    depth: I64,
    values: NDArray[np.float32],
    expected: NDArray[np.float64],
) -> I64:
    """Write the value of every move of each state, and the mean value of the states that may follow each afterstate.

    `expected` has a column for each entry of the spawn table of the context.  Returns the number of turns valued: fewer
    than all if the stop flag was set.
    """
    n_spawns, scratch = I64(load_u64(context, of.SPAWNS)), np.empty(values.shape[1], np.float32)
    for t in range(len(boards)):
        move_values(context, plan, boards[t], depth, values[t])
        empty = packed.empty_bits(plan, afters[t])
        for i in range(n_spawns):
            rank, cells, total, n = load_u64(context, of.SPAWNS + 1 + 3 * i), empty, 0.0, 0
            while cells != ZERO:
                bit = cells & (ZERO - cells)
                cells ^= bit
                total += float(move_values(context, plan, afters[t] | (bit * rank), depth, scratch))
                n += 1
            expected[t, i] = total / n
        if load_u64(I64(load_u64(context, of.STOP)), 0) != ZERO:  # then what was searched last is invalid
            return I64(t)
    return I64(len(boards))


def warm_up(plan: packed.Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    one = np.zeros(1, np.uint64)
    compile_for(value_turns, 0, plan, one, one, 1, np.zeros((1, 4), np.float32), np.zeros((1, 2)))
    compile_for(move_values, 0, plan, ONE, 1, np.zeros(4, np.float32))
