"""Rows of the kind bound: the highest score that a board allows, if chance is as kind as can be.

The fullest board holds one tile of each kind, from 4 up.  Each has to be completed on the
cells that larger tiles leave free, and for that one 4 has to spawn at the right moment: a board of n
cells ends with 2^(n+1), ..., 8, 4 and has seen n fours.  What a 4 brings is not merged by the player.
"""

from lab2048.rules import Board, Rules
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import Job

MAX_SEARCHED = 6  # cells: up to here every game is tried


def run_bound(job: Job) -> Result:
    """The highest score on a row's board: by trying all games where that can be done, else by the chain."""
    rules, result = job.rules, job.result()
    is_small = rules.shape.n_cells <= MAX_SEARCHED
    maximum = highest_score(rules) if is_small else chain_score(rules.shape.n_cells)
    result.measured = {"maximum": Measured.exact(maximum)}
    return result


def chain_score(n_cells: int) -> int:
    """The score of a board that ends with one tile of each kind: the sum of v(log2 v - 1), less 4 for each 4.

    >>> chain_score(16)
    3932100
    """
    return sum((rank - 1) << rank for rank in range(2, n_cells + 2)) - 4 * n_cells


def highest_score(rules: Rules) -> int:
    """The highest score of any game from any first board, by trying them all.

    >>> highest_score(Rules.from_text("2x2"))
    180
    """
    starts = {rules.board.canonical()}
    for _ in range(rules.n_start):
        starts = {b.put(s.cell, s.rank).canonical() for b in starts for s in rules.spawns(b)}
    return max(_best(rules, starts).values())


def _best(rules: Rules, starts: set[Board]) -> dict[Board, int]:
    """The most that can be scored from each first board; boards are taken by falling tile sum, so nothing recurs."""
    following: dict[Board, set[tuple[int, Board]]] = {}
    todo = list(starts)
    while todo:
        board = todo.pop()
        if board in following:
            continue
        steps = following[board] = set()
        for _, (after, reward) in board.slides():
            for spawn in rules.spawns(after):
                state = after.put(spawn.cell, spawn.rank).canonical()
                steps.add((reward, state))
                if state not in following:
                    todo.append(state)
    best: dict[Board, int] = {}
    for board in sorted(following, key=lambda board: -board.tile_sum):
        best[board] = max((reward + best[state] for reward, state in following[board]), default=0)
    return {board: best[board] for board in starts}
