"""Rows of kind bound: the highest possible score on a board, with the best possible spawns.

The final board holds one tile of each rank, from 4 up.  Each must be built on the cells that larger
tiles leave free, and that needs one 4 to spawn at the right moment: a board of n cells ends with
2^(n+1), ..., 8, 4 after n spawned fours.  A spawned 4 earns no merge reward.
"""

from lab2048.rules import Board, Rules
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import RowTask

MAX_SEARCHED = 6  # cells; up to this size all games are enumerated


def run_bound(task: RowTask) -> Result:
    """Compute the highest score by exhaustive search on small boards, else by the formula."""
    rules, result = task.rules, task.result()
    is_small = rules.shape.n_cells <= MAX_SEARCHED
    maximum = highest_score(rules) if is_small else chain_score(rules.shape.n_cells)
    result.measured = {"maximum": Measured.exact(maximum)}
    return result


def chain_score(n_cells: int) -> int:
    """Return the score of the final board with one tile of each rank: sum of v(log2 v - 1), minus 4 per spawned 4.

    >>> chain_score(16)
    3932100
    """
    return sum((rank - 1) << rank for rank in range(2, n_cells + 2)) - 4 * n_cells


def highest_score(rules: Rules) -> int:
    """Return the highest score of any game from any start board, by exhaustive search.

    >>> highest_score(Rules.from_text("2x2"))
    180
    """
    starts = {rules.board.canonical()}
    for _ in range(rules.n_start):
        starts = {b.put(s.cell, s.rank).canonical() for b in starts for s in rules.spawns(b)}
    return max(_best(rules, starts).values())


def _best(rules: Rules, starts: set[Board]) -> dict[Board, int]:
    """Return the highest score from each start board.

    Boards are processed by descending tile sum, which avoids recursion.
    """
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
