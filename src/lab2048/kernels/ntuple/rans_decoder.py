"""Decompress the tables that lab2048.kernels.ntuple.rans_encoder compresses.

The code is read by range asymmetric numeral systems (rANS; J. Duda, Asymmetric numeral systems, 2013): a symbol takes a
table lookup and a multiplication.  A 64-bit word is the state; whenever it falls below 2^31, the next 32 bits are
appended.

    words 0-2   where the three streams begin; each begins with its state
    stream 0    the model (lab2048.kernels.ntuple.weight_model): is it fine, and the frequencies of all symbols; then
                the runs of zeros, and which other weights are zero
    streams 1   the symbols of nonzero weights, in turn: the processor decodes two at a time
    and 2
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, N32, ONE, U64, ZERO, lowest_bit, popcount
from lab2048.kernels.board.memory import load_u8, load_u32, load_u64, store_i16, store_u8, store_u32
from lab2048.kernels.ntuple.weight_model import (
    BLOCK,
    EMPTY,
    LANES,
    N_CONTEXTS,
    N_COUNTS,
    N_LEVELS,
    N_QUESTIONS,
    N_RUN_SYMBOLS,
    N_SYMBOLS,
    RUN,
    WORD_BITS,
    add_marks,
    begin_blocks,
    context_of,
    count_blocks,
    is_empty_row,
    level_of,
    mark_of,
    next_block,
    question_of,
    sum_of,
)

SCALE_BITS = 11  # frequencies add up to 2^SCALE_BITS
SCALE = 1 << SCALE_BITS
LOWEST = U64(1 << 31)  # of the state
SHIFT, SLOT, N16 = U64(SCALE_BITS), U64(SCALE - 1), U64(16)
DAMAGED = -1
N_STREAMS = 3
# By symbol: how many bits follow it, and the smallest size that it stands for.
EXTRA_BITS = np.array([max(0, (symbol + 2) // 4 - 1) for symbol in range(N_SYMBOLS)], np.uint8)
SMALLEST = np.array(
    [
        symbol // 2 + 1 if symbol < 6 else (2 | symbol // 2 + 1 & 1) << (symbol + 2) // 4 - 1
        for symbol in range(N_SYMBOLS)
    ],
    np.uint32,
)


def make_model() -> NDArray[np.uint32]:
    """Allocate memory for the frequencies: of symbols, of answers, and the symbol of every slot."""
    return np.zeros(N_CONTEXTS * N_SYMBOLS + N_QUESTIONS + (N_CONTEXTS << SCALE_BITS) // 4, np.uint32)


@kernel
def refill(data: I64, last: I64, state: U64, position: I64) -> tuple[U64, I64]:
    """Append 32 bits to the state if it is low, without a branch: it would be mispredicted."""
    mask = ZERO - U64(state < LOWEST)
    word = U64(load_u32(data, min(position, last)))
    return (state << (N32 & mask)) | (word & mask), position + I64(mask & ONE)


@kernel
def begin_stream(data: I64, last: I64, stream: I64) -> tuple[U64, I64]:
    """Return the first state of a stream, and where its words go on."""
    position = min(I64(load_u32(data, min(stream, last))), last)
    state = (U64(load_u32(data, position)) << N32) | U64(load_u32(data, min(position + 1, last)))
    return state, position + 2


@kernel
def take_bits(data: I64, last: I64, n_bits: I64, state: U64, position: I64) -> tuple[I64, U64, I64]:
    """Decode at most 30 bits that are not modelled."""
    found = I64(state & ((ONE << U64(n_bits)) - ONE))
    state >>= U64(n_bits)
    state, position = refill(data, last, state, position)
    return found, state, position


@kernel
def take_symbol(
    slots: I64, ranges: I64, context: I64, data: I64, last: I64, state: U64, position: I64
) -> tuple[I64, U64, I64]:
    """Decode a symbol."""
    slot = state & SLOT
    symbol = I64(load_u8(slots, (context << SCALE_BITS) + I64(slot)))
    word = U64(load_u32(ranges, context * N_SYMBOLS + symbol))
    state = (word >> N16) * (state >> SHIFT) + slot - (word & U64(0xFFFF))
    state, position = refill(data, last, state, position)
    return symbol, state, position


@kernel
def take_run(
    slots: I64, ranges: I64, context: I64, data: I64, last: I64, state: U64, position: I64
) -> tuple[I64, I64, U64, I64]:
    """Decode the length of a run of zeros; also return the context of the next run."""
    n_bits, state, position = take_symbol(slots, ranges, context, data, last, state, position)
    n_bits = min(n_bits, N_RUN_SYMBOLS - 1)
    rest, state, position = take_bits(data, last, n_bits, state, position)
    return (1 << n_bits) + rest - 1, RUN + n_bits, state, position


@kernel
def take_frequencies(
    slots: I64, ranges: I64, zeros: I64, data: I64, last: I64, state: U64, position: I64
) -> tuple[bool, U64, I64]:
    """Decode the frequencies of all symbols, and of zero for each question; return False if they are impossible."""
    for context in range(N_CONTEXTS):
        n_symbols, state, position = take_bits(data, last, 1, state, position)
        if n_symbols > 0:
            n_symbols, state, position = take_bits(data, last, 6, state, position)
        total = I64(0)
        for symbol in range(n_symbols):
            n_bits, state, position = take_bits(data, last, 4, state, position)
            frequency = I64(0)
            if n_bits > 0:
                frequency, state, position = take_bits(data, last, n_bits - 1, state, position)
                frequency |= 1 << (n_bits - 1)
            if total + frequency > SCALE:
                return False, state, position
            store_u32(ranges, context * N_SYMBOLS + symbol, np.uint32((frequency << 16) | total))
            for slot in range(total, total + frequency):
                store_u8(slots, (context << SCALE_BITS) + slot, np.uint8(symbol))
            total += frequency
        if n_symbols > 0 and total != SCALE:
            return False, state, position
    for level in range(N_LEVELS):
        is_used, state, position = take_bits(data, last, 1, state, position)
        for question in range(level * N_COUNTS**2, (level + is_used) * N_COUNTS**2):
            is_asked, state, position = take_bits(data, last, 1, state, position)
            if is_asked:
                frequency, state, position = take_bits(data, last, SCALE_BITS, state, position)
                store_u32(zeros, question, np.uint32(frequency))
    return True, state, position


@kernel
def decompress(
    code: NDArray[np.uint32],
    table: NDArray[np.int16],
    marks: NDArray[np.uint32],
    model: NDArray[np.uint32],
    offsets: NDArray[np.uint64],
    radix: I64,
    n_cells: I64,
) -> I64:
    """Decompress a table of radix^n_cells weights, which must be zero before; return DAMAGED or the words read.

    The position of a weight is the sum of offsets[LANES * axis + digit] over its digits.  `marks` and `model`
    are scratch memory (see `make_scratch` and `make_model`).  A damaged code gives wrong weights, but nothing is
    written elsewhere.
    """
    data, last, near, target = I64(code.ctypes.data), I64(len(code) - 1), I64(marks.ctypes.data), I64(table.ctypes.data)
    ranges = I64(model.ctypes.data)
    zeros, slots = ranges + 4 * N_CONTEXTS * N_SYMBOLS, ranges + 4 * (N_CONTEXTS * N_SYMBOLS + N_QUESTIONS)
    n_blocks, digits, nothing, used = begin_blocks(near, radix, n_cells)
    n_rows, places = radix if n_cells > 1 else 1, I64(offsets.ctypes.data)
    state, position = begin_stream(data, last, 0)
    state_1, position_1 = begin_stream(data, last, 1)
    state_2, position_2 = begin_stream(data, last, 2)
    is_fine, state, position = take_bits(data, last, 1, state, position)
    is_right, state, position = take_frequencies(slots, ranges, zeros, data, last, state, position)
    if not is_right:
        return DAMAGED
    n_left, run_context, state, position = take_run(slots, ranges, RUN, data, last, state, position)
    for block in range(n_blocks):
        n_lower, n_used = count_blocks(used, block, digits, n_cells)
        if n_used == 0 and n_left >= n_rows * radix:
            n_left -= n_rows * radix
            next_block(digits, radix, n_cells)
            continue
        add_marks(near, used, block, digits, n_cells)
        base, is_used = I64(0), False
        for axis in range(2, n_cells):
            base += I64(load_u64(places, LANES * axis + I64(load_u32(digits, axis))))
        for row in range(n_rows):
            here = near + 4 * (BLOCK * block + LANES * row)
            above = here - 4 * LANES if row > 0 else nothing
            if n_left >= radix and is_empty_row(here, above):
                n_left -= radix
                continue
            # 1. Which weights are nonzero?
            found, n_around = ZERO, is_fine * (n_lower + I64(row > 0))
            for k in range(radix):
                around = (I64(load_u32(here, k)) + I64(load_u32(above, k))) & WORD_BITS
                if around != 0:
                    frequency = U64(load_u32(zeros, question_of(around, is_fine * level_of(around), n_around)))
                    slot = state & SLOT
                    mask = ZERO - U64(slot >= frequency)  # all bits are set if the weight is nonzero
                    width = frequency + ((U64(SCALE) - frequency - frequency) & mask)
                    state = width * (state >> SHIFT) + slot - (frequency & mask)
                    state, position = refill(data, last, state, position)
                    found |= (mask & ONE) << U64(k)
                    store_u32(here, k, np.uint32(U64(load_u32(here, k)) & mask))
                elif n_left > 0:
                    n_left -= 1
                else:
                    found |= ONE << U64(k)
                    n_left, run_context, state, position = take_run(
                        slots, ranges, run_context, data, last, state, position
                    )
            # 2. Their values.
            first = target + 2 * (base + (I64(load_u64(places, LANES + row)) if row > 0 else 0))
            is_used |= found != ZERO
            n_found, left = popcount(found), found
            for _ in range(n_found):
                k = lowest_bit(left)
                left &= left - ONE
                around = (I64(load_u32(here, k)) + I64(load_u32(above, k))) & WORD_BITS
                total = sum_of(around)
                context = context_of(around, is_fine * level_of(around), total) if around != 0 else EMPTY
                symbol, state_1, position_1 = take_symbol(slots, ranges, context, data, last, state_1, position_1)
                rest, state_1, position_1 = take_bits(data, last, I64(EXTRA_BITS[U64(symbol)]), state_1, position_1)
                state_1, position_1, state_2, position_2 = state_2, position_2, state_1, position_1
                number, sign = I64(SMALLEST[U64(symbol)]) + rest, (symbol & 1) ^ I64(total < 0)
                number = (number ^ -sign) + sign
                store_i16(first, I64(load_u64(places, k)), np.int16(((number + 0x8000) & 0xFFFF) - 0x8000))
                store_u32(here, k, np.uint32(mark_of(number)))
        store_u8(used, block, np.uint8(is_used))
        next_block(digits, radix, n_cells)
    return position


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the decompression of a table."""
    words = np.zeros(LANES, np.uint32)
    compile_for(decompress, words, np.zeros(LANES, np.int16), words, words, np.zeros(LANES, np.uint64), LANES, 1)
