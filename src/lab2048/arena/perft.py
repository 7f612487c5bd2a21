"""Perft: count the sequences of turns, a fingerprint of the rules."""

import math

from lab2048.errors import UsageError
from lab2048.kernels.games.perft import count
from lab2048.rules import Board, Rules, Spawner
from lab2048.rules.plan import make_plan

MAX_STARTS = 1_000_000
MAX_NODES = 1_000_000  # about the work of one compiled call, so that Ctrl-C works between calls


def check_starts(rules: Rules) -> None:
    """Raise UsageError for rules with too many first boards."""
    n_spawns = _n_spawns(rules)
    if n_spawns**rules.n_start > MAX_STARTS:
        raise UsageError(
            f"start {rules.n_start} gives too many first boards to count from: expected fewer, or a map with tiles",
            field="start",
        )


def count_sequences(rules: Rules, depth: int) -> int:
    """Return the number of sequences of `depth` turns, each a slide and a spawn, including the first spawns."""
    check_starts(rules)
    n_spawns = _n_spawns(rules)
    boards = [rules.board]
    for _ in range(rules.n_start):
        boards = [board.put(spawn.cell, spawn.rank) for board in boards for spawn in rules.spawns(board)]
    # The last turn is counted, not played.
    n_compiled = 1 + int(math.log(MAX_NODES) / math.log(n_spawns * len(rules.shape.moves)))
    return sum(_count(rules, board, depth, n_compiled) for board in boards)


def _n_spawns(rules: Rules) -> int:
    """Return how many spawns an afterstate has at most."""
    return rules.shape.n_cells * len(rules.spawn_table) if rules.spawner is Spawner.FAIR else 1


def _count(rules: Rules, board: Board, depth: int, n_compiled: int) -> int:
    if depth <= n_compiled:
        return count(make_plan(rules), board.ranks, depth)
    return sum(
        _count(rules, after.put(spawn.cell, spawn.rank), depth - 1, n_compiled)
        for _, (after, _) in board.slides()
        for spawn in rules.spawns(after)
    )
