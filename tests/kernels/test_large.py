"""Large tiles: ranks looked up by their order, and synthetic late boards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab2048.kernels.board.bits import U64
from lab2048.kernels.ntuple.large import LARGE_RANK, MAX_TILES, close_gaps, synthetic_start
from lab2048.models.ntuple.network import Design, Network
from lab2048.rules import Board, Rules

CELLS = range(16)


def pack(ranks: list[int]) -> U64:
    return U64(sum(rank << 4 * cell for cell, rank in enumerate(ranks)))


def unpack(word: int) -> list[int]:
    return [int(word) >> 4 * cell & 15 for cell in CELLS]


def plain_close_gaps(ranks: list[int]) -> tuple[list[int], int]:
    large = sorted({rank for rank in ranks if rank >= LARGE_RANK})
    closed = [LARGE_RANK + large.index(rank) if rank in large else rank for rank in ranks]
    return closed, sum(1 << rank - LARGE_RANK for rank in large)


@pytest.mark.parametrize(
    ("before", "after", "large"),
    [
        ("2 2048 . .", "2 2048 . .", 0),
        ("32768 . . .", "4096 . . .", 0b1000),
        ("32768 16384 . 4", "8192 4096 . 4", 0b1100),
        ("16384 4096 4096 .", "8192 4096 4096 .", 0b101),
        ("32768 16384 8192 4096", "32768 16384 8192 4096", 0b1111),
    ],
)
def test_close_gaps_of_a_row(before: str, after: str, large: int) -> None:
    board, expected = (Board.from_text(f"{row} / . . . . / . . . . / . . . .") for row in (before, after))
    assert close_gaps(U64(board.to_packed())) == (expected.to_packed(), large)


@given(st.lists(st.integers(0, 15), min_size=16, max_size=16))
def test_close_gaps_like_plain_python(ranks: list[int]) -> None:
    closed, large = close_gaps(pack(ranks))
    assert (unpack(closed), large) == plain_close_gaps(ranks)


@given(st.integers(0, 2**64 - 1))
def test_a_synthetic_start_leaves_room_and_fits_a_word(key: int) -> None:
    ranks = unpack(synthetic_start(U64(key)))
    assert 2 <= sum(rank == 0 for rank in ranks) <= 15
    assert sum(2**rank for rank in ranks if rank) < 65536
    assert sum(rank > 3 for rank in ranks) <= MAX_TILES + 1


def test_synthetic_starts_have_every_set_of_large_tiles() -> None:
    sets = [close_gaps(U64(synthetic_start(np.uint64(key << 20 | 7))))[1] for key in range(3000)]
    counts = np.bincount(np.array(sets, np.int64), minlength=16)
    assert (counts > 20).all()


def test_a_downgrading_network_knows_boards_by_the_order_of_their_large_tiles() -> None:
    design = Design.from_text(Rules.from_text("4x4"), "2x4", (13, 14, 15), is_downgrading=True)
    network = Network.empty(design)
    network.weights[:] = np.random.default_rng(1).normal(size=len(network.weights))
    board = Board.from_text("32768 16384 2 . / 4 . . . / . . . . / . . . .")
    alike = Board.from_text("8192 4096 2 . / 4 . . . / . . . . / . . . .")
    other = Board.from_text("4096 8192 2 . / 4 . . . / . . . . / . . . .")
    start = design.stage_size + design.table_sizes[0] - 16  # two large tiles: the second stage
    sets = network.weights[start : start + 16]
    assert network.value(board) - sets[0b1100] == pytest.approx(network.value(alike) - sets[0b0011], abs=1e-4)
    assert network.value(other) != pytest.approx(network.value(alike), abs=1e-3)


def test_a_downgrading_network_needs_room_for_large_tiles() -> None:
    from lab2048.errors import UsageError

    with pytest.raises(UsageError, match="room for 32768"):
        Design.from_text(Rules.from_text("3x3"), "8x6", is_downgrading=True)


def test_some_synthetic_starts_have_two_equal_large_tiles_apart() -> None:
    n_pairs, n_apart = 0, 0
    for key in range(4000):
        ranks = unpack(synthetic_start(np.uint64(key << 20 | 7)))
        large = [rank for rank in ranks if rank >= LARGE_RANK]
        twice = {rank for rank in large if large.count(rank) == 2}
        assert len(large) - len(set(large)) <= 1
        for rank in twice:
            one, other = (cell for cell, each in enumerate(ranks) if each == rank)
            n_pairs += 1
            n_apart += abs(one // 4 - other // 4) + abs(one % 4 - other % 4) > 1
    assert 200 < n_pairs < 1000
    assert n_apart > n_pairs / 2
