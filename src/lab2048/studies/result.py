"""Results of rows, each stored in its own file with its provenance."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from lab2048.errors import FileError, reason_of
from lab2048.records.atomic_file import replacing
from lab2048.records.database import data_folder, make_data_folder
from lab2048.records.input_file import parse_json, read_text
from lab2048.studies.measure import Measured
from lab2048.studies.model import Row, Study

SCHEMA = "lab2048/study-result-1"


class GameResult(NamedTuple):
    """The stored facts of one game."""

    number: int
    score: int
    n_moves: int
    max_tile: int
    tile_sum: int
    moves_to_goal: int | None
    seconds: float
    n_overridden: int | None = None  # this and the next only where they were counted
    n_replaced: int | None = None
    accuracy: float | None = None  # this and the next only where games were reviewed
    error_rate: float | None = None
    luck: float | None = None


@dataclass
class Result:
    """The result of a row."""

    row: str
    digest: str  # Row.digest, or Row.digest_without_games while unfinished
    seed: int
    measured: dict[str, Measured] = field(default_factory=dict)  # by the text of the measure
    games: list[GameResult] = field(default_factory=list)
    curve: list[dict[str, float]] = field(default_factory=list)  # learning curve: one dict per point
    skip_reason: str = ""  # why the row was skipped
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # over all threads and processes
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; `from_json` is the inverse."""
        return {
            "schema": SCHEMA,
            "row": self.row,
            "digest": self.digest,
            "seed": self.seed,
            "measured": {name: each.to_json() for name, each in self.measured.items()},
            "left_out": self.skip_reason,
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "provenance": dict(self.provenance),
            "curve": self.curve,
            "games": [list(game) for game in self.games],
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse the data that `to_json` returns."""
        try:
            if data["schema"] != SCHEMA:
                raise KeyError("schema")
            return cls(
                row=str(data["row"]),
                digest=str(data["digest"]),
                seed=int(data["seed"]),
                measured={name: Measured.from_json(each) for name, each in data["measured"].items()},
                games=[_read_game(game) for game in data["games"]],
                curve=[_read_point(point) for point in data["curve"]],
                skip_reason=str(data["left_out"]),
                seconds=float(data["seconds"]),
                cpu_seconds=float(data.get("cpu_seconds", 0.0)),  # missing in older files
                provenance=dict(data["provenance"]),
            )
        except (TypeError, KeyError, ValueError, AttributeError):
            raise FileError(f"not a study result: expected an object with the schema {SCHEMA}") from None


_FRACTIONS = ("seconds", "accuracy", "error_rate", "luck")


def _read_game(game: Any) -> GameResult:
    found = GameResult(*game)
    optional = GameResult._field_defaults.keys() | {"moves_to_goal"}
    for name, fact in found._asdict().items():
        kinds = (int, float) if name in _FRACTIONS else (int,)
        if type(fact) not in kinds and not (fact is None and name in optional):
            raise TypeError(f"{name} of a game is not a number")
    return found


def _read_point(point: Any) -> dict[str, float]:
    found = dict(point)
    if not all(isinstance(figure, int | float) for figure in found.values()):
        raise TypeError("a point of a curve has a figure that is not a number")
    return found


def results_folder() -> Path:
    """Return the default folder: LAB2048_STUDIES, or `studies` in the user's data folder."""
    named = os.environ.get("LAB2048_STUDIES")
    return Path(named) if named else data_folder() / "studies"


class ResultFolder:
    """The stored results of one study at one size and seed: one file per row, partial results in `*.part.json`."""

    def __init__(self, study: Study, size: str, seed: int, folder: Path | None = None) -> None:
        """Create nothing on disk until the first result is saved."""
        self.study, self.size, self.seed = study, size, seed
        self.folder = (folder or results_folder()) / study.name / f"{size}-{seed}"
        self.damaged: dict[Path, str] = {}  # files that were found damaged, and a line about each

    def find(self, row: Row) -> Result | None:
        """Return the result of a row if its digest matches the study."""
        result = self._read(self.folder / f"{row.id}.json")
        return result if result is not None and result.digest == row.digest(self.size) else None

    def find_partial(self, row: Row) -> Result | None:
        """Return the partial result of an unfinished row."""
        part = self._read(self.folder / f"{row.id}.part.json")
        return part if part is not None and part.digest == row.digest_without_games(self.size) else None

    def find_fewer(self, row: Row) -> Result | None:
        """Return a result that differs from the row only by having fewer games."""
        if row.kind != "match":
            return None
        result = self._read(self.folder / f"{row.id}.json")
        if result is None or len(result.games) >= row.amount(self.size):
            return None
        before = replace(row, sizes={self.size: len(result.games)})
        return result if result.digest == before.digest(self.size) else None

    def results(self) -> dict[str, Result]:
        """Return all results by part id, including those with fewer games."""
        found = {row.id: self.find(row) or self.find_fewer(row) for row in self.study.parts(self.size)}
        return {id_: result for id_, result in found.items() if result is not None}

    def keep(self, result: Result) -> None:
        """Save a finished result and delete the partial one."""
        self._write(self.folder / f"{result.row}.json", result)
        (self.folder / f"{result.row}.part.json").unlink(missing_ok=True)

    def save_partial(self, part: Result) -> None:
        """Save the partial result of an unfinished row."""
        self._write(self.folder / f"{part.row}.part.json", part)

    def _write(self, path: Path, result: Result) -> None:
        try:
            if data_folder() in self.folder.parents:
                make_data_folder()
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.folder} cannot be created: {reason_of(error)}", code="file.unwritable") from None
        with replacing(path, force=True) as file:
            json.dump(result.to_json(), file, allow_nan=False)

    def _read(self, path: Path) -> Result | None:
        try:
            return Result.from_json(parse_json(read_text(path)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
        except (ValueError, FileError):  # the other rows are not affected
            self.damaged[path] = f"{path} is damaged: delete it, or run the study again, which replaces it"
            return None
