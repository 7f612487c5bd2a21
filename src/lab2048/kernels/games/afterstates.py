"""The afterstates of many wide boards in one call, for networks that evaluate batches."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import wide
from lab2048.kernels.board.bits import I64
from lab2048.kernels.board.packed import Plan


@kernel
def slide_all(plan: Plan, ranks: NDArray[np.uint8], afters: NDArray[np.uint8], rewards: NDArray[np.float32]) -> None:
    """Slide every board in every direction: afters[i, m] is board i after move m, rewards[i, m] its reward.

    An illegal move has reward -1 and leaves the board unchanged.
    """
    n_moves = I64(plan[at.N_MOVES])
    for i in range(ranks.shape[0]):
        for move in range(n_moves):
            for cell in range(ranks.shape[1]):
                afters[i, move, cell] = ranks[i, cell]
            rewards[i, move] = np.float32(wide.slide(plan, afters[i, move], move))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    n_cells, n_moves = int(plan[at.N_CELLS]), int(plan[at.N_MOVES])
    afters, rewards = np.zeros((1, n_moves, n_cells), np.uint8), np.zeros((1, n_moves), np.float32)
    compile_for(slide_all, plan, np.zeros((1, n_cells), np.uint8), afters, rewards)
