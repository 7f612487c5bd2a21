"""Columns of a solve on the disks of nodes: each shard of a layer is a file on the node that owns its range of keys.

The driver knows which node has which file.  If a node is lost, its files are made again, or read from the folder of the
table.
"""

import itertools
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lab2048.cluster import node_disk
from lab2048.cluster.data import LostDataError
from lab2048.cluster.node_disk import NodeFile
from lab2048.solver.column_file import Array, Column

Everywhere = Callable[..., dict[str, Any]]
KEYS, STATES, STATE_VALUES = "keys", "states", "values"
_DTYPES = {KEYS: "<u8", STATES: "<u8", STATE_VALUES: "<f8"}


def _call_here(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    return {"": function(*arguments)}


def file_name(kind: str, tile_sum: int, shard: int) -> str:
    """Return the name of the file of a shard."""
    return f"{kind}-{tile_sum:06}-{shard:04}"


@dataclass
class Disks:
    """The disks of the nodes that work on a solve."""

    everywhere: Everywhere = _call_here  # calls a function on all nodes; returns the results by worker process
    folder: str = field(default_factory=lambda: secrets.token_hex(8))
    _where: dict[str, str] = field(default_factory=dict)  # the worker process that has a file, by its name
    _hosts: dict[str, str] = field(default_factory=dict)  # by worker process

    def look(self) -> None:
        """Ask all nodes which files they have."""
        found = self.everywhere(node_disk.names, self.folder)
        self._where = {name: worker for worker, names in found.items() for name in names}

    def note(self, file: NodeFile) -> None:
        """Remember where a new file is."""
        self._where[file.name], self._hosts[file.worker] = file.worker, file.host

    def host(self, name: str) -> str:
        """Return the node that has a file, or nothing."""
        return self._hosts.get(self._where.get(name, ""), "")

    def find(self, name: str) -> str | None:
        """Return the worker process that has a file, or None."""
        return self._where.get(name)

    def owners(self, n_shards: int) -> dict[int, str]:
        """Return the worker process that has most files of each shard."""
        counts = [Counter[str]() for _ in range(n_shards)]
        for name, worker in self._where.items():
            shard = int(name.rpartition("-")[2])
            if shard < n_shards:
                counts[shard][worker] += 1
        return {shard: count.most_common(1)[0][0] for shard, count in enumerate(counts) if count}

    def drop(self, tile_sum: int) -> None:
        """Delete the files of layers from a tile sum on."""
        gone = [name for name in self._where if int(name.split("-")[1]) >= tile_sum]
        if gone:
            self.everywhere(node_disk.delete, self.folder, gone)
            self._where = {name: worker for name, worker in self._where.items() if name not in set(gone)}

    def delete(self) -> None:
        """Delete all files."""
        self.everywhere(node_disk.delete, self.folder)
        self._where = {}


@dataclass(frozen=True)
class SpreadColumn(Column):
    """A column in files of the nodes; the driver reads it through them."""

    kind: str = KEYS
    tile_sum: int = 0
    shards: tuple[tuple[int, int], ...] = ()  # the size and checksum of each file
    disks: Disks = field(default_factory=Disks, compare=False, repr=False)

    @classmethod
    def of(cls, kind: str, tile_sum: int, shards: Iterable[Sequence[int]], disks: Disks) -> "SpreadColumn":
        """Make a column from the sizes and checksums of its files."""
        each = tuple((n, checksum) for n, checksum in shards)
        if not all(type(number) is int and number >= 0 for pair in each for number in pair):
            raise ValueError("a size is no number")
        n = sum(n for n, _ in each)
        return cls(Path(), _DTYPES[kind], n, kind=kind, tile_sum=tile_sum, shards=each, disks=disks)

    @classmethod
    def made(cls, kind: str, tile_sum: int, files: Sequence[NodeFile], disks: Disks) -> "SpreadColumn":
        """Make a column from new files, one for each shard."""
        for file in files:
            disks.note(file)
        return cls.of(kind, tile_sum, [(file.n, file.checksum) for file in files], disks)

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """Return where each shard begins and ends."""
        return list(itertools.pairwise(itertools.accumulate((n for n, _ in self.shards), initial=0)))

    def file(self, shard: int) -> NodeFile | None:
        """Return the file of a shard, or None if no node has it."""
        name = file_name(self.kind, self.tile_sum, shard)
        worker = self.disks.find(name)
        if worker is None:
            return None
        n, checksum = self.shards[shard]
        return NodeFile(self.disks.folder, name, self.dtype, n, checksum, worker)

    @property
    def hosts(self) -> list[str]:
        """Return the node of each shard."""
        return [self.disks.host(file_name(self.kind, self.tile_sum, i)) for i in range(len(self.shards))]

    @property
    def missing(self) -> list[int]:
        """Return the shards that no node has."""
        return [i for i in range(len(self.shards)) if self.file(i) is None]

    def files(self, shards: Iterable[int] | None = None) -> list[NodeFile]:
        """Return the files of shards, or of all; raise LostDataError if one is missing."""
        found = [self.file(i) for i in (range(len(self.shards)) if shards is None else shards)]
        if None in found:
            raise LostDataError(f"the {self.kind} of layer {self.tile_sum} are gone with a node")
        return [each for each in found if each is not None]

    def parts(self) -> Iterator[Array]:
        """Yield the numbers of all shards."""
        return node_disk.read_all(self.files())

    def read(self, begin: int = 0, end: int | None = None) -> Array:
        """Read a range of the numbers; whole files travel."""
        end = self.n if end is None else end
        some = [i for i, (first, last) in enumerate(self.cuts) if first < end and last > begin]
        if not some:
            return np.empty(0, self.dtype)
        found: Array = np.concatenate(list(node_disk.read_all(self.files(some))))
        skipped = self.cuts[some[0]][0]
        return found[begin - skipped : end - skipped]

    def map(self) -> Array:
        """Read all numbers: a column of the driver would be mapped."""
        return self.read()

    def check(self) -> None:
        """Do nothing: a node checks a file when it is read, and a damaged one is made again."""
