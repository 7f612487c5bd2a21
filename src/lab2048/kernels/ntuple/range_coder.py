"""An adaptive binary range coder that compresses tables of small integers.

A number is encoded as binary decisions: is it zero, its sign, is it larger than 1, than 2, ...  Each
decision and context has an adaptive probability; an expected decision costs almost nothing.  The context
of a weight is the size of the weights whose pattern has one tile a rank lower: they are similar and have
been coded before.

One routine encodes and decodes, so both always make the same decisions: encoding writes the given bits,
decoding returns the bits it reads.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.memory import address_of, load_i16, load_u8, load_u64, store_i16, store_u8, store_u64

# The state of the coder, in words.
LOW, RANGE, CODE, POSITION, CARRY, IS_DECODING, DATA, SIZE = range(8)
PROBABILITIES = 8  # probability of 0 for each decision: two words, a fast and a slow estimate
ONE_HALF, FAST, SLOW = U64(1 << 15), U64(4), U64(7)
WHOLE = U64(1 << 16)
TOP, FULL, BYTE, N8, N16 = U64(1 << 24), U64(0xFFFF_FFFF), U64(0xFF), U64(8), U64(16)

# The decisions: for a block, for zero, for the sign, for each size.
LEVELS, MAX_UNARY, BLOCK, MAX_CELLS = 14, 18, 256, 8
ZERO_AT = 8
SIGN_AT = ZERO_AT + LEVELS * 8
MORE_AT = SIGN_AT + 16
EXPONENT_AT = MORE_AT + LEVELS * MAX_UNARY
BITS_AT = EXPONENT_AT + 16
N_QUESTIONS = BITS_AT + 16
STATE_SIZE = PROBABILITIES + 2 * N_QUESTIONS


@kernel
def put_byte(state: I64, byte: U64) -> None:
    """Write a byte, unless the buffer is full."""
    position = load_u64(state, POSITION)
    if position < load_u64(state, SIZE):
        store_u8(I64(load_u64(state, DATA)), I64(position), np.uint8(byte & BYTE))
    store_u64(state, POSITION, position + ONE)


@kernel
def take_byte(state: I64) -> U64:
    """Read a byte; zeros follow the end."""
    position = load_u64(state, POSITION)
    store_u64(state, POSITION, position + ONE)
    return U64(load_u8(I64(load_u64(state, DATA)), I64(position))) if position < load_u64(state, SIZE) else ZERO


@kernel
def shift_low(state: I64) -> None:
    """Output the highest byte of the interval's low end; bytes that a carry may still change are delayed.

    CODE is the delayed byte, CARRY the number of 0xFF bytes after it.
    """
    low = load_u64(state, LOW)
    if low < (BYTE << U64(24)) or low > FULL:
        carry, waiting = low >> U64(32), load_u64(state, CARRY)
        put_byte(state, load_u64(state, CODE) + carry)
        while waiting > ZERO:
            put_byte(state, BYTE + carry)
            waiting -= ONE
        store_u64(state, CARRY, ZERO)
        store_u64(state, CODE, (low >> U64(24)) & BYTE)
    else:
        store_u64(state, CARRY, load_u64(state, CARRY) + ONE)
    store_u64(state, LOW, (low << N8) & FULL)


@kernel
def code_bit(state: I64, question: I64, bit: U64) -> U64:
    """Encode or decode one bit; return it either way."""
    here = PROBABILITIES + 2 * question
    fast, slow = load_u64(state, here), load_u64(state, here + 1)
    width = load_u64(state, RANGE)
    bound = (width >> N16) * ((fast + slow) >> ONE)
    if load_u64(state, IS_DECODING) != ZERO:
        bit = U64(load_u64(state, CODE) >= bound)
        if bit != ZERO:
            store_u64(state, CODE, load_u64(state, CODE) - bound)
    elif bit != ZERO:
        store_u64(state, LOW, load_u64(state, LOW) + bound)
    if bit == ZERO:
        width = bound
        fast, slow = fast + ((WHOLE - fast) >> FAST), slow + ((WHOLE - slow) >> SLOW)
    else:
        width -= bound
        fast, slow = fast - (fast >> FAST), slow - (slow >> SLOW)
    # Keep the probability away from 0 and 1.
    store_u64(state, here, min(max(fast, U64(64)), WHOLE - U64(64)))
    store_u64(state, here + 1, min(max(slow, U64(64)), WHOLE - U64(64)))
    while width < TOP:
        width = (width << N8) & FULL
        if load_u64(state, IS_DECODING) != ZERO:
            store_u64(state, CODE, ((load_u64(state, CODE) << N8) & FULL) | take_byte(state))
        else:
            shift_low(state)
    store_u64(state, RANGE, width)
    return bit


@kernel
def level_of(total: I64) -> I64:
    """Quantize the size of the context."""
    level = I64(0)
    while total > 0 and level < LEVELS - 1:
        total = total - 1 if level < 4 else total * 2 // 3
        level += 1
    return level


@kernel
def code_size(state: I64, level: I64, size: I64) -> I64:
    """Code the size of a nonzero number: unary at first, then the bits of the rest."""
    known = I64(1)
    while known < MAX_UNARY:
        if code_bit(state, MORE_AT + level * MAX_UNARY + known, U64(size > known)) == ZERO:
            return known
        known += 1
    rest, n_bits = size - known + 1, I64(0)  # rest is at least 1
    while code_bit(state, EXPONENT_AT + min(n_bits, 15), U64((rest >> (n_bits + 1)) > 0)) != ZERO and n_bits < 16:
        n_bits += 1
    number = I64(1)
    for i in range(n_bits - 1, -1, -1):
        number = 2 * number + I64(code_bit(state, BITS_AT + i, U64((rest >> i) & 1)))
    return known - 1 + number


@kernel
def code_table(state: I64, table: I64, radix: I64, n_cells: I64) -> None:
    """Encode or decode a table of radix^n_cells int16 numbers; a table to decode into must be zero."""
    digits, powers = np.zeros(MAX_CELLS, np.int64), np.ones(MAX_CELLS + 1, np.int64)
    for axis in range(n_cells):
        powers[axis + 1] = radix * powers[axis]
    n, was_empty = powers[n_cells], I64(0)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        # 1. Is the block nonzero?
        is_used = ZERO
        if load_u64(state, IS_DECODING) == ZERO:
            for i in range(begin, end):
                if load_i16(table, i) != 0:
                    is_used = ONE
                    break
        is_used = code_bit(state, min(was_empty, 7), is_used)
        was_empty = I64(0) if is_used != ZERO else was_empty + 1
        if is_used == ZERO:
            continue
        # The digits of the index count up like an odometer; skipped blocks do not advance it.
        rest = I64(begin)
        for axis in range(n_cells):
            digits[axis] = rest % radix
            rest //= radix
        digits[0] -= 1
        for i in range(begin, end):
            axis = I64(0)
            digits[0] += 1
            while digits[axis] == radix and axis < n_cells - 1:
                digits[axis] = 0
                axis += 1
                digits[axis] += 1
            # 2. Context: the weights with one tile a rank lower.
            total, signs, n_used = I64(0), I64(0), I64(0)
            for axis in range(n_cells):
                if digits[axis] > 0:
                    other = I64(load_i16(table, i - powers[axis]))
                    total += abs(other)
                    signs += I64(other > 0) - I64(other < 0)
                    n_used += I64(other != 0)
            level = level_of(total)
            # 3. Zero, sign, size.
            number = I64(load_i16(table, i))
            if code_bit(state, ZERO_AT + 8 * level + min(n_used, 7), U64(number != 0)) == ZERO:
                continue
            sign = code_bit(state, SIGN_AT + max(signs, -7) + 7, U64(number < 0))
            size = code_size(state, level, abs(number))
            store_i16(table, i, np.int16(-size if sign != ZERO else size))


@kernel
def compress(words: NDArray[np.uint64], table: NDArray[np.int16], radix: I64, n_cells: I64) -> I64:
    """Compress a table; return the number of bytes needed, even if the buffer is too small."""
    state = words.ctypes.data
    code_table(state, table.ctypes.data, radix, n_cells)
    for _ in range(5):
        shift_low(state)
    return I64(words[POSITION])


@kernel
def decompress(words: NDArray[np.uint64], table: NDArray[np.int16], radix: I64, n_cells: I64) -> I64:
    """Decompress into a zeroed table; return the number of bytes read."""
    state = words.ctypes.data
    for _ in range(5):  # the first byte is always zero
        words[CODE] = ((words[CODE] << N8) & FULL) | take_byte(state)
    code_table(state, table.ctypes.data, radix, n_cells)
    return I64(words[POSITION])


def make_state(data: NDArray[np.uint8], *, is_decoding: bool) -> NDArray[np.uint64]:
    """Make the state of a coder at the start of `data`, which the caller keeps alive."""
    state = np.zeros(STATE_SIZE, np.uint64)
    state[RANGE], state[IS_DECODING], state[DATA], state[SIZE] = FULL, is_decoding, address_of(data), len(data)
    state[PROBABILITIES:] = ONE_HALF
    return state


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the compression of a table."""
    compile_for(compress, make_state(np.zeros(8, np.uint8), is_decoding=False), np.zeros(16, np.int16), 16, 1)


def warm_up_unpacking(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the decompression of a table."""
    compile_for(decompress, make_state(np.zeros(8, np.uint8), is_decoding=True), np.zeros(16, np.int16), 16, 1)
