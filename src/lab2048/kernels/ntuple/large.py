"""Large tiles, 4096 and more: tile downgrading, and synthetic starts that contain them.

With tile downgrading, a network looks up large tiles by their order only.  Gaps between their ranks are closed:

    32768 16384 . 4        8192 4096 . 4
    . . . 2           ->   . . . 2

Until the next 4096 is made, both boards play alike, so what is learned with one set of large tiles
applies to all.  One extra weight per board depends on the actual set.
"""

import numpy as np

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, LOW_BITS, NIBBLE, ONE, TWO, U64, ZERO
from lab2048.kernels.board.dice import N11, draw, pick

LARGE_RANK = 12  # rank of 4096; from here on, the two highest bits of the nibble are set
LARGE_TILE = U64(1 << LARGE_RANK)
N_LARGE_SETS = 16  # subsets of 4096, 8192, 16384 and 32768
THREE = U64(3)
N_FAMILIES = 6  # kinds of formations
FIRST_DRAW = U64(1) << U64(40)  # keeps the draws of a start apart from those of a game
MAX_TILES = 13  # of a synthetic start before small tiles are added: there must be room to move


@kernel
def close_gaps(board: U64) -> tuple[U64, U64]:
    """Downgrade the large tiles to the lowest large ranks, in order; also return their set, one bit per rank."""
    large = (board >> THREE) & (board >> TWO) & LOW_BITS
    if large == ZERO:
        return board, ZERO
    bit_0, bit_1 = board & large, (board >> ONE) & large
    at_0, at_1, at_2, at_3 = large & ~(bit_0 | bit_1), bit_0 & ~bit_1, bit_1 & ~bit_0, bit_0 & bit_1
    has_0, has_1, has_2, has_3 = U64(at_0 != ZERO), U64(at_1 != ZERO), U64(at_2 != ZERO), U64(at_3 != ZERO)
    closed = (board & ~(large * THREE)) | (at_1 * has_0) | (at_2 * (has_0 + has_1)) | (at_3 * (has_0 + has_1 + has_2))
    return closed, has_0 | (has_1 << ONE) | (has_2 << TWO) | (has_3 << THREE)


@kernel
def fraction(word: U64) -> float:
    """Convert a random word to a number in [0, 1)."""
    return float(word >> N11) * 2.0**-53


@kernel
def start_weight(family: I64, slope: float, row: I64, column: I64) -> float:
    """Return the weight of a cell in a formation; cells are filled in order of increasing weight."""
    r, c = float(row), float(column)
    if family == 0:  # a slope, from rows to diagonals
        return slope * r + c
    if family == 1:  # a snake
        return 4.0 * r + (c if row % 2 == 0 else 3.0 - c)
    if family == 2:  # pairs of rows
        return 8.0 * float(row // 2) + 2.0 * (c if row < 2 else 3.0 - c) + float(row % 2)
    if family == 3:  # growing squares around the corner
        return 6.0 * max(r, c) + 2.0 * r + c
    if row == 0 or (column == 0 and family == 5):  # an L: the first row, and the first column if family is 5
        return c if row == 0 else 3.0 + r
    if family == 4 and (column == 3 or row == 3):  # the first row, then along the edge
        return 3.0 + r if column == 3 else 9.0 - c
    return (12.0 if family == 4 else 8.0) + r + c


@kernel
def synthetic_start(key: U64) -> U64:
    """Generate a random late afterstate of the classic board, similar to those of real games.

    Up to four large tiles and a chain of smaller ones fill the board from a corner in one of several formations.
    Noise disturbs their order; with the strongest noise the board is shuffled.
    """
    # 1. Choose the tiles: a set of large ones, and the binary digits of a sum below 4096.
    ranks, n = np.zeros(24, np.int64), I64(0)
    lot = pick(draw(key, FIRST_DRAW), 100)
    n_large = I64(lot >= 6) + I64(lot >= 20) + I64(lot >= 48) + I64(lot >= 80)
    left = n_large
    for i in range(4):
        # All subsets of this size are equally likely.
        if pick(draw(key, FIRST_DRAW + U64(1 + i)), 4 - i) < left:
            ranks[n] = LARGE_RANK + 3 - i
            n, left = n + 1, left - 1
    # On some boards a large tile is two halves, often far apart.  Play seldom comes there, but must know how bad it is.
    half = I64(-1)
    if n > 0 and pick(draw(key, FIRST_DRAW + U64(35)), 4) == 0:
        i = pick(draw(key, FIRST_DRAW + U64(36)), n)
        if ranks[i] > LARGE_RANK and ranks[i + 1] != ranks[i] - 1:
            for k in range(n, i, -1):
                ranks[k] = ranks[k - 1]
            ranks[i] -= 1
            ranks[i + 1] = ranks[i]
            n, half = n + 1, i + 1
    n_bits = 3 + pick(draw(key, FIRST_DRAW + U64(5)), 10 - I64(n_large == 4))
    digits = draw(key, FIRST_DRAW + U64(6))
    if pick(draw(key, FIRST_DRAW + U64(32)), 2) == 0:  # a long chain, shortly before it is merged: the hardest case
        digits |= draw(key, FIRST_DRAW + U64(33)) | draw(key, FIRST_DRAW + U64(34))
    low = (digits >> U64(64 - n_bits)) | (ONE << U64(n_bits - 1))
    split = pick(draw(key, FIRST_DRAW + U64(7)), 36)  # on about one board in three, one tile is split into two halves
    for rank in range(n_bits - 1, 0, -1):
        if (low >> U64(rank)) & ONE and n < MAX_TILES:
            if rank == split and rank > 1:
                ranks[n], ranks[n + 1] = rank - 1, rank - 1
                n += 2
            else:
                ranks[n] = rank
                n += 1
    # 2. Place them on the cells in order of weight, which grows from a corner.
    family, noise = pick(draw(key, FIRST_DRAW + U64(8)), N_FAMILIES), pick(draw(key, FIRST_DRAW + U64(9)), 20)
    slope = 0.5 + 3.5 * fraction(draw(key, FIRST_DRAW + U64(10)))
    width = 0.0 if noise < 6 else 1.0 if noise < 11 else 2.0 if noise < 15 else 4.0 if noise < 17 else 100.0
    weights, cells = np.empty(16, np.float64), np.arange(16)
    for cell in range(16):
        weight = start_weight(family, slope, I64(cell // 4), I64(cell % 4))
        weights[cell] = weight + width * fraction(draw(key, FIRST_DRAW + U64(16 + cell)))
    for i in range(1, 16):
        k = i
        while k > 0 and weights[cells[k]] < weights[cells[k - 1]]:
            cells[k], cells[k - 1] = cells[k - 1], cells[k]
            k -= 1
    if half >= 0:
        k = pick(draw(key, FIRST_DRAW + U64(37)), n)
        cells[half], cells[k] = cells[k], cells[half]
    board = ZERO
    for i in range(n):
        board |= U64(ranks[i]) << U64(4 * cells[i])
    # 3. Add a few small tiles on random cells, as in a real game.
    for i in range(min(pick(draw(key, FIRST_DRAW + U64(11)), 4), MAX_TILES + 1 - n)):
        word = draw(key, FIRST_DRAW + U64(12 + i))
        shift = U64(4) * U64(cells[n + pick(word, 16 - n)])
        if ((board >> shift) & NIBBLE) == ZERO:
            board |= (ONE + (word & NIBBLE) % THREE) << shift
    return board
