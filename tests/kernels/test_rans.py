"""What was compressed comes out again, and no code whatever breaks the way back."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from numpy.typing import NDArray

from lab2048.kernels.ntuple import rans_decoder, rans_encoder
from lab2048.kernels.ntuple.weight_model import MAX_CELLS, MAX_SIZE, make_scratch, mark_of, sum_of
from lab2048.models.ntuple.compress import _compress_table

Table = NDArray[np.int16]
Code = NDArray[np.uint32]


def compress(table: Table, n_cells: int, radix: int = 16) -> Code:
    return _compress_table(table, radix, n_cells, make_scratch(radix, n_cells)).view(np.uint32)


def decompress(code: Code, n_cells: int, radix: int = 16) -> tuple[Table, int]:
    """The table between two guards, which nothing may change, and what the decoder returns."""
    room = np.zeros(radix**n_cells + 200, np.int16)
    room[:100] = room[-100:] = 77
    offsets = np.zeros((max(n_cells, 2), 16), np.uint64)
    offsets[:n_cells] = np.arange(16) * radix ** np.arange(n_cells)[:, None]
    scratch, model = make_scratch(radix, n_cells), rans_decoder.make_model()
    scratch[:] = 12345  # of the table before
    found = int(rans_decoder.decompress(code, room[100:-100], scratch, model, offsets.ravel(), radix, n_cells))
    assert (room[:100] == 77).all()
    assert (room[-100:] == 77).all()
    return room[100:-100], found


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
@settings(max_examples=40)
def test_any_numbers_come_back(table: Table) -> None:
    assert (decompress(compress(table, 1), 1)[0] == table).all()


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.01, 0.5, 1.0]), st.sampled_from([0.5, 5.0, 300.0, 30000.0]))
@settings(max_examples=15)
def test_tables_of_trained_weights_come_back(seed: int, density: float, scale: float) -> None:
    table = spread(seed, 2, density, scale)
    assert (decompress(compress(table, 2), 2)[0] == table).all()


@given(st.integers(0, 1000), st.sampled_from([(2, 8), (3, 5), (4, 4), (11, 3), (15, 2), (7, 1)]), st.booleans())
@settings(max_examples=15)
def test_tables_of_any_radix_come_back(seed: int, size: tuple[int, int], is_negative: bool) -> None:
    radix, n_cells = size
    table = spread(seed, n_cells, 0.4, 5.0, radix)
    table[: radix**n_cells // 3] = 0
    if is_negative:  # all neighbours of a weight may be below 0
        table = -np.abs(table)
    assert (decompress(compress(table, n_cells, radix), n_cells, radix)[0] == table).all()


def test_a_weight_may_go_to_any_place() -> None:
    table, offsets = spread(3, 2, 0.5, 50.0), np.zeros((2, 16), np.uint64)
    offsets[0], offsets[1] = 16 * np.arange(16), np.arange(16)  # the cells in the other order
    found = np.zeros(256, np.int16)
    scratch, model = make_scratch(16, 2), rans_decoder.make_model()
    assert rans_decoder.decompress(compress(table, 2), found, scratch, model, offsets.ravel(), 16, 2) > 0
    assert (found.reshape(16, 16) == table.reshape(16, 16).T).all()


def test_marks_add_up() -> None:
    numbers = [0, 1, -1, MAX_SIZE, -MAX_SIZE, 32767, -32768, 5]
    marks = sum(int(mark_of(number)) for number in numbers[:MAX_CELLS]) & 0xFFFF_FFFF
    sizes = [min(abs(number), MAX_SIZE) for number in numbers]
    assert marks & 0x1FFF == sum(sizes)
    assert marks >> 13 & 15 == 7
    assert sum_of(marks) == 5
    assert sum_of(int(mark_of(-3)) + int(mark_of(1)) & 0xFFFF_FFFF) == -2


def test_neighbours_are_those_with_a_tile_a_rank_lower() -> None:
    # A table of sums of what each digit is worth is as good as known by them; the same weights shuffled are not.
    radix, n_cells = 11, 4
    digits = np.indices((radix,) * n_cells).reshape(n_cells, -1)
    table: Table = ((digits >= 8).sum(axis=0) * 5).astype(np.int16)
    shuffled = np.random.default_rng(1).permutation(table)
    assert compress(table, n_cells, radix).nbytes < compress(shuffled, n_cells, radix).nbytes / 2


def test_predictable_tables_are_small() -> None:
    empty = np.zeros(16**3, np.int16)
    assert compress(empty, 3).nbytes < 80
    assert compress(np.ones_like(empty), 3).nbytes < 150
    noise = np.random.default_rng(1).integers(-32768, 32767, empty.size, np.int16)
    assert compress(noise, 3).nbytes < 1.1 * noise.nbytes


def test_without_room_the_size_is_told_and_nothing_is_written_beyond() -> None:
    table, events = spread(1, 2, 0.5, 50.0), np.zeros(1000, np.uint64)
    n_events = int(rans_encoder.list_events(table, make_scratch(16, 2), 16, 2, 1, events))
    events[5:] = 7
    assert int(rans_encoder.list_events(table, make_scratch(16, 2), 16, 2, 1, events[:5])) == n_events
    assert (events[5:] == 7).all()
    rans_encoder.list_events(table, make_scratch(16, 2), 16, 2, 1, events)
    words = np.full(200, 0xABCD, np.uint32)
    size = int(rans_encoder.compress(events[:n_events], 1, 1, np.zeros(0, np.uint32)))
    assert int(rans_encoder.compress(events[:n_events], 1, 1, words[-3:])) == size
    assert (words[:-3] == 0xABCD).all()


@given(st.integers(1, 200))
@settings(max_examples=40)
def test_a_code_cut_short_ends(n: int) -> None:
    decompress(compress(spread(5, 2, 0.5, 50.0), 2)[:n], 2)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=60))
@example([0] * 60)
@example([2**32 - 1] * 60)
@example([3, 3, 3, *[2**32 - 1] * 57])
@settings(max_examples=60)
def test_any_words_end(words: list[int]) -> None:
    decompress(np.array(words, np.uint32), 2)


@pytest.mark.parametrize("word", [0, 0x5555_5555, 0xFFFF_FFFF])
def test_a_changed_word_ends(word: int) -> None:
    code = compress(spread(5, 2, 0.5, 3000.0), 2)
    for place in range(0, len(code), 7):
        wrong = code.copy()
        wrong[place] = word
        decompress(wrong, 2)
