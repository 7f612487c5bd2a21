"""Changes of weights that nodes of a cluster exchange (lab2048.learning.replica).

Every node trains weights of its own.  The common weights are what all nodes agree on; the difference is what a node has
changed and not yet sent.  A packet has the largest changes: their indexes, and for each the changes of the weight and
of the two sums of errors behind its learning rate.

Changes of one node are taken as they are.  Where several nodes have changed a weight, adding their changes would
overshoot if each of them has already reached the common target, and averaging them would waste time if the target is
far away.  So the rule of temporal coherence decides: the more the errors of all nodes have the same sign, the more of
the sum is taken, and at least the mean.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board.bits import I64
from lab2048.kernels.board.memory import F32

N_COLUMNS = 3  # of a packet: changes of the weight, of the sum of errors, of the sum of absolute errors
N_SIZES = 1024  # classes of the size of a change: eight exponent bits and two bits of the fraction
SIZE_SHIFT = 21  # of the bits of an absolute float32
ENTRY_BYTES = 4 + 4 * N_COLUMNS
BLOCK = 64  # weights: four cache lines

Indexes = NDArray[np.uint32]
Floats = NDArray[np.float32]


@kernel
def list_changes(weights: Floats, common: Floats, least: F32, counts: NDArray[np.int64], indexes: Indexes) -> I64:
    """List the indexes of weights that differ by at least `least`, and count them by size; return their number.

    `indexes` has room for all weights.  Most blocks have no change and are skipped by a comparison of bits, which the
    compiler turns into vector instructions.
    """
    n, bits, common_bits = I64(0), weights.view(np.uint32), common.view(np.uint32)
    for begin in range(0, len(weights), BLOCK):
        end = min(begin + BLOCK, len(weights))
        differ = np.uint32(0)
        for i in range(begin, end):
            differ |= bits[i] ^ common_bits[i]
        if differ == np.uint32(0):
            continue
        for i in range(begin, end):
            change = F32(abs(weights[i] - common[i]))
            if change >= least:
                counts[I64(change.view(np.uint32)) >> SIZE_SHIFT] += 1
                indexes[n] = i
                n += 1
    return n


@kernel
def choose_large(weights: Floats, common: Floats, least: F32, listed: Indexes, indexes: Indexes) -> I64:
    """Choose the listed weights that differ by at least `least`, as many as there is room for; return how many."""
    n = I64(0)
    for i in listed:
        if abs(weights[i] - common[i]) >= least:
            if n == len(indexes):
                break
            indexes[n] = i
            n += 1
    return n


@kernel
def read_changes(values: Floats, common: Floats, step: I64, first: I64, indexes: Indexes, changes: Floats) -> None:
    """Read the differences of `step` values per weight, into the columns from `first` on."""
    for k in range(len(indexes)):
        here = I64(indexes[k]) * step
        for j in range(step):
            changes[k, first + j] = values[here + j] - common[here + j]


@kernel
def merge_packets(
    indexes: Indexes,
    firsts: NDArray[np.int64],
    changes: Floats,
    cursors: NDArray[np.int64],
    merged: Floats,
    at: Indexes,
) -> I64:
    """Merge packets into one change for each weight; return the number of indexes.

    Packet p has the rows `firsts[p]` to `firsts[p + 1]` of `indexes`, which are sorted within a packet, and of
    `changes`.  `cursors` is scratch memory, one number per packet.
    """
    n, n_packets = I64(0), len(firsts) - 1
    for p in range(n_packets):
        cursors[p] = firsts[p]
    while True:
        # 1. The lowest index that is left.
        lowest = I64(-1)
        for p in range(n_packets):
            if cursors[p] < firsts[p + 1] and (lowest < 0 or I64(indexes[cursors[p]]) < lowest):
                lowest = I64(indexes[cursors[p]])
        if lowest < 0:
            return n
        # 2. The sums over all nodes that have changed it.
        n_nodes, total, signed, unsigned = I64(0), F32(0), F32(0), F32(0)
        for p in range(n_packets):
            row = cursors[p]
            if row < firsts[p + 1] and I64(indexes[row]) == lowest:
                total += changes[row, 0]
                signed += changes[row, 1]
                unsigned += changes[row, 2]
                n_nodes += 1
                cursors[p] += 1
        # 3. The share of the sum that is taken.
        share = F32(1)
        if n_nodes > 1:
            coherence = min(F32(1), abs(signed) / unsigned) if unsigned > F32(0) else F32(0)
            share = F32((F32(1) + F32(n_nodes - 1) * coherence) / F32(n_nodes))
        at[n] = lowest
        merged[n, 0], merged[n, 1], merged[n, 2] = share * total, signed, unsigned
        n += 1


@kernel
def apply_changes(
    values: Floats,
    common: Floats,
    step: I64,
    first: I64,
    indexes: Indexes,
    merged: Floats,
    own: Floats,
    own_at: Indexes,
) -> None:
    """Add merged changes to the common values and, less this node's own part of them, to its values.

    `own` are the changes that this node has sent, at the sorted indexes `own_at`; `first` is the first column for
    `step` values per weight.
    """
    k = I64(0)
    for n in range(len(indexes)):
        here = I64(indexes[n]) * step
        while k < len(own_at) and own_at[k] < indexes[n]:
            k += 1
        is_own = k < len(own_at) and own_at[k] == indexes[n]
        for j in range(step):
            change = merged[n, first + j]
            common[here + j] += change
            values[here + j] += change - own[k, first + j] if is_own else change


def warm_up(plan: NDArray[np.uint64]) -> None:  # noqa: ARG001 - nothing is called, only compiled
    """Compile the kernels of this file that Python calls."""
    floats, indexes, rows = np.zeros(1, np.float32), np.zeros(1, np.uint32), np.zeros((1, N_COLUMNS), np.float32)
    numbers = np.zeros(N_SIZES, np.int64)
    compile_for(list_changes, floats, floats, F32(0), numbers, indexes)
    compile_for(choose_large, floats, floats, F32(0), indexes, indexes)
    compile_for(read_changes, floats, floats, 1, 0, indexes, rows)
    compile_for(merge_packets, indexes, numbers, rows, numbers, rows, indexes)
    compile_for(apply_changes, floats, floats, 1, 0, indexes, rows, rows, indexes)
