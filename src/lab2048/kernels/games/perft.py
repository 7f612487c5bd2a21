"""Perft: count (slide, spawn) sequences, a fingerprint of the rules as in chess."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO, lowest_bit, popcount
from lab2048.kernels.board.packed import Plan

U8 = np.uint8


@kernel
def count_packed(plan: Plan, board: U64, depth: I64) -> I64:
    """Count the sequences of `depth` turns; the tile sum must stay below packed.FULL_SUM."""
    if depth == 0:
        return I64(1)
    count, n_spawn = I64(0), I64(plan[at.N_SPAWN])
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, board, move)
        if after == board:
            continue
        if plan[at.SPAWNER] != packed.FAIR:
            count += count_packed(plan, packed.forced_spawn(plan, after)[0], depth - 1)
            continue
        cells = packed.empty_bits(plan, after)
        if depth == 1:
            count += popcount(cells) * n_spawn
            continue
        while cells != ZERO:
            shift = U64(lowest_bit(cells))
            cells &= cells - ONE
            for entry in range(n_spawn):
                rank = plan[at.SPAWN_RANKS + entry]
                count += count_packed(plan, after | (rank << shift), depth - 1)
    return count


@kernel
def count_wide(plan: Plan, ranks: NDArray[np.uint8], depth: I64) -> I64:
    """Count the sequences of `depth` turns of a wide board."""
    if depth == 0:
        return I64(1)
    count, n_spawn = I64(0), I64(plan[at.N_SPAWN])
    for move in range(I64(plan[at.N_MOVES])):
        after = ranks.copy()
        if wide.slide(plan, after, move) < 0:
            continue
        if plan[at.SPAWNER] != packed.FAIR:
            wide.spawn(plan, after, ZERO)
            count += count_wide(plan, after, depth - 1)
            continue
        for cell in range(len(after)):
            if after[cell] != 0:
                continue
            if depth == 1:
                count += n_spawn
                continue
            for entry in range(n_spawn):
                after[cell] = U8(plan[at.SPAWN_RANKS + entry])
                count += count_wide(plan, after, depth - 1)
            after[cell] = U8(0)
    return count


def count(plan: Plan, ranks: tuple[int, ...], depth: int) -> int:
    """Count the sequences of `depth` turns from any board."""
    most = 2 ** int(plan[at.SPAWN_RANKS :][: int(plan[at.N_SPAWN])].max())
    tile_sum = sum(2**rank for rank in ranks if rank)
    if plan[at.IS_PACKED] and tile_sum + depth * most < packed.FULL_SUM:
        board = sum(rank << 4 * cell for cell, rank in enumerate(ranks))
        return int(count_packed(plan, U64(board), I64(depth)))
    return int(count_wide(plan, np.array(ranks, np.uint8), I64(depth)))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    compile_for(count_packed, plan, U64(0), I64(1))
    compile_for(count_wide, plan, np.zeros(int(plan[at.N_CELLS]), U8), I64(1))
