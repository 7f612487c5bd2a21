"""The journal of an unfinished table: one line of JSON per finished layer.

A line is written when its files are complete.  An incomplete line after a crash is dropped, and so are
all lines from the first one whose files are damaged.
"""

import errno
import json
import math
import os
from pathlib import Path
from typing import IO, Any

from lab2048.errors import FileError, reason_of
from lab2048.records.atomic_file import sync_folder
from lab2048.records.input_file import parse_json, read_bytes
from lab2048.rules.notation import MAX_TILE_SUM
from lab2048.solver.column_file import write_error

SCHEMA = "lab2048/solve-1"


class Journal:
    """An append-only file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self._file: IO[bytes] | None = None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def read(self) -> None:
        """Read up to the first invalid line, and truncate the file there."""
        self.lines = []
        size = 0
        try:
            data = read_bytes(self.path)
            for line in data.splitlines(keepends=True):
                try:
                    entry = parse_json(line, accept_infinite=True) if line.endswith(b"\n") else None
                except ValueError:
                    entry = None
                if not isinstance(entry, dict) or "kind" not in entry or (self.lines and not _has_numbers(entry)):
                    break
                self.lines.append(entry)
                size += len(line)
            if size < len(data):
                with self.path.open("r+b") as file:
                    file.truncate(size)
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {reason_of(error)}", code="file.unreadable") from None

    def keep(self, n_lines: int) -> None:
        """Truncate to the first `n_lines` lines."""
        if n_lines < len(self.lines):
            self.lines = self.lines[:n_lines]
            text = "".join(json.dumps(line) + "\n" for line in self.lines)
            part = self.path.with_name(self.path.name + ".part")
            try:
                part.write_text(text)
                self.close()
                part.replace(self.path)
            except OSError as error:
                raise write_error(self.path, error) from None

    def append(self, **entry: Any) -> None:
        self.lines.append(entry)
        data = (json.dumps(entry) + "\n").encode()
        try:
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            before = self._file.tell()
            if self._file.write(data) < len(data):
                self._file.truncate(before)
                raise OSError(errno.ENOSPC, "no space left")
        except OSError as error:
            self.lines.pop()
            raise write_error(self.path, error) from None

    def sync(self) -> None:
        """Make sure that the journal survives a power failure; later lines need not, they can be computed again."""
        assert self._file is not None  # opened by `append`
        try:
            os.fsync(self._file.fileno())
            sync_folder(self.path.parent)
        except OSError as error:
            raise write_error(self.path, error) from None


def _has_numbers(entry: dict[str, Any]) -> bool:
    """Return True if a line has a layer and a time."""
    tile_sum, seconds = entry.get("sum"), entry.get("seconds")
    is_time = isinstance(seconds, int | float) and 0 <= seconds < math.inf
    return type(tile_sum) is int and 0 <= tile_sum <= MAX_TILE_SUM and is_time
