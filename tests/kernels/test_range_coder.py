"""What was squeezed comes out again, and no bytes whatever break the way back."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from numpy.typing import NDArray

from lab2048.kernels.ntuple import range_coder, range_decoder

Table = NDArray[np.int16]


def compress(table: Table, n_cells: int, radix: int = 16) -> tuple[NDArray[np.uint8], int]:
    """The code, and how many bytes it takes."""
    data = np.zeros(8 * table.size + 64, np.uint8)
    size = int(range_coder.compress(range_coder.make_state(data), table, radix, n_cells))
    return data[:size], size


def decompress(data: NDArray[np.uint8], n_cells: int, radix: int = 16) -> tuple[Table, int]:
    table = np.zeros(radix**n_cells, np.int16)
    contexts = np.zeros((radix + 1) ** n_cells, np.int16)
    return table, int(range_decoder.decompress(data, table, contexts, radix, n_cells))


def spread(seed: int, n_cells: int, density: float, scale: float, radix: int = 16) -> Table:
    """A table as a training leaves it: most of it empty, a few numbers large."""
    rng = np.random.default_rng(seed)
    numbers = rng.laplace(0, scale, radix**n_cells) * (rng.random(radix**n_cells) < density)
    table: Table = np.clip(np.rint(numbers), -32768, 32767).astype(np.int16)
    return table


@given(some.arrays(np.int16, 16, elements=st.integers(-32768, 32767)))
@example(np.full(16, -32768, np.int16))
@example(np.array([-32768, 32767] * 8, np.int16))
@example(np.zeros(16, np.int16))
def test_any_numbers_come_back(table: Table) -> None:
    found, n_read = decompress(compress(table, 1)[0], 1)
    assert (found == table).all()
    assert n_read == compress(table, 1)[1]


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.01, 0.5, 1.0]), st.sampled_from([0.5, 5.0, 300.0, 30000.0]))
@settings(max_examples=15)
def test_tables_of_trained_weights_come_back(seed: int, density: float, scale: float) -> None:
    table = spread(seed, 2, density, scale)
    assert (decompress(compress(table, 2)[0], 2)[0] == table).all()


@given(st.integers(0, 1000), st.sampled_from([(2, 8), (3, 5), (4, 4), (11, 3), (15, 2), (7, 1)]), st.booleans())
@settings(max_examples=30)
def test_tables_of_any_radix_come_back(seed: int, size: tuple[int, int], is_negative: bool) -> None:
    # None of these but the first is a whole number of blocks; some blocks are empty and left out.
    radix, n_cells = size
    table = spread(seed, n_cells, 0.4, 5.0, radix)
    table[: radix**n_cells // 3] = 0
    if is_negative:  # all eight around a weight may be below 0
        table = -np.abs(table) - 1  # type: ignore[assignment]
    code, n = compress(table, n_cells, radix)
    found, n_read = decompress(code, n_cells, radix)
    assert (found == table).all()
    assert n_read == n


def test_the_surroundings_are_those_with_a_tile_a_rank_lower() -> None:
    # A table of sums of what each digit is worth is as good as known by them; the same weights shuffled are not.
    radix, n_cells = 11, 4
    digits = np.indices((radix,) * n_cells).reshape(n_cells, -1)
    table: Table = ((digits >= 8).sum(axis=0) * 5).astype(np.int16)
    shuffled = np.random.default_rng(1).permutation(table)
    assert compress(table, n_cells, radix)[1] < compress(shuffled, n_cells, radix)[1] / 4


def test_only_the_sizes_that_a_level_tells_apart_are_counted() -> None:
    # The decoder adds up sizes of at most MAX_TOTAL.
    assert range_coder._level_of(range_coder.MAX_TOTAL) == range_coder._level_of(10**6) == range_coder.LEVELS - 1
    assert range_coder._level_of(range_coder.MAX_TOTAL - 1) < range_coder.LEVELS - 1


def test_what_is_empty_or_regular_costs_next_to_nothing() -> None:
    empty = np.zeros(16**3, np.int16)
    assert compress(empty, 3)[1] <= 16
    assert compress(np.ones_like(empty), 3)[1] < empty.size / 20
    noise = np.random.default_rng(1).integers(-32768, 32767, empty.size, np.int16)
    assert compress(noise, 3)[1] < 1.6 * noise.nbytes


def test_without_room_the_size_is_told_and_nothing_is_written_beyond() -> None:
    table = spread(1, 2, 0.5, 50.0)
    size = compress(table, 2)[1]
    data = np.full(size, 0xAB, np.uint8)
    state = range_coder.make_state(data[:10])
    assert int(range_coder.compress(state, table, 16, 2)) == size
    assert (data[10:] == 0xAB).all()


@given(st.integers(0, 200))
@settings(max_examples=40)
def test_a_code_cut_short_ends(n: int) -> None:
    table = spread(5, 2, 0.5, 50.0)
    code = compress(table, 2)[0]
    found, _ = decompress(code[: min(n, len(code))], 2)
    assert found.shape == table.shape


@given(st.binary(max_size=200))
@example(b"\x00" * 200)
@example(b"\xff" * 200)
@example(b"\x00" + b"\xff" * 199)
@settings(max_examples=60)
def test_any_bytes_end(data: bytes) -> None:
    found, n_read = decompress(np.frombuffer(data, np.uint8), 2)
    assert found.dtype == np.int16
    assert n_read >= 5


@pytest.mark.parametrize("byte", [0x00, 0x55, 0xFF])
def test_a_changed_byte_ends(byte: int) -> None:
    code = compress(spread(5, 2, 0.5, 3000.0), 2)[0]
    for place in range(0, len(code), 7):
        wrong = code.copy()
        wrong[place] = byte
        found, n_read = decompress(wrong, 2)
        assert found.shape == (16**2,)
        assert n_read >= 5
