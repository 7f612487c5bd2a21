"""Indexes of positions: numbers in a radix, and the same for all symmetric copies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, PACKED, boards

from lab2048.kernels.board.memory import address_of
from lab2048.kernels.solve import position_index as kernels
from lab2048.rules import Board, Rules
from lab2048.rules.shape import FREE
from lab2048.solver.endgame.numbering import make_numbering, n_indexes
from lab2048.solver.problem import Problem

GOAL_RANK = 5


def problem_of(board: Board) -> Problem:
    return Problem.of(Rules.from_text(Board(board.shape).to_text(), goal=2**GOAL_RANK), "win")


def words_of(board: Board) -> np.uint64:
    return np.uint64(board.to_packed())


@given(boards(PACKED, max_rank=GOAL_RANK - 1), st.integers(0, 15))
def test_without_free_large_tiles_they_are_numbers_in_the_radix(board: Board, cell: int) -> None:
    first = cell % board.shape.n_cells
    numbering = make_numbering(problem_of(board), first)
    index = int(kernels.index_of(address_of(numbering), words_of(board)))
    digits = board.ranks[first:] + board.ranks[:first]
    assert index == sum(rank * GOAL_RANK**place for place, rank in enumerate(digits))
    assert int(kernels.board_of(address_of(numbering), index)) == int(words_of(board))


@given(boards(FREE_PACKED, max_rank=GOAL_RANK - 1), st.integers(0, 15))
def test_with_free_large_tiles_all_copies_of_a_position_have_one_index(board: Board, cell: int) -> None:
    problem = problem_of(board)
    numbering = make_numbering(problem, cell % board.shape.n_cells)
    copies = [board.carry(symmetry) for symmetry in problem.rules.symmetries]
    indexes = {int(kernels.index_of(address_of(numbering), words_of(copy))) for copy in copies}
    assert len(indexes) == 1
    (index,) = indexes
    assert 0 <= index < n_indexes(problem)
    assert int(kernels.board_of(address_of(numbering), index)) in {int(words_of(copy)) for copy in copies}


def test_different_positions_have_different_indexes() -> None:
    """All boards of a shape: as many indexes as boards up to symmetry."""
    for text in ("FF|##", "F#|A#", "FF#|###"):
        rules = Rules.from_text(text, goal=4)
        shape, numbering = rules.shape, make_numbering(Problem.of(rules, "win"))
        every = (Board(shape, tuple(ranks)) for ranks in np.ndindex(*(3,) * shape.n_cells))
        fitting = {
            Board(shape, tuple(FREE if rank == 2 else rank for rank in board.ranks))
            for board in every
            if board.ranks.count(2) == shape.n_free
        }
        found = {int(kernels.index_of(address_of(numbering), words_of(board))) for board in fitting}
        assert len(found) == len({board.canonical(rules.symmetries) for board in fitting})


@given(boards(PACKED + FREE_PACKED, max_rank=14))
def test_the_mask_of_free_large_tiles(board: Board) -> None:
    mask = int(kernels.free_mask(words_of(board)))
    assert mask == sum(1 << cell for cell, rank in enumerate(board.ranks) if rank == FREE)
