"""Backward induction: the Bellman equation, one layer at a time.

    a state       the best afterstate among its slides
    an afterstate the mean of the states that its spawns lead to

A value is one of two measures, and larger is better in both:

    odds     of reaching the goal: P(win) / P(loss).  Near a certain win P(loss) keeps its
             precision: 1 - 7e-18 is not 1.
    total    the expected potential of the final board (lab2048.kernels.board.packed.potential).
             Slides do not change it, so no rewards are needed.  The expected future score is the
             total minus the current potential.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO, popcount
from lab2048.kernels.board.block import (
    BLOCK,
    GATHER,
    SCATTER,
    Words,
    canonical_block,
    count_spawned,
    is_made,
    slide_block,
    spawn_block,
)
from lab2048.kernels.board.packed import FAIR, Plan, empty_bits, forced_spawn, potential, tile_potential

Values = NDArray[np.float64]

ODDS, TOTAL = 0, 1  # the measures
NONE = -1.0  # no slide of the state found yet; values are never negative
CERTAIN = np.inf  # the odds of a certain win


class KeyIndex(NamedTuple):
    """A sorted range of keys with their values, indexed by buckets.

    `starts` holds the first key of each bucket; where[0] is the lowest possible key, where[1] the span
    of the range, where[2] the shift from key to bucket.
    """

    keys: Words
    values: Values
    starts: NDArray[np.uint32]
    where: Words


def make_key_index(keys: Words, values: Values, low: int = 0, span: int = 2**64 - 1) -> KeyIndex:
    """Index sorted keys from `low` to `low + span` inclusive, with about one key per bucket."""
    n_bits = max(1, len(keys).bit_length())
    shift = max(0, span.bit_length() - n_bits)
    where = np.array([low, span, shift], np.uint64)
    starts = np.empty((span >> shift) + 2, np.uint32)
    fill_starts(keys, starts, where)
    return KeyIndex(keys, values, starts, where)


@kernel
def fill_starts(keys: Words, starts: NDArray[np.uint32], where: Words) -> None:
    """Fill in the start of each bucket, which is the end of the one before."""
    low, shift = where[0], where[2]
    for drawer in range(len(starts)):
        starts[drawer] = 0
    for i in range(len(keys)):
        starts[I64((keys[i] - low) >> shift) + 1] = i + 1
    end = starts[0]
    for drawer in range(1, len(starts)):
        end = max(end, starts[drawer])
        starts[drawer] = end


@kernel
def find_block(key_index: KeyIndex, boards: Words, n: I64, indexes: NDArray[np.int64]) -> None:
    """Find the positions of n canonical boards in the index; -1 for a missing one.

    All buckets are computed first, so that the memory accesses overlap.
    """
    keys, starts = key_index.keys, key_index.starts
    low, span, shift = key_index.where[0], key_index.where[1], key_index.where[2]
    for i in range(n):
        key = boards[i] * SCATTER
        boards[i] = key
        key -= low
        indexes[i] = I64(starts[I64(key >> shift)]) if key <= span else I64(-1)
    for i in range(n):
        index = indexes[i]
        if index >= 0:
            key = boards[i]
            while index < len(keys) and keys[index] < key:
                index += 1
            indexes[i] = index if index < len(keys) and keys[index] == key else I64(-1)


@kernel
def back_up_afterstates(
    plan: Plan, keys: Words, rank: U64, chance: float, key_index: KeyIndex, measure: I64, wins: Values, losses: Values
) -> None:
    """Add the values of the states in the index that follow afterstates when a tile of this rank spawns.

    `wins` and `losses` accumulate the probabilities of winning and losing, or `wins` the totals, summed
    over the states that follow; `finish_afterstates` turns them into means.
    """
    states, spare = np.empty(BLOCK, np.uint64), np.empty(2 * BLOCK, np.uint64)
    indexes = np.empty(BLOCK, np.int64)
    begin = I64(0)
    while begin < len(keys):
        first = begin
        begin, n = spawn_block(plan, keys, begin, rank, states)
        canonical_block(plan, states, n, spare)
        find_block(key_index, states, n, indexes)
        k = I64(0)
        for i in range(first, begin):
            win, loss = 0.0, 0.0
            for _ in range(count_spawned(plan, keys[i] * GATHER, rank)):
                index = indexes[k]
                k += 1
                if index < 0:
                    continue
                value = key_index.values[index]
                if measure == TOTAL:
                    win += value
                else:
                    lose = 1.0 / (1.0 + value)
                    loss += lose
                    win += 1.0 - lose if value > 1.0 else value * lose
            wins[i] += chance * win
            if measure == ODDS:
                losses[i] += chance * loss


@kernel
def finish_afterstates(plan: Plan, keys: Words, measure: I64, spawned: float, wins: Values, losses: Values) -> None:
    """Turn sums over spawns into values, in `wins`.

    `spawned` is the mean potential of a spawned tile, which is not scored.
    """
    for i in range(len(keys)):
        board = keys[i] * GATHER
        if measure == TOTAL and plan[at.SPAWNER] != FAIR:
            wins[i] -= float(tile_potential(forced_spawn(plan, board)[1]))
        elif measure == TOTAL:
            wins[i] = wins[i] / float(popcount(empty_bits(plan, board))) - spawned
        else:
            wins[i] = wins[i] / losses[i] if losses[i] > 0.0 else CERTAIN


@kernel
def back_up_states(
    plan: Plan, keys: Words, goal_rank: U64, key_index: KeyIndex, measure: I64, is_first: bool, best: Values
) -> None:
    """Update the value of states with the best of their slides that are in the index.

    A goal rank of 0 means no goal.  On the first visit a state without a move gets the value of a lost
    game; after all indexes of the layer, no state is left at NONE.
    """
    boards, slid, after = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    spare, owner = np.empty(2 * BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    indexes, found = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.float64)
    is_legal = np.empty(BLOCK, np.bool_)
    goal_cells = plan[at.GOAL_NIBBLES]
    begin = I64(0)
    while begin < len(keys):
        n = min(BLOCK, len(keys) - begin)
        for i in range(n):
            boards[i] = keys[begin + i] * GATHER
            found[i] = NONE if is_first else best[begin + i]
            is_legal[i] = False
        for move in range(I64(plan[at.N_MOVES])):
            slide_block(plan, boards, n, move, slid, spare)
            n_after = I64(0)
            for i in range(n):
                # Always written, counted only if valid: avoids an unpredictable branch.
                after[n_after] = slid[i]
                owner[n_after] = i
                legal = slid[i] != boards[i]
                ends = legal & is_made(slid[i], goal_rank)
                is_legal[i] |= legal
                if ends:  # on the wrong cell the goal is missed for good
                    found[i] = CERTAIN if is_made(slid[i] & goal_cells, goal_rank) else max(found[i], 0.0)
                n_after += I64(legal) - I64(ends)
            canonical_block(plan, after, n_after, spare)
            find_block(key_index, after, n_after, indexes)
            for i in range(n_after):
                if indexes[i] >= 0:
                    found[owner[i]] = max(found[owner[i]], key_index.values[indexes[i]])
        for i in range(n):
            if is_first and not is_legal[i]:
                found[i] = float(potential(boards[i])) if measure == TOTAL else 0.0
            best[begin + i] = found[i]
        begin += n


@kernel
def potentials(keys: Words, out: Values) -> None:
    """Compute the potential of each board."""
    for i in range(len(keys)):
        out[i] = float(potential(keys[i] * GATHER))


def states_after(plan: Plan, keys: Words, rank: int) -> Values:
    """Return how many states follow each afterstate when a tile of this rank spawns."""
    found = np.empty(len(keys))
    count_states(plan, keys, U64(rank), found)
    return found


@kernel
def count_states(plan: Plan, keys: Words, rank: U64, out: Values) -> None:
    """Count the states that follow each afterstate when a tile of this rank spawns."""
    for i in range(len(keys)):
        out[i] = float(count_spawned(plan, keys[i] * GATHER, rank))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    keys, values = np.array([int(SCATTER)], np.uint64), np.ones(1)
    key_index = make_key_index(keys, values)
    compile_for(back_up_states, plan, keys, ZERO, key_index, ODDS, True, values)
    compile_for(back_up_afterstates, plan, keys, ONE, 0.5, key_index, ODDS, values, values)
    compile_for(finish_afterstates, plan, keys, ODDS, 0.0, values, values)
    compile_for(potentials, keys, values)
    compile_for(count_states, plan, keys, ONE, values)
