"""The process of a job, seen from both ends.

The view keeps the other end of the process's standard input.  When that closes, because the job is cancelled or because
the view is gone, even killed, the command does what it does at Ctrl-C: it saves its work and ends.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

PARENT_WATCH = "LAB2048_PARENT_WATCH"  # set for a job's process, to its niceness


class JobProcess:
    """A `lab2048` command in a process of its own, as the view that started it sees it."""

    def __init__(
        self,
        words: Sequence[str],
        out: Path,
        log: Path,
        *,
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        niceness: int = 0,
    ) -> None:
        """Start the command; its output is appended to two files.  Raises OSError if it cannot be started."""
        with out.open("ab") as out_file, log.open("ab") as log_file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lab2048", *words],
                stdin=subprocess.PIPE,
                stdout=out_file,
                stderr=log_file,
                cwd=cwd or None,
                env={**os.environ, **(environment or {}), PARENT_WATCH: str(niceness), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # Ctrl-C in the terminal is for the view
            )
        self.pid = self._process.pid

    def stop(self) -> None:
        """Interrupt the command, as Ctrl-C would."""
        if self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if the process still runs after this time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


def is_alive(pid: int) -> bool:
    """Return True if a job's process of an earlier view still runs under this number."""
    if pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
        return b"lab2048" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def watch_parent() -> None:
    """Interrupt this process when its standard input closes.

    Called first thing by a command whose environment has PARENT_WATCH.  Processes that the command starts itself do
    not inherit the watch.
    """
    niceness = os.environ.pop(PARENT_WATCH, "")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell may have left it ignored
    if hasattr(os, "nice") and niceness.isdecimal():
        with contextlib.suppress(OSError):
            os.nice(int(niceness))
    stream = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_interrupt_at_end, args=(stream,), name="parent-watch", daemon=True).start()


def _interrupt_at_end(stream: int) -> None:
    while os.read(stream, 100):
        pass
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # a true signal also wakes system calls
    else:
        signal.raise_signal(signal.SIGINT)
    sys.stderr.flush()
