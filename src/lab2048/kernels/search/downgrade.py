"""Tile downgrading: replace a board by one with lower tiles that plays the same.

If a rank is missing below the highest tile, all tiles above it can be lowered by one rank without changing
any merge for a long time.  So a player that does not know a tile, or cannot represent it, can still play.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO

TOP_RANK = 14  # leaves room for one more merge in a nibble


@kernel
def downgrade_packed(board: U64, top: I64) -> U64:
    """Downgrade a packed board to tiles of at most rank `top`, as far as there are missing ranks."""
    highest = packed.max_rank(board)
    while highest > top:
        seen, word = I64(0), board
        while word != ZERO:
            seen |= I64(1) << I64(word & NIBBLE)
            word >>= FOUR
        missing = highest - 1
        while missing > 0 and (seen >> missing) & 1:
            missing -= 1
        if missing == 0:
            break
        for cell in range(16):
            if I64((board >> U64(4 * cell)) & NIBBLE) > missing:
                board -= ONE << U64(4 * cell)
        highest -= 1
    return board


@kernel
def downgrade(ranks: NDArray[np.uint8]) -> U64:
    """Downgrade a wide board until it fits in a packed one."""
    shown = ranks.copy()
    while wide.max_rank(shown) > TOP_RANK:
        highest, seen = wide.max_rank(shown), ZERO
        for cell in range(len(shown)):
            seen |= ONE << U64(shown[cell])
        missing = highest - 1
        while missing > 0 and (seen >> U64(missing)) & ONE:
            missing -= 1
        if missing == 0:
            break
        for cell in range(len(shown)):
            if shown[cell] > missing:
                shown[cell] -= np.uint8(1)
    board = ZERO
    for cell in range(len(shown)):
        board |= min(U64(shown[cell]), NIBBLE) << U64(4 * cell)
    return board


@kernel
def packed_board(ranks: NDArray[np.uint8], top: I64) -> U64:
    """Downgrade a wide board to a packed one with tiles of at most rank `top`, as far as there are missing ranks."""
    return downgrade_packed(downgrade(ranks), top)


def warm_up(plan: packed.Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    compile_for(packed_board, np.ones(int(plan[at.N_CELLS]), np.uint8), TOP_RANK)
