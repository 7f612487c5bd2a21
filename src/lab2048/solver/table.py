"""Tables: the value of every afterstate of a solved board, in a folder.

    manifest.json           the problem, the answer, and the counts and checksums of each layer
    keys-000042.npy         the afterstates of tile sum 42, up to symmetry, as sorted keys (uint64)
    values-000042.npy       their values in the same order, float32 or float64
    solved.json             when and how the table was made

A key is a packed board times block.SCATTER, modulo 2^64; multiplying by block.GATHER restores the
board.  A value is the odds of reaching the goal, P(win) / P(loss), or the expected future score.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from lab2048.errors import FileError, LabError, reason_of
from lab2048.records.input_file import parse_json, read_text
from lab2048.rules import Board
from lab2048.rules.notation import MAX_TILE_SUM
from lab2048.solver.column_file import Array, Column
from lab2048.solver.forward import LayerCount
from lab2048.solver.probing import Probing
from lab2048.solver.problem import Objective, Problem

SCHEMA = "lab2048/table-1"
COMPACT_SCHEMA = "lab2048/endgame-1"  # of lab2048.solver.endgame.compact_table
MANIFEST = "manifest.json"
DTYPES = ("<f4", "<f8")
_EXPECTED = "expected the folder of a solved board, written by lab2048 solve"


@dataclass(frozen=True)
class Layer:
    """The afterstates of one tile sum and their values."""

    tile_sum: int
    count: LayerCount
    keys: Column
    values: Column

    def to_json(self) -> dict[str, Any]:
        """Return the layer's entry in the manifest."""
        return {
            "sum": self.tile_sum,
            **self.count.to_json(),
            "keys": self.keys.checksum,
            "values": self.values.checksum,
        }


def keys_path(folder: Path, tile_sum: int) -> Path:
    """Return the file of a layer's afterstates."""
    return folder / f"keys-{tile_sum:06}.npy"


def values_path(folder: Path, tile_sum: int) -> Path:
    """Return the file of a layer's values."""
    return folder / f"values-{tile_sum:06}.npy"


def read_manifest(folder: Path, *schemas: str) -> dict[str, Any]:
    """Read the manifest of a table; raise FileError unless it has one of these formats."""
    path = folder / MANIFEST
    try:
        data = parse_json(read_text(path))
    except FileNotFoundError:
        if not folder.exists():
            raise FileError(f"there is no folder {folder}: {_EXPECTED}", code="file.not_found") from None
        if (folder / "journal.jsonl").exists():
            raise FileError(f"{folder} holds an unfinished table: the same solve resumes it") from None
        raise FileError(f"{folder} holds no table: {_EXPECTED}") from None
    except NotADirectoryError:
        raise FileError(f"{folder} is a file: {_EXPECTED}", code="file.unreadable") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    except ValueError as error:
        raise FileError(f"{path} is not valid JSON: {error}", code="file.damaged") from None
    if isinstance(data, dict) and data.get("schema") == COMPACT_SCHEMA and COMPACT_SCHEMA not in schemas:
        raise FileError(
            f"{folder} holds a compact endgame table: expected one with all digits, written by lab2048 solve",
            code="file.wrong_kind",
        )
    if not isinstance(data, dict) or data.get("schema") not in schemas:
        raise FileError(f"{path} has another format: expected the schema {' or '.join(schemas)}")
    return data


class Table(Probing):
    """A complete table, opened for probing; layers are memory-mapped on demand."""

    def __init__(self, folder: Path, problem: Problem, layers: dict[int, Layer], manifest: dict[str, Any]) -> None:
        """Use `open`."""
        self.folder, self.problem, self.layers, self.manifest = folder, problem, layers, manifest
        self._maps: dict[int, tuple[Array, Array]] = {}

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a table by reading its manifest."""
        data = read_manifest(folder, SCHEMA)
        path = folder / MANIFEST
        try:
            dtype = data["dtype"]
            if dtype not in DTYPES:
                raise ValueError(f"dtype {dtype!r}")
            LayerCount.from_json(data)
            layers = {}
            for line in data["layers"]:
                tile_sum, count = line["sum"], LayerCount.from_json(line)
                if type(tile_sum) is not int or not 0 <= tile_sum <= MAX_TILE_SUM or tile_sum in layers:
                    raise ValueError(f"sum {tile_sum!r}")
                n = count.afterstates
                keys = Column(keys_path(folder, tile_sum), "<u8", n, str(line["keys"]))
                values = Column(values_path(folder, tile_sum), dtype, n, str(line["values"]))
                layers[tile_sum] = Layer(tile_sum, count, keys, values)
            problem = Problem.from_json(data["problem"])
            names = ("value", "loss_probability") if problem.objective is Objective.WIN else ("value",)
            if not all(type(data[name]) in (int, float) and data[name] >= 0 for name in names):
                raise ValueError("its value is not a number")
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path} is damaged: {type(error).__name__}: {error}", code="file.damaged") from None
        except LabError as error:
            raise FileError(f"{path} is damaged: {error}", code="file.damaged") from None
        return cls(folder, problem, layers, data)

    @cached_property
    def count(self) -> LayerCount:
        """Return the sum of the counts of all layers."""
        return sum((layer.count for layer in self.layers.values()), LayerCount())

    @property
    def n_bytes(self) -> int:
        """Return the size of the layers on disk."""
        return sum(column.n_bytes for column in self.all_columns)

    @property
    def all_columns(self) -> list[Column]:
        """Return the columns of all layers."""
        return [column for layer in self.layers.values() for column in (layer.keys, layer.values)]

    def load(self) -> None:
        """Load the whole table into memory; its folder is no longer needed."""
        self._maps = {tile_sum: (layer.keys.read(), layer.values.read()) for tile_sum, layer in self.layers.items()}

    def _map(self, tile_sum: int) -> tuple[Array, Array]:
        if tile_sum not in self._maps:
            if len(self._maps) > 64:  # maps are open files
                self._maps.pop(next(iter(self._maps)))
            layer = self.layers[tile_sum]
            # Plain arrays on the same memory, because indexing a memmap is slow.
            self._maps[tile_sum] = np.asarray(layer.keys.map()), np.asarray(layer.values.map())
        return self._maps[tile_sum]

    def stored_value(self, after: Board) -> float:
        """Return the stored value of an afterstate: odds, or the expected future score."""
        self.check_shape(after)
        if after.tile_sum in self.layers and after.is_packable:
            keys, values = self._map(after.tile_sum)
            key = self.problem.key_of(after)
            i = int(np.searchsorted(keys, np.uint64(key)))
            if i < len(keys) and int(keys[i]) == key:
                value = float(values[i])
                if not value >= 0:  # also true for NaN
                    path = self.layers[after.tile_sum].values.path
                    raise FileError(f"{path} is damaged: it holds the value {value}", code="file.damaged")
                return value
        raise self.missing(after)
