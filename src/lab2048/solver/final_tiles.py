"""Compute how likely optimal play is to reach each tile, by a forward pass along the best moves."""

import numpy as np

from lab2048.kernels.board.bits import U64
from lab2048.kernels.solve import backup, policy
from lab2048.kernels.solve.backup import KeyIndex, Values
from lab2048.solver.problem import Objective
from lab2048.solver.table import Table


def key_index_of(table: Table, tile_sum: int) -> KeyIndex:
    """Load a layer of a table for kernels, with values as backward induction uses them: odds or totals."""
    layer = table.layers.get(tile_sum)
    if layer is None:
        return backup.make_key_index(np.empty(0, np.uint64), np.empty(0))
    keys, values = layer.keys.read(), layer.values.read().astype(np.float64)
    if table.problem.objective is Objective.SCORE:
        potentials = np.empty(len(keys))
        backup.potentials(keys, potentials)
        values += potentials
    return backup.make_key_index(keys, values)


def tile_chances(table: Table) -> dict[int, float]:
    """Return the probability that optimal play reaches each tile or a higher one.

    Certain tiles are included, impossible ones are not.  With a goal, games end when it is reached.
    """
    problem = table.problem
    goal_rank, plan = U64(problem.goal_rank), problem.plan
    ended = np.zeros(33)
    key_indexes: dict[int, KeyIndex] = {}
    chances: dict[int, Values] = {}

    def layer(tile_sum: int) -> tuple[KeyIndex, Values]:
        if tile_sum not in key_indexes:
            key_indexes[tile_sum] = key_index_of(table, tile_sum)
            chances[tile_sum] = np.zeros(len(key_indexes[tile_sum].keys))
        return key_indexes[tile_sum], chances[tile_sum]

    for start in problem.starts:
        if problem.is_decided(start.board):
            ended[max(start.board.ranks)] += start.chance
        else:
            keys, chance = np.array([start.key], np.uint64), np.array([start.chance])
            policy.follow(plan, keys, chance, policy.NO_SPAWN, goal_rank, *layer(start.board.tile_sum), ended)
    for tile_sum in sorted(table.layers):
        key_index, chance = layer(tile_sum)
        del key_indexes[tile_sum], chances[tile_sum]
        is_met = chance > 0
        keys, chance = key_index.keys[is_met], chance[is_met]
        for rank, p in problem.spawn_chances:
            if 0 < problem.goal_rank <= rank:
                ended[problem.goal_rank] += p * chance[backup.states_after(plan, keys, rank) > 0].sum()
            elif len(keys):
                policy.follow(plan, keys, p * chance, U64(rank), goal_rank, *layer(tile_sum + 2**rank), ended)
    reached = np.cumsum(ended[::-1])[::-1] / ended.sum()  # every game ends: normalise away rounding errors
    return {2**rank: min(1.0, float(reached[rank])) for rank in range(1, len(reached)) if reached[rank] > 0}
