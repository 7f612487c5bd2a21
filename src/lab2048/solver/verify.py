"""Verify a table: checksums, order, and the Bellman equation on a sample or on all of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lab2048.errors import FileError
from lab2048.kernels.board.bits import U64
from lab2048.kernels.board.block import BLOCK, Words
from lab2048.kernels.solve import backup, layer
from lab2048.kernels.solve.backup import ODDS, KeyIndex, Values
from lab2048.solver.final_tiles import key_index_of
from lab2048.solver.table import Layer, Table

_CHUNK = 1 << 16
# Relative tolerance: 32-bit values have a rounding error of 6e-8, on both sides of the equation.
_RELATIVE = {"<f4": 5e-7, "<f8": 1e-11}
_ABSOLUTE = 1e-9


@dataclass(frozen=True)
class Verified:
    """What was checked, and the largest error relative to the tolerance."""

    layers: int
    afterstates: int
    checked: int
    worst: float


def verify(table: Table, *, n_sample: int = 100_000, progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Raise FileError, naming the file, if the table is wrong; `n_sample` 0 checks every afterstate."""
    n_all = table.count.afterstates
    share = 1.0 if n_sample == 0 else min(1.0, n_sample / max(1, n_all))
    rng = np.random.default_rng(n_all)  # the same sample every time
    n_checked, worst = 0, 0.0
    key_indexes: dict[int, KeyIndex] = {}
    for tile_sum in sorted(table.layers, reverse=True):
        entry = table.layers[tile_sum]
        entry.keys.check()
        entry.values.check()
        key_index = key_index_of(table, tile_sum)
        if not (key_index.keys[1:] > key_index.keys[:-1]).all():
            raise FileError(
                f"{entry.keys.path} is not sorted: expected distinct keys in ascending order", code="file.damaged"
            )
        chosen = np.flatnonzero(rng.random(entry.keys.n) < share)
        for cut in range(0, len(chosen), _CHUNK):
            indexes = chosen[cut : cut + _CHUNK]
            off = _off(table, entry, key_index.keys[indexes], key_index.values[indexes], key_indexes)
            worst = max(worst, float(off.max()))
            if worst > 1:
                index = indexes[int(off.argmax())]
                raise FileError(
                    f"{entry.values.path}: value {index} differs from the recomputed one", code="file.damaged"
                )
        n_checked += len(chosen)
        key_indexes[tile_sum] = key_index
        reach = max(2**rank for rank, _ in table.problem.rules.spawn_table)
        for above in [above for above in key_indexes if above >= tile_sum + reach]:
            del key_indexes[above]
        progress(tile_sum)
    _check_answer(table)
    return Verified(len(table.layers), n_all, n_checked, worst)


def _off(table: Table, entry: Layer, keys: Words, values: Values, key_indexes: dict[int, KeyIndex]) -> Values:
    """Return the errors of values in units of the tolerance."""
    problem = table.problem
    plan, goal_rank, measure = problem.plan, U64(problem.goal_rank), problem.measure
    wins, losses = np.zeros(len(keys)), np.zeros(len(keys))
    for rank, chance in problem.spawn_chances:
        if 0 < problem.goal_rank <= rank:
            wins += chance * backup.states_after(plan, keys, rank)
            continue
        above = key_indexes.get(entry.tile_sum + 2**rank) or key_index_of(table, entry.tile_sum + 2**rank)
        states = np.unique(np.concatenate(list(states_after(table, keys, rank))))
        best = np.empty(len(states))
        backup.back_up_states(plan, states, goal_rank, above, measure, True, best)
        if (best < 0).any():
            name = entry.keys.path.with_name(f"keys-{entry.tile_sum + 2**rank:06}.npy")
            raise FileError(
                f"{name} lacks boards: expected all successors of {entry.keys.path.name}", code="file.damaged"
            )
        backup.back_up_afterstates(
            plan, keys, U64(rank), chance, backup.make_key_index(states, best), measure, wins, losses
        )
    backup.finish_afterstates(plan, keys, measure, problem.spawned_potential, wins, losses)
    relative = _RELATIVE[entry.values.dtype]
    if measure == ODDS:
        return _odds_off(values, wins, relative)
    potentials = np.empty(len(keys))
    backup.potentials(keys, potentials)
    off: Values = np.abs(values - wins) / (_ABSOLUTE + relative * np.abs(wins - potentials))
    return off


def _odds_off(stored: Values, right: Values, relative: float) -> Values:
    # Odds beyond the range of 32 bits are stored as 0 or infinity.
    tiny, huge = (1e-37, 1e37) if relative > 1e-9 else (0.0, np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(stored - right) / (relative * right)
    same = (stored == right) | ((right <= tiny) & (stored <= 2 * tiny)) | ((right >= huge) & (stored >= huge / 2))
    return np.where(same, 0.0, np.nan_to_num(off, nan=np.inf))


def states_after(table: Table, keys: Words, rank: int) -> Iterator[Words]:
    """Yield the keys of the states after a spawn of this rank, in parts that may overlap."""
    seen, found, begin = np.zeros(1 << 12, np.uint64), np.empty(1 << 18, np.uint64), 0
    assert len(found) > 16 * BLOCK
    while begin < len(keys):
        begin, n = layer.spawn_all(table.problem.plan, keys, begin, U64(rank), seen, found)
        yield found[:n].copy()
    yield np.empty(0, np.uint64)


def _check_answer(table: Table) -> None:
    value = 0.0
    for start in table.problem.starts:
        value += start.chance * table.state_value(start.board)[0]
    told = float(table.manifest["value"])
    if abs(value - told) > 1e-9 + 1e-6 * abs(told):
        raise FileError(f"{table.folder}: the manifest says {told}, the layers say {value}", code="file.damaged")
