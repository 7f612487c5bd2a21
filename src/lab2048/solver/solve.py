"""Solve a board: a forward pass, a backward pass, and a table; it can be interrupted and resumed at any time."""

import json
import math
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, reason_of
from lab2048.records.atomic_file import remove_leftovers, replacing
from lab2048.records.process_lock import ProcessLock
from lab2048.records.provenance import provenance
from lab2048.solver.backward import Backward, LayerFiles, LayerValues
from lab2048.solver.column_file import Column, Stack, write_column
from lab2048.solver.count import first_sums, spawn_tiles
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.journal import SCHEMA as JOURNAL_SCHEMA
from lab2048.solver.journal import Journal
from lab2048.solver.memory import Memory
from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.sharded import ShardedBackward, ShardedForward, Shards
from lab2048.solver.table import MANIFEST, SCHEMA, Layer, Table, keys_path, values_path
from lab2048.solver.workers import Workers

JOURNAL, WORK, SOLVED = "journal.jsonl", "work", "solved.json"


@dataclass(frozen=True)
class Progress:
    """The progress of a solve."""

    phase: str  # forward or backward
    tile_sum: int
    n_layers: int  # finished in this phase
    n_all: int  # total layers of this phase; 0 = not known yet
    count: LayerCount  # of all layers of the forward pass so far
    n_valued: int  # afterstates with values so far
    seconds: float
    n_bytes: int  # on disk


def check_folder(folder: Path, problem: Problem, *, is_exact: bool) -> Table | None:
    """Return the table of a problem if the folder has it; raise FileError if the folder has anything else."""
    if (folder / MANIFEST).exists():
        table = Table.open(folder)
        if table.problem != problem or table.manifest["dtype"] != ("<f8" if is_exact else "<f4"):
            raise FileError(
                f"{folder} holds the table of another problem: expected an empty folder", code="file.unwritable"
            )
        return table
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file: expected a folder, or a name for a new one", code="file.unwritable")
    if folder.is_dir() and not (folder / JOURNAL).exists() and any(path.name != WORK for path in folder.iterdir()):
        raise FileError(
            f"{folder} holds other files: expected an empty folder, or one of a table", code="file.unwritable"
        )
    return None


class Solve:
    """One solve in a folder."""

    def __init__(
        self,
        problem: Problem,
        folder: Path,
        workers: Workers,
        memory: Memory,
        *,
        is_exact: bool = False,
        is_kept: bool = True,
        checkpoint_seconds: float = 5.0,
        shards: Shards | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Prepare; `run` does the work.  Without `is_kept` the table may not survive a power failure.

        With `shards`, large layers are made and valued on other machines; the table is the same.
        """
        self.problem, self.folder, self.progress = problem, folder, progress
        self.dtype = "<f8" if is_exact else "<f4"
        self.work = folder / WORK
        self.journal = Journal(folder / JOURNAL)
        self.is_kept, self.checkpoint_seconds = is_kept, checkpoint_seconds
        self._stack = Stack(self.work / "states.u64", "<u8")
        self._lock = ProcessLock(self.work / "lock")
        self._shards = shards
        self._forward, self._backward = self._passes(workers, memory)
        self._keys: dict[int, Column] = {}
        self._states: dict[int, Column] = {}
        self._counts: dict[int, LayerCount] = {}
        self._values: dict[int, Column] = {}
        self._layer_values: dict[int, LayerValues] = {}  # states of the layers above the current one
        self._starts: dict[int, float] = {}
        self._total, self._n_valued, self._n_waiting = LayerCount(), 0, 0
        self._before, self._begin = 0.0, time.perf_counter()

    def _passes(self, workers: Workers, memory: Memory) -> tuple[Forward, Backward]:
        if self._shards is None:
            return Forward(self.problem, workers, memory, self.work), Backward(
                self.problem, workers, memory, dtype=self.dtype
            )
        self._shards.begin()
        forward = ShardedForward(self.problem, workers, memory, self.work, self._shards)
        return forward, ShardedBackward(self.problem, workers, memory, dtype=self.dtype, shards=self._shards)

    @property
    def seconds(self) -> float:
        """Return the time spent on this table, over all sessions."""
        return self._before + time.perf_counter() - self._begin

    def run(self) -> Table:
        """Solve or resume; a complete table is only opened."""
        table = check_folder(self.folder, self.problem, is_exact=self.dtype == "<f8")
        if table is not None:
            self._tidy()
            return table
        try:
            self._open()
            self._go_forward()
            self._go_backward()
            return self._finish()
        finally:
            self._close()

    def _close(self) -> None:
        self.journal.close()
        self._stack.close()
        self._lock.release()

    def _open(self) -> None:
        """Lock the folder and load the progress of earlier sessions."""
        head = {"kind": "head", "schema": JOURNAL_SCHEMA, "problem": self.problem.to_json(), "dtype": self.dtype}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.work.mkdir(exist_ok=True)
            if not self._lock.try_acquire():
                raise FileError(f"another solve is running in {self.folder}: wait for it, or use another folder")
            if self.journal.exists:
                self.journal.read()
            for path in (
                *self.folder.glob("*.npy.part"),
                *self.work.glob("*.part"),
                *self.work.glob("run-*"),
                *self.work.glob("won-*"),
            ):
                path.unlink()  # left by a killed session
            for name in (SOLVED, MANIFEST):
                remove_leftovers(self.folder / name)
        except OSError as error:
            raise FileError(f"{self.folder} cannot be used: {reason_of(error)}", code="file.unwritable") from None
        if not self.journal.lines:
            self.journal.append(**head)
            if self.is_kept:
                self.journal.sync()  # before any layer: without a journal the folder would hold unknown files
        if self.journal.lines[0] != head:
            raise FileError(
                f"{self.folder} holds another unfinished table: expected an empty folder", code="file.unwritable"
            )
        while (n_good := self._recall()) < len(self.journal.lines):
            self.journal.keep(n_good)

    def _recall(self) -> int:
        """Restore the progress from the journal; return the number of valid lines.

        The backward pass resumes from the last checkpoint; layers after it are computed again, with the
        same result.
        """
        for store in (self._keys, self._states, self._counts, self._values, self._layer_values, self._starts):
            store.clear()
        self._total, self._n_valued, self._n_waiting = LayerCount(), 0, 0
        lines = self.journal.lines
        last = max((i for i, line in enumerate(lines) if line["kind"] == "checkpoint"), default=-1)
        # States that no layer needs any more have been deleted.
        dropped = lines[last]["sum"] + self._reach if last >= 0 else float("inf")
        for i, line in enumerate(lines[1:], 1):
            try:
                if line["kind"] == "forward":
                    self._recall_forward(line, dropped)
                elif i > last:
                    return i
                elif line["kind"] == "backward":
                    n = self._counts[line["sum"]].afterstates
                    values = Column(values_path(self.folder, line["sum"]), self.dtype, n, line["values"])
                    values.check()
                    self._note_backward(line["sum"], values, _starts_of(line["starts"]))
                elif i == last:
                    for above, checksum in line["state_values"].items():
                        states = self._states[int(above)]
                        column = Column(self._path(int(above)), "<f8", states.n, checksum)
                        column.check()
                        self._layer_values[int(above)] = LayerValues(states, column)
            except (FileError, KeyError, TypeError, ValueError, AttributeError):  # damaged file or line
                return i
            self._before = line["seconds"]
        return len(lines)

    def _recall_forward(self, line: dict[str, Any], dropped: float) -> None:
        tile_sum, count = line["sum"], LayerCount.from_json(line["count"])
        keys = Column(keys_path(self.folder, tile_sum), "<u8", count.afterstates, line["keys"])
        states = self._stack.column(line["offset"], count.states + count.lost, line["states"])
        keys.check()
        if tile_sum < dropped:
            states.check()
        self._note_forward(tile_sum, count, states, keys)

    def _path(self, tile_sum: int) -> Path:
        """Return the temporary file for the state values of a layer."""
        return self.work / f"values-{tile_sum:06}.npy"

    @cached_property
    def _reach(self) -> int:
        """Return the largest spawned tile: how far above a layer its successors can be."""
        return 1 << max(rank for rank, _ in self.problem.rules.spawn_table)

    def _go_forward(self) -> None:
        tiles, todo = spawn_tiles(self.problem), first_sums(self.problem)
        todo |= {tile_sum + tile for tile_sum, keys in self._keys.items() if keys.n for tile in tiles}
        todo -= set(self._keys)
        below = self._states[max(self._states)] if self._states else None
        near: list[int] = []  # layers whose keys may still be in memory
        while todo:
            tile_sum = min(todo)
            todo.discard(tile_sum)
            push = partial(self._stack.push, below=below)
            path = keys_path(self.folder, tile_sum)
            count, states, keys = self._forward.make_layer(tile_sum, self._keys.get, push, path)
            self._note_forward(tile_sum, count, states, keys)
            self.journal.append(
                kind="forward",
                sum=tile_sum,
                count=count.to_json(),
                offset=states.offset,
                states=states.checksum,
                keys=keys.checksum,
                seconds=round(self.seconds, 3),
            )
            below = states
            near.append(tile_sum)
            while near[0] <= tile_sum - self._reach:
                far = near.pop(0)
                self._keys[far] = replace(self._keys[far], array=None)
            if keys.n:
                todo |= {tile_sum + tile for tile in tiles}
            self._tell("forward", tile_sum)

    def _note_forward(self, tile_sum: int, count: LayerCount, states: Column, keys: Column) -> None:
        self._counts[tile_sum], self._states[tile_sum], self._keys[tile_sum] = count, states, keys
        self._total += count
        self._n_waiting += states.n

    def _go_backward(self) -> None:
        self._kept_at = time.perf_counter()
        self._keys = {tile_sum: replace(keys, array=None) for tile_sum, keys in self._keys.items()}
        for tile_sum in sorted(set(self._keys) - set(self._values), reverse=True):
            keys, states = self._keys[tile_sum], self._states[tile_sum]
            files = LayerFiles(keys, states, values_path(self.folder, tile_sum), self._path(tile_sum))
            values, layer_values, starts = self._backward.value_layer(files, self._above(tile_sum))
            for above in [above for above in self._layer_values if above >= tile_sum + self._reach]:
                del self._layer_values[above]
            self._layer_values[tile_sum] = layer_values
            self._note_backward(tile_sum, values, starts)
            self._n_waiting -= states.n
            seconds = round(self.seconds, 3)
            self.journal.append(kind="backward", sum=tile_sum, values=values.checksum, starts=starts, seconds=seconds)
            if layer_values.key_index is None or time.perf_counter() - self._kept_at > self.checkpoint_seconds:
                self._checkpoint(tile_sum)
            self._tell("backward", tile_sum)

    def _above(self, tile_sum: int) -> Callable[[int], LayerValues | None]:
        return lambda tile: self._layer_values.get(tile_sum + tile)

    def _checkpoint(self, tile_sum: int) -> None:
        """Save what the next layers need, and delete what no layer needs any more."""
        for above, layer_values in self._layer_values.items():
            if layer_values.values is None:
                assert layer_values.key_index is not None  # not in a file, so in memory
                layer_values.values = write_column(
                    self._path(above), "<f8", [layer_values.key_index.values], is_kept=False
                )
        checksums = {
            above: layer_values.values.checksum
            for above, layer_values in self._layer_values.items()
            if layer_values.values
        }
        self.journal.append(kind="checkpoint", sum=tile_sum, state_values=checksums, seconds=round(self.seconds, 3))
        for path in self.work.glob("values-*"):
            if path not in {self._path(above) for above in self._layer_values}:
                path.unlink()
        gone = [column for s, column in self._states.items() if s >= tile_sum + self._reach]
        if gone:
            self._stack.drop(min(gone, key=lambda column: column.offset))
        self._kept_at = time.perf_counter()

    def _note_backward(self, tile_sum: int, values: Column, starts: dict[int, float]) -> None:
        self._values[tile_sum] = values
        self._starts.update(starts)
        self._n_valued += values.n

    def _tell(self, phase: str, tile_sum: int) -> None:
        is_back = phase == "backward"
        n_bytes = 8 * self._total.afterstates + int(self.dtype[-1]) * self._n_valued + 8 * self._n_waiting
        n_layers, n_all = (len(self._values), len(self._keys)) if is_back else (len(self._keys), 0)
        self.progress(Progress(phase, tile_sum, n_layers, n_all, self._total, self._n_valued, self.seconds, n_bytes))

    def _finish(self) -> Table:
        """Write the manifest, which makes the table complete."""
        layers = [Layer(s, self._counts[s], self._keys[s], self._values[s]) for s in sorted(self._keys)]
        manifest: dict[str, Any] = {
            "schema": SCHEMA,
            "problem": self.problem.to_json(),
            "dtype": self.dtype,
            "measure": "odds" if self.problem.objective is Objective.WIN else "score",
            **self._answer(),
            **self._total.to_json(),
            "layers": [layer.to_json() for layer in layers],
        }
        solved = {"seconds": round(self.seconds, 3), "provenance": provenance()}
        if self.is_kept and hasattr(os, "sync"):
            os.sync()  # the files must be on disk before the manifest, in case the power fails
        for name, data in ((SOLVED, solved), (MANIFEST, manifest)):
            with replacing(self.folder / name, force=True) as file:
                file.write(json.dumps(data, indent=1) + "\n")
        self._tidy()
        return Table.open(self.folder)

    def _tidy(self) -> None:
        """Delete what a complete table does not need."""
        self._close()
        self.journal.path.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)
        if self.work.exists():  # a file could not be deleted: once more, because nobody runs a finished solve again
            shutil.rmtree(self.work, ignore_errors=True)

    def _answer(self) -> dict[str, float]:
        """Return the value over all start boards, and with a goal the probability of losing, in full precision."""
        if self.problem.objective is Objective.SCORE:
            value = math.fsum(
                start.chance * (self._starts[start.key] - start.board.potential) for start in self.problem.starts
            )
            return {"value": value}
        decided = {True: float("inf"), False: 0.0}
        odds = {
            start.key: decided[self.problem.is_won(start.board)]
            if self.problem.is_decided(start.board)
            else self._starts[start.key]
            for start in self.problem.starts
        }
        win = math.fsum(start.chance * chance_of(odds[start.key]) for start in self.problem.starts)
        loss = math.fsum(start.chance / (1 + odds[start.key]) for start in self.problem.starts)
        # The smaller of the two has full precision.
        return {"value": win if win < loss else 1 - loss, "loss_probability": min(loss, 1.0) if win > loss else 1 - win}


def _starts_of(saved: Any) -> dict[int, float]:
    """Return the values of start boards by key, as the journal holds them; raise ValueError if one is impossible."""
    starts = {int(key): float(value) for key, value in saved.items()}
    if not all(value >= 0 for value in starts.values()):
        raise ValueError("a value is not a number")
    return starts
