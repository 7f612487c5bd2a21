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

from lab2048.cluster.data import LostDataError
from lab2048.errors import FileError, LabError, reason_of
from lab2048.records.atomic_file import remove_leftovers, replacing
from lab2048.records.process_lock import ProcessLock
from lab2048.records.provenance import provenance
from lab2048.solver.answer import answer, starts_of
from lab2048.solver.backward import Backward, LayerFiles, LayerValues
from lab2048.solver.checkpoint import Above
from lab2048.solver.column_file import Column, Stack, write_column
from lab2048.solver.count import first_sums, spawn_tiles
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.journal import SCHEMA as JOURNAL_SCHEMA
from lab2048.solver.journal import Journal
from lab2048.solver.memory import Memory
from lab2048.solver.nodes.sharded import MAX_TRIALS, NODES, ShardedBackward, ShardedForward, Shards, check_nodes_line
from lab2048.solver.nodes.spread_column import KEYS, STATES, Disks, SpreadColumn
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.solve_folder import JOURNAL, SOLVED, WORK, check_folder
from lab2048.solver.table import MANIFEST, SCHEMA, Layer, Table, keys_path, values_path
from lab2048.solver.workers import Workers


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
        self.dtype, self.is_kept = "<f8" if is_exact else "<f4", is_kept
        self.work, self.journal = folder / WORK, Journal(folder / JOURNAL)
        self._stack = Stack(self.work / "states.u64", "<u8")
        self._lock = ProcessLock(self.work / "lock")
        self._shards = shards
        self._forward, self._backward = self._passes(workers, memory)
        self._keys: dict[int, Column] = {}
        self._states: dict[int, Column] = {}
        self._counts: dict[int, LayerCount] = {}
        self._values: dict[int, Column] = {}
        self._above = Above(self.work, checkpoint_seconds)
        self._starts: dict[int, float] = {}
        self._total, self._n_valued, self._n_waiting = LayerCount(), 0, 0
        self._before, self._begin = 0.0, time.perf_counter()

    def _passes(self, workers: Workers, memory: Memory) -> tuple[Forward, Backward]:
        if self._shards is None:
            return Forward(self.problem, workers, memory, self.work), Backward(
                self.problem, workers, memory, dtype=self.dtype
            )
        forward = ShardedForward(self.problem, workers, memory, self.work, self._shards)
        return forward, ShardedBackward(
            self.problem,
            workers,
            memory,
            dtype=self.dtype,
            shards=self._shards,
            afterstates=lambda tile_sum: self._keys.get(tile_sum),
        )

    @property
    def seconds(self) -> float:
        """Return the time spent on this table, over all sessions."""
        return self._before + time.perf_counter() - self._begin

    def run(self) -> Table:
        """Solve or resume; a complete table is only opened."""
        table = check_folder(self.folder, self.problem, is_exact=self.dtype == "<f8")
        if table is not None:
            if self.journal.exists:  # killed before it was deleted
                self.journal.read()
                self._delete_on_nodes()
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
        if self._shards is not None:
            self._join_nodes(self._shards)

    def _join_nodes(self, shards: Shards) -> None:
        """Use what earlier sessions left on nodes; tell the journal where shards are kept."""
        line = self._nodes_line
        if line is None:
            shards.begin()
            self._tell_nodes(shards)
        else:
            shards.go_on(line["folder"], line["n_shards"])

    @property
    def _nodes_line(self) -> dict[str, Any] | None:
        return next((line for line in self.journal.lines if line["kind"] == NODES), None)

    def _tell_nodes(self, shards: Shards) -> None:
        where = {"folder": shards.disks.folder, "n_shards": shards.n_shards}
        self.journal.append(kind=NODES, sum=0, **where, seconds=round(self.seconds, 3))

    def _recall(self) -> int:
        """Restore the progress from the journal; return the number of valid lines.

        The backward pass resumes from the last checkpoint; layers after it are computed again, with the
        same result.
        """
        for store in (self._keys, self._states, self._counts, self._values, self._above, self._starts):
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
                elif line["kind"] == NODES:
                    check_nodes_line(line)
                elif i > last:
                    return i
                elif line["kind"] == "backward":
                    n = self._counts[line["sum"]].afterstates
                    values = Column(values_path(self.folder, line["sum"]), self.dtype, n, line["values"])
                    values.check()
                    self._note_backward(line["sum"], values, starts_of(line["starts"]))
                elif i == last:
                    for above, checksum in line["state_values"].items():
                        self._above.recall(int(above), self._states[int(above)], checksum)
            except (FileError, KeyError, TypeError, ValueError, AttributeError):  # damaged file or line
                return i
            self._before = line["seconds"]
        return len(lines)

    def _recall_forward(self, line: dict[str, Any], dropped: float) -> None:
        tile_sum, count = line["sum"], LayerCount.from_json(line["count"])
        keys = Column(keys_path(self.folder, tile_sum), "<u8", count.afterstates, line["keys"])
        keys.check()
        if "nodes" in line:
            states = self._recall_nodes(line["nodes"], tile_sum, count)
        else:
            states = self._stack.column(line["offset"], count.states + count.lost, line["states"])
            if tile_sum < dropped:
                states.check()
        self._note_forward(tile_sum, count, states, keys)

    def _recall_nodes(self, on_nodes: dict[str, Any], tile_sum: int, count: LayerCount) -> Column:
        """Return the states of a layer that nodes have, or had."""
        disks = self._shards.disks if self._shards else Disks()
        keys = SpreadColumn.of(KEYS, tile_sum, on_nodes[KEYS], disks)
        states = SpreadColumn.of(STATES, tile_sum, on_nodes[STATES], disks)
        if (keys.n, states.n) != (count.afterstates, count.states + count.lost):
            raise ValueError("shards are missing")
        if self._shards:
            self._shards.hold(keys)
        return states

    @cached_property
    def _reach(self) -> int:
        """Return the largest spawned tile: how far above a layer its successors can be."""
        return 1 << max(rank for rank, _ in self.problem.rules.spawn_table)

    def _go_forward(self) -> None:
        tiles, todo = spawn_tiles(self.problem), first_sums(self.problem)
        todo |= {tile_sum + tile for tile_sum, keys in self._keys.items() if keys.n for tile in tiles}
        todo -= set(self._keys)
        stacked = [tile_sum for tile_sum, states in self._states.items() if not states.is_alone]
        below = self._states[max(stacked)] if stacked else None
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
                **self._where(states),
                keys=keys.checksum,
                seconds=round(self.seconds, 3),
            )
            below = below if states.is_alone else states
            near.append(tile_sum)
            while near[0] <= tile_sum - self._reach:
                far = near.pop(0)
                self._keys[far] = replace(self._keys[far], array=None)
            if keys.n:
                todo |= {tile_sum + tile for tile in tiles}
            self._tell("forward", tile_sum)

    def _where(self, states: Column) -> dict[str, Any]:
        """Return what the journal says about the states of a layer: their place in the stack, or on nodes."""
        if isinstance(states, SpreadColumn) and self._shards is not None:
            return {"nodes": self._shards.to_json(states)}
        return {"offset": states.offset, "states": states.checksum}

    def _note_forward(self, tile_sum: int, count: LayerCount, states: Column, keys: Column) -> None:
        self._counts[tile_sum], self._states[tile_sum], self._keys[tile_sum] = count, states, keys
        self._total += count
        self._n_waiting += states.n

    def _go_backward(self) -> None:
        self._keys = {tile_sum: replace(keys, array=None) for tile_sum, keys in self._keys.items()}
        self._above.begin()
        n_lost, last = 0, len(self._values)
        while len(self._values) < len(self._keys):
            try:
                self._value_layers()
            except LostDataError as error:  # the nodes that had the values of a layer are gone
                self._return_to_checkpoint()
                n_lost, last = (n_lost + 1 if len(self._values) == last else 1), len(self._values)
                if n_lost == MAX_TRIALS:
                    raise LabError(f"{error}: progress is saved", code="cluster.node_lost") from None

    def _value_layers(self) -> None:
        for tile_sum in sorted(set(self._keys) - set(self._values), reverse=True):
            keys, states = self._keys[tile_sum], self._states_here(tile_sum)
            files = LayerFiles(tile_sum, keys, states, values_path(self.folder, tile_sum), self._above.path(tile_sum))
            values, layer_values, starts = self._backward.value_layer(files, self._looking_above(tile_sum))
            self._above.add(tile_sum, layer_values, self._reach)
            self._note_backward(tile_sum, values, starts)
            self._n_waiting -= states.n
            self.journal.append(
                kind="backward", sum=tile_sum, values=values.checksum, starts=starts, seconds=round(self.seconds, 3)
            )
            if self._above.is_due(tile_sum):
                self._checkpoint(tile_sum)
            self._tell("backward", tile_sum)

    def _states_here(self, tile_sum: int) -> Column:
        """Return the states of a layer; without nodes, make those again that only nodes had."""
        states = self._states[tile_sum]
        if self._shards is None and isinstance(states, SpreadColumn):
            parts = self._forward.state_parts(tile_sum, self._keys.get)
            path = self._above.states_path(tile_sum)
            states = self._states[tile_sum] = write_column(path, "<u8", parts, is_kept=False)
        return states

    def _looking_above(self, tile_sum: int) -> Callable[[int], LayerValues | None]:
        def look(tile: int) -> LayerValues | None:
            found = self._above.layers.get(tile_sum + tile)
            if found is not None and isinstance(found.keys, SpreadColumn):
                found.keys = self._states_here(tile_sum + tile)
            return found

        return look

    def _checkpoint(self, tile_sum: int) -> None:
        """Save what the next layers need, and delete what no layer needs any more."""
        with self._above.saving() as checksums:
            self.journal.append(kind="checkpoint", sum=tile_sum, state_values=checksums, seconds=round(self.seconds, 3))
            gone = [column for s, column in self._states.items() if s >= tile_sum + self._reach and not column.is_alone]
            if gone:
                self._stack.drop(min(gone, key=lambda column: column.offset))
            if self._shards is not None:
                self._shards.drop(tile_sum + self._reach)

    def _return_to_checkpoint(self) -> None:
        """Forget what was computed since the last checkpoint."""
        kinds = [line["kind"] for line in self.journal.lines]
        last = max((i for i, kind in enumerate(kinds) if kind == "checkpoint"), default=None)
        bound = self.journal.lines[last]["sum"] if last is not None else math.inf
        self.journal.keep(1 + (max(i for i, kind in enumerate(kinds) if kind != "backward") if last is None else last))
        for tile_sum in [each for each in self._values if each < bound]:
            self._n_valued -= self._values.pop(tile_sum).n
            self._n_waiting += self._states[tile_sum].n
        self._above.go_back()
        if self._shards is not None:
            if self._nodes_line is None:
                self._tell_nodes(self._shards)
            self._shards.look()

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
            **answer(self.problem, self._starts),
            **self._total.to_json(),
            "layers": [layer.to_json() for layer in layers],
        }
        solved = {"seconds": round(self.seconds, 3), "provenance": provenance()}
        if self.is_kept and hasattr(os, "sync"):
            os.sync()  # the files must be on disk before the manifest, in case the power fails
        for name, data in ((SOLVED, solved), (MANIFEST, manifest)):
            with replacing(self.folder / name, force=True) as file:
                file.write(json.dumps(data, indent=1) + "\n")
        self._delete_on_nodes()
        self._tidy()
        return Table.open(self.folder)

    def _delete_on_nodes(self) -> None:
        line = self._nodes_line
        if self._shards is not None and line is not None:
            check_nodes_line(line)
            self._shards.disks.folder = line["folder"]
            self._shards.disks.delete()

    def _tidy(self) -> None:
        """Delete what a complete table does not need."""
        self._close()
        self.journal.path.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)
        if self.work.exists():  # a file could not be deleted: once more, because nobody runs a finished solve again
            shutil.rmtree(self.work, ignore_errors=True)
