"""No bytes whatever break the decoder of format 1; tests/models/test_network_file.py reads files of it."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lab2048.kernels.ntuple import range_decoder


def decompress(data: NDArray[np.uint8], n_cells: int, radix: int = 16) -> tuple[NDArray[np.int16], int]:
    table = np.zeros(radix**n_cells, np.int16)
    contexts = np.zeros((radix + 1) ** n_cells, np.int16)
    return table, int(range_decoder.decompress(data, table, contexts, radix, n_cells))


@given(st.binary(max_size=200))
@example(b"\x00" * 200)
@example(b"\xff" * 200)
@example(b"\x00" + b"\xff" * 199)
@settings(max_examples=60)
def test_any_bytes_end(data: bytes) -> None:
    found, n_read = decompress(np.frombuffer(data, np.uint8).copy(), 2)
    assert found.dtype == np.int16
    assert n_read >= 5


def test_the_largest_contexts_have_a_level_of_their_own() -> None:
    assert range_decoder._level_of(range_decoder.MAX_TOTAL) == range_decoder._level_of(10**6)
    assert range_decoder._level_of(range_decoder.MAX_TOTAL - 1) < range_decoder.LEVELS - 1
