"""Learning by temporal differences: a network's values moved towards what came of them.

The player takes the move with the highest reward + value of the afterstate.  The value of
an afterstate ought to be the next reward + the next afterstate's value, and 0 before the end;
the difference is the error, and each weight that the afterstate looks up takes its share of it.

Forward, a value learns as soon as the next move is made.  Backward, the whole game is played
first and learnt from its end: news of the end travels through the whole game at once.

lab2048.kernels.ntuple.self_play plays the games.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, U64
from lab2048.kernels.board.memory import F32, load_f32, load_u64, prefetch, store_f32
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.search import context as of

GROUP = "network"

MAX_MOVES = 2**15 + 16  # of a game until its tile sum is too rich for a word: each spawn adds two or more
AHEAD = 4  # afterstates that are asked for ahead of the one that is learnt


class Method(NamedTuple):
    """How to learn."""

    alpha: F32  # how much of the error is mended at once
    discount: F32
    trace: F32  # lambda: how much the return counts against the value of the next afterstate, backward
    epsilon: float  # chance of a move at random
    is_coherent: bool  # each weight has a rate of its own: how much its errors agree (TC)
    is_backward: bool
    is_restarting: bool  # begin again half-way through the last game, and again
    is_circling: bool  # begin in turn anew and at boards of earlier games, from large tile sums to small ones
    guide: F32  # a move that leaves the highest tile in a corner seems better by so much of that tile
    guided: I64  # for so many moves
    corners: U64  # the nibbles of the corners
    taught: I64  # for so many moves of later stages the stage before chooses, on the lowered board
    synthetic: float  # share of the moves in games that begin on a synthetic late board
    truncate: I64  # such games end after so many new large tiles; 0: they are played on


class Trail(NamedTuple):
    """The afterstates of a game, the rewards that led to them, and room for some indexes.

    Where a move was made at random, `missed` is what the best one promised; otherwise it is not a number.
    """

    boards: NDArray[np.uint64]
    rewards: NDArray[np.float32]
    missed: NDArray[np.float32]
    room: NDArray[np.uint64]


def make_trail(n_lookups: int) -> Trail:
    """Room for the longest game of a network."""
    room = np.zeros((max(of.MOST_MOVES, AHEAD) + 2) * n_lookups, np.uint64)
    return Trail(np.zeros(MAX_MOVES, np.uint64), np.zeros(MAX_MOVES, F32), np.zeros(MAX_MOVES, F32), room)


@kernel
def ask_rates(net: I64, index: I64) -> None:
    """Ask for what the learning rates of an index are made of."""
    rates = I64(load_u64(net, lookup.RATES))
    for i in range(I64(load_u64(net, lookup.N_LOOKUPS))):
        prefetch(rates, I64(load_u64(index, i)) * 8)


@kernel
def shift_plain(net: I64, index: I64, change: F32) -> F32:
    """Add the same to every weight of an index; return the new value."""
    weights, total = I64(load_u64(net, lookup.WEIGHTS)), F32(0)
    for i in range(I64(load_u64(net, lookup.N_LOOKUPS))):
        here = I64(load_u64(index, i))
        weight = F32(load_f32(weights, here) + change)
        store_f32(weights, here, weight)
        total += weight
    return total


@kernel
def shift_coherent(net: I64, index: I64, change: F32, error: F32) -> tuple[F32, F32]:
    """Add to every weight of an index as much of the change as its errors agree; return new value and sum of rates.

    A weight's rate is |sum of errors| / sum of |errors|: 1 while they all point one way,
    and less and less once they cancel out.
    """
    weights, rates = I64(load_u64(net, lookup.WEIGHTS)), I64(load_u64(net, lookup.RATES))
    total, sum_of_rates = F32(0), F32(0)
    for i in range(I64(load_u64(net, lookup.N_LOOKUPS))):
        here = I64(load_u64(index, i))
        signed, unsigned = load_f32(rates, 2 * here), load_f32(rates, 2 * here + 1)
        rate = abs(signed) / unsigned if unsigned > F32(0) else F32(1)
        weight = F32(load_f32(weights, here) + change * rate)
        store_f32(weights, here, weight)
        store_f32(rates, 2 * here, F32(signed + error))
        store_f32(rates, 2 * here + 1, F32(unsigned + abs(error)))
        total, sum_of_rates = F32(total + weight), F32(sum_of_rates + rate)
    return total, sum_of_rates


@kernel
def learn(net: I64, index: I64, share: F32, error: F32, is_coherent: bool) -> tuple[F32, F32]:
    """Mend the error of an afterstate's value; return the new value and the sum of rates."""
    if is_coherent:
        return shift_coherent(net, index, F32(share * error), error)
    return shift_plain(net, index, F32(share * error)), F32(load_u64(net, lookup.N_LOOKUPS))


@kernel
def learn_backward(net: I64, method: Method, trail: Trail, n: I64, is_over: bool, indexes: I64) -> tuple[float, float]:
    """Learn a game of n moves from its end; return the sums of its errors and its rates.

    One that was cut short ends with the value that it had.  What a move at random led to says nothing of
    what was there before it.
    """
    n_lookups = I64(load_u64(net, lookup.N_LOOKUPS))
    size, share, is_coherent = 8 * n_lookups, F32(method.alpha / F32(n_lookups)), method.is_coherent
    for t in range(max(n - AHEAD, 0), n):
        lookup.find(net, trail.boards[t], indexes + (t % (AHEAD + 1)) * size)
    target, errors, rates = F32(0), 0.0, 0.0
    for t in range(n - 1, -1, -1):
        if t >= AHEAD:
            ahead = indexes + ((t - AHEAD) % (AHEAD + 1)) * size
            lookup.find(net, trail.boards[t - AHEAD], ahead)
            if is_coherent:
                ask_rates(net, ahead)
        index = indexes + (t % (AHEAD + 1)) * size
        value = lookup.value_of(net, index)
        if t == n - 1 and not is_over:
            target = value
        error = F32(target - value)
        value, rate = learn(net, index, share, error, is_coherent)
        errors, rates = errors + float(abs(error)), rates + float(rate)
        target = F32(trail.rewards[t] + method.discount * (method.trace * target + (F32(1) - method.trace) * value))
        if not np.isnan(trail.missed[t]):
            target = F32(trail.missed[t])
    return errors, rates
