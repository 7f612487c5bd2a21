"""Checkpoints: what a training was at some moments, beside what it is.

    my.safetensors            the last one; the training goes on with it
    my@3.safetensors          the third that was kept
    my.checkpoints.json       how many were kept so far, and which of them somebody wished to keep

One is kept by a second name for the file (a hard link): a training replaces its file and never changes it, so
that nothing is copied, and the disk holds only what is no longer the last one.
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

MAX_KEPT = 20  # that are kept by themselves, for one training
MAX_BYTES = 1_000_000_000  # of all those together
SUFFIX = ".safetensors"

_lock = threading.RLock()


def n_kept(n_bytes: int) -> int:
    """How many files of a size are kept by themselves."""
    return max(2, min(MAX_KEPT, MAX_BYTES // max(1, n_bytes)))


class Checkpoints:
    """The checkpoints of one training, the last one apart."""

    def __init__(self, folder: Path, name: str) -> None:
        """`folder` holds the trainings of the page."""
        self.folder, self.name = folder, name
        self.last = folder / f"{name}{SUFFIX}"
        self._facts = folder / f"{name}.checkpoints.json"

    def path(self, number: int) -> Path:
        return self.folder / f"{self.name}@{number}{SUFFIX}"

    def numbers(self) -> list[int]:
        """The checkpoints there are, oldest first."""
        pattern = re.compile(re.escape(self.name) + r"@([0-9]{1,9})" + re.escape(SUFFIX))
        found = (pattern.fullmatch(path.name) for path in self.folder.glob(f"{self.name}@*{SUFFIX}"))
        return sorted(int(match[1]) for match in found if match)

    def is_last(self, number: int) -> bool:
        """True if a checkpoint is the last one, be it a second name for it or a copy."""
        with contextlib.suppress(OSError):
            a, b = self.path(number).stat(), self.last.stat()
            return a.st_ino == b.st_ino or (a.st_size, a.st_mtime_ns) == (b.st_size, b.st_mtime_ns)
        return False

    def wished(self) -> set[int]:
        """Those that somebody wished to keep."""
        return set(self._read()["wished"])

    def keep_last(self, *, is_wished: bool) -> int | None:
        """Keep the last one as it is now; return its number, or None if there is none.

        What is kept already is not kept twice.  Those that nobody wished for make room.
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
        """What checkpoints of a size will take that are kept by themselves, beside those there are: so many come."""
        wished = self.wished()
        sizes = [self.path(number).stat().st_size for number in self.numbers() if number not in wished]
        return max(0, n_bytes * min(n_kept(n_bytes), len(sizes) + n_more) - sum(sizes))

    def wish(self, number: int) -> None:
        """Keep a checkpoint whatever comes."""
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

    def remove_all(self) -> None:
        """Remove the training with everything that was kept of it."""
        with _lock:
            for path in [*map(self.path, self.numbers()), self.last, self._facts]:
                path.unlink(missing_ok=True)

    def _make_room(self) -> None:
        """Of those that nobody wished for let some go, so that the rest is spread over the whole training."""
        wished = self.wished()
        numbers = [n for n in self.numbers() if n not in wished]
        if not numbers:
            return
        most = n_kept(self.path(numbers[-1]).stat().st_size)
        while len(numbers) > most:
            # Never the newest: it shows how the training stands.
            gaps = [(numbers[i + 1] - (numbers[i - 1] if i else 0), i) for i in range(len(numbers) - 1)]
            self.path(numbers.pop(min(gaps)[1])).unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._facts.read_text(encoding="utf-8"))
            return {"n": int(data["n"]), "wished": [int(n) for n in data["wished"]]}
        except (OSError, ValueError, KeyError, TypeError):
            return {"n": 0, "wished": []}

    def _write(self, facts: dict[str, Any]) -> None:
        with replacing(self._facts, force=True) as file:
            file.write(json.dumps(facts))


def _link(source: Path, target: Path) -> None:
    """A second name for a file; where the disk has none of that, a copy."""
    try:
        os.link(source, target)
    except OSError:
        part = target.with_name(f".{target.name}.part")
        shutil.copy2(source, part)
        part.replace(target)
