"""Rollouts: games continued by a rollout policy, to estimate the value of a board.

A rollout is a function of its key: word 2t of the key's stream is the spawn of turn t, word 2t + 1 the
random word of the policy.  So rollouts with one key from the afterstates of one board have the same luck,
and only the move differs.

A rollout starts at an afterstate, or at a state (`has_spawned`), where turn 0 has no spawn.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO
from lab2048.kernels.board.dice import GOLDEN, draw, mix, pick
from lab2048.kernels.board.memory import call_clock, clock_address, load_u64
from lab2048.kernels.board.packed import FULL_SUM, Plan, tile_potential
from lab2048.kernels.board.wide import Ranks
from lab2048.kernels.games.play import ALL_MOVES

RANDOM, MERGE, MERGE_FIRST = range(3)  # uniform; highest reward, ties at random; highest reward, ties by an order
OPPOSITES_FIRST = U64(0x1320)  # that order, a nibble per move: up, down, left, right
SCORE, SUM, MOVES = range(3)  # the metric of a rollout
NO_LIMIT = 2**62
NO_DEADLINE = 0
NO_FLAG = 0
STOPPED = -1  # instead of a number of moves: it was stopped, and the result is invalid
LOOK_PACKED, LOOK_WIDE = 31, 7  # clock and stop flag are read when none of these bits is set in the move number
TWICE = U64(2 * int(GOLDEN) % 2**64)


class RolloutOptions(NamedTuple):
    """The rollout policy and its limits."""

    policy: int = RANDOM
    discount: float = 1.0  # per move
    limit: int = NO_LIMIT  # moves
    deadline: int = NO_DEADLINE  # in nanoseconds of the clock
    clock: int = 0  # address, see lab2048.kernels.board.memory
    stop: int = NO_FLAG  # address, see lab2048.stop_flag


@kernel
def must_stop(options: RolloutOptions, look: I64) -> bool:
    """Return True if the stop flag is set or time is up.

    Checked only when `look` is 0, because reading the clock costs more than a move.
    """
    if look != 0:
        return False
    if options.stop != NO_FLAG and load_u64(options.stop, 0) != ZERO:
        return True
    return options.deadline != NO_DEADLINE and call_clock(options.clock) >= options.deadline


@kernel
def remove_nth(left: U64, nth: I64) -> U64:
    """Remove the n-th of the remaining moves, a nibble each."""
    below = (ONE << U64(4 * nth)) - ONE
    return (left & below) | ((left >> FOUR) & ~below)


@kernel
def moves_in_order(n_moves: I64, policy: I64) -> U64:
    """Return all moves, a nibble each; MERGE_FIRST tries opposite moves in turn where there are four."""
    if policy == MERGE_FIRST and n_moves == 4:
        return OPPOSITES_FIRST
    return ALL_MOVES & ((ONE << U64(4 * n_moves)) - ONE)


@kernel
def move_packed(plan: Plan, board: U64, random_word: U64, policy: I64) -> U64:
    """Return the afterstate of the policy's move; the same board if no move is legal."""
    n_left = I64(plan[at.N_MOVES])
    left = moves_in_order(n_left, policy)
    best, most = board, I64(-1)
    while n_left > 0:
        nth = I64(0) if policy == MERGE_FIRST else pick(random_word, n_left)
        after = packed.slide(plan, board, I64((left >> U64(4 * nth)) & NIBBLE))
        if after != board:
            if policy == RANDOM:
                return after
            worth = packed.potential(after)
            if worth > most:
                best, most = after, worth
        left = remove_nth(left, nth)
        n_left -= 1
        random_word = mix(random_word + GOLDEN)
    return best


@kernel
def move_wide(plan: Plan, ranks: Ranks, random_word: U64, policy: I64) -> I64:
    """Play the policy's move; return its reward, -1 if no move is legal."""
    n_left = I64(plan[at.N_MOVES])
    left = moves_in_order(n_left, policy)
    best, most = I64(-1), I64(-1)
    while n_left > 0:
        nth = I64(0) if policy == MERGE_FIRST else pick(random_word, n_left)
        move = I64((left >> U64(4 * nth)) & NIBBLE)
        reward = wide.slide(plan, ranks if policy == RANDOM else ranks.copy(), move)
        if reward > most:
            best, most = move, reward
            if policy == RANDOM:
                return reward
        left = remove_nth(left, nth)
        n_left -= 1
        random_word = mix(random_word + GOLDEN)
    return wide.slide(plan, ranks, best) if best >= 0 else I64(-1)


@kernel
def roll_packed(
    plan: Plan, board: U64, key: U64, has_spawned: bool, options: RolloutOptions
) -> tuple[U64, U64, float, I64, bool]:
    """Continue a packed board with the fair spawner; return board, tile sum, return, moves, and whether it ended.

    It has not ended if the board no longer fits in a word; then a tile has just spawned.
    """
    tile_sum, rest = ZERO, board
    while rest != ZERO:
        if rest & NIBBLE != plan[at.FREE_RANK]:
            tile_sum += (ONE << (rest & NIBBLE)) & ~ONE
        rest >>= FOUR
    is_plain = options.discount == 1.0
    begin, spent, gained, weight = packed.potential(board), I64(0), 0.0, 1.0
    played, is_whole, dice = I64(0), True, key
    while played < options.limit:
        if must_stop(options, played & LOOK_PACKED):
            return board, tile_sum, gained, I64(STOPPED), True
        # 1. Spawn.
        if not has_spawned:
            word = mix(dice + GOLDEN)
            board, rank = packed.fair_spawn(plan, board, word)
            tile_sum += ONE << rank
            spent += tile_potential(rank)
        has_spawned = False
        if tile_sum >= FULL_SUM:
            is_whole = False
            break
        # 2. Move.
        dice += TWICE
        after = move_packed(plan, board, mix(dice), options.policy)
        if after == board:
            break
        if not is_plain:
            gained += weight * float(packed.potential(after) - packed.potential(board))
            weight *= options.discount
        board = after
        played += 1
    if is_plain:
        gained = float(packed.potential(board) - begin - spent)
    return board, tile_sum, gained, played, is_whole


@kernel
def roll_wide(
    plan: Plan, ranks: Ranks, key: U64, has_spawned: bool, played: I64, options: RolloutOptions
) -> tuple[U64, float, I64]:
    """Continue a wide board after `played` moves; return tile sum, return from here, and total moves."""
    tile_sum = ZERO
    for rank in ranks:
        if rank > 0 and U64(rank) != plan[at.FREE_RANK]:
            tile_sum += ONE << U64(rank)
    gained, weight = 0.0, options.discount**played
    while played < options.limit:
        if must_stop(options, played & LOOK_WIDE):
            return tile_sum, gained, I64(STOPPED)
        if not has_spawned:
            tile_sum += ONE << wide.spawn(plan, ranks, draw(key, U64(2 * played)))
        has_spawned = False
        reward = move_wide(plan, ranks, draw(key, U64(2 * played + 1)), options.policy)
        if reward < 0:
            break
        gained += weight * float(reward)
        weight *= options.discount
        played += 1
    return tile_sum, gained, played


@kernel
def rollout(plan: Plan, ranks: Ranks, key: U64, has_spawned: bool, options: RolloutOptions) -> tuple[float, U64, I64]:
    """Play a rollout from any board; return its return, final tile sum and moves.

    `ranks` is overwritten.
    """
    board, tile_sum = ZERO, ZERO
    for cell in range(len(ranks)):
        if ranks[cell] > 0 and U64(ranks[cell]) != plan[at.FREE_RANK]:
            tile_sum += ONE << U64(ranks[cell])
    gained, played, is_whole = 0.0, I64(0), False
    # Deterministic spawners always use wide boards: less to compile for a rare case.
    if plan[at.IS_PACKED] != ZERO and plan[at.SPAWNER] == packed.FAIR and tile_sum < FULL_SUM:
        for cell in range(len(ranks)):
            board |= U64(ranks[cell]) << U64(4 * cell)
        board, tile_sum, gained, played, is_whole = roll_packed(plan, board, key, has_spawned, options)
        if is_whole:
            return gained, tile_sum, played
        wide.unpack(board, ranks)
        has_spawned = True
    tile_sum, more, played = roll_wide(plan, ranks, key, has_spawned, played, options)
    return gained + more, tile_sum, played


@kernel
def copy_ranks(source: Ranks, target: Ranks) -> None:
    """Copy cell by cell, because an array assignment takes seconds to compile."""
    for cell in range(len(source)):
        target[cell] = source[cell]


@kernel
def afterstates(plan: Plan, ranks: Ranks, afters: NDArray[np.uint8], rewards: NDArray[np.int64]) -> None:
    """Compute the afterstate and reward of every move; the reward of an illegal move is -1."""
    for move in range(len(rewards)):
        copy_ranks(ranks, afters[move])
        rewards[move] = wide.slide(plan, afters[move], move)


@kernel
def roll_moves(
    plan: Plan,
    afters: NDArray[np.uint8],
    rewards: NDArray[np.int64],
    moves: NDArray[np.int64],
    key: U64,
    first: I64,
    n: I64,
    metric: I64,
    options: RolloutOptions,
    results: NDArray[np.float64],
) -> tuple[I64, I64]:
    """Write rollouts first .. first + n - 1 of some moves into results[move, rollout].

    Rollout j of every move has the same key.  Returns the number of rollouts completed for all moves
    (fewer than n if it was stopped) and the number of moves played.
    """
    n_played = I64(0)
    ranks = np.empty(afters.shape[1], np.uint8)
    for j in range(first, first + n):
        for move in moves:
            copy_ranks(afters[move], ranks)
            gained, tile_sum, played = rollout(plan, ranks, draw(key, U64(j)), False, options)
            if played == STOPPED:
                return I64(j - first), n_played
            n_played += played
            if metric == SCORE:
                results[move, j] = float(rewards[move]) + gained
            elif metric == SUM:
                results[move, j] = float(tile_sum)
            else:
                results[move, j] = 1.0 + float(played)
    return n, n_played


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls, or load them."""
    n_moves, n_cells = int(plan[at.N_MOVES]), int(plan[at.N_CELLS])
    afters, rewards = np.zeros((n_moves, n_cells), np.uint8), np.zeros(n_moves, np.int64)
    compile_for(afterstates, plan, np.zeros(n_cells, np.uint8), afters, rewards)
    options, moves = RolloutOptions(limit=1, clock=clock_address()), np.zeros(1, np.int64)
    compile_for(roll_moves, plan, afters, rewards, moves, ONE, 0, 1, SCORE, options, np.zeros((n_moves, 1)))
