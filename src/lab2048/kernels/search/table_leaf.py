"""Endgame tables at the leaves of a search with a network: what a player can count on.

A table knows the probability p of making the next large tile.  On the scale of the network (potential plus expected
future score) that is worth

    p * (value of the board on which the new tile has merged into the chain) + (1 - p) * (potential of the board now)

A lost formation is worth no more than its tiles.  The real chance is higher than p, because large tiles may also move,
and a lost game goes on for a while; so this is a lower bound, as far as the network is right about the time after.  A
leaf has the larger of the two values, that of the network and this one.

Tables with free large tiles are not used here: they do not say where the new tile is made and where the others stand
then, so there is no board to evaluate.
"""

import math

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, NIBBLE, ONE, U64, ZERO, popcount
from lab2048.kernels.board.memory import F32, load_u64
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.search import context as of
from lab2048.kernels.search import endgame
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.leaf import NONE
from lab2048.kernels.solve.compact import EVEN, STEPS


@kernel
def merged(board: U64, anchors: U64, goal: U64) -> U64:
    """Return the large tiles alone after a new goal tile has merged with the smallest, and so on up the chain.

    The new tile is where the largest of the chain was.  The chain ends at the first rank that is missing.
    """
    board &= anchors
    left, here, rank = anchors, ZERO, goal
    while rank < NIBBLE:
        cells, found = left, ZERO
        while cells != ZERO and found == ZERO:
            bit = cells & (ZERO - cells)
            cells &= ~(bit * NIBBLE)
            if board & (bit * NIBBLE) == bit * rank:
                found = bit
        if found == ZERO:
            break
        board = (board & ~(here * NIBBLE)) + found  # two tiles of this rank have become one
        left &= ~(found * NIBBLE)
        here, rank = found, rank + ONE
    return board


@kernel
def least_value(context: I64, board: U64, index: I64) -> F32:
    """Return what the tables promise for an afterstate; NONE if they do not know it.

    `index` is scratch memory for the indexes of one board.
    """
    book = I64(load_u64(context, of.BOOK))
    goal, fewest = I64(load_u64(book, endgame.LEAST_GOAL)), I64(load_u64(book, endgame.FEWEST_LARGE))
    highest = NONE
    if popcount(endgame.large_bits(board, goal)) < fewest:
        return highest
    net, top = I64(load_u64(context, of.NET)), I64(load_u64(context, of.TOP))
    for i in range(I64(load_u64(book, endgame.N_TABLES))):
        table = book + 8 * (endgame.TABLES + i * endgame.TABLE_SIZE)
        copy = endgame.find_copy(table, board) if load_u64(table, endgame.NUMBERING) == ZERO else I64(0)
        if copy == 0:
            continue
        code = endgame.code_after(table, copy, board)
        if code < 0:
            continue
        anchors = load_u64(copy, endgame.ANCHORS)
        made = merged(board, anchors, load_u64(table, endgame.GOAL))
        p = F32(1.0 / (1.0 + math.exp(-float(code - EVEN) / STEPS)))
        good = F32(lookup.evaluate(net, downgrade_packed(made, top), index) + F32(packed.potential(made)))
        highest = max(highest, F32(p * good + (F32(1) - p) * F32(packed.potential(board))))
    return highest
