"""Wide boards: a byte per cell, for any shape and any tile.  The operations of packed boards, in place.

Slower than packed boards; used beyond 16 cells and for tiles above 32768.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO
from lab2048.kernels.board.dice import pick
from lab2048.kernels.board.packed import FAIR, FIRST, Plan, spawn_rank, tile_potential

Ranks = NDArray[np.uint8]
U8 = np.uint8


@kernel
def unpack(board: U64, ranks: Ranks) -> None:
    """Write a packed board to a wide board."""
    for cell in range(len(ranks)):
        ranks[cell] = U8(board & NIBBLE)
        board >>= FOUR


@kernel
def is_held(plan: Plan, ranks: Ranks, move: I64) -> bool:
    """Return True if no anchor would move: the lines that hold them are full, and no two neighbours merge."""
    here = I64(plan[I64(plan[at.HOLDING_AT]) + move])
    n_lines, free = I64(plan[here]), U8(plan[at.FREE_RANK])
    here += 1
    for _ in range(n_lines):
        length, before = I64(plan[here]), U8(0)
        for i in range(here + 1, here + 1 + length):
            rank = ranks[I64(plan[i])]
            if rank == 0 or rank == before:
                return False
            before = rank if rank != free else U8(0)
        here += 1 + length
    return True


@kernel
def slide(plan: Plan, ranks: Ranks, move: I64) -> I64:
    """Slide the board in place; return the reward, or -1 if nothing changed or an anchor would move."""
    if not is_held(plan, ranks, move):
        return I64(-1)
    here = I64(plan[I64(plan[at.LINES_AT]) + move])
    n_lines, free_rank = I64(plan[here]), U8(plan[at.FREE_RANK])
    here += 1
    reward, changed = I64(0), False
    for _ in range(n_lines):
        length = I64(plan[here])
        here += 1
        free, last = here, U8(0)  # where the next tile goes; rank of the last tile if it may still merge
        for i in range(here, here + length):
            cell = I64(plan[i])
            rank = ranks[cell]
            if rank == 0:
                continue
            if rank == last:
                made = rank + U8(1)
                ranks[I64(plan[free - 1])] = made
                ranks[cell] = U8(0)
                reward += I64(1) << I64(made)
                last = U8(0)
                changed = True
                continue
            if i != free:
                ranks[I64(plan[free])] = rank
                ranks[cell] = U8(0)
                changed = True
            free += 1
            last = rank if rank != free_rank else U8(0)
        here += length
    return reward if changed else I64(-1)


@kernel
def legal_mask(plan: Plan, ranks: Ranks) -> I64:
    """Return a mask with bit m set if move m is legal, without sliding.

    A line can slide if there is a tile behind an empty cell, or two neighbours are equal.
    """
    mask, free = I64(0), U8(plan[at.FREE_RANK])
    for move in range(I64(plan[at.N_MOVES])):
        if not is_held(plan, ranks, move):
            continue
        here = I64(plan[I64(plan[at.LINES_AT]) + move])
        n_lines = I64(plan[here])
        here += 1
        for _ in range(n_lines):
            length = I64(plan[here])
            before = ranks[I64(plan[here + 1])]
            for i in range(here + 2, here + 1 + length):
                rank = ranks[I64(plan[i])]
                if rank != 0 and (before == 0 or (before == rank and rank != free)):
                    mask |= I64(1) << move
                before = rank
            here += 1 + length
    return mask


@kernel
def count_tiles(ranks: Ranks) -> I64:
    """Return the number of tiles."""
    n_tiles = I64(0)
    for rank in ranks:
        n_tiles += rank != 0
    return n_tiles


@kernel
def max_rank(ranks: Ranks) -> I64:
    """Return the highest rank on the board."""
    highest = U8(0)
    for rank in ranks:
        highest = max(highest, rank)
    return I64(highest)


@kernel
def is_won(plan: Plan, ranks: Ranks) -> bool:
    """Return True if the goal tile or a larger one is on a cell where it counts."""
    cells, is_there = plan[at.GOAL_BITS], False
    for cell in range(len(ranks)):
        is_large = U64(ranks[cell]) >= plan[at.GOAL_RANK] and U64(ranks[cell]) != plan[at.FREE_RANK]
        is_there |= is_large and (cells >> U64(cell)) & ONE != ZERO
    return is_there


@kernel
def potential(ranks: Ranks) -> I64:
    """Return the potential: the score needed to build these tiles from 2s."""
    total = I64(0)
    for rank in ranks:
        if rank > 0:
            total += tile_potential(U64(rank))
    return total


@kernel
def worst_spawn(plan: Plan, ranks: Ranks) -> U64:
    """Place the adversary's spawn; return its rank."""
    fewest, least = I64(99), I64(0)
    worst_cell, worst_rank = I64(0), U8(0)
    for cell in range(len(ranks)):
        if ranks[cell] != 0:
            continue
        for entry in range(I64(plan[at.N_SPAWN])):
            rank = U8(plan[at.SPAWN_RANKS + entry])
            ranks[cell] = rank
            n_legal, best = I64(0), I64(0)
            for move in range(I64(plan[at.N_MOVES])):
                reward = slide(plan, ranks.copy(), move)
                if reward >= 0:
                    n_legal += 1
                    best = max(best, reward)
            if n_legal < fewest or (n_legal == fewest and best < least):
                fewest, least = n_legal, best
                worst_cell, worst_rank = cell, rank
        ranks[cell] = U8(0)
    ranks[worst_cell] = worst_rank
    return U64(worst_rank)


@kernel
def spawn(plan: Plan, ranks: Ranks, word: U64) -> U64:
    """Place the spawn that a random word selects; return its rank."""
    if plan[at.SPAWNER] != FAIR and plan[at.SPAWNER] != FIRST:
        return worst_spawn(plan, ranks)
    n_empty = I64(0)
    for rank in ranks:
        n_empty += rank == 0
    skip, spawned = I64(0), U64(plan[at.SPAWN_RANKS])
    if plan[at.SPAWNER] == FAIR:
        skip, spawned = pick(word, n_empty), spawn_rank(plan, word)
    for cell in range(len(ranks)):
        if ranks[cell] == 0:
            if skip == 0:
                ranks[cell] = U8(spawned)
                break
            skip -= 1
    return spawned
