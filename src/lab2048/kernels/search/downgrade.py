"""Boards shown as lower ones that play alike.

Where a rank is missing below the highest, every tile above it is one rank too high for what
the others can do with it: lowering them all changes no merge for a long time.  So whoever has never seen
a tile, or has no room for it, can still play on.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO

TOP_RANK = 14  # leaves room for one more merge in a nibble


@kernel
def lower(board: U64, top: I64) -> U64:
    """A board that plays like another one with tiles above rank `top`; itself if no rank is missing."""
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
    """A packed board that plays like one with tiles too high for a nibble: the same."""
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


def warm_up(plan: packed.Plan) -> None:
    """Call every kernel of this file once, so that it is compiled."""
    lower(ZERO, TOP_RANK)
    downgrade(np.ones(int(plan[at.N_CELLS]), np.uint8))
