"""What the backward pass needs of the layers above the current one, and its checkpoints, from which it goes on."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from lab2048.solver.backward import LayerValues
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.nodes.spread_column import SpreadColumn

WORK_SHARE = 20  # times the time of a checkpoint is for the work until the next one


class Above:
    """The states and values of the layers above the current one."""

    def __init__(self, work: Path, seconds: float) -> None:
        """Save in the folder `work`, at most once in so many seconds; 0 = after each layer."""
        self._work, self._seconds = work, seconds
        self.layers: dict[int, LayerValues] = {}  # by tile sum
        self._saved: dict[int, LayerValues] = {}
        self.begin()

    def clear(self) -> None:
        self.layers, self._saved = {}, {}

    def begin(self, took: float = 0.0) -> None:
        """Set the time of the next checkpoint, after one that took some seconds."""
        wait = max(self._seconds, WORK_SHARE * took) if self._seconds else 0.0
        self._due_at = time.perf_counter() + wait

    def path(self, tile_sum: int) -> Path:
        """Return the temporary file for the state values of a layer."""
        return self._work / f"values-{tile_sum:06}.npy"

    def states_path(self, tile_sum: int) -> Path:
        """Return the temporary file for states that are made again."""
        return self._work / f"states-{tile_sum:06}.npy"

    def recall(self, tile_sum: int, states: Column, checksum: str) -> None:
        """Take the values of a layer from the last checkpoint; raise FileError if they are damaged."""
        column = Column(self.path(tile_sum), "<f8", states.n, checksum)
        column.check()
        self.layers[tile_sum] = self._saved[tile_sum] = LayerValues(states, column)

    def add(self, tile_sum: int, layer_values: LayerValues, reach: int) -> None:
        """Add a layer, and forget those that no lower one needs."""
        self.layers = {above: each for above, each in self.layers.items() if above < tile_sum + reach}
        self.layers[tile_sum] = layer_values

    def is_due(self, tile_sum: int) -> bool:
        """Return whether the values of a layer in a file make a checkpoint cheap, or it is time for one."""
        added = self.layers[tile_sum]
        is_in_file = added.key_index is None and not isinstance(added.values, SpreadColumn)
        return is_in_file or time.perf_counter() > self._due_at

    @contextlib.contextmanager
    def saving(self) -> Iterator[dict[int, str]]:
        """Save the values; yield the checksums for the journal, then delete older files."""
        begin = time.perf_counter()
        columns = {tile_sum: self._save(tile_sum, each) for tile_sum, each in self.layers.items()}
        yield {tile_sum: column.checksum for tile_sum, column in columns.items()}
        self._saved = {tile_sum: LayerValues(self.layers[tile_sum].keys, each) for tile_sum, each in columns.items()}
        for path in (*self._work.glob("values-*"), *self._work.glob("states-*")):
            if path not in {each for s in self.layers for each in (self.path(s), self.states_path(s))}:
                path.unlink()
        self.begin(time.perf_counter() - begin)

    def _save(self, tile_sum: int, layer_values: LayerValues) -> Column:
        """Return the values of a layer in a file of this machine."""
        values = self._saved[tile_sum].values if tile_sum in self._saved else layer_values.values
        if isinstance(values, SpreadColumn):
            return write_column(self.path(tile_sum), "<f8", values.parts(), is_kept=False)
        if values is None:
            assert layer_values.key_index is not None  # not in a file, so in memory
            parts = [layer_values.key_index.values]
            values = layer_values.values = write_column(self.path(tile_sum), "<f8", parts, is_kept=False)
        return values

    def go_back(self) -> None:
        """Return to the last checkpoint; the next one is due after one layer, so that the work goes on at all."""
        self.layers, self._due_at = dict(self._saved), 0.0
