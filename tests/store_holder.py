"""Another program that holds the write lock of a store."""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_SCRIPT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


@contextlib.contextmanager
def held(store: Path) -> Iterator[Callable[[], None]]:
    """Nobody else can write to the store, until the yielded function or the end releases it."""
    command = [sys.executable, "-c", _SCRIPT, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "held\n"

        def release() -> None:
            process.stdin.close()  # type: ignore[union-attr]
            process.wait()

        yield release
        release()
