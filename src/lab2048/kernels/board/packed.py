"""Packed boards: any shape of at most 16 cells in one 64-bit word, a nibble per cell.

Callers must switch to wide boards when the tile sum reaches FULL_SUM: from then on two tiles of rank 15
may meet, and rank 16 does not fit in a nibble.  One spawn beyond that sum is still safe, because a packed
plan spawns no tile of rank 15.  On boards with free large tiles rank 15 is theirs alone; it never merges.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import classic
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import (
    FOUR,
    I64,
    LOW_32,
    LOW_BITS,
    N16,
    N32,
    N48,
    NIBBLE,
    ONE,
    ROW,
    TWO,
    U64,
    ZERO,
    lowest_bit,
    popcount,
    rotate,
)
from lab2048.kernels.board.dice import pick
from lab2048.kernels.board.lines import line_potential, slid_line

Plan = NDArray[np.uint64]

FULL_SUM = U64(2 * 2**15)
HIGH_BITS = U64(0x8888_8888_8888_8888)
FAIR, FIRST = U64(at.SpawnerCode.FAIR), U64(at.SpawnerCode.FIRST)
LONG = U64(at.LONG)


@kernel
def empty_bits(plan: Plan, board: U64) -> U64:
    """Return the lowest bit of the nibble of every empty cell."""
    taken = board | (board >> TWO)
    return ~(taken | (taken >> ONE)) & U64(plan[at.CELL_BITS])


@kernel
def shuffle(plan: Plan, first: I64, n_pairs: I64, word: U64) -> U64:
    """Permute nibbles by the (mask, rotation) pairs at plan[first]."""
    moved = ZERO
    for i in range(n_pairs):
        moved |= rotate(word & plan[first + 2 * i], plan[first + 2 * i + 1])
    return moved


@kernel
def slide_long(line: U64) -> U64:
    """Slide a line of any length towards its lowest nibble."""
    slid, shift, last = ZERO, ZERO, ZERO  # last: rank of the last tile if it may still merge
    while line != ZERO:
        rank = line & NIBBLE
        line >>= FOUR
        if rank == ZERO:
            continue
        if rank == last and rank < NIBBLE:
            slid += ONE << (shift - FOUR)
            last = ZERO
        else:
            slid |= rank << shift
            shift += FOUR
            last = rank
    return slid


@kernel
def slide(plan: Plan, board: U64, move: I64) -> U64:
    """Return the afterstate of a move; the move is legal if the board changed.

    A move that would move an anchor returns the board as it was: a cell that holds it would be left empty.
    """
    if plan[at.IS_CLASSIC] != ZERO:
        return classic.slide(board, move)
    here = at.MOVES_AT + move * at.MOVE_SIZE
    n_pairs = I64(plan[here + at.N_PAIRS])
    word = shuffle(plan, here + at.PAIRS, n_pairs, board)
    slid = word & plan[here + at.KEEP]
    for i in range(I64(plan[here + at.N_LANES])):
        lane = here + at.LANES + 3 * i
        shift = plan[lane]
        line = (word >> shift) & plan[lane + 1]
        table = plan[lane + 2]
        if table == LONG:
            slid |= slide_long(line) << shift
        else:
            slid |= U64(slid_line(I64(table + line))) << shift
    after = shuffle(plan, here + at.BACK, n_pairs, slid)
    return after if empty_bits(plan, after) & plan[here + at.HOLDING] == ZERO else board


@kernel
def is_legal(plan: Plan, board: U64, after: U64, move: I64) -> bool:
    """Return True if a move is legal: it changes the board, or it is a null move and the rules have them.

    A null move needs two adjacent empty cells in one of its lines.
    """
    if after != board:
        return True
    if plan[at.HAS_NULL_MOVES] == ZERO:
        return False
    here = I64(plan[I64(plan[at.LINES_AT]) + move])
    n_lines = I64(plan[here])
    here += 1
    for _ in range(n_lines):
        length = I64(plan[here])
        was_empty = False
        for i in range(length):
            is_empty = (board >> (FOUR * plan[here + 1 + i])) & NIBBLE == ZERO
            if is_empty and was_empty:
                return True
            was_empty = is_empty
        here += 1 + length
    return False


@kernel
def legal_mask(plan: Plan, board: U64) -> I64:
    """Return a mask with bit m set if move m is legal; the board must have at most one tile of rank 15."""
    if plan[at.IS_CLASSIC] != ZERO:
        return classic.legal_mask(board)
    mask = I64(0)
    for move in range(I64(plan[at.N_MOVES])):
        if slide(plan, board, move) != board:
            mask |= I64(1) << move
    return mask


@kernel
def max_rank(board: U64) -> I64:
    """Return the highest rank on the board."""
    # Bit by bit, from the highest: only the cells that have it if any has it, else all that are left.
    rank, left = I64(0), LOW_BITS
    for bit in range(3, -1, -1):
        found = (board >> U64(bit)) & left
        left = found if found != ZERO else left
        rank = (rank << 1) | I64(found != ZERO)
    return rank


@kernel
def max_goal_rank(plan: Plan, board: U64) -> I64:
    """Return the highest rank on the cells where the goal counts, apart from free large tiles."""
    if plan[at.FREE_RANK] != ZERO:
        free = board & (board >> TWO)
        board &= ~((free & (free >> ONE) & LOW_BITS) * NIBBLE)
    return max_rank(board & plan[at.GOAL_NIBBLES])


@kernel
def potential(board: U64) -> I64:
    """Return the potential: the score needed to build these tiles from 2s."""
    return (
        I64(line_potential(I64(board & ROW)))
        + I64(line_potential(I64((board >> N16) & ROW)))
        + I64(line_potential(I64((board >> N32) & ROW)))
        + I64(line_potential(I64(board >> N48)))
    )


@kernel
def tile_potential(rank: U64) -> I64:
    """Return the potential of one tile, of rank 1 or more."""
    return (I64(rank) - 1) << I64(rank)


@kernel
def nth_cell_shift(cells: U64, n: I64) -> U64:
    """Return the shift of the n-th (from 0) nibble whose lowest bit is set.

    The product holds in every nibble the number of set bits up to there; the lowest nibble equal to
    n + 1 becomes zero in the difference.
    """
    difference = (cells * LOW_BITS) ^ (LOW_BITS * (U64(n + 1) & NIBBLE))
    return U64(lowest_bit((difference - LOW_BITS) & ~difference & HIGH_BITS) - 3)


@kernel
def spawn_rank(plan: Plan, word: U64) -> U64:
    """Return the rank that the lower half of a random word selects."""
    low = word & LOW_32
    entry = at.SPAWN_ENDS
    while low >= plan[entry]:
        entry += 1
    return U64(plan[entry + at.SPAWN_SIZE])


@kernel
def spawn_chance(plan: Plan, entry: I64) -> float:
    """Return the exact probability of an entry of the spawn table."""
    return U64(plan[at.SPAWN_CHANCES + entry]).view(np.float64)


@kernel
def worst_spawn(plan: Plan, board: U64) -> tuple[U64, U64]:
    """Return the board after the adversary's spawn, and the spawned rank."""
    fewest, least = I64(99), I64(0)
    worst, worst_rank = board, ZERO
    cells = empty_bits(plan, board)
    while cells != ZERO:
        shift = U64(lowest_bit(cells))
        cells &= cells - ONE
        for entry in range(I64(plan[at.N_SPAWN])):
            rank = plan[at.SPAWN_RANKS + entry]
            state = board | (rank << shift)
            n_legal, best = I64(0), I64(0)
            for move in range(I64(plan[at.N_MOVES])):
                after = slide(plan, state, move)
                if after != state:
                    n_legal += 1
                    best = max(best, potential(after))
            best = best - potential(state) if n_legal else I64(0)
            if n_legal < fewest or (n_legal == fewest and best < least):
                fewest, least = n_legal, best
                worst, worst_rank = state, rank
    return worst, worst_rank


@kernel
def fair_spawn(plan: Plan, board: U64, word: U64) -> tuple[U64, U64]:
    """Return the board after the spawn that a random word selects, and the spawned rank."""
    cells = empty_bits(plan, board)
    rank = spawn_rank(plan, word)
    return board | (rank << nth_cell_shift(cells, pick(word, popcount(cells)))), rank


@kernel
def forced_spawn(plan: Plan, board: U64) -> tuple[U64, U64]:
    """Return the board after the spawn of a deterministic spawner, and the spawned rank."""
    if plan[at.SPAWNER] == FIRST:
        rank = plan[at.SPAWN_RANKS]
        return board | (rank << U64(lowest_bit(empty_bits(plan, board)))), rank
    return worst_spawn(plan, board)


@kernel
def spawn(plan: Plan, board: U64, word: U64) -> tuple[U64, U64]:
    """Return the board after the next spawn, and the spawned rank."""
    if plan[at.SPAWNER] == FAIR:
        return fair_spawn(plan, board, word)
    return forced_spawn(plan, board)


@kernel
def carry(plan: Plan, board: U64, symmetry: I64) -> U64:
    """Return the board transformed by one of the shape's symmetries."""
    here = I64(plan[at.SYMMETRIES_AT]) + symmetry * at.SYMMETRY_SIZE
    return shuffle(plan, here + 1, I64(plan[here]), board)


@kernel
def canonical(plan: Plan, board: U64) -> U64:
    """Return the canonical form: the smallest of the board's symmetric copies."""
    smallest = board
    for symmetry in range(1, I64(plan[at.N_SYMMETRIES])):
        smallest = min(smallest, carry(plan, board, symmetry))
    return smallest


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    compile_for(canonical, plan, ZERO)
