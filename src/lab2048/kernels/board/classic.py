"""The classic 4x4 board in one word: four rows of 16 bits.

cells   0  1  2  3     Cell 0 is the lowest nibble.  Rows are looked up as they
        4  5  6  7     stand; for columns the board is transposed, looked up,
        8  9 10 11     and transposed back.
       12 13 14 15
"""

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import FOUR, I64, LOW_BITS, N16, N32, N48, ONE, ROW, TWO, U64, ZERO
from lab2048.kernels.board.lines import TOWARDS_HIGH, slid_line

N12, N24 = U64(12), U64(24)
HIGH = TOWARDS_HIGH[4]
KEEP_1, UP_1, DOWN_1 = U64(0xF0F0_0F0F_F0F0_0F0F), U64(0x0000_F0F0_0000_F0F0), U64(0x0F0F_0000_0F0F_0000)
KEEP_2, UP_2, DOWN_2 = U64(0xFF00_FF00_00FF_00FF), U64(0x0000_0000_FF00_FF00), U64(0x00FF_00FF_0000_0000)
NOT_LAST = U64(0x0111_0111_0111_0111)  # the lowest bit of every nibble but those of the last column


@kernel
def transpose(board: U64) -> U64:
    """Swap rows and columns: first inside each 2x2 block, then the blocks."""
    half = (board & KEEP_1) | ((board & UP_1) << N12) | ((board & DOWN_1) >> N12)
    return (half & KEEP_2) | ((half & UP_2) << N24) | ((half & DOWN_2) >> N24)


@kernel
def slide_low(board: U64) -> U64:
    """Push every row towards its lowest nibble: left."""
    return (
        U64(slid_line(I64(board & ROW)))
        | U64(slid_line(I64((board >> N16) & ROW))) << N16
        | U64(slid_line(I64((board >> N32) & ROW))) << N32
        | U64(slid_line(I64(board >> N48))) << N48
    )


@kernel
def slide_high(board: U64) -> U64:
    """Push every row towards its highest nibble: right."""
    return (
        U64(slid_line(HIGH + I64(board & ROW)))
        | U64(slid_line(HIGH + I64((board >> N16) & ROW))) << N16
        | U64(slid_line(HIGH + I64((board >> N32) & ROW))) << N32
        | U64(slid_line(HIGH + I64(board >> N48))) << N48
    )


@kernel
def slide(board: U64, move: I64) -> U64:
    """Return the afterstate of a move: 0 up, 1 right, 2 down, 3 left.

    Branchless, because random moves cannot be predicted.
    """
    keep = ZERO - U64(move & 1)  # all ones for right and left
    table = ((move + 1) & 2) << 15  # offset of the table: HIGH for right and down
    word = (board & keep) | (transpose(board) & ~keep)
    slid = (
        U64(slid_line(table + I64(word & ROW)))
        | U64(slid_line(table + I64((word >> N16) & ROW))) << N16
        | U64(slid_line(table + I64((word >> N32) & ROW))) << N32
        | U64(slid_line(table + I64(word >> N48))) << N48
    )
    return (slid & keep) | (transpose(slid) & ~keep)


@kernel
def taken_bits(board: U64) -> U64:
    """Return the lowest bit of every nonzero nibble."""
    taken = board | (board >> TWO)
    return (taken | (taken >> ONE)) & LOW_BITS


@kernel
def legal_mask(board: U64) -> I64:
    """Return a mask with bit m set if move m is legal, without sliding.

    A line can slide if there is a tile behind an empty cell, or two neighbours are equal.
    Two tiles of rank 15 count as equal here, although `slide` cannot represent their sum.
    """
    taken = taken_bits(board)
    empty = taken ^ LOW_BITS
    equal = taken & ~taken_bits(board ^ (board >> FOUR)) & NOT_LAST
    left = (empty & (taken >> FOUR) & NOT_LAST) | equal
    right = (taken & (empty >> FOUR) & NOT_LAST) | equal
    equal = taken & ~taken_bits(board ^ (board >> N16))
    up = (empty & (taken >> N16)) | equal
    down = (taken & (empty >> N16)) | equal
    return I64(up != ZERO) | (I64(right != ZERO) << 1) | (I64(down != ZERO) << 2) | (I64(left != ZERO) << 3)
