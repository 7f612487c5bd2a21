"""Store quantized weights in pages, as kernels look them up (lab2048.kernels.ntuple.pages)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.ntuple.pages import PAGE, add_pages
from lab2048.models.ntuple.network import Design, huge_array


class Pages(NamedTuple):
    """The stored weights of a network, and where each of its pages is among them."""

    table: NDArray[np.uint32]
    weights: NDArray[np.int16]


class PageBuilder:
    """Collect the tables of a network, in their order and in the order of kernels.

    Pages are left out if the absolute values of their weights add up to less than `least` steps.
    """

    def __init__(self, design: Design, least: int = 1) -> None:
        self._ends = np.cumsum([0, *design.n_stages * design.page_counts])
        self._pages = huge_array(self._ends[-1], np.uint32)
        self._stored = huge_array((self._ends[-1] + 1) * PAGE, np.int16)
        self._n_tables, self._n_stored, self._least = 0, 1, least  # the first page is all zero

    def add(self, table: NDArray[np.int16]) -> None:
        begin, end = self._ends[self._n_tables : self._n_tables + 2]
        self._n_stored = int(add_pages(table, self._pages[begin:end], self._stored, self._n_stored, self._least))
        self._n_tables += 1

    def build(self) -> Pages:
        return Pages(self._pages, self._stored[: self._n_stored * PAGE])
