"""Endgame tables in a search: find a formation on a board, and choose by its success rates.

The *book* is one array of words: the fields named below, then TABLE_SIZE words per table; lab2048.solver.endgame.book
makes it.  A table has up to MAX_COPIES rotated and mirrored copies of its formation.
"""

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, LOW_BITS, NIBBLE, ONE, U64, ZERO, lowest_bit, popcount
from lab2048.kernels.board.block import is_made
from lab2048.kernels.board.memory import load_u16, load_u64, words_at
from lab2048.kernels.board.packed import HIGH_BITS
from lab2048.kernels.function_pointer import CHOOSE, call_choose, function_address
from lab2048.kernels.search import context as of
from lab2048.kernels.solve.compact import CERTAIN, MISSING, NEVER, position_at
from lab2048.kernels.solve.position_index import index_of

# The book
N_TABLES = 0
LEAST_GOAL = 1  # of all tables; a board with fewer large tiles than the next number is in none of them
FEWEST_LARGE = 2
TABLES = 3
# A table
GOAL = 0  # rank of the goal, which is also the number of ranks that a cell can have without a large tile
N_LARGE = 1  # anchors and free large tiles
N_CELLS = 2  # all that are not anchors
WIDTH = 3  # of a block
GROUPS, BLOCKS, CODES = 4, 5, 6  # addresses
SURE = 7  # code from which the table chooses the move
N_COPIES = 8
NUMBERING = 9  # address, if there are free large tiles (lab2048.kernels.solve.position_index); else 0
COPIES = 10
# A copy of its formation
ANCHORS = 0  # nibbles of the cells with large tiles that stay
BESIDE = 1  # those of them that a goal tile would touch
GOALS = 2  # nibbles of the cells where the goal counts
SHIFTS = 3  # of the other cells, in the order of their digits
COPY_SIZE = 3 + 16
MAX_COPIES = 12
TABLE_SIZE = COPIES + MAX_COPIES * COPY_SIZE

# An answer: the table, the code and the move in one number.
TABLE_SHIFT, CODE_SHIFT = 24, 8


@kernel
def large_bits(board: U64, goal: I64) -> U64:
    """Return the highest bit of the nibble of every cell with at least this rank, 1 to 15."""
    low = (board & ~HIGH_BITS) + LOW_BITS * U64(8 - (goal & 7))
    return (low | board if goal < 8 else low & board) & HIGH_BITS


@kernel
def find_copy(table: I64, board: U64) -> I64:
    """Return the address of the copy of the formation on a board; 0 if it is not there.

    The large tiles must be different, the smallest must be the goal, and the new tile must be made beside it, unless
    the smallest is free to move.
    """
    goal = I64(load_u64(table, GOAL))
    large = large_bits(board, goal)
    if popcount(large) != I64(load_u64(table, N_LARGE)):
        return I64(0)
    mask, seen, smallest, rest = (large >> U64(3)) * NIBBLE, ZERO, ZERO, large
    while rest != ZERO:
        shift = U64(lowest_bit(rest)) - U64(3)
        rest &= rest - ONE
        bit = ONE << ((board >> shift) & NIBBLE)
        if seen & bit != ZERO:
            return I64(0)
        seen |= bit
        if bit == ONE << U64(goal):
            smallest = NIBBLE << shift
    if smallest == ZERO:
        return I64(0)
    for i in range(I64(load_u64(table, N_COPIES))):
        copy = table + 8 * (COPIES + i * COPY_SIZE)
        anchors = load_u64(copy, ANCHORS)
        if anchors & ~mask == ZERO and (load_u64(copy, BESIDE) | ~anchors) & smallest != ZERO:
            return copy
    return I64(0)


@kernel
def code_in_copy(table: I64, copy: I64, board: U64) -> I64:
    """Return the code of an afterstate on one copy of the formation; MISSING if the table does not have it."""
    goal, index, place = I64(load_u64(table, GOAL)), I64(0), I64(1)
    n_cells, numbering = I64(load_u64(table, N_CELLS)), I64(load_u64(table, NUMBERING))
    if numbering == 0:
        for i in range(n_cells):
            index += I64((board >> load_u64(copy, SHIFTS + i)) & NIBBLE) * place
            place *= goal
    else:
        position = ZERO
        for i in range(n_cells):
            rank = (board >> load_u64(copy, SHIFTS + i)) & NIBBLE
            position |= (rank if rank < U64(goal) else NIBBLE) << U64(4 * i)
        index = index_of(numbering, position)
    blocks, width = I64(load_u64(table, BLOCKS)), I64(load_u64(table, WIDTH))
    found = position_at(I64(load_u64(table, GROUPS)), blocks, width, index)
    return I64(load_u16(I64(load_u64(table, CODES)), found)) if found >= 0 else I64(MISSING)


@kernel
def code_after(table: I64, copy: I64, board: U64) -> I64:
    """Return the code of an afterstate on which the anchors stand; MISSING if the table does not have it."""
    goal, anchors, goals = load_u64(table, GOAL), load_u64(copy, ANCHORS), load_u64(copy, GOALS)
    has_free = load_u64(table, NUMBERING) != ZERO  # then the goal counts on all cells
    if has_free and popcount(large_bits(board, I64(goal))) > I64(load_u64(table, N_LARGE)):
        return I64(CERTAIN)
    if not has_free and is_made(board & ~anchors, goal):
        return I64(CERTAIN) if is_made(board & goals, goal) else I64(NEVER)
    code = code_in_copy(table, copy, board)
    if code < 0 and not has_free:  # of symmetric formations a table has only one of the equal positions
        for i in range(I64(load_u64(table, N_COPIES))):
            other = table + 8 * (COPIES + i * COPY_SIZE)
            if load_u64(other, ANCHORS) == anchors and load_u64(other, GOALS) == goals:
                code = max(code, code_in_copy(table, other, board))
    return code


@kernel
def best_in_table(plan: packed.Plan, table: I64, board: U64) -> I64:
    """Return the code and the move (see CODE_SHIFT) of the best move that keeps the anchors; -1 if unknown."""
    copy = find_copy(table, board)
    if copy == 0:
        return I64(-1)
    anchors, best, highest = load_u64(copy, ANCHORS), I64(0), I64(-1)
    for move in range(I64(plan[at.N_MOVES])):
        after = packed.slide(plan, board, move)
        if after != board and (after ^ board) & anchors == ZERO:
            code = code_after(table, copy, after)
            if code < 0:  # reached by moving large tiles; an unknown move may be the best
                return I64(-1)
            if code > highest:
                best, highest = I64(move), code
    return (highest << CODE_SHIFT) | best if highest >= 0 else I64(-1)


@kernel
def look_up(book: I64, plan: packed.Plan, board: U64) -> I64:
    """Return table, code and move of the first table that knows a board and is sure enough; -1 if there is none."""
    for i in range(I64(load_u64(book, N_TABLES))):
        table = book + 8 * (TABLES + i * TABLE_SIZE)
        found = best_in_table(plan, table, board)
        if found >= 0 and found >> CODE_SHIFT >= I64(load_u64(table, SURE)):
            return (I64(i) << TABLE_SHIFT) | found
    return I64(-1)


@kernel
def rate_move(book: I64, plan: packed.Plan, board: U64, move: I64) -> I64:
    """Return the table that `look_up` finds, its code for a move, and the move; -1 if the move moves a large tile."""
    found = look_up(book, plan, board)
    if found < 0:
        return found
    table = book + 8 * (TABLES + (found >> TABLE_SHIFT) * TABLE_SIZE)
    copy, after = find_copy(table, board), packed.slide(plan, board, move)
    if after == board or (after ^ board) & load_u64(copy, ANCHORS) != ZERO:
        return I64(-1)
    return ((found >> TABLE_SHIFT) << TABLE_SHIFT) | (code_after(table, copy, after) << CODE_SHIFT) | move


@kernel
def choose_by_table(context: I64, board: U64) -> I64:
    """Choose a move by a table that is sure enough, or by the search; -1 if there is none."""
    plan = words_at(I64(load_u64(context, of.PLAN)), I64(load_u64(context, of.PLAN_SIZE)))
    found = look_up(I64(load_u64(context, of.BOOK)), plan, board)
    if found >= 0:
        return found & ((1 << CODE_SHIFT) - 1)
    return I64(call_choose(I64(load_u64(context, of.SEARCH_CHOOSE)), context, board))


def choose_address() -> int:
    """Return the address of `choose_by_table`."""
    return function_address(choose_by_table, CHOOSE)


def warm_up(plan: packed.Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    compile_for(look_up, 0, plan, ZERO)
    compile_for(rate_move, 0, plan, ZERO, 0)
    compile_for(best_in_table, plan, 0, ZERO)


def warm_up_games(plan: packed.Plan) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile what whole games call."""
    choose_address()
