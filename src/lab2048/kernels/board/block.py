"""Blocks of packed boards: slide, transform and spawn many at a time.

Each loop over a block does one simple thing, so that the compiler vectorizes it; a block fits in the L1
cache.  Solving a board consists mostly of computing canonical forms, so this is where its time goes.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, LOW_BITS, NIBBLE, ONE, U64, ZERO, lowest_bit, popcount, rotate
from lab2048.kernels.board.lines import slid_line
from lab2048.kernels.board.packed import FAIR, HIGH_BITS, LONG, Plan, empty_bits, forced_spawn, slide_long

Words = NDArray[np.uint64]

BLOCK = 512  # boards; five such arrays fit in the L1 cache

# A layer is sorted by board * SCATTER modulo 2^64.  The multiplication is invertible and spreads boards
# evenly, so the position of a board in its layer can be estimated from its key.
SCATTER = U64(0x9E37_79B9_7F4A_7C15)
GATHER = U64(pow(int(SCATTER), -1, 2**64))


@kernel
def shuffle_block(plan: Plan, first: I64, n_pairs: I64, source: Words, n: I64, target: Words) -> None:
    """Permute the nibbles of n boards by the (mask, rotation) pairs at plan[first]."""
    mask, turn = plan[first], plan[first + 1]
    for i in range(n):
        target[i] = rotate(source[i] & mask, turn)
    for pair in range(1, n_pairs):
        mask, turn = plan[first + 2 * pair], plan[first + 2 * pair + 1]
        for i in range(n):
            target[i] |= rotate(source[i] & mask, turn)


@kernel
def canonical_block(plan: Plan, boards: Words, n: I64, spare: Words) -> None:
    """Replace n boards by their canonical forms; `spare` has room for two blocks."""
    here = I64(plan[at.WALK_AT])
    one, other = spare[:BLOCK], spare[BLOCK:]
    for i in range(n):
        one[i] = boards[i]
    for symmetry in range(1, I64(plan[at.N_SYMMETRIES])):
        step = (symmetry - 1) & 1
        shuffle_block(plan, here + 2 + step * at.PAIRS_SIZE, I64(plan[here + step]), one, n, other)
        for i in range(n):
            boards[i] = min(boards[i], other[i])
        one, other = other, one


@kernel
def copies_block(plan: Plan, boards: Words, n: I64, copies: Words, spare: Words) -> None:
    """Count the distinct symmetric copies of each of n boards, including itself."""
    here, n_symmetries = I64(plan[at.WALK_AT]), I64(plan[at.N_SYMMETRIES])
    one, other = spare[:BLOCK], spare[BLOCK:]
    for i in range(n):
        one[i] = boards[i]
        copies[i] = ONE
    for symmetry in range(1, n_symmetries):
        step = (symmetry - 1) & 1
        shuffle_block(plan, here + 2 + step * at.PAIRS_SIZE, I64(plan[here + step]), one, n, other)
        for i in range(n):
            copies[i] += U64(boards[i] == other[i])
        one, other = other, one
    for i in range(n):
        copies[i] = U64(n_symmetries) // copies[i]


@kernel
def slide_block(plan: Plan, boards: Words, n: I64, move: I64, slid: Words, spare: Words) -> None:
    """Compute the afterstates of one move on n boards; the move is legal where the board changed."""
    here = at.MOVES_AT + move * at.MOVE_SIZE
    n_pairs = I64(plan[here + at.N_PAIRS])
    in_place = n_pairs == 1  # the lines are contiguous already
    word, lined = (boards, slid) if in_place else (spare[:BLOCK], spare[BLOCK:])
    if not in_place:
        shuffle_block(plan, here + at.PAIRS, n_pairs, boards, n, word)
    keep = plan[here + at.KEEP]
    for i in range(n):
        lined[i] = word[i] & keep
    for lane in range(I64(plan[here + at.N_LANES])):
        spot = here + at.LANES + 3 * lane
        shift, mask, table = plan[spot], plan[spot + 1], plan[spot + 2]
        if table == LONG:
            for i in range(n):
                lined[i] |= slide_long((word[i] >> shift) & mask) << shift
        else:
            for i in range(n):
                lined[i] |= U64(slid_line(I64(table + ((word[i] >> shift) & mask)))) << shift
    if not in_place:
        shuffle_block(plan, here + at.BACK, n_pairs, lined, n, slid)
    holding = plan[here + at.HOLDING]
    if holding != ZERO:
        for i in range(n):
            slid[i] = slid[i] if empty_bits(plan, slid[i]) & holding == ZERO else boards[i]


@kernel
def forced_block(plan: Plan, keys: Words, begin: I64, rank: U64, states: Words) -> tuple[I64, I64]:
    """Make the states in which a deterministic spawner places this rank: see `spawn_block`."""
    n = I64(0)
    while begin < len(keys) and n < BLOCK:
        state, spawned = forced_spawn(plan, keys[begin] * GATHER)
        begin += 1
        states[n] = state
        n += I64(spawned == rank)
    return begin, n


@kernel
def count_spawned(plan: Plan, board: U64, rank: U64) -> I64:
    """Return how many states `spawn_block` makes from an afterstate."""
    if plan[at.SPAWNER] != FAIR:
        return I64(forced_spawn(plan, board)[1] == rank)
    return popcount(empty_bits(plan, board))


@kernel
def count_outcomes(plan: Plan, board: U64) -> float:
    """Return among how many cells the chance of a spawned tile is divided."""
    return 1.0 if plan[at.SPAWNER] != FAIR else float(popcount(empty_bits(plan, board)))


@kernel
def spawn_block(plan: Plan, keys: Words, begin: I64, rank: U64, states: Words) -> tuple[I64, I64]:
    """Spawn a tile on every empty cell of afterstates given as keys; return the next index and the number of states.

    Stops when the next afterstate might not fit in the block.  A spawner that leaves nothing to chance makes at most
    one state per afterstate.
    """
    if plan[at.SPAWNER] != FAIR:
        return forced_block(plan, keys, begin, rank, states)
    n, room = I64(0), BLOCK - I64(plan[at.N_CELLS])
    while begin < len(keys) and n <= room:
        board = keys[begin] * GATHER
        begin += 1
        cells = empty_bits(plan, board)
        while cells != ZERO:
            states[n] = board | (rank << U64(lowest_bit(cells)))
            cells &= cells - ONE
            n += 1
    return begin, n


@kernel
def has_rank(board: U64, rank: U64) -> bool:
    """Return True if the board has a tile of this rank (not 0)."""
    difference = board ^ (LOW_BITS * rank)
    return bool(((difference - LOW_BITS) & ~difference & HIGH_BITS) != ZERO)


@kernel
def is_made(board: U64, goal_rank: U64) -> bool:
    """Return True if the goal has been made, anywhere: the game is over.  A goal rank of 0 means no goal.

    No nibble holds a goal above rank 15, and no board that may be solved can make it.
    """
    return bool(ZERO < goal_rank <= NIBBLE) and has_rank(board, goal_rank)
