"""Temporal difference (TD) updates of n-tuple networks.

The player chooses the move with the highest reward + afterstate value.  The target of an
afterstate is the next reward + the next afterstate's value, and 0 for the last afterstate.  The TD
error is the target minus the value, and is divided among the weights that the afterstate looks up.

Forward, an afterstate is updated as soon as the next move is chosen.  Backward, the game is finished
first and updated from its end, so that the result reaches the whole game at once.

lab2048.kernels.ntuple.self_play plays the games.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board.bits import I64, U64
from lab2048.kernels.board.memory import F32, load_f32, load_u64, prefetch, store_f32
from lab2048.kernels.ntuple import lookup

MAX_MOVES = 2**15 + 256  # of a game until its tile sum does not fit a packed board: each spawn adds at least 2
AHEAD = 4  # afterstates whose weights are prefetched ahead of the update
N_INDEXES = 7  # in the scratch memory: of the afterstates of at most six moves, and of the previous afterstate


class Method(NamedTuple):
    """Options of training, as kernels take them."""

    alpha: F32  # learning rate, before it is divided among the lookups
    discount: F32
    trace: F32  # lambda of the TD(lambda) return: weight of the return against the next value; backward only
    epsilon: float  # probability of a random move
    is_coherent: bool  # each weight has its own learning rate (temporal coherence, TC)
    is_backward: bool
    is_restarting: bool  # start the next game halfway through the last one, repeatedly
    is_carousel: bool  # start in turn from the beginning and from earlier afterstates, large tile sums first
    guide: F32  # bonus for moves that leave the highest tile in a corner, in units of that tile
    guided: I64  # number of moves with that bonus
    corners: U64  # mask of the corner cells
    taught: I64  # moves of later stages that the stage before chooses, on the downgraded board
    synthetic: float  # share of moves in games from synthetic starts
    truncate: I64  # new large tiles after which such games end; 0: never
    early: float  # share of the moves of all other games that are in early games
    is_by_value: bool  # choose moves by the afterstate value alone, without the reward


class Trajectory(NamedTuple):
    """The afterstates of a game and the rewards that led to them, with scratch memory for indexes.

    `greedy_target` is the target of the best move where a random move was made, else NaN.
    """

    boards: NDArray[np.uint64]
    rewards: NDArray[np.float32]
    greedy_target: NDArray[np.float32]
    room: NDArray[np.uint64]


def make_trajectory(n_lookups: int) -> Trajectory:
    """Allocate a trajectory for the longest possible game."""
    room = np.zeros(N_INDEXES * n_lookups, np.uint64)
    return Trajectory(np.zeros(MAX_MOVES, np.uint64), np.zeros(MAX_MOVES, F32), np.zeros(MAX_MOVES, F32), room)


@kernel
def prefetch_rates(net: I64, index: I64) -> None:
    """Prefetch the TC accumulators of an index."""
    rates = I64(load_u64(net, lookup.RATES))
    for i in range(I64(load_u64(net, lookup.N_LOOKUPS))):
        prefetch(rates, I64(load_u64(index, i)) * 8)


@kernel
def update_plain(net: I64, index: I64, change: F32) -> F32:
    """Add `change` to every weight of an index; return the new value."""
    weights, total = I64(load_u64(net, lookup.WEIGHTS)), F32(0)
    for i in range(I64(load_u64(net, lookup.N_LOOKUPS))):
        here = I64(load_u64(index, i))
        weight = F32(load_f32(weights, here) + change)
        store_f32(weights, here, weight)
        total += weight
    return total


@kernel
def update_coherent(net: I64, index: I64, change: F32, error: F32) -> tuple[F32, F32]:
    """Add `change` times its learning rate to every weight of an index; return the new value and the sum of rates.

    The rate of a weight is |sum of errors| / sum of |errors|: 1 while all errors have the same sign,
    and smaller the more they cancel out.
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
    """Update the weights of an afterstate by its TD error; return the new value and the sum of rates."""
    if is_coherent:
        return update_coherent(net, index, F32(share * error), error)
    return update_plain(net, index, F32(share * error)), F32(load_u64(net, lookup.N_LOOKUPS))


@kernel
def learn_backward(
    net: I64, method: Method, trajectory: Trajectory, n: I64, is_over: bool, indexes: I64
) -> tuple[float, float]:
    """Update a trajectory of n moves from its end; return the sums of absolute errors and of rates.

    The target of the last afterstate is 0, or its own value if the game was truncated.  Returns do not
    pass through a random move: the target before it is that of the best move.
    """
    n_lookups = I64(load_u64(net, lookup.N_LOOKUPS))
    size, share, is_coherent = 8 * n_lookups, F32(method.alpha / F32(n_lookups)), method.is_coherent
    for t in range(max(n - AHEAD, 0), n):
        lookup.find(net, trajectory.boards[t], indexes + (t % (AHEAD + 1)) * size)
    target, errors, rates = F32(0), 0.0, 0.0
    for t in range(n - 1, -1, -1):
        if t >= AHEAD:
            ahead = indexes + ((t - AHEAD) % (AHEAD + 1)) * size
            lookup.find(net, trajectory.boards[t - AHEAD], ahead)
            if is_coherent:
                prefetch_rates(net, ahead)
        index = indexes + (t % (AHEAD + 1)) * size
        value = lookup.value_of(net, index)
        if t == n - 1 and not is_over:
            target = value
        error = F32(target - value)
        value, rate = learn(net, index, share, error, is_coherent)
        errors, rates = errors + float(abs(error)), rates + float(rate)
        target = F32(
            trajectory.rewards[t] + method.discount * (method.trace * target + (F32(1) - method.trace) * value)
        )
        if not np.isnan(trajectory.greedy_target[t]):
            target = F32(trajectory.greedy_target[t])
    return errors, rates
