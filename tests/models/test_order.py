"""Tables in digit order and in plane order."""

import numpy as np
import pytest

from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.kernels.ntuple.planes import spread
from lab2048.models.ntuple.order import to_digits, to_planes


@pytest.mark.parametrize(("n_cells", "has_sets"), [(1, False), (3, False), (4, True), (5, True), (5, False)])
def test_the_kernel_and_numpy_convert_alike_and_back(n_cells: int, has_sets: bool) -> None:
    generator = np.random.default_rng(n_cells)
    digits = generator.integers(-99, 99, 16**n_cells).astype(np.int16) * (generator.random(16**n_cells) < 0.1)
    if has_sets:  # no board reaches what is kept for the sets in plane order
        digits[to_planes(np.arange(16**n_cells), n_cells)[-N_LARGE_SETS:]] = 0
        digits[-N_LARGE_SETS:] = range(N_LARGE_SETS)
    digits = digits.astype(np.int16)
    planes = np.zeros_like(digits)
    spread(digits, planes, n_cells, N_LARGE_SETS if has_sets else 0)
    assert (planes == to_planes(digits, n_cells, has_sets=has_sets)).all()
    assert (to_digits(planes, n_cells, has_sets=has_sets) == digits).all()
