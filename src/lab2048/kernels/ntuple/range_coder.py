"""An adaptive binary range coder that compresses tables of small integers.

A number is encoded as binary decisions: is it zero, its sign, is it larger than 1, than 2, ...  Each
decision and context has an adaptive probability; an expected decision costs almost nothing.  The context
of a weight is the size of the weights whose pattern has one tile a rank lower: they are similar and have
been coded before.

This is the encoder; lab2048.kernels.ntuple.range_decoder reads what it writes.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.memory import address_of, load_i16, load_u64, store_u8, store_u64

# The state of the coder, in words.
LOW, RANGE, CODE, POSITION, CARRY, DATA, SIZE = range(7)
PROBABILITIES = 7  # probability of 0 for each decision: two words, a fast and a slow estimate
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

MAX_TOTAL = 45  # a larger context has the same level


def _level_of(total: int) -> int:
    """Quantize the size of a context."""
    level = 0
    while total > 0 and level < LEVELS - 1:
        total = total - 1 if level < 4 else total * 2 // 3
        level += 1
    return level


LEVEL_OF = np.array([_level_of(total) for total in range(MAX_TOTAL + 1)], np.uint8)


@kernel
def put_byte(state: I64, byte: U64) -> None:
    """Write a byte, unless the buffer is full."""
    position = load_u64(state, POSITION)
    if position < load_u64(state, SIZE):
        store_u8(I64(load_u64(state, DATA)), I64(position), np.uint8(byte & BYTE))
    store_u64(state, POSITION, position + ONE)


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
def code_bit(state: I64, question: I64, bit: U64) -> None:
    """Encode one bit."""
    here = PROBABILITIES + 2 * question
    fast, slow = load_u64(state, here), load_u64(state, here + 1)
    width = load_u64(state, RANGE)
    bound = (width >> N16) * ((fast + slow) >> ONE)
    if bit == ZERO:
        width = bound
        fast, slow = fast + ((WHOLE - fast) >> FAST), slow + ((WHOLE - slow) >> SLOW)
    else:
        store_u64(state, LOW, load_u64(state, LOW) + bound)
        width -= bound
        fast, slow = fast - (fast >> FAST), slow - (slow >> SLOW)
    # Keep the probability away from 0 and 1.
    store_u64(state, here, min(max(fast, U64(64)), WHOLE - U64(64)))
    store_u64(state, here + 1, min(max(slow, U64(64)), WHOLE - U64(64)))
    while width < TOP:
        width = (width << N8) & FULL
        shift_low(state)
    store_u64(state, RANGE, width)


@kernel
def code_size(state: I64, level: I64, size: I64) -> None:
    """Encode the size of a nonzero number: unary at first, then the bits of the rest."""
    for known in range(1, MAX_UNARY):
        code_bit(state, MORE_AT + level * MAX_UNARY + known, U64(size > known))
        if size <= known:
            return
    rest, n_bits = size - MAX_UNARY + 1, I64(0)  # rest is at least 1
    while (rest >> (n_bits + 1)) > 0:
        code_bit(state, EXPONENT_AT + min(n_bits, 15), ONE)
        n_bits += 1
    code_bit(state, EXPONENT_AT + min(n_bits, 15), ZERO)
    for i in range(n_bits - 1, -1, -1):
        code_bit(state, BITS_AT + i, U64((rest >> i) & 1))


@kernel
def code_table(state: I64, table: I64, radix: I64, n_cells: I64) -> None:
    """Encode a table of radix^n_cells int16 numbers."""
    digits, powers = np.zeros(MAX_CELLS, np.int64), np.ones(MAX_CELLS + 1, np.int64)
    for axis in range(n_cells):
        powers[axis + 1] = radix * powers[axis]
    n, was_empty = powers[n_cells], I64(0)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        # 1. Is the block nonzero?
        is_used = ZERO
        for i in range(begin, end):
            if load_i16(table, i) != 0:
                is_used = ONE
                break
        code_bit(state, min(was_empty, 7), is_used)
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
            level = I64(LEVEL_OF[min(total, MAX_TOTAL)])
            # 3. Zero, sign, size.
            number = I64(load_i16(table, i))
            code_bit(state, ZERO_AT + 8 * level + min(n_used, 7), U64(number != 0))
            if number != 0:
                code_bit(state, SIGN_AT + max(signs, -7) + 7, U64(number < 0))
                code_size(state, level, abs(number))


@kernel
def compress(words: NDArray[np.uint64], table: NDArray[np.int16], radix: I64, n_cells: I64) -> I64:
    """Compress a table; return the number of bytes needed, even if the buffer is too small."""
    state = words.ctypes.data
    code_table(state, table.ctypes.data, radix, n_cells)
    for _ in range(5):
        shift_low(state)
    return I64(words[POSITION])


def make_state(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Make the state of an encoder that writes to `data`, which the caller keeps alive."""
    state = np.zeros(STATE_SIZE, np.uint64)
    state[RANGE], state[DATA], state[SIZE] = FULL, address_of(data), len(data)
    state[PROBABILITIES:] = ONE_HALF
    return state


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the compression of a table."""
    compile_for(compress, make_state(np.zeros(8, np.uint8)), np.zeros(16, np.int16), 16, 1)
