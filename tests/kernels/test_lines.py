"""The line tables hold exactly what the reference says, entry by entry."""

import pytest

from lab2048.kernels.board.lines import SLID, TOWARDS_HIGH, TOWARDS_LOW
from lab2048.rules import reference


def slid(ranks: tuple[int, ...]) -> int:
    return sum(rank << 4 * i for i, rank in enumerate(ranks))


@pytest.mark.parametrize(("length", "table"), [(4, TOWARDS_LOW), *TOWARDS_HIGH.items()])
def test_table(length: int, table: int) -> None:
    for index in range(16**length):
        ranks = tuple(index >> 4 * i & 15 for i in range(length))
        if ranks.count(15) > 1:
            continue  # what two of them make has no nibble
        if table == TOWARDS_LOW:
            expected = reference.slide_line(ranks)[0]
        else:
            expected = reference.slide_line(ranks[::-1])[0][::-1]
        assert SLID[table + index] == slid(expected), ranks
