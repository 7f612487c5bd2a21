"""The process of a job: a command on a leash.

The leash (lab2048.cli.parent_watch) is its standard input: when that ends, because the job is cancelled or because the
server is gone, the command does what it does at Ctrl-C, and keeps what it has.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def launch(
    folder: Path, words: Sequence[str], environment: Mapping[str, str], niceness: int
) -> subprocess.Popen[bytes]:
    """Start a command; what it says goes to files of a folder, after what is there.  Raises OSError if it cannot."""
    with (folder / "out.jsonl").open("ab") as out, (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "lab2048", *words],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=log,
            env={**os.environ, **environment, "LAB2048_LEASH": str(niceness), "PYTHONUNBUFFERED": "1"},
            start_new_session=True,  # Ctrl-C in the terminal is for the server
        )


def let_go(process: "subprocess.Popen[bytes] | None") -> None:
    """End the leash; the command ends when it has kept what it has."""
    if process and process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()


def wait(process: "subprocess.Popen[bytes]", seconds: float) -> int | None:
    """How a command has ended; None if it still runs after so long."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Give a command some time to end, and then no more."""
    wait(process, seconds)
    with contextlib.suppress(OSError):
        process.kill()


def is_alive(pid: int) -> bool:
    """True if a process of an earlier server still runs under this number."""
    if pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
        return b"lab2048" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
