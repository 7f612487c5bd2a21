"""What a command under torture promises: what it tells, what must be found after a crash, and its result in the end."""

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from torture.program import Broken


class Task:
    """A command that can be interrupted at any moment and run again."""

    name = ""
    words: Sequence[str] = ()
    resumed: Sequence[str] = ()  # added to `words` when there is something to resume
    is_new_each_time = False  # a second run makes a new result beside the first
    seconds = 1.0  # of work, without an interruption

    def prepare(self, folder: Path) -> None:
        """Put what the command reads into an empty folder."""

    def command(self, folder: Path) -> list[str]:
        """Return the words that start or resume it."""
        return [*self.words, *(self.resumed if self.can_resume(folder) else ())]

    def can_resume(self, folder: Path) -> bool:
        return False

    def check(self, folder: Path, told: Sequence[dict[str, Any]]) -> None:
        """Raise Broken unless everything is intact that the command, or an earlier run of it, told in JSON lines."""

    def result(self, folder: Path) -> Any:
        """Return what must not depend on interruptions, or None."""
        return None


def json_lines(text: str) -> Iterator[dict[str, Any]]:
    """Yield complete lines of JSON; a killed command may have written the last one in part."""
    for line in text.splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):
            yield json.loads(line)


def store_of(folder: Path) -> Path:
    return folder / "data" / "lab2048" / "games.sqlite"


def read_store(path: Path, question: str, *values: Any) -> list[tuple[Any, ...]]:
    """Check a copy of a store with SQLite and with lab2048, and ask it; a missing store has no rows."""
    from lab2048.errors import LabError
    from lab2048.records.store import Store

    if not path.exists():
        return []
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as folder:
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, folder)
        copy = Path(folder) / path.name
        with closing(sqlite3.connect(copy)) as database:
            if (found := database.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise Broken(f"{path.name}: {found}")
        if path.name != "games.sqlite":
            return []
        try:
            with Store.open(copy) as store:
                for (id_,) in store._database.execute("SELECT id FROM episodes"):
                    store.get(id_)
                return store._database.execute(question, values).fetchall()
        except LabError as error:
            raise Broken(f"the store does not open: {error}") from error


def digest_of(folder: Path, *, without: Sequence[str] = ()) -> dict[str, str]:
    """Return a checksum for each file of a folder."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in without
    }
