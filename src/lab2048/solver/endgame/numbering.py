"""The numbering of a formation's positions, which lab2048.kernels.solve.position_index reads."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.solve import position_index as at
from lab2048.rules.shape import Symmetry
from lab2048.solver.problem import Problem


def make_numbering(problem: Problem, first: int = 0) -> NDArray[np.uint64]:
    """Return the numbering of a problem's positions with the digit of cell `first` lowest."""
    shape, symmetries = problem.rules.shape, problem.rules.symmetries
    n_cells, radix, n_free = shape.n_cells, problem.goal_rank, shape.n_free
    head = np.zeros(at.ARRANGEMENTS, np.uint64)
    head[at.N_CELLS], head[at.FIRST], head[at.RADIX], head[at.N_FREE] = n_cells, first, radix, n_free
    head[at.SPAN] = radix ** (n_cells - n_free)
    if n_free == 0:
        return head
    for i, symmetry in enumerate(symmetries):
        for k in range(n_cells):
            cell = symmetry.cells.index((first + k) % n_cells)  # that the symmetry carries there
            head[at.ORDERS + i * at.MAX_CELLS + k] = 4 * cell
    words, masks = _arrangements(symmetries, n_cells, n_free)
    return np.concatenate([head, words, masks])


def n_indexes(problem: Problem) -> int:
    """Return the number of indexes: those of all positions, reachable or not.

    >>> from lab2048.rules import Rules
    >>> n_indexes(Problem.of(Rules.from_text("F#|##", goal=16), "win"))  # one arrangement, three cells of rank 0 to 3
    64
    """
    shape, radix = problem.rules.shape, problem.goal_rank
    if shape.n_free == 0:
        return int(radix**shape.n_cells)
    _, masks = _arrangements(problem.rules.symmetries, shape.n_cells, shape.n_free)
    return len(masks) * int(radix ** (shape.n_cells - shape.n_free))


@lru_cache(maxsize=16)
def _arrangements(
    symmetries: tuple[Symmetry, ...], n_cells: int, n_free: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the word of each mask of cells, and the lowest mask of each number."""
    masks = np.arange(1 << n_cells)
    images = np.zeros((len(symmetries), len(masks)), np.int64)
    n_set = np.zeros(len(masks), np.int64)
    for cell in range(n_cells):
        bit = masks >> cell & 1
        n_set += bit
        for i, symmetry in enumerate(symmetries):
            images[i] |= bit << symmetry.cells[cell]
    lowest = images.min(axis=0)
    lead = sum((images[i] == lowest).astype(np.int64) << i for i in range(len(symmetries)))
    chosen = np.flatnonzero((lowest == masks) & (n_set == n_free))
    numbers = np.zeros(len(masks), np.int64)
    numbers[chosen] = np.arange(len(chosen))
    words = np.where(n_set == n_free, numbers[lowest] << at.NUMBER_SHIFT | lead, 0)
    return words.astype(np.uint64), chosen.astype(np.uint64)
