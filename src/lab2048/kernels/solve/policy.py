"""Forward pass along the optimal policy: the probability of each afterstate and of each final tile."""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.block import (
    BLOCK,
    GATHER,
    SCATTER,
    Words,
    canonical_block,
    count_outcomes,
    count_spawned,
    is_made,
    slide_block,
    spawn_block,
)
from lab2048.kernels.board.packed import Plan, max_rank
from lab2048.kernels.solve.backup import KeyIndex, Values, find_block, make_key_index

NO_SPAWN = ZERO  # instead of a rank: the keys are already states


@kernel
def follow(
    plan: Plan,
    keys: Words,
    chances: Values,
    rank: U64,
    goal_rank: U64,
    key_index: KeyIndex,
    reached: Values,
    ended: Values,
) -> None:
    """Spawn a tile of this rank on afterstates with probabilities `chances`, and make the best move.

    `reached` accumulates the probabilities of the afterstates in the index, ended[rank] those of games
    that end with this highest tile.  Ties go to the smallest canonical board, which respects symmetry.
    """
    states, weights = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.float64)
    slid, after, spare = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(2 * BLOCK, np.uint64)
    indexes, chosen = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    best, least = np.empty(BLOCK, np.float64), np.empty(BLOCK, np.uint64)
    goal_cells = plan[at.GOAL_NIBBLES]
    begin = I64(0)
    while begin < len(keys):
        first, k = begin, I64(0)
        if rank == NO_SPAWN:
            n = min(BLOCK, len(keys) - begin)
            for i in range(n):
                states[i], weights[i] = keys[begin + i] * GATHER, chances[begin + i]
            begin += n
        else:
            begin, n = spawn_block(plan, keys, begin, rank, states)
            for i in range(first, begin):
                board = keys[i] * GATHER
                for _ in range(count_spawned(plan, board, rank)):
                    weights[k] = chances[i] / count_outcomes(plan, board)
                    k += 1
        for i in range(n):
            best[i], chosen[i] = -1.0, I64(-1)
        for move in range(I64(plan[at.N_MOVES])):
            slide_block(plan, states, n, move, slid, spare)
            for i in range(n):
                after[i] = slid[i]
            canonical_block(plan, after, n, spare)
            find_block(key_index, after, n, indexes)
            for i in range(n):
                if slid[i] == states[i]:
                    continue
                ends, wins = is_made(slid[i], goal_rank), is_made(slid[i] & goal_cells, goal_rank)
                value = (np.inf if wins else 0.0) if ends else key_index.values[indexes[i]]
                board = after[i] * GATHER
                if value > best[i] or (value == best[i] and board < least[i]):
                    best[i], least[i] = value, board
                    # A goal on the wrong cell ends the game as if there were no move.
                    chosen[i] = (I64(-2) if wins else I64(-1)) if ends else indexes[i]
        for i in range(n):
            if chosen[i] >= 0:
                reached[chosen[i]] += weights[i]
            elif chosen[i] == -1:
                ended[max_rank(states[i])] += weights[i]
            else:
                ended[I64(goal_rank)] += weights[i]


@kernel
def best_moves(
    plan: Plan, keys: Words, goal_rank: U64, key_index: KeyIndex, moves: NDArray[np.int64], best: Values
) -> None:
    """Find the best move of states and its value, with ties as in `follow`; move -1 if there is none."""
    boards, slid, after = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    spare, indexes, least = np.empty(2 * BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.uint64)
    goal_cells, begin = plan[at.GOAL_NIBBLES], I64(0)
    while begin < len(keys):
        n = min(BLOCK, len(keys) - begin)
        for i in range(n):
            boards[i], moves[begin + i], best[begin + i] = keys[begin + i] * GATHER, I64(-1), -1.0
        for move in range(I64(plan[at.N_MOVES])):
            slide_block(plan, boards, n, move, slid, spare)
            for i in range(n):
                after[i] = slid[i]
            canonical_block(plan, after, n, spare)
            find_block(key_index, after, n, indexes)
            for i in range(n):
                if slid[i] == boards[i]:
                    continue
                ends, wins = is_made(slid[i], goal_rank), is_made(slid[i] & goal_cells, goal_rank)
                value = (np.inf if wins else 0.0) if ends else key_index.values[indexes[i]]
                board = after[i] * GATHER
                if value > best[begin + i] or (value == best[begin + i] and board < least[i]):
                    moves[begin + i], best[begin + i], least[i] = move, value, board
        begin += n


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    keys, values = np.array([int(SCATTER)], np.uint64), np.ones(1)
    compile_for(best_moves, plan, keys, ZERO, make_key_index(keys, values), np.zeros(1, np.int64), values)
    compile_for(follow, plan, keys, values, ONE, ZERO, make_key_index(keys, values), values, values)
