"""The last spawn layer before the leaves, on the classic board, where a search spends most of its time.

A spawn changes one row and one column.  So each of the four moves is made once without the spawn, and for
every spawn only the changed line is looked up again.
"""

from typing import NamedTuple

import numpy as np

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import classic
from lab2048.kernels.board.bits import I64, N16, N32, N48, NIBBLE, ONE, ROW, U64, ZERO, lowest_bit
from lab2048.kernels.board.lines import slid_line
from lab2048.kernels.board.memory import F32, bits_float, load_f32, load_u64
from lab2048.kernels.search import context as of
from lab2048.kernels.search.evaluate import evaluate_classic

U32 = np.uint32
NONE = F32(-3.0e38)  # below every value
COLUMN = NIBBLE | (NIBBLE << N16) | (NIBBLE << N32) | (NIBBLE << N48)  # the lowest cell of every row
N12, N24, N36 = U64(12), U64(24), U64(36)


class Side(NamedTuple):
    """A move, made on a board before the spawn; rows lie along the move."""

    word: U64  # the board
    slid: U64  # its afterstate
    turned: U64  # the afterstate's columns
    value: F32  # value of the afterstate's rows
    table: I64  # offset of its line table
    lines: I64  # where the context says how its rows are evaluated
    across: I64  # the same for its columns


@kernel
def sum_lines(context: I64, lines: I64, word: U64) -> F32:
    """Return the value of the four rows of a word."""
    values, total = I64(load_u64(context, of.VALUES)), F32(0)
    for i in range(4):
        total += load_f32(values, I64(load_u64(context, lines + 3 * i)) + I64((word >> U64(16 * i)) & ROW))
    return total


@kernel
def make_side(context: I64, word: U64, slid: U64, table: I64, lines: I64, across: I64) -> Side:
    """Make a move on a board."""
    return Side(word, slid, classic.transpose(slid), sum_lines(context, lines, slid), table, lines, across)


@kernel
def side_value(context: I64, side: Side, row: I64, line: U64) -> F32:
    """Return the value of the afterstate when one row of the board becomes `line`; NONE if nothing moves."""
    shift, after = U64(16 * row), U64(slid_line(side.table + I64(line)))
    if after == line and ((side.word ^ side.slid) & ~(ROW << shift)) == ZERO:
        return NONE
    values, kind = I64(load_u64(context, of.VALUES)), I64(load_u64(context, side.lines + 3 * row))
    gain = load_f32(values, kind + I64(after)) - load_f32(values, kind + I64((side.slid >> shift) & ROW))
    low = U64(4 * row)
    column = after | (after << N12) | (after << N24) | (after << N36)
    turned = (side.turned & ~(COLUMN << low)) | ((column & COLUMN) << low)
    return F32(side.value + gain + sum_lines(context, side.across, turned))


@kernel
def last_chance(context: I64, board: U64, empty: U64, n_spawns: I64) -> F32:
    """Return the expected value of an afterstate at depth 1, over the first entries of the spawn table."""
    columns, rows = of.LINES + 3, of.LINES + of.AXIS_SIZE + 3
    turned = classic.transpose(board)
    left = make_side(context, board, classic.slide_low(board), 0, rows, columns)
    right = make_side(context, board, classic.slide_high(board), classic.HIGH, rows, columns)
    up = make_side(context, turned, classic.slide_low(turned), 0, columns, rows)
    down = make_side(context, turned, classic.slide_high(turned), classic.HIGH, columns, rows)
    is_lost_evaluated = load_u64(context, of.IS_LOST_EVALUATED) != ZERO
    lost = bits_float(U32(load_u64(context, of.LOST)))
    total, share = F32(0), F32(0)
    for i in range(n_spawns):
        spawn = of.SPAWNS + 1 + 3 * i
        rank, cells, n, part = load_u64(context, spawn), empty, F32(0), F32(0)
        while cells != ZERO:
            cell = lowest_bit(cells) >> 2
            cells &= cells - ONE
            row, column = cell >> 2, cell & 3
            line = ((board >> U64(16 * row)) & ROW) | (rank << U64(4 * column))
            best = max(side_value(context, left, row, line), side_value(context, right, row, line))
            line = ((turned >> U64(16 * column)) & ROW) | (rank << U64(4 * row))
            best = max(best, max(side_value(context, up, column, line), side_value(context, down, column, line)))
            if best == NONE:
                best = evaluate_classic(context, board | (rank << U64(4 * cell))) if is_lost_evaluated else lost
            part, n = part + best, n + F32(1)
        p = bits_float(U32(load_u64(context, spawn + 1)))
        total, share = total + part * p / n, share + p
    return F32(total / share)
