"""External merge sort: sort and deduplicate more keys than fit in memory.

Each worker sorts what it finds in runs of bounded size.  Runs that do not fit in memory are stored on
disk.  At the end the keys are merged one range at a time; keys are distributed uniformly, so equal
ranges hold about equal numbers of them.
"""

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lab2048.kernels.board.block import Words
from lab2048.kernels.solve import layer
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.workers import Workers
from lab2048.stop_flag import current

_FEW = 1 << 11  # keys; NumPy sorts fewer as quickly
_SMALL = 1 << 14  # keys; below this a second worker is not worth it


class Runs:
    """Collect sorted runs from any thread, and yield their union range by range."""

    def __init__(self, folder: Path, name: str, room: int) -> None:
        """Keep at most `room` keys in memory; runs on disk are named `name`-N.npy."""
        self._folder, self._name, self._room = folder, name, room
        self._memory: list[Words] = []
        self._disk: list[Column] = []
        self._n_memory = 0
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @property
    def n_keys(self) -> int:
        """Return the number of keys, counting duplicates between runs."""
        return self._n_memory + sum(column.n for column in self._disk)

    def add(self, found: Words) -> None:
        """Sort keys in place, and store the distinct ones as a run."""
        if len(found) > _FEW:
            layer.sort_keys(found, np.empty_like(found))
        else:
            found.sort()
        run = found[: layer.drop_doubles(found)]
        if len(run) == 0:
            return
        with self._lock:
            fits = self._n_memory + len(run) <= self._room
            if fits:
                self._n_memory += len(run)
        if fits:
            self._memory.append(run.copy())
        else:
            path = self._folder / f"{self._name}-{next(self._numbers)}.npy"
            self._disk.append(write_column(path, "<u8", [run], is_kept=False))

    def merged(self, workers: Workers, largest: int) -> Iterator[Words]:
        """Yield all distinct keys in order, in arrays of at most about `largest` keys."""
        n_keys = self.n_keys
        if not self._disk and len(self._memory) <= 1:
            yield from self._memory
            return
        n_parts = max(-(-n_keys // largest), workers.n_workers if n_keys > _SMALL else 1)
        edges = np.array([(i << 64) // n_parts for i in range(1, n_parts)], np.uint64)
        cuts = [[0, *np.searchsorted(run, edges).tolist(), len(run)] for run in self._memory]
        disk_cuts = [[0, *np.searchsorted(run.map(), edges).tolist(), run.n] for run in self._disk]

        def merge_part(part: int) -> Words:
            near = [run[cut[part] : cut[part + 1]] for run, cut in zip(self._memory, cuts, strict=True)]
            far = [run.read(cut[part], cut[part + 1]) for run, cut in zip(self._disk, disk_cuts, strict=True)]
            return merge_all(near + far)

        for first in range(0, n_parts, workers.n_workers):
            yield from workers.map(merge_part, range(first, min(first + workers.n_workers, n_parts)))

    def drop(self) -> None:
        """Delete all runs, also on disk."""
        self._memory = []
        for column in self._disk:
            column.path.unlink(missing_ok=True)
        self._disk = []


def merge_all(arrays: list[Words]) -> Words:
    """Return the sorted union of sorted arrays; raise StoppedError if the stop flag is set."""
    while len(arrays) > 1:
        longer = []
        for i in range(0, len(arrays) - 1, 2):
            current().check()
            merged = np.empty(len(arrays[i]) + len(arrays[i + 1]), np.uint64)
            n = layer.merge(arrays[i], arrays[i + 1], merged)
            longer.append(merged[:n])
        arrays = longer + arrays[len(arrays) - len(arrays) % 2 :]
    return arrays[0]
