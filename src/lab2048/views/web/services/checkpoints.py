"""Saved checkpoints of a training, besides the last one.

    my.safetensors            the last checkpoint; training resumes from it
    my@3.safetensors          the third saved checkpoint
    my.checkpoints.json       how many were saved so far, and which of them the user protects

A checkpoint is saved as a hard link to the file: a training replaces its file and never changes it, so nothing
is copied, and only replaced checkpoints take disk space.
"""

import contextlib
import json
import os
import re
import shutil
import threading
from pathlib import Path
from typing import Any

from lab2048.records.atomic_file import replacing
from lab2048.records.input_file import parse_json, read_text

MAX_KEPT = 20  # automatic checkpoints per training
MAX_BYTES = 1_000_000_000  # total size of automatic checkpoints
SUFFIX = ".safetensors"

_lock = threading.RLock()


def n_kept(n_bytes: int) -> int:
    """Return how many checkpoints of a size are saved automatically."""
    return max(2, min(MAX_KEPT, MAX_BYTES // max(1, n_bytes)))


class Checkpoints:
    """The saved checkpoints of one training."""

    def __init__(self, folder: Path, name: str) -> None:
        """`folder` holds the trainings of the page."""
        self.folder, self.name = folder, name
        self.last = folder / f"{name}{SUFFIX}"
        self._facts = folder / f"{name}.checkpoints.json"

    def path(self, number: int) -> Path:
        return self.folder / f"{self.name}@{number}{SUFFIX}"

    def numbers(self) -> list[int]:
        """Return the numbers of the checkpoints, oldest first."""
        pattern = re.compile(re.escape(self.name) + r"@([0-9]{1,9})" + re.escape(SUFFIX))
        found = (pattern.fullmatch(path.name) for path in self.folder.glob(f"{self.name}@*{SUFFIX}"))
        return sorted(int(match[1]) for match in found if match)

    def is_last(self, number: int) -> bool:
        """Return True if a checkpoint is the last one, as a hard link or a copy."""
        with contextlib.suppress(OSError):
            a, b = self.path(number).stat(), self.last.stat()
            return a.st_ino == b.st_ino or (a.st_size, a.st_mtime_ns) == (b.st_size, b.st_mtime_ns)
        return False

    def wished(self) -> set[int]:
        """Return the numbers of protected checkpoints."""
        return set(self._read()["wished"])

    def keep_last(self, *, is_wished: bool) -> int | None:
        """Save the last checkpoint; return its number, or None if there is none.

        A checkpoint is not saved twice.  Unprotected ones are removed if there are too many.
        """
        with _lock:
            if not self.last.exists():
                return None
            number = next((n for n in reversed(self.numbers()) if self.is_last(n)), None)
            if number is None:
                facts = self._read()
                number = facts["n"] = max([int(facts["n"]), *self.numbers()]) + 1
                self._write(facts)
                _link(self.last, self.path(number))
            if is_wished:
                self.wish(number)
            self._make_room()
            return number

    def n_more_bytes(self, n_bytes: int, n_more: int) -> int:
        """Return the additional bytes of automatic checkpoints if this many are written."""
        wished = self.wished()
        sizes = [self.path(number).stat().st_size for number in self.numbers() if number not in wished]
        return max(0, n_bytes * min(n_kept(n_bytes), len(sizes) + n_more) - sum(sizes))

    def wish(self, number: int) -> None:
        """Protect a checkpoint from automatic removal."""
        with _lock:
            facts = self._read()
            facts["wished"] = sorted({*facts["wished"], number})
            self._write(facts)

    def remove(self, number: int) -> None:
        with _lock:
            self.path(number).unlink(missing_ok=True)
            facts = self._read()
            facts["wished"] = [n for n in facts["wished"] if n != number]
            self._write(facts)

    def files(self) -> list[Path]:
        """Return all files of the training: the last one first, without which it is no training."""
        return [self.last, *map(self.path, self.numbers()), self._facts]

    def _make_room(self) -> None:
        """Delete some unprotected checkpoints, so that the others stay spread over the training."""
        wished = self.wished()
        numbers = [n for n in self.numbers() if n not in wished]
        if not numbers:
            return
        most = n_kept(self.path(numbers[-1]).stat().st_size)
        while len(numbers) > most:
            # Never the newest, which shows the current state.
            gaps = [(numbers[i + 1] - (numbers[i - 1] if i else 0), i) for i in range(len(numbers) - 1)]
            self.path(numbers.pop(min(gaps)[1])).unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            data = parse_json(read_text(self._facts))
            return {"n": int(data["n"]), "wished": [int(n) for n in data["wished"]]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # the files themselves are listed anyway
            return {"n": 0, "wished": []}

    def _write(self, facts: dict[str, Any]) -> None:
        with replacing(self._facts, force=True) as file:
            file.write(json.dumps(facts))


def _link(source: Path, target: Path) -> None:
    """Create a hard link, or a copy if the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        part = target.with_name(f".{target.name}.part")
        shutil.copy2(source, part)
        part.replace(target)
