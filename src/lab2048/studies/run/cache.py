"""Rows of kind cache: how often a board comes back, and how much faster a transposition table makes a search."""

import time
from dataclasses import replace

from lab2048.arena.episode import play_game
from lab2048.players import make_player
from lab2048.players.search.player import SearchPlayer
from lab2048.players.searcher import Searcher
from lab2048.rules import Board
from lab2048.rules.dice import episode_seed
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import RowTask

N_SEARCHES = 300  # boards that are searched with and without the table
LEAST_BITS = 1  # a table of two entries, which is as good as none


def run_cache(task: RowTask) -> Result:
    """Play games and count the boards that were decided before; then search some of them with and without the table."""
    player = make_player(task.row.player)
    assert isinstance(player, SearchPlayer)
    seen: set[Board] = set()
    boards: list[Board] = []
    n_repeated = 0
    for number in range(task.amount):
        task.show(f"game {number + 1} of {task.amount}")
        seed = episode_seed(task.seed, number)
        game, _ = play_game(player, task.row.player, task.rules, seed, before_move=task.check)
        for board in [game.first_board, *(turn.board for turn in game.turns[:-1])]:
            n_repeated += board in seen
            seen.add(board)
            boards.append(board)
    result = task.result()
    with_table = player.searcher(task.rules)
    without = replace(with_table, table_bits=LEAST_BITS)
    ratios = []
    for board in boards[:: max(1, len(boards) // N_SEARCHES)]:
        task.check()
        ratios.append(_seconds(without, board) / _seconds(with_table, board))
    result.measured = {
        "repeats": Measured.rate(n_repeated, len(boards)),
        "table-speedup": Measured.mean(ratios),
    }
    return result


def _seconds(searcher: Searcher, board: Board) -> float:
    """Return the CPU time of one search that begins with an empty table."""
    searcher.forget()
    begin = time.thread_time()
    searcher.root_values(board, searcher.depth)
    return time.thread_time() - begin
