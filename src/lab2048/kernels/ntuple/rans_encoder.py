"""Compress tables of small integers by the model of lab2048.kernels.ntuple.weight_model.

First all events of a table are listed: a context, a symbol and some bits that are not modelled.  Their counts give the
frequencies.  A range asymmetric numeral system decodes in the opposite order, so events are then encoded from the last
to the first, and the words of the code are written from its end (lab2048.kernels.ntuple.rans_decoder).

    event   bits 0-31 the bits that are not modelled, bits 32-36 their number, bits 37-39 the stream,
            bits 40-47 the symbol, bits 48-63 the context; contexts from N_CONTEXTS on are questions
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64, LOW_32, N32, U64
from lab2048.kernels.board.memory import load_u32, store_u8, store_u32
from lab2048.kernels.ntuple.rans_decoder import LOWEST, SCALE, SCALE_BITS
from lab2048.kernels.ntuple.weight_model import (
    BLOCK,
    EMPTY,
    LANES,
    N_CONTEXTS,
    N_COUNTS,
    N_LEVELS,
    N_QUESTIONS,
    N_SYMBOLS,
    RUN,
    WORD_BITS,
    add_marks,
    begin_blocks,
    context_of,
    count_blocks,
    level_of,
    mark_of,
    next_block,
    question_of,
    sum_of,
)

N40, N48, BYTE = U64(40), U64(48), U64(0xFF)
STREAM_SHIFT, MAX_BITS = 5, 31


@kernel
def event_of(context: I64, symbol: I64, n_bits: I64, bits: I64) -> U64:
    """Pack an event."""
    return (U64(context) << N48) | (U64(symbol) << N40) | (U64(n_bits) << N32) | U64(bits)


@kernel
def put_event(events: NDArray[np.uint64], n: I64, event: U64) -> I64:
    """Append an event, unless the list is full; return the new number of events."""
    if n < len(events):
        events[n] = event
    return n + 1


@kernel
def put_run(events: NDArray[np.uint64], place: I64, context: I64, length: I64) -> I64:
    """Write the event of a run of zeros; return the context of the next run."""
    n_bits = I64(0)
    while (length + 1) >> (n_bits + 1) > 0:
        n_bits += 1
    put_event(events, place, event_of(context, n_bits, n_bits, length + 1 - (1 << n_bits)))
    return RUN + n_bits


@kernel
def put_weight(events: NDArray[np.uint64], n: I64, stream: I64, context: I64, number: I64, is_turned: bool) -> I64:
    """Append the event of a nonzero weight; its sign is coded relative to that of its neighbours' sum."""
    size, n_bits = abs(number), I64(0)
    while size >> (n_bits + 2) > 0:
        n_bits += 1
    magnitude = 2 * n_bits + (size >> n_bits)
    symbol = 2 * (magnitude - 1) + (I64(number < 0) ^ I64(is_turned))
    return put_event(
        events, n, event_of(context, symbol, n_bits | (stream << STREAM_SHIFT), size & ((1 << n_bits) - 1))
    )


@kernel
def list_events(
    table: NDArray[np.int16],
    marks: NDArray[np.uint32],
    radix: I64,
    n_cells: I64,
    is_fine: I64,
    events: NDArray[np.uint64],
) -> I64:
    """List the events of a table of radix^n_cells weights; return how many there are, even if the list is too short.

    `marks` is scratch memory.
    """
    near = I64(marks.ctypes.data)
    n_blocks, digits, nothing, used = begin_blocks(near, radix, n_cells)
    n_rows = radix if n_cells > 1 else 1
    # The event of a run comes before the run, so its place is kept until the length is known.
    run_at, n, run, run_context = I64(0), I64(1), I64(0), RUN
    i, n_symbols = I64(0), I64(0)
    for block in range(n_blocks):
        n_lower, _ = count_blocks(used, block, digits, n_cells)
        add_marks(near, used, block, digits, n_cells)
        is_used = False
        for row in range(n_rows):
            here, n_around = near + 4 * (BLOCK * block + LANES * row), is_fine * (n_lower + I64(row > 0))
            above = here - 4 * LANES if row > 0 else nothing
            for k in range(radix):
                around = (I64(load_u32(here, k)) + I64(load_u32(above, k))) & WORD_BITS
                number = I64(table[i])
                store_u32(here, k, np.uint32(mark_of(number)))
                i, is_used, context = i + 1, is_used or number != 0, EMPTY
                level, total = is_fine * level_of(around), sum_of(around)
                if around != 0:
                    question = question_of(around, level, n_around)
                    n = put_event(events, n, event_of(N_CONTEXTS + question, I64(number != 0), 0, 0))
                    context = context_of(around, level, total)
                elif number == 0:
                    run += 1
                if number != 0:
                    stream = 1 + n_symbols % 2
                    n = put_weight(events, n, stream, context, number, total < 0)
                    n_symbols += 1
                    if around == 0:
                        run_context, run, run_at = put_run(events, run_at, run_context, run), I64(0), n
                        n += 1
        store_u8(used, block, np.uint8(is_used))
        next_block(digits, radix, n_cells)
    put_run(events, run_at, run_context, run)
    return n


@kernel
def scale_counts(counts: NDArray[np.int64]) -> None:
    """Scale the counts of a context so that they add up to SCALE; what occurs keeps at least 1."""
    total, scaled, most = counts.sum(), I64(0), I64(0)
    if total == 0:
        return
    for i in range(len(counts)):
        if counts[i] > 0:
            counts[i] = max(1, (counts[i] * SCALE + total // 2) // total)
        scaled += counts[i]
        most = I64(i) if counts[i] > counts[most] else most
    while scaled > SCALE:  # many rare symbols: take from those that have most
        for i in range(len(counts)):
            if scaled > SCALE and 2 * counts[i] > counts[most]:
                counts[i], scaled = counts[i] - 1, scaled - 1
        most = I64(np.argmax(counts))
    counts[most] += SCALE - scaled


@kernel
def put_bits(code: NDArray[np.uint32], place: I64, state: U64, n_bits: I64, bits: I64) -> tuple[U64, I64]:
    """Encode bits that are not modelled; return the state and the number of words that are still free."""
    if state >> U64(63 - n_bits) != U64(0):
        state, place = put_word(code, place, state)
    return (state << U64(n_bits)) | U64(bits), place


@kernel
def put_word(code: NDArray[np.uint32], place: I64, state: U64) -> tuple[U64, I64]:
    """Move the lowest 32 bits of the state to the code."""
    if place > 0:
        code[place - 1] = np.uint32(state & LOW_32)
    return state >> N32, place - 1


@kernel
def put_frequency(code: NDArray[np.uint32], place: I64, state: U64, frequency: I64, start: I64) -> tuple[U64, I64]:
    """Encode a symbol by its frequency and the sum of the frequencies before it."""
    if state >= U64(frequency) << U64(63 - SCALE_BITS):
        state, place = put_word(code, place, state)
    times = state // U64(frequency)
    return (times << U64(SCALE_BITS)) + (state - times * U64(frequency)) + U64(start), place


@kernel
def compress(events: NDArray[np.uint64], stream: I64, is_fine: I64, code: NDArray[np.uint32]) -> I64:
    """Encode the events of a stream into the last words of `code`; return how many words it needs.

    Stream 0 also has the frequencies of all streams.
    """
    # 1. The frequencies.
    counts = np.zeros((N_CONTEXTS, N_SYMBOLS), np.int64)
    answers = np.zeros((N_QUESTIONS, 2), np.int64)
    for event in events:
        context, symbol = I64(event >> N48), I64((event >> N40) & BYTE)
        if context < N_CONTEXTS:
            counts[context, symbol] += 1
        else:
            answers[context - N_CONTEXTS, symbol] += 1
    starts = np.zeros((N_CONTEXTS, N_SYMBOLS), np.int64)
    for context in range(N_CONTEXTS):
        scale_counts(counts[context])
        starts[context, 1:] = np.cumsum(counts[context])[:-1]
    for question in range(N_QUESTIONS):
        n_asked = answers[question].sum()
        if n_asked > 0:  # both answers stay possible, so that a frequency takes SCALE_BITS
            share = (answers[question, 0] * SCALE + n_asked // 2) // n_asked
            answers[question, 0] = min(max(share, 1), SCALE - 1)
    # 2. The events, from the last to the first.
    state, place = LOWEST, I64(len(code))
    for i in range(len(events) - 1, -1, -1):
        event = events[i]
        context, symbol, n_bits = I64(event >> N48), I64((event >> N40) & BYTE), I64((event >> N32) & BYTE)
        if n_bits >> STREAM_SHIFT != stream:
            continue
        n_bits &= MAX_BITS
        if n_bits > 0:
            state, place = put_bits(code, place, state, n_bits, I64(event & LOW_32))
        if context < N_CONTEXTS:
            state, place = put_frequency(code, place, state, counts[context, symbol], starts[context, symbol])
        elif symbol == 0:
            state, place = put_frequency(code, place, state, answers[context - N_CONTEXTS, 0], 0)
        else:
            zero = answers[context - N_CONTEXTS, 0]
            state, place = put_frequency(code, place, state, SCALE - zero, zero)
    # 3. The frequencies themselves, in the same order.
    for level in range(N_LEVELS - 1 if stream == 0 else -1, -1, -1):
        begin, end = level * N_COUNTS**2, (level + 1) * N_COUNTS**2
        is_used = I64(answers[begin:end].any())
        for question in range(end - 1, begin - 1 if is_used else end - 1, -1):
            zero = answers[question, 0]
            if zero > 0:
                state, place = put_bits(code, place, state, SCALE_BITS, zero)
            state, place = put_bits(code, place, state, 1, I64(zero > 0))
        state, place = put_bits(code, place, state, 1, is_used)
    for context in range(N_CONTEXTS - 1 if stream == 0 else -1, -1, -1):
        used = np.nonzero(counts[context])[0]
        n_symbols = I64(used[-1] + 1) if len(used) > 0 else I64(0)
        for symbol in range(n_symbols - 1, -1, -1):
            frequency, n_bits = counts[context, symbol], I64(0)
            while frequency >> n_bits > 0:
                n_bits += 1
            if n_bits > 0:
                state, place = put_bits(code, place, state, n_bits - 1, frequency & ((1 << (n_bits - 1)) - 1))
            state, place = put_bits(code, place, state, 4, n_bits)
        if n_symbols > 0:
            state, place = put_bits(code, place, state, 6, n_symbols)
        state, place = put_bits(code, place, state, 1, I64(n_symbols > 0))
    if stream == 0:
        state, place = put_bits(code, place, state, 1, is_fine)
    # 4. The state.
    state, place = put_word(code, place, state)
    state, place = put_word(code, place, state)
    return len(code) - place


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001
    """Compile the compression of a table."""
    events, words = np.zeros(1, np.uint64), np.zeros(LANES, np.uint32)
    compile_for(list_events, np.zeros(LANES, np.int16), words, LANES, 1, 1, events)
    compile_for(compress, events, 0, 1, words)
