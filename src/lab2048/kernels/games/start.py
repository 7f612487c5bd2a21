"""The start of a game, for all kernels that play."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.dice import draw
from lab2048.kernels.board.packed import FAIR, FULL_SUM, Plan, tile_potential


@kernel
def start_board(plan: Plan, ranks: NDArray[np.uint8]) -> tuple[U64, U64, I64, bool]:
    """Return the board before the first spawn: packed board, tile sum, potential, and whether it is wide."""
    board, tile_sum = ZERO, ZERO
    is_wide = I64(plan[at.IS_PACKED]) == 0
    for cell in range(len(ranks)):
        rank = plan[I64(plan[at.BOARD_AT]) + cell]
        ranks[cell] = np.uint8(rank)
        if rank > ZERO and rank != plan[at.FREE_RANK]:
            tile_sum += ONE << rank
        if not is_wide:
            board |= rank << U64(4 * cell)
    return board, tile_sum, wide.potential(ranks), bool(is_wide or tile_sum >= FULL_SUM)


@kernel
def start_game(plan: Plan, ranks: NDArray[np.uint8], key: U64) -> tuple[U64, U64, I64, bool]:
    """Return the same after the first spawns, using the dice of `key`; `ranks` holds the board if it is wide."""
    board, tile_sum, potential, is_wide = start_board(plan, ranks)
    is_fair = plan[at.SPAWNER] == FAIR  # not packed.spawn: a call that may reach the adversary is not inlined
    for count in range(I64(plan[at.N_START])):
        word = draw(key, U64(count))
        if is_wide:
            rank = wide.spawn(plan, ranks, word)
        else:
            board, rank = packed.fair_spawn(plan, board, word) if is_fair else packed.forced_spawn(plan, board)
        tile_sum += ONE << rank
        potential += tile_potential(rank)
    if not is_wide and tile_sum >= FULL_SUM:
        wide.unpack(board, ranks)
        is_wide = True
    return board, tile_sum, potential, is_wide
