"""Tile sums of the last boards of games, for games whose boards are not at hand.

A slide keeps the tile sum, and the tile of a fair spawn depends on the dice alone, not on the board.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from lab2048.rules import Rules, dice
from lab2048.rules.rules import Spawner

_CHUNK = 1_000_000  # spawns


def tile_sums(rules: Rules, seeds: Sequence[int], n_moves: Sequence[int]) -> list[int] | None:
    """Return the tile sum of each game after its last spawn; None if the spawner looks at the board."""
    first = sum(rules.board.tiles)
    n_spawns = np.array(n_moves, np.int64) + rules.n_start
    if rules.spawner is Spawner.WORST:
        return None
    if rules.spawner is Spawner.FIRST:
        return [first + int(n) * 2 ** rules.spawn_table[0][0] for n in n_spawns]
    keys = np.array([dice.stream_key(seed, dice.SPAWN) for seed in seeds], np.uint64)
    return [first + spawned for part in _parts(n_spawns) for spawned in _spawned(rules, keys[part], n_spawns[part])]


def _parts(n_spawns: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Iterator[slice]:
    """Yield slices of games with about a million spawns each."""
    total, begin = np.cumsum(n_spawns), 0
    while begin < len(n_spawns):
        before = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _CHUNK)))
        yield slice(begin, end)
        begin = end


def _spawned(
    rules: Rules,
    keys: "np.ndarray[tuple[int], np.dtype[np.uint64]]",
    n_spawns: "np.ndarray[tuple[int], np.dtype[np.int64]]",
) -> list[int]:
    """Return the sum of all spawned tiles of each game."""
    ends = np.cumsum(n_spawns)
    counts = np.arange(ends[-1]) - np.repeat(ends - n_spawns, n_spawns)
    golden = np.uint64(dice.GOLDEN)
    words = dice.mix(np.repeat(keys, n_spawns) + (counts.astype(np.uint64) + np.uint64(1)) * golden)  # type: ignore[arg-type]
    table = np.array([1 << rank for rank, _ in rules.spawn_table])
    limits = np.array(dice.thresholds(tuple(p for _, p in rules.spawn_table)), np.uint64)
    tiles = table[np.searchsorted(limits, words & np.uint64(0xFFFF_FFFF), side="right")]
    sums = np.concatenate(([0], np.cumsum(tiles)))
    return [int(total) for total in sums[ends] - sums[ends - n_spawns]]
