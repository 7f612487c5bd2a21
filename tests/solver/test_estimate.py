"""Estimates agree with the boards whose sizes are known."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from lab2048.rules import Rules
from lab2048.solver.column_file import Column
from lab2048.solver.estimate import _continue, _Counted, n_buildable
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.workers import Workers

# Afterstates up to symmetry for the goals 8, 16, 32 ...; the last one is the whole board.  3x4: arXiv 2510.04580.
KNOWN = {
    "2x3": [73, 460, 1691, 4375, 8889, 14883],
    "2x4": [329, 4666, 30941, 129302, 397573, 974752, 2007999, 3406686],
    "###|###|#x#": [731, 9947, 66508, 282387, 868610, 2112739, 4305635, 7207271],
    "3x3": [246, 5458, 53289, 304257, 1197972, 3597668, 8794430, 18414626, 31431374],
    "2x5": [1615, 47536, 533115, 3473631, 15607054, 53435348],
    "3x4": [2642, 220932, 5673491, *[None] * 8, 739648886170],
    # Free large tiles, in any arrangement.
    "FF#|###|###": [2120, 21628, 110137, 361160, 865308, 1646306, 2582184],
    "FFFF|F###|####": [83871, 813782, 3792985, 11229767],
}


@pytest.mark.parametrize("board", KNOWN)
@pytest.mark.parametrize("n_counted", [2, 3])
def test_estimates_are_within_a_fifth(board, n_counted):
    problem = Problem.of(replace(Rules.from_text(board), goal_rank=3), "win", is_scattered="F" in board)
    known = list(enumerate(KNOWN[board], 3))
    row = [_Counted(goal_rank, LayerCount(afterstates=n), 1, 1.0) for goal_rank, n in known[:n_counted]]
    for goal_rank, n in known[n_counted:]:
        if n is not None:
            growth, _ = _continue(row, goal_rank, problem)
            assert 0.8 < known[n_counted - 1][1] * math.exp(growth) / n < 1.2, goal_rank


@pytest.mark.parametrize(("n_cells", "max_rank"), [(2, 3), (3, 4), (4, 5), (3, 3)])
def test_buildable_boards_are_counted(n_cells, max_rank):
    def is_buildable(ranks):
        return all(rank <= max(0, max_rank - k) for k, rank in enumerate(sorted(ranks, reverse=True)))

    for goal_rank in range(1, max_rank + 2):
        boards = [[]]
        for _ in range(n_cells):
            boards = [[*board, rank] for board in boards for rank in range(goal_rank)]
        assert n_buildable(n_cells, max_rank, goal_rank) == sum(map(is_buildable, boards))


def test_counts_of_several_goals_share_workers():
    """A thread that rested in one count must not remember its boards in the next one."""
    problem = Problem.of(replace(Rules.from_text("2x3"), goal_rank=5), "win")
    boards = problem.start_keys(8)
    column = Column(Path(), "<u8", len(boards), array=boards)
    with Workers(1) as workers:
        found = [Forward(problem, workers, Memory(2**26, 1), Path()).afterstates(column, None)[0] for _ in range(2)]
    assert found[0].n_keys == found[1].n_keys > 0
