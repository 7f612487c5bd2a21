"""Start lab2048 commands in a folder of their own, wait for them, kill them, and judge how they ended."""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
# The exit codes of docs/cli.md, without those of signals.  Code 1 is documented as an internal failure: an error of the
# operating system on standard output is one, an exception that no one expected is a failure of the test.
DOCUMENTED = {0, 1, 2, 3, 4}
_PREPARE = "from lab2048.arena.compile import GROUPS, prepare; prepare(print, *GROUPS)"
PATIENCE = 120.0  # seconds for a command that takes one or two, on a busy machine
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|internal error|Exception ignored|Segmentation fault|Fatal Python"
)


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Lend an empty folder to commands; what they print goes to `streams` beside it."""
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as name:
        folder = Path(name) / "folder"
        folder.mkdir()
        yield folder


def streams_of(folder: Path) -> Path:
    return folder.parent / "streams"


class Broken(Exception):  # noqa: N818 - a finding, not an error of the suite
    """A promise that does not hold."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    words: Sequence[str]
    code: int  # negative: the number of the signal that ended it
    out: str
    err: str
    seconds: float

    def judge(self, *codes: int) -> Self:
        """Raise Broken if there is a traceback, or an exit code that is neither documented nor one of `codes`."""
        said = self.err[-600:].strip()
        if found := _TRACEBACK.search(self.err):
            raise Broken(f"{found[0]} (exit code {self.code}): {said}")
        if self.code not in (codes or DOCUMENTED):
            raise Broken(f"exit code {self.code}: {said}")
        if self.code in (2, 3) and "lab2048: " not in self.err:
            raise Broken(f"exit code {self.code} without a line that says why: {said}")
        return self


@dataclass
class Running:
    """A command that has been started."""

    program: "Program"
    words: Sequence[str]
    folder: Path
    streams: Path
    pid: int
    begin: float = field(default_factory=time.monotonic)
    _code: int | None = None

    def has_ended(self, seconds: float = 0) -> bool:
        """Wait at most so long for its end."""
        if self._code is None:
            handle = os.pidfd_open(self.pid)
            try:
                if not select.select([handle], [], [], max(0, seconds))[0]:
                    return False
            finally:
                os.close(handle)
            self._code = self.program.ask(reap=self.pid)["code"]
        return True

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self, number: int = signal.SIGKILL) -> None:
        if not self.has_ended():
            os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE) -> Outcome:
        """Wait for the end of the command and of the processes that it started."""
        if not self.has_ended(seconds):
            os.killpg(self.pid, signal.SIGKILL)
            self.has_ended(10)
            raise Broken(f"hangs: no end after {seconds:g} s; {self.read('err')[-300:]}")
        spent = time.monotonic() - self.begin
        until = time.monotonic() + 10
        while _lives(self.pid):
            if time.monotonic() > until:
                os.killpg(self.pid, signal.SIGKILL)
                raise Broken("a process that it started goes on without it")
            time.sleep(0.01)
        assert self._code is not None
        return Outcome(self.words, self._code, self.read("out"), self.read("err"), spent)

    def read(self, stream: str) -> str:
        return (self.streams / stream).read_text(errors="replace")


class Program:
    """lab2048, started by a fork server; use it in a `with` statement."""

    def __init__(self) -> None:
        env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
        env.setdefault("LAB2048_CACHE", str(ROOT / ".cache"))
        self._cache = env["LAB2048_CACHE"]
        # Compile first: a command that takes long after that hangs.
        subprocess.run([sys.executable, "-c", _PREPARE], env=env, check=True, stdout=subprocess.DEVNULL)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "torture.fork_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True, start_new_session=True,
        )  # fmt: skip
        assert self._server.stdout is not None
        json.loads(self._server.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.kill()
        self._server.wait()
        for stream in (self._server.stdin, self._server.stdout):
            with contextlib.suppress(OSError):
                stream and stream.close()  # type: ignore[func-returns-value]

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer: dict[str, Any] = json.loads(self._server.stdout.readline())
        return answer

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the variables of a command whose data, settings and home are in a folder."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        return kept | {
            "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"),
            "LAB2048_CACHE": self._cache, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "500", "NO_COLOR": "1",
        }  # fmt: skip

    def start(
        self, folder: Path, words: Sequence[str], *, paused: bool = False, streams: Path | None = None
    ) -> Running:
        """Start a command; a paused one waits for `resume`."""
        streams = streams or streams_of(folder)
        streams.mkdir(exist_ok=True)
        for stream in ("in", "out", "err"):
            (streams / stream).write_bytes(b"")
        request = {"words": list(words), "folder": str(folder), "streams": str(streams)}
        request |= {"env": self.environment(folder), "paused": paused}
        running = Running(self, words, folder, streams, self.ask(run=request)["pid"])
        if paused:
            wait_until(lambda: _state(running.pid) == "T")
        return running

    def run(self, folder: Path, words: Sequence[str], seconds: float = PATIENCE) -> Outcome:
        return self.start(folder, words).wait(seconds)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def _lives(group: int) -> bool:
    """Return whether a process of this group is alive: a zombie is not."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, found = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(found) == group and state not in "ZX":
                return True
    return False


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise Broken(f"nothing happened for {seconds:g} s")
        time.sleep(0.001)
