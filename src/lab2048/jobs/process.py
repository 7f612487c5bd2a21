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

from lab2048.records.process_lock import ProcessLock

PARENT_WATCH = "LAB2048_PARENT_WATCH"  # set for a job's process, to its niceness
JOB_LOCK = "LAB2048_JOB_LOCK"  # set for a job's process, to the file that it locks while it runs

_held: list[ProcessLock] = []  # by this process, until it ends


class JobProcess:
    """A `lab2048` command in a process of its own, as the view that started it sees it."""

    def __init__(
        self,
        words: Sequence[str],
        out: Path,
        log: Path,
        lock: Path,
        *,
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        niceness: int = 0,
    ) -> None:
        """Start the command; its output is appended to two files, and it holds `lock` while it runs.

        Raises OSError if it cannot be started.
        """
        own = {PARENT_WATCH: str(niceness), JOB_LOCK: str(lock), "PYTHONUNBUFFERED": "1"}
        with out.open("ab") as out_file, log.open("ab") as log_file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lab2048", *words],
                stdin=subprocess.PIPE,
                stdout=out_file,
                stderr=log_file,
                cwd=cwd or None,
                env={**os.environ, **(environment or {}), **own},
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
        except OSError:  # it sleeps, which can fail if the clock was set back by decades; the job must be followed on
            threading.Event().wait(seconds)
            return self._process.poll()


def is_alive(lock: Path) -> bool:
    """Return True if the process of a job, perhaps of an earlier view, still runs.

    The process holds a lock on a file, which the operating system releases when the process ends, however it ends.
    That works the same on Linux, macOS and Windows; a process id may belong to another program by now, and each system
    has its own way to look that up.
    """
    own = ProcessLock(lock)
    if not own.try_acquire():
        return True
    own.release()
    return False


def watch_parent() -> None:
    """Interrupt this process when its standard input closes, and hold the lock of its job.

    Called first thing by a command whose environment has PARENT_WATCH.  Processes that the command starts itself do
    not inherit the watch.
    """
    niceness, lock = os.environ.pop(PARENT_WATCH, ""), os.environ.pop(JOB_LOCK, "")
    if lock:
        _held.append(ProcessLock(Path(lock)))
        _held[-1].try_acquire()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell may have left it ignored
    if niceness.isdecimal():
        _be_nice(int(niceness))
    stream = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_interrupt_at_end, args=(stream,), name="parent-watch", daemon=True).start()


def _be_nice(niceness: int) -> None:
    """Leave the processor to other programs."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(niceness)
    # Linux may share the processor by sessions first (autogroups), and a job has one of its own: without this, it would
    # get as much time as all the rest of the user's terminal, whatever its niceness.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(niceness))


def _interrupt_at_end(stream: int) -> None:
    while os.read(stream, 100):
        pass
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # a true signal also wakes system calls
    else:
        signal.raise_signal(signal.SIGINT)
    sys.stderr.flush()
