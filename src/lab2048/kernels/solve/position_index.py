"""The index of a position in a compact table: a number that is the same for all its symmetric copies.

Without free large tiles it is the ranks of the cells as digits, cell `first` lowest and the one before it highest; the
board must be canonical.  With free large tiles that would leave most numbers unused, so it is

    (number of the arrangement) * radix^(other cells) + (the ranks of the other cells as digits)

An arrangement is the set of cells with free large tiles, up to symmetry: of its copies the one with the lowest mask has
a number.  If several symmetries lead to it, the one with the lowest digits counts.

A *numbering* is an array of words, the fields named below; lab2048.solver.endgame.numbering makes it.
"""

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, LOW_BITS, NIBBLE, ONE, TWO, U64, ZERO, lowest_bit
from lab2048.kernels.board.memory import load_u64

N_CELLS, FIRST, RADIX = 0, 1, 2
N_FREE = 3  # free large tiles, which have rank 15
SPAN = 4  # radix^(other cells)
ORDERS = 5  # for each symmetry the shifts of the cells that become cell `first`, the next one, ...
MAX_SYMMETRIES, MAX_CELLS = 12, 16
ARRANGEMENTS = ORDERS + MAX_SYMMETRIES * MAX_CELLS  # for each mask of cells: its number and symmetries
NUMBER_SHIFT = 16  # of the number in such a word; the bits below say which symmetries lead to the lowest mask
# After them, at ARRANGEMENTS + 2^N_CELLS: the lowest mask of each number.


@kernel
def free_mask(board: U64) -> I64:
    """Return a mask of the cells with free large tiles, a bit per cell."""
    bits = board & (board >> TWO)
    bits &= (bits >> ONE) & LOW_BITS
    bits = (bits | (bits >> U64(3))) & U64(0x0303_0303_0303_0303)
    bits = (bits | (bits >> U64(6))) & U64(0x000F_000F_000F_000F)
    bits = (bits | (bits >> U64(12))) & U64(0x0000_00FF_0000_00FF)
    return I64((bits | (bits >> U64(24))) & U64(0xFFFF))


@kernel
def index_of(numbering: I64, board: U64) -> I64:
    """Return the index of a board of the formation's own cells; canonical if it has no free large tiles."""
    n_cells, radix = I64(load_u64(numbering, N_CELLS)), I64(load_u64(numbering, RADIX))
    if load_u64(numbering, N_FREE) == ZERO:
        index, place, shift = I64(0), I64(1), 4 * I64(load_u64(numbering, FIRST))
        for _ in range(n_cells):
            index += I64((board >> U64(shift)) & NIBBLE) * place
            place *= radix
            shift = shift + 4 if shift < 4 * (n_cells - 1) else 0
        return index
    arrangement = load_u64(numbering, ARRANGEMENTS + free_mask(board))
    symmetries = arrangement & ((ONE << U64(NUMBER_SHIFT)) - ONE)
    lowest = I64(-1)
    while symmetries != ZERO:
        order = ORDERS + MAX_CELLS * I64(lowest_bit(symmetries))
        symmetries &= symmetries - ONE
        index, place = I64(0), I64(1)
        for k in range(n_cells):
            rank = I64((board >> load_u64(numbering, order + k)) & NIBBLE)
            is_other = I64(rank != 15)  # multiplied, because a branch would be unpredictable
            index += is_other * rank * place
            place *= 1 + is_other * (radix - 1)
        lowest = index if lowest < 0 else min(lowest, index)
    return I64(arrangement >> U64(NUMBER_SHIFT)) * I64(load_u64(numbering, SPAN)) + lowest


@kernel
def board_of(numbering: I64, index: I64) -> U64:
    """Return a board with this index."""
    n_cells, radix = I64(load_u64(numbering, N_CELLS)), I64(load_u64(numbering, RADIX))
    first, mask = I64(load_u64(numbering, FIRST)), ZERO
    if load_u64(numbering, N_FREE) != ZERO:
        span = I64(load_u64(numbering, SPAN))
        number = index // span
        index -= number * span
        mask = load_u64(numbering, ARRANGEMENTS + (I64(1) << n_cells) + number)
    board = ZERO
    for i in range(n_cells):
        cell = U64((first + i) % n_cells)
        if (mask >> cell) & ONE != ZERO:
            board |= NIBBLE << (cell << TWO)
        else:
            board |= U64(index % radix) << (cell << TWO)
            index //= radix
    return board
