"""Decompress tables of quantized networks in files of format 1 (lab2048.models.ntuple.file).

They were compressed by an adaptive binary range coder.  A number is encoded as binary decisions: is it zero, its sign,
is it larger than 1, than 2, ...  Each decision and context has an adaptive probability.  The context of a weight is the
size of the weights whose pattern has one tile a rank lower; they have been coded before.  A decoded weight adds
itself to the contexts of the weights whose pattern has one tile a rank higher.  A context is 16 bits:

    bits 0-5     sum of the sizes, at most MAX_TOTAL
    bits 6-9     number of nonzero weights
    bits 10-15   number of positive minus number of negative weights

The contexts have radix + 1 ranks per cell, so that no weight has to check whether there is a higher rank.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, LOW_32, N16, N32, ONE, U64, ZERO
from lab2048.kernels.board.memory import load_i16, load_u8, load_u64, store_i16, store_u64

# Probabilities of 0: a fast and a slow estimate.
ONE_HALF, FAST, SLOW, WHOLE = U64(1 << 15), U64(4), U64(7), U64(1 << 16)
TOP, N8 = U64(1 << 24), U64(8)

# The decisions: for a block, for zero, for the sign, for each size.
LEVELS, MAX_UNARY, BLOCK, MAX_CELLS = 14, 18, 256, 8
ZERO_AT = 8
SIGN_AT = ZERO_AT + LEVELS * 8
MORE_AT = SIGN_AT + 16
EXPONENT_AT = MORE_AT + LEVELS * MAX_UNARY
BITS_AT = EXPONENT_AT + 16
N_QUESTIONS = BITS_AT + 16

MAX_TOTAL = 45  # a larger context has the same level


def _level_of(total: int) -> int:
    """Quantize the size of a context."""
    level = 0
    while total > 0 and level < LEVELS - 1:
        total = total - 1 if level < 4 else total * 2 // 3
        level += 1
    return level


LEVEL_OF = np.array([_level_of(total) for total in range(MAX_TOTAL + 1)], np.uint8)
HIGHEST, LOWEST = WHOLE - U64(64), U64(64)  # limits of a fast probability; a slow one never gets as far
COUNT_SHIFT, SIGN_SHIFT, TOTAL_BITS = 6, 10, 63


@kernel
def refill(data: I64, size: I64, width: U64, code: U64, position: I64) -> tuple[U64, U64, I64]:
    """Read bytes until the interval is wide enough; zeros follow the end."""
    while width < TOP:
        width <<= N8
        code = ((code << N8) & LOW_32) | (U64(load_u8(data, position)) if position < size else ZERO)
        position += 1
    return width, code, position


@kernel
def take_bit(
    chances: I64, question: I64, data: I64, size: I64, width: U64, code: U64, position: I64
) -> tuple[bool, U64, U64, I64]:
    """Decode a bit that is mostly predictable."""
    if width < TOP:
        width, code, position = refill(data, size, width, code, position)
    word = load_u64(chances, question)
    fast, slow = word & LOW_32, word >> N32
    bound = (width >> N16) * ((fast + slow) >> ONE)
    if code < bound:
        fast, slow = min(fast + ((WHOLE - fast) >> FAST), HIGHEST), slow + ((WHOLE - slow) >> SLOW)
        store_u64(chances, question, fast | (slow << N32))
        return False, bound, code, position
    fast, slow = max(fast - (fast >> FAST), LOWEST), slow - (slow >> SLOW)
    store_u64(chances, question, fast | (slow << N32))
    return True, width - bound, code - bound, position


@kernel
def take_random_bit(
    chances: I64, question: I64, data: I64, size: I64, width: U64, code: U64, position: I64
) -> tuple[I64, U64, U64, I64]:
    """Decode a bit that is hardly predictable: without branches, which the processor would mispredict."""
    if width < TOP:
        width, code, position = refill(data, size, width, code, position)
    word = load_u64(chances, question)
    fast, slow = word & LOW_32, word >> N32
    bound = (width >> N16) * ((fast + slow) >> ONE)
    bit = U64(code >= bound)
    mask = ZERO - bit
    zero = min(fast + ((WHOLE - fast) >> FAST), HIGHEST) | ((slow + ((WHOLE - slow) >> SLOW)) << N32)
    one = max(fast - (fast >> FAST), LOWEST) | ((slow - (slow >> SLOW)) << N32)
    store_u64(chances, question, zero ^ ((zero ^ one) & mask))
    return I64(bit), bound + ((width - bound - bound) & mask), code - (bound & mask), position


@kernel
def skip_zeros(
    near: I64, place: I64, end: I64, fast: U64, slow: U64, data: I64, size: I64, width: U64, code: U64, position: I64
) -> tuple[bool, I64, U64, U64, U64, U64, I64]:
    """Decode zeros as long as the context is empty; also return True if a nonzero weight ends them.

    `fast` and `slow` are the probability of a zero in an empty context, the most common one by far.
    """
    while place < end and load_i16(near, place) == 0:
        if width < TOP:
            width, code, position = refill(data, size, width, code, position)
        bound = (width >> N16) * ((fast + slow) >> ONE)
        if code >= bound:
            fast, slow = max(fast - (fast >> FAST), LOWEST), slow - (slow >> SLOW)
            return True, place, fast, slow, width - bound, code - bound, position
        fast, slow = min(fast + ((WHOLE - fast) >> FAST), HIGHEST), slow + ((WHOLE - slow) >> SLOW)
        width = bound
        place += 1
    return False, place, fast, slow, width, code, position


@kernel
def take_size(
    chances: I64, level: I64, data: I64, size: I64, width: U64, code: U64, position: I64
) -> tuple[I64, U64, U64, I64]:
    """Decode the size of a nonzero weight: unary at first, then the bits of the rest."""
    known, is_larger = I64(1), True
    while known < MAX_UNARY:
        is_larger, width, code, position = take_bit(
            chances, MORE_AT + level * MAX_UNARY + known, data, size, width, code, position
        )
        if not is_larger:
            return known, width, code, position
        known += 1
    n_bits, number = I64(0), I64(1)
    while n_bits <= 16:
        is_larger, width, code, position = take_bit(
            chances, EXPONENT_AT + min(n_bits, 15), data, size, width, code, position
        )
        if not is_larger or n_bits == 16:
            break
        n_bits += 1
    for i in range(n_bits - 1, -1, -1):
        bit, width, code, position = take_random_bit(chances, BITS_AT + i, data, size, width, code, position)
        number = 2 * number + bit
    return known - 1 + number, width, code, position


@kernel
def decompress(
    code_bytes: NDArray[np.uint8], table: NDArray[np.int16], contexts: NDArray[np.int16], radix: I64, n_cells: I64
) -> I64:
    """Decompress a table of radix^n_cells weights; return the number of bytes read.

    The table and its (radix + 1)^n_cells contexts must be zero before.
    """
    chances = np.full(N_QUESTIONS, ONE_HALF | (ONE_HALF << N32), np.uint64)
    digits, strides = np.zeros(MAX_CELLS + 1, np.int64), np.ones(MAX_CELLS, np.int64)
    at, data, size = I64(chances.ctypes.data), I64(code_bytes.ctypes.data), I64(len(code_bytes))
    near, first = I64(contexts.ctypes.data), I64(table.ctypes.data)
    width, code, position = LOW_32, ZERO, I64(0)
    for _ in range(5):  # the first byte is always zero
        code = ((code << N8) & LOW_32) | (U64(load_u8(data, position)) if position < size else ZERO)
        position += 1
    n, fast, slow, was_empty = I64(radix), ONE_HALF, ONE_HALF, I64(0)
    for axis in range(1, n_cells):
        strides[axis] = strides[axis - 1] * (radix + 1)
        n *= radix
    for begin in range(0, n, BLOCK):
        # 1. Is the block nonzero?
        is_used, width, code, position = take_bit(at, min(was_empty, 7), data, size, width, code, position)
        was_empty = I64(0) if is_used else was_empty + 1
        if not is_used:
            continue
        i, end, rest, place = I64(begin), min(begin + BLOCK, n), I64(begin), I64(0)
        for axis in range(n_cells):
            digits[axis] = rest % radix
            place += digits[axis] * strides[axis]
            rest //= radix
        n_row = radix - digits[0]
        while i < end:
            # 2. A row: weights that differ in the lowest digit only.
            n_row = min(n_row, end - i)
            row, end_of_row = first + 2 * (i - place), place + n_row
            while place < end_of_row:
                context, level = I64(load_i16(near, place)), I64(0)
                if context == 0:
                    is_used, place, fast, slow, width, code, position = skip_zeros(
                        near, place, end_of_row, fast, slow, data, size, width, code, position
                    )
                    if not is_used:
                        continue
                else:
                    level = I64(LEVEL_OF[U64(context & TOTAL_BITS)])
                    question = ZERO_AT + 8 * level + min((context >> COUNT_SHIFT) & 15, 7)
                    is_used, width, code, position = take_bit(at, question, data, size, width, code, position)
                    if not is_used:
                        place += 1
                        continue
                question = SIGN_AT + max(context >> SIGN_SHIFT, -7) + 7
                sign, width, code, position = take_random_bit(at, question, data, size, width, code, position)
                number, width, code, position = take_size(at, level, data, size, width, code, position)
                store_i16(row, place, np.int16((number ^ -sign) + sign))
                # 3. The weight belongs to the contexts of its neighbours.
                add, number = (1 << COUNT_SHIFT) + (1 - 2 * sign) * (1 << SIGN_SHIFT), min(number, MAX_TOTAL)
                for axis in range(n_cells):
                    other = place + strides[axis]
                    context = I64(load_i16(near, other))
                    total = min((context & TOTAL_BITS) + number, MAX_TOTAL)
                    store_i16(near, other, np.int16((context & ~TOTAL_BITS) + add + total))
                place += 1
            # 4. The next row; its place skips the spare rank of each cell that starts again.
            i, place, n_row, axis = i + n_row, place + 1, I64(radix), I64(1)
            digits[1] += 1
            while axis < n_cells - 1 and digits[axis] == radix:
                digits[axis] = 0
                place += strides[axis]
                axis += 1
                digits[axis] += 1
    position = refill(data, size, width, code, position)[2]
    return position if chances[0] > 0 else 0  # Numba frees `chances` after its last use


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the decompression of a table."""
    compile_for(decompress, np.zeros(8, np.uint8), np.zeros(16, np.int16), np.zeros(17, np.int16), 16, 1)
