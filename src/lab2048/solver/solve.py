"""Solving a board: forward, backward, and a table in the end; interrupted at any moment, it goes on."""

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

from lab2048.errors import FileError
from lab2048.records.atomic_file import replacing
from lab2048.records.process_lock import ProcessLock
from lab2048.records.provenance import provenance
from lab2048.solver.backward import Backward, Bookcase, LayerFiles
from lab2048.solver.column_file import Column, Stack, write_column
from lab2048.solver.count import first_sums, spawn_tiles
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.journal import SCHEMA as JOURNAL_SCHEMA
from lab2048.solver.journal import Journal
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.table import MANIFEST, SCHEMA, Layer, Table, chance_of, keys_path, values_path
from lab2048.solver.workers import Crew

JOURNAL, WORK, SOLVED = "journal.jsonl", "work", "solved.json"


@dataclass(frozen=True)
class Progress:
    """How far a solve has come."""

    phase: str  # forward or backward
    tile_sum: int
    n_layers: int  # done in this phase
    n_all: int  # layers of this phase; 0 while that is not known
    count: LayerCount  # of all layers done forward
    n_valued: int  # afterstates valued so far
    seconds: float
    n_bytes: int  # on disk


def check_folder(folder: Path, problem: Problem, *, is_exact: bool) -> Table | None:
    """The table of a problem if it is in a folder already; raise FileError if something else is there."""
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
    """One solve in one folder."""

    def __init__(
        self,
        problem: Problem,
        folder: Path,
        crew: Crew,
        memory: Memory,
        *,
        is_exact: bool = False,
        is_kept: bool = True,
        checkpoint_seconds: float = 5.0,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Prepare; `run` does the work.  A table that is not kept need not survive a power failure."""
        self.problem, self.folder, self.progress = problem, folder, progress
        self.dtype = "<f8" if is_exact else "<f4"
        self.work = folder / WORK
        self.journal = Journal(folder / JOURNAL)
        self.is_kept, self.checkpoint_seconds = is_kept, checkpoint_seconds
        self._stack = Stack(self.work / "states.u64", "<u8")
        self._lock = ProcessLock(self.work / "lock")
        self._forward = Forward(problem, crew, memory, self.work)
        self._backward = Backward(problem, crew, memory, dtype=self.dtype)
        self._keys: dict[int, Column] = {}
        self._states: dict[int, Column] = {}
        self._counts: dict[int, LayerCount] = {}
        self._values: dict[int, Column] = {}
        self._cases: dict[int, Bookcase] = {}  # states above the layer at hand
        self._starts: dict[int, float] = {}
        self._total, self._n_valued, self._n_waiting = LayerCount(), 0, 0
        self._before, self._begin = 0.0, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time spent on this table, in all runs."""
        return self._before + time.perf_counter() - self._begin

    def run(self) -> Table:
        """Solve, or go on; a table that is complete is only opened."""
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
        """Take the folder, and what an earlier run has left in it."""
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
                path.unlink()  # of a run that was killed
        except OSError as error:
            raise FileError(f"{self.folder} cannot be used: {error.strerror}", code="file.unwritable") from None
        if not self.journal.lines:
            self.journal.append(**head)
        if self.journal.lines[0] != head:
            raise FileError(
                f"{self.folder} holds the beginnings of another table: expected an empty folder", code="file.unwritable"
            )
        while (n_good := self._recall()) < len(self.journal.lines):
            self.journal.keep(n_good)

    def _recall(self) -> int:
        """Take up what the journal tells; return how many of its lines can be believed.

        Backward goes on from the last checkpoint; what was valued after it is valued again,
        with the same result.
        """
        for store in (self._keys, self._states, self._counts, self._values, self._cases, self._starts):
            store.clear()
        self._total, self._n_valued, self._n_waiting = LayerCount(), 0, 0
        lines = self.journal.lines
        last = max((i for i, line in enumerate(lines) if line["kind"] == "checkpoint"), default=-1)
        # States that no layer needs any more are gone.
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
                    self._note_backward(line["sum"], values, {int(key): value for key, value in line["starts"].items()})
                elif i == last:
                    for above, checksum in line["state_values"].items():
                        states = self._states[int(above)]
                        column = Column(self._path(int(above)), "<f8", states.n, checksum)
                        column.check()
                        self._cases[int(above)] = Bookcase(states, column)
            except (FileError, KeyError, TypeError, ValueError, AttributeError):  # damaged, be it file or line
                return i
            self._before = line["seconds"]
        return len(lines)

    def _recall_forward(self, line: dict[str, Any], dropped: float) -> None:
        tile_sum, count = line["sum"], LayerCount(**line["count"])
        keys = Column(keys_path(self.folder, tile_sum), "<u8", count.afterstates, line["keys"])
        states = self._stack.column(line["offset"], count.states + count.lost, line["states"])
        keys.check()
        if tile_sum < dropped:
            states.check()
        self._note_forward(tile_sum, count, states, keys)

    def _path(self, tile_sum: int) -> Path:
        """Where the values of a layer's states wait."""
        return self.work / f"values-{tile_sum:06}.npy"

    @cached_property
    def _reach(self) -> int:
        """The largest tile that spawns: from how far above a layer its values come."""
        return 1 << max(rank for rank, _ in self.problem.rules.spawn_table)

    def _go_forward(self) -> None:
        tiles, todo = spawn_tiles(self.problem), first_sums(self.problem)
        todo |= {tile_sum + tile for tile_sum, keys in self._keys.items() if keys.n for tile in tiles}
        todo -= set(self._keys)
        below = self._states[max(self._states)] if self._states else None
        near: list[int] = []  # layers whose keys may be in memory
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
            values, case, starts = self._backward.value_layer(files, self._above(tile_sum))
            for above in [above for above in self._cases if above >= tile_sum + self._reach]:
                del self._cases[above]
            self._cases[tile_sum] = case
            self._note_backward(tile_sum, values, starts)
            self._n_waiting -= states.n
            seconds = round(self.seconds, 3)
            self.journal.append(kind="backward", sum=tile_sum, values=values.checksum, starts=starts, seconds=seconds)
            if case.shelf is None or time.perf_counter() - self._kept_at > self.checkpoint_seconds:
                self._checkpoint(tile_sum)
            self._tell("backward", tile_sum)

    def _above(self, tile_sum: int) -> Callable[[int], Bookcase | None]:
        return lambda tile: self._cases.get(tile_sum + tile)

    def _checkpoint(self, tile_sum: int) -> None:
        """Keep what the next layers need, and drop what none needs any more."""
        for above, case in self._cases.items():
            if case.values is None:
                assert case.shelf is not None  # what is not in a file is in memory
                case.values = write_column(self._path(above), "<f8", [case.shelf.values], is_kept=False)
        checksums = {above: case.values.checksum for above, case in self._cases.items() if case.values}
        self.journal.append(kind="checkpoint", sum=tile_sum, state_values=checksums, seconds=round(self.seconds, 3))
        for path in self.work.glob("values-*"):
            if path not in {self._path(above) for above in self._cases}:
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
        """Write the manifest; with it the table is complete."""
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
            os.sync()  # what the manifest speaks of is there, even if the power fails now
        for name, data in ((SOLVED, solved), (MANIFEST, manifest)):
            with replacing(self.folder / name, force=True) as file:
                file.write(json.dumps(data, indent=1) + "\n")
        self._tidy()
        return Table.open(self.folder)

    def _tidy(self) -> None:
        """Remove what a complete table does not need."""
        self._close()
        self.journal.path.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)

    def _answer(self) -> dict[str, float]:
        """The value over the first tiles; with a goal also the chance to lose, which keeps its digits."""
        if self.problem.objective is Objective.SCORE:
            value = math.fsum(
                start.chance * (self._starts[start.key] - start.board.potential) for start in self.problem.starts
            )
            return {"value": value}
        odds = {
            start.key: float("inf") if self.problem.is_won(start.board) else self._starts[start.key]
            for start in self.problem.starts
        }
        win = math.fsum(start.chance * chance_of(odds[start.key]) for start in self.problem.starts)
        loss = math.fsum(start.chance / (1 + odds[start.key]) for start in self.problem.starts)
        # The smaller of the two has all its digits.
        return {"value": win if win < loss else 1 - loss, "loss_probability": min(loss, 1.0) if win > loss else 1 - win}
