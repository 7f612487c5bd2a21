"""The folder of a solve: the names of its files, and whether it may be used."""

from pathlib import Path

from lab2048.errors import FileError
from lab2048.solver.problem import Problem
from lab2048.solver.table import MANIFEST, Table

JOURNAL, WORK, SOLVED = "journal.jsonl", "work", "solved.json"


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
