"""The origin of a result: program, machine, command and time."""

import json
import platform
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lab2048
from lab2048.errors import FileError
from lab2048.records.input_file import check_nesting

MAX_PROVENANCE = 10_000  # characters of JSON
MAX_NESTING = 20
_MAX_COMMAND = 800  # characters, each at most 12 of JSON


def program() -> str:
    """Return name and version of this program."""
    return f"lab2048 {lab2048.__version__}"


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def command() -> str:
    """Return the command line of this process: of `lab2048`, or of the script that uses the library."""
    script = Path(sys.argv[0])
    if script.stem == "lab2048" or (script.name == "__main__.py" and script.parent.name == "lab2048"):
        words = ["lab2048", *sys.argv[1:]]
    else:
        words = ["python", *sys.orig_argv[1:]]
    return shlex.join(words)[:_MAX_COMMAND]


def provenance() -> dict[str, Any]:
    """Return what every file and run records about its origin."""
    return {
        "program": program(),
        "command": command(),
        "created": now(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def check_provenance(data: Any) -> dict[str, Any]:
    """Return the provenance of an imported file, or raise FileError if it cannot be stored and exported again."""
    expected = f"expected an object of at most {MAX_PROVENANCE} characters, nested at most {MAX_NESTING} deep"
    if not isinstance(data, dict):
        raise FileError(f"provenance is not understood: {expected}")
    try:
        check_nesting(data, MAX_NESTING)  # first: a reader of JSON may go deeper than its writer can
        text = json.dumps(data, allow_nan=False)
    except ValueError as error:
        raise FileError(f"provenance is not understood ({error}): {expected}") from None
    if len(text) > MAX_PROVENANCE:
        raise FileError(f"provenance has {len(text)} characters: {expected}")
    return data
