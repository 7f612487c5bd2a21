"""Forward pass along the optimal policy: the probability of each afterstate and of each final tile."""

import numpy as np

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO, popcount
from lab2048.kernels.board.block import (
    BLOCK,
    GATHER,
    SCATTER,
    Words,
    canonical_block,
    has_rank,
    slide_block,
    spawn_block,
)
from lab2048.kernels.board.packed import Plan, empty_bits, max_rank
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
                n_empty = popcount(empty_bits(plan, keys[i] * GATHER))
                for _ in range(n_empty):
                    weights[k] = chances[i] / float(n_empty)
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
                is_won = goal_rank != ZERO and has_rank(slid[i], goal_rank)
                value = np.inf if is_won else key_index.values[indexes[i]]
                board = after[i] * GATHER
                if value > best[i] or (value == best[i] and board < least[i]):
                    best[i], least[i] = value, board
                    chosen[i] = I64(-2) if is_won else indexes[i]
        for i in range(n):
            if chosen[i] >= 0:
                reached[chosen[i]] += weights[i]
            elif chosen[i] == -1:
                ended[max_rank(states[i])] += weights[i]
            else:
                ended[I64(goal_rank)] += weights[i]


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    keys, values = np.array([int(SCATTER)], np.uint64), np.ones(1)
    compile_for(follow, plan, keys, values, ONE, ZERO, make_key_index(keys, values), values, values)
