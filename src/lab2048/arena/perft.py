"""Counting the ways that a game can go: a fingerprint of the rules."""

from lab2048.kernels.perft import count
from lab2048.rules import Board, Rules
from lab2048.rules.plan import make_plan

N_PYTHON_TURNS = 2  # counted here, so that Ctrl-C is heard between the compiled counts below them


def count_sequences(rules: Rules, depth: int) -> int:
    """The number of sequences of `depth` turns, each a slide and a spawn; the first tiles are part of them."""
    boards = [rules.board]
    for _ in range(rules.n_start):
        boards = [board.put(spawn.cell, spawn.rank) for board in boards for spawn in rules.spawns(board)]
    return sum(_count(rules, board, depth, N_PYTHON_TURNS) for board in boards)


def _count(rules: Rules, board: Board, depth: int, n_python: int) -> int:
    if n_python == 0 or depth <= 2:
        return count(make_plan(rules), board.ranks, depth)
    return sum(
        _count(rules, after.put(spawn.cell, spawn.rank), depth - 1, n_python - 1)
        for _, (after, _) in board.slides()
        for spawn in rules.spawns(after)
    )
