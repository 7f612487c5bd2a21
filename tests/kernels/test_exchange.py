"""Changes of weights that nodes exchange: the largest first, nothing lost, and the same result on every node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lab2048.kernels.ntuple import exchange
from lab2048.kernels.ntuple.exchange import ENTRY_BYTES, N_SIZES
from lab2048.models.ntuple.change import LEAST, collect, merge

SMALL = st.integers(-3, 3).map(np.float32)
VALUES = arrays.arrays(np.float32, st.just(40), elements=SMALL)


def rates_of(weights):
    return np.stack([weights, abs(weights)], axis=1).reshape(-1)


@given(VALUES, VALUES)
def test_changes_are_listed_and_counted_by_size(weights, common):
    weights, common = (np.tile(each, 4) for each in (weights, common))  # more than a block
    common[80:] = weights[80:]
    counts, indexes = np.zeros(N_SIZES, np.int64), np.zeros(len(weights), np.uint32)
    changes = abs(weights - common)
    n = exchange.list_changes(weights, common, np.float32(1), counts, indexes)
    assert indexes[:n].tolist() == np.flatnonzero(changes >= 1).tolist()
    classes = np.bincount(changes[changes >= 1].view(np.uint32) >> exchange.SIZE_SHIFT, minlength=N_SIZES)
    assert (counts == classes).all()


@given(VALUES, VALUES, st.integers(1, 60))
def test_a_packet_has_the_largest_changes_within_its_bound(weights, common, n_most):
    packet = collect(weights, common, rates_of(weights), rates_of(common), ENTRY_BYTES * n_most)
    changes = abs(weights - common)
    assert len(packet.indexes) <= n_most
    assert (np.diff(packet.indexes.astype(np.int64)) > 0).all()
    assert (packet.changes[:, 0] == (weights - common)[packet.indexes]).all()
    assert (packet.changes[:, 1] == (weights - common)[packet.indexes]).all()
    assert (packet.changes[:, 2] == (abs(weights) - abs(common))[packet.indexes]).all()
    left = np.setdiff1d(np.flatnonzero(changes), packet.indexes)
    if len(left) and len(packet.indexes):
        assert changes[left].max() <= changes[packet.indexes].min()
    if (changes > 0).sum() <= n_most:
        assert len(left) == 0


def test_smaller_changes_wait_for_the_next_packet():
    weights, common = np.array([4, 1, 8, 2], np.float32), np.zeros(4, np.float32)
    sent = []
    for _ in range(4):
        packet = collect(weights, common, None, None, ENTRY_BYTES)
        merge([packet]).apply(weights, common, None, None, packet)
        sent += packet.indexes.tolist()
    assert sent == [2, 0, 3, 1]
    assert (weights == common).all()
    assert len(collect(weights + LEAST / 2, common, None, None, ENTRY_BYTES).indexes) == 0


@pytest.mark.parametrize(
    ("changes", "merged"),
    [
        ([(6, 5, 5)], 6),  # of one node: as it is
        ([(6, 5, 5), (4, 3, 3)], 10),  # all errors have the same sign: the sum
        ([(6, 5, 5), (-4, -5, 5)], 1),  # they cancel out: the mean
        ([(6, 2, 4), (2, 2, 4)], 6),  # half of them do: halfway between mean and sum
        ([(6, 0, 0), (2, 0, 0)], 4),  # plain TD has no sums of errors: the mean
    ],
)
def test_changes_of_several_nodes(changes, merged):
    packets = [collect(np.float32([w]), np.zeros(1, np.float32), np.float32([s, u]), np.zeros(2, np.float32), 100)
               for w, s, u in changes]  # fmt: skip
    found = merge(packets)
    assert found.indexes.tolist() == [0]
    assert found.changes[0].tolist() == [merged, sum(s for _, s, _ in changes), sum(u for _, _, u in changes)]


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(1, 60))
def test_all_nodes_have_the_same_common_weights_and_keep_their_own_unsent_changes(nodes, n_most):
    zeros = np.zeros(40, np.float32)
    packets = [collect(each, zeros, rates_of(each), rates_of(zeros), ENTRY_BYTES * n_most) for each in nodes]
    merged = merge(packets)
    seen = set()
    for weights, packet in zip(nodes, packets, strict=True):
        mine, common, rates, common_rates = weights.copy(), zeros.copy(), rates_of(weights), rates_of(zeros)
        merged.apply(mine, common, rates, common_rates, packet)
        seen.add((common.tobytes(), common_rates.tobytes()))
        unsent = weights.copy()
        unsent[packet.indexes] = 0
        assert mine - common == pytest.approx(unsent, abs=1e-5)
    assert len(seen) == 1
