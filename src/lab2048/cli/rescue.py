"""Leaving with games that could not be saved: they are written to another place."""

import contextlib
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lab2048.cli.options import say
from lab2048.errors import FileError, StoreError
from lab2048.jobs.command_line import command_line
from lab2048.records.atomic_file import replacing
from lab2048.views.number import count

if TYPE_CHECKING:
    from lab2048.records.episode import Episode


def rescue(unsaved: "Sequence[Episode]", reason: str, store: Path) -> int:
    """Write games that could not be saved to a file, say where it is, and return the exit code: 0 if there are none.

    The file goes to the current folder, the home folder or the folder of temporary files; those on another disk than
    the store come first.  If none can be written, the games are printed.
    """
    if not unsaved:
        return 0
    lines = "".join(json.dumps(episode.to_json()) + "\n" for episode in unsaved)
    say(f"lab2048: {count(len(unsaved), 'game')} could not be saved: {reason or 'the store fails'}")
    path = _write(lines, store)
    if path:
        where = "it is in" if len(unsaved) == 1 else "they are in"
        say(f"{where} {path}; import later with: {command_line(['games', 'import', str(path)])}")
    else:
        say("no other place could be written; save these lines in a file for `lab2048 games import`:")
        print(lines, end="", file=sys.stderr, flush=True)
    return StoreError.exit_code


def _write(lines: str, store: Path) -> Path | None:
    """Write the lines to the first place where that works; return the path, or None."""
    name = f"lab2048-unsaved-{datetime.now().astimezone():%Y%m%d-%H%M%S}.jsonl"
    for folder in sorted(_places(), key=lambda folder: _device(folder) == _device(store.parent)):
        with contextlib.suppress(FileError), replacing(folder / name, force=False) as file:
            file.write(lines)
            return folder / name
    return None


def _places() -> list[Path]:
    found = []
    with contextlib.suppress(OSError):  # the folder is gone
        found.append(Path.cwd())
    with contextlib.suppress(RuntimeError):  # there is none
        found.append(Path.home())
    return [*found, Path(tempfile.gettempdir())]


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None
