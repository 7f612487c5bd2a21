"""Compiled evaluators: the value of a board from its cells and lines.

The value of a board is a sum over its cells plus a sum over its lines along every axis.  Lines of at most
four cells use a lookup table for both; longer lines and wide boards are evaluated directly.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import classic, packed, wide
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ROW, U64
from lab2048.kernels.board.memory import F32, floats_at, load_f32, load_u64, singles_at, words_at
from lab2048.kernels.search import context as of

Terms = NDArray[np.float64]

# The terms of an evaluator.  Cells: weights of an empty cell, of a tile's potential and of rank^SUM_POWER.
EMPTY, POTENTIAL, SUM, SUM_POWER = range(4)
# Lines: a constant, equal neighbours, disorder (of rank^MONOTONE_POWER), differences of neighbours (ranks, faces).
BASE, MERGES, MONOTONE, MONOTONE_POWER, SMOOTH, SMOOTH_FACES = range(4, 10)
# Board: the highest tile; the same tile, added in its corner and subtracted elsewhere; that corner; empty cells times
# log2 of the tile sum.
MAX, CORNER, CORNER_CELL, EMPTY_LOG = range(10, 14)
# The second to fourth highest tiles, added on their home cells and subtracted elsewhere; the fourth, if another tile
# is on its home cell.
SECOND, THIRD, FOURTH, STUCK = range(14, 18)
# Lines: differences of the faces of adjacent tiles, without empty cells between them.  Board: neighbours in order; a
# constant for a board without empty cells.
SMOOTH_NEAR, ORDERED, FULL = range(18, 21)
N_WEIGHTS = 21
# After the weights: precomputed rank^SUM_POWER and rank^MONOTONE_POWER of every rank.
MAX_RANK = 63
SUM_OF, MONOTONE_OF = N_WEIGHTS, N_WEIGHTS + MAX_RANK + 1
# Then the home cells of the four highest tiles.
HOMES, N_HOMES = N_WEIGHTS + 2 * (MAX_RANK + 1), 4
N_TERMS = HOMES + N_HOMES
FACES = 2.0 ** np.arange(MAX_RANK + 1)


def make_terms(weights: Sequence[float], cells: Sequence[int]) -> Terms:
    """Make the terms of an evaluator; `cells` are the home cells of the highest tiles, the highest first.

    A board may have fewer than four cells: it then has no tiles for the missing homes.
    """
    terms = np.zeros(N_TERMS)
    terms[:N_WEIGHTS] = weights
    ranks = np.arange(1, MAX_RANK + 1, dtype=float)
    terms[SUM_OF + 1 : MONOTONE_OF] = ranks ** weights[SUM_POWER]
    terms[MONOTONE_OF + 1 : HOMES] = ranks ** weights[MONOTONE_POWER]
    homes = cells[:N_HOMES]
    terms[HOMES : HOMES + len(homes)] = homes
    return terms


@kernel
def cell_value(terms: Terms, weight: float, rank: I64) -> float:
    """Return the value of a tile on its cell; `weight` multiplies its face."""
    if rank == 0:
        return float(terms[EMPTY])
    face = FACES[rank]
    return float(weight * face + terms[POTENTIAL] * (rank - 1) * face + terms[SUM] * terms[SUM_OF + rank])


@kernel
def line_value(terms: Terms, ranks: NDArray[np.uint8], n: I64) -> float:
    """Return the value of the order of the first n ranks of a line, the same in both directions.

    Equal neighbours count 2 for a pair and 3 for a triple; empty cells between them are ignored.
    Disorder is the smaller of the total rise and the total fall, so a monotone line has none.
    """
    merges, run, previous = 0, 0, I64(0)
    rise, fall, rough, rough_faces, rough_near = 0.0, 0.0, 0.0, 0.0, 0.0
    last = 0.0
    for i in range(n):
        rank = I64(ranks[i])
        power = terms[MONOTONE_OF + rank]
        if i > 0:
            rise += max(0.0, power - last)
            fall += max(0.0, last - power)
        last = power
        if rank == 0:
            continue
        if previous > 0:
            rough += abs(rank - previous)
            step = abs(FACES[rank] - FACES[previous])
            rough_faces += step
            if ranks[i - 1] > 0:
                rough_near += step
        if rank == previous:
            run += 1
        elif run > 0:
            merges += 1 + run
            run = 0
        previous = rank
    if run > 0:
        merges += 1 + run
    order = terms[MERGES] * merges + terms[MONOTONE] * min(rise, fall)
    smoothness = terms[SMOOTH] * rough + terms[SMOOTH_FACES] * rough_faces + terms[SMOOTH_NEAR] * rough_near
    return float(terms[BASE] + order + smoothness)


@kernel
def fill_table(terms: Terms, weights: NDArray[np.float32], n_axes: I64, table: NDArray[np.float32]) -> None:
    """Fill the table of all lines of len(weights) cells; cell values are divided by the number of axes."""
    n = len(weights)
    ranks = np.zeros(n, np.uint8)
    for index in range(len(table)):
        total = 0.0
        for i in range(n):
            rank = index >> (4 * i) & 15
            ranks[i] = np.uint8(rank)
            total += cell_value(terms, float(weights[i]), rank)
        table[index] = F32(total / n_axes + line_value(terms, ranks, n))


@kernel
def home_value(rank: I64, there: I64) -> float:
    """Return the face of a tile, negative unless it is on its home cell (`there`); 0 if there is no such tile."""
    if rank == 0:
        return 0.0
    return float(FACES[rank] if there == rank else -FACES[rank])


@kernel
def homes_value(terms: Terms, ranks: NDArray[np.uint8]) -> float:
    """Return the home terms of the second to fourth highest tiles.

    Equal tiles count separately, so the second highest tile may equal the highest.
    """
    first, second, third, fourth = I64(0), I64(0), I64(0), I64(0)
    for each in ranks:
        rank = I64(each)
        if rank > first:
            first, second, third, fourth = rank, first, second, third
        elif rank > second:
            second, third, fourth = rank, second, third
        elif rank > third:
            third, fourth = rank, third
        elif rank > fourth:
            fourth = rank
    value = terms[SECOND] * home_value(second, I64(ranks[I64(terms[HOMES + 1])]))
    value += terms[THIRD] * home_value(third, I64(ranks[I64(terms[HOMES + 2])]))
    there = I64(ranks[I64(terms[HOMES + 3])])
    value += terms[FOURTH] * home_value(fourth, there)
    if fourth != 0 and there != 0 and there != fourth:
        value += terms[STUCK] * FACES[fourth]
    return float(value)


@kernel
def n_ordered(plan: packed.Plan, ranks: NDArray[np.uint8]) -> I64:
    """Count the neighbours in order: for each axis those that fall or are equal, or those that rise, if they are more.

    Lines are read in the order of their cells, so a fall is one to the right or downwards.
    """
    total = I64(0)
    for axis in range(I64(plan[at.N_MOVES]) // 2):
        here = I64(plan[I64(plan[at.LINES_AT]) + axis])
        n_lines = I64(plan[here])
        here += 1
        n_falling, n_rising = I64(0), I64(0)
        for _ in range(n_lines):
            length = I64(plan[here])
            is_forward = plan[here + 1] <= plan[here + length]
            for i in range(1, length):
                a, b = ranks[I64(plan[here + i])], ranks[I64(plan[here + 1 + i])]
                is_rising = a < b if is_forward else b < a
                n_rising += I64(is_rising)
                n_falling += I64(not is_rising)
            here += 1 + length
        total += max(n_falling, n_rising)
    return total


@kernel
def extra_value(terms: Terms, plan: packed.Plan, ranks: NDArray[np.uint8]) -> float:
    """Return the whole-board terms."""
    highest, n_empty, total = I64(0), 0, 0.0
    for rank in ranks:
        highest = max(highest, I64(rank))
        if rank == 0:
            n_empty += 1
        else:
            total += FACES[I64(rank)]
    face = FACES[highest] if highest > 0 else 0.0
    value = terms[MAX] * face
    if terms[CORNER] != 0.0:
        is_there = I64(ranks[I64(terms[CORNER_CELL])]) == highest
        value += terms[CORNER] * face if is_there else -terms[CORNER] * face
    if terms[EMPTY_LOG] != 0.0:
        value += terms[EMPTY_LOG] * n_empty * np.log2(max(1.0, total))
    if terms[SECOND] != 0.0 or terms[THIRD] != 0.0 or terms[FOURTH] != 0.0 or terms[STUCK] != 0.0:
        value += homes_value(terms, ranks)
    if terms[ORDERED] != 0.0:
        value += terms[ORDERED] * float(n_ordered(plan, ranks))
    if n_empty == 0:
        value += terms[FULL]
    return float(value)


@kernel
def evaluate_bytes(terms: Terms, weights: NDArray[np.float32], plan: packed.Plan, ranks: NDArray[np.uint8]) -> float:
    """Return the value of a wide board."""
    total = extra_value(terms, plan, ranks)
    for cell in range(len(ranks)):
        total += cell_value(terms, float(weights[cell]), I64(ranks[cell]))
    line = np.zeros(16, np.uint8)
    for axis in range(I64(plan[at.N_MOVES]) // 2):
        here = I64(plan[I64(plan[at.LINES_AT]) + axis])
        n_lines = I64(plan[here])
        here += 1
        for _ in range(n_lines):
            length = I64(plan[here])
            for i in range(length):
                line[i] = ranks[I64(plan[here + 1 + i])]
            total += line_value(terms, line, length)
            here += 1 + length
    return total


@kernel
def evaluate_lengths(context: I64, plan: packed.Plan, ranks: NDArray[np.uint8]) -> F32:
    """Return the value of a board from one table per length of lines; tiles above rank 15 count as that rank."""
    values, total = I64(load_u64(context, of.VALUES)), F32(0)
    for axis in range(I64(plan[at.N_MOVES]) // 2):
        here = I64(plan[I64(plan[at.LINES_AT]) + axis])
        n_lines = I64(plan[here])
        here += 1
        for _ in range(n_lines):
            length, index = I64(plan[here]), I64(0)
            is_forward = plan[here + 1] <= plan[here + length]
            for i in range(length):
                place = i if is_forward else length - 1 - i
                index |= min(I64(ranks[I64(plan[here + 1 + i])]), I64(15)) << (4 * place)
            total += load_f32(values, I64(load_u64(context, of.LENGTHS + length)) + index)
            here += 1 + length
    return total


@kernel
def evaluate_ranks(context: I64, plan: packed.Plan, ranks: NDArray[np.uint8]) -> F32:
    """Evaluate a board that is given cell by cell."""
    if load_u64(context, of.HOW) == U64(of.BY_LENGTH):
        return evaluate_lengths(context, plan, ranks)
    terms = floats_at(I64(load_u64(context, of.TERMS)), N_TERMS)
    return F32(evaluate_bytes(terms, singles_at(I64(load_u64(context, of.WEIGHTS)), len(ranks)), plan, ranks))


@kernel
def evaluate_board(context: I64, board: U64, is_extra: bool) -> F32:
    """Evaluate a packed board cell by cell: all terms, or only the whole-board terms if `is_extra`."""
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    ranks = np.zeros(I64(plan[at.N_CELLS]), np.uint8)
    wide.unpack(board, ranks)
    if is_extra:
        return F32(extra_value(floats_at(I64(load_u64(context, of.TERMS)), N_TERMS), plan, ranks))
    return evaluate_ranks(context, plan, ranks)


@kernel
def evaluate_packed(context: I64, board: U64) -> F32:
    """Return the value of a packed board from its lines along every axis."""
    how = I64(load_u64(context, of.HOW))
    if how >= of.BY_BYTES:
        return evaluate_board(context, board, False)
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    values = I64(load_u64(context, of.VALUES))
    total = F32(0)
    for axis in range(I64(load_u64(context, of.N_AXES))):
        here = at.MOVES_AT + axis * at.MOVE_SIZE
        word = packed.shuffle(plan, here + at.PAIRS, I64(plan[here + at.N_PAIRS]), board)
        lines = of.LINES + axis * of.AXIS_SIZE
        for i in range(I64(load_u64(context, lines))):
            entry = lines + 1 + 3 * i
            line = (word >> load_u64(context, entry)) & load_u64(context, entry + 1)
            total += load_f32(values, I64(load_u64(context, entry + 2)) + I64(line))
    if how == of.BY_LINES_AND_BOARD:
        total += evaluate_board(context, board, True)
    return total


@kernel
def evaluate_classic(context: I64, board: U64) -> F32:
    """Return the value of the classic board from its rows and columns, using tables only."""
    values = I64(load_u64(context, of.VALUES))
    turned = classic.transpose(board)
    total = F32(0)
    for i in range(4):
        shift = U64(16 * i)
        column, row = of.LINES + 3 + 3 * i, of.LINES + of.AXIS_SIZE + 3 + 3 * i
        total += load_f32(values, I64(load_u64(context, column)) + I64((turned >> shift) & ROW))
        total += load_f32(values, I64(load_u64(context, row)) + I64((board >> shift) & ROW))
    return total


def warm_up(plan: packed.Plan) -> None:  # noqa: ARG001
    """Compile the kernels of this file that Python calls."""
    table = np.zeros(16, np.float32)
    compile_for(fill_table, np.zeros(N_TERMS), table, 1, table)
