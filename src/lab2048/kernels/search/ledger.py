"""Values for the ledger of a game: of every move made, and of what could have spawned after it.

The value of a state is that of its best move: the score still to come.  A board is downgraded by itself, so that its
value does not depend on where it is met.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.bits import I64, NIBBLE, ONE, U64, ZERO
from lab2048.kernels.board.dice import draw
from lab2048.kernels.board.memory import F32, load_u64
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade_packed
from lab2048.kernels.search.leaf import NONE
from lab2048.kernels.search.root import root_values

MAX_SPAWNS = 32  # entries of a spawn table


@kernel
def move_values(context: I64, plan: packed.Plan, board: U64, depth: I64, values: NDArray[np.float32]) -> F32:
    """Write the value of every move of a state, NONE for illegal ones; return the highest, 0 if there is none."""
    board = downgrade_packed(board, I64(load_u64(context, of.TOP)))
    root_values(context, plan, board, depth, values)
    highest, potential = NONE, F32(packed.potential(board))
    for move in range(len(values)):
        if values[move] > NONE:
            values[move] -= potential
            highest = max(highest, values[move])
    return highest if highest > NONE else F32(0)


class Turns(NamedTuple):
    """Turns of a game and their values; turn t is at index t of each array."""

    boards: NDArray[np.uint64]  # before the move
    afters: NDArray[np.uint64]
    moves: NDArray[np.uint8]  # the move made
    values: NDArray[np.float32]  # of every move
    expected: NDArray[np.float64]  # mean value after each kind of spawn
    second: NDArray[np.float64]  # the same for the best move, if it was not made; otherwise the same
    best: NDArray[np.uint8]  # the best move; the one made if it is as good
    best_afters: NDArray[np.uint64]  # the afterstate of the best move


def make_turns(boards: NDArray[np.uint64], afters: NDArray[np.uint64], moves: NDArray[np.uint8], n_moves: int) -> Turns:
    """Allocate the values of turns, on a shape with `n_moves` moves."""
    n = len(moves)
    means = np.zeros((2, n, MAX_SPAWNS))
    values, best = np.empty((n, n_moves), np.float32), np.zeros(n, np.uint8)
    return Turns(boards, afters, moves, values, means[0], means[1], best, np.zeros(n, np.uint64))


@kernel
def expect(
    context: I64, plan: packed.Plan, after: U64, depth: I64, scratch: NDArray[np.float32], means: NDArray[np.float64]
) -> None:
    """Write the mean value of the states that may follow an afterstate, for each entry of the spawn table."""
    empty = packed.empty_bits(plan, after)
    for i in range(I64(load_u64(context, of.SPAWNS))):
        rank, cells, total, n = load_u64(context, of.SPAWNS + 1 + 3 * i), empty, 0.0, 0
        while cells != ZERO:
            bit = cells & (ZERO - cells)
            cells ^= bit
            total += float(move_values(context, plan, after | (bit * rank), depth, scratch))
            n += 1
        means[i] = total / n


@kernel
def value_turns(context: I64, plan: packed.Plan, turns: Turns, depth: I64, has_second: bool) -> I64:
    """Write the value of every move of each state, and the mean values of the states that may follow.

    With `has_second`, the same means also for the best move, where another one was made.  Returns the number of turns
    valued: fewer than all if the stop flag was set.
    """
    scratch = np.empty(turns.values.shape[1], np.float32)
    for t in range(len(turns.moves)):
        values, made = turns.values[t], I64(turns.moves[t])
        best = move_values(context, plan, turns.boards[t], depth, values)
        expect(context, plan, turns.afters[t], depth, scratch, turns.expected[t])
        turns.best[t], turns.best_afters[t] = turns.moves[t], turns.afters[t]
        turns.second[t] = turns.expected[t]
        if values[made] < best:
            turns.best[t] = np.uint8(np.argmax(values))
            turns.best_afters[t] = packed.slide(plan, turns.boards[t], I64(turns.best[t]))
            if has_second:
                expect(context, plan, turns.best_afters[t], depth, scratch, turns.second[t])
        if load_u64(I64(load_u64(context, of.STOP)), 0) != ZERO:  # then what was searched last is invalid
            return I64(t)
    return I64(len(turns.moves))


@kernel
def potentials(boards: NDArray[np.uint64], out: NDArray[np.int64]) -> None:
    """Write the potential of each board: a reward is the difference of two."""
    for t in range(len(boards)):
        out[t] = packed.potential(boards[t])


@kernel
def replay_packed(
    plan: packed.Plan,
    board: U64,
    key: U64,
    n_spawns: U64,
    moves: NDArray[np.uint8],
    boards: NDArray[np.uint64],
    afters: NDArray[np.uint64],
) -> I64:
    """Replay moves from a state with the dice of `key`; write the state before each, and last, and each afterstate.

    Returns the number of moves replayed: fewer than all if one is illegal, or if the board no longer fits a word.
    """
    tile_sum = ZERO
    for cell in range(I64(plan[at.N_CELLS])):
        rank = (board >> U64(4 * cell)) & NIBBLE
        tile_sum += (ONE << rank) if rank != ZERO and rank != plan[at.FREE_RANK] else ZERO
    for t in range(len(moves)):
        boards[t] = board
        after = packed.slide(plan, board, I64(moves[t]))
        if after == board or tile_sum >= packed.FULL_SUM:
            return I64(t)
        afters[t] = after
        board, rank = packed.fair_spawn(plan, after, draw(key, n_spawns + U64(t)))
        tile_sum += ONE << rank
    boards[len(moves)] = board
    return I64(len(moves))


def warm_up(plan: packed.Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    one = np.zeros(1, np.uint64)
    compile_for(replay_packed, plan, ONE, ONE, ONE, np.zeros(0, np.uint8), one, one)
    compile_for(value_turns, 0, plan, make_turns(one, one, np.zeros(1, np.uint8), 4), 1, True)
    compile_for(potentials, one, np.zeros(1, np.int64))
    compile_for(move_values, 0, plan, ONE, 1, np.zeros(4, np.float32))
