"""Watch and disturb the system calls of a command with strace."""

import contextlib
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torture.program import Broken, Outcome, Program, Running, wait_until

# Everything that changes files, and the opening of files.
CHANGING = (
    "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync", "ftruncate", "truncate", "fallocate",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "link", "linkat",
    "copy_file_range", "sendfile", "openat", "open", "close", "dup2",
)  # fmt: skip
_CALL = re.compile(r"(?P<tid>\d+) +(?P<name>\w+)\((?P<rest>.*)")
_RESUMED = re.compile(r"(?P<tid>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)")
_HERE = re.compile(r"AT_FDCWD<[^>]*>")
_RELATIVE = re.compile(r'^(?:, )?"[^/"]')
_HEX = re.compile(r"(?:\\x[0-9a-f]{2})+")
_WITH_DATA = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto")
_RESULT = re.compile(r"\) += (?P<value>-?\d+|\?)")


@dataclass(frozen=True)
class Call:
    """A system call."""

    tid: int
    name: str
    arguments: str  # as strace prints them, file descriptors with their paths
    value: int  # what it returned; -1 for an error
    is_injected: bool = False

    def concerns(self, folder: Path) -> bool:
        """Return whether it is about a file in a folder, which is the current one of the command."""
        if self.name in _WITH_DATA:
            return f"<{folder}/" in self.arguments[:400]
        arguments = _HERE.sub("", self.arguments)
        return f"{folder}/" in arguments or bool(_RELATIVE.search(arguments))


def traced(
    program: Program,
    folder: Path,
    words: Sequence[str],
    *,
    inject: str = "",
    calls: Sequence[str] = CHANGING,
    data: bool = False,
) -> tuple[Outcome, list[Call]]:
    """Run a command under strace; `inject` is its option of that name, `data` keeps what was written."""
    with tracing(program.start(folder, words, paused=True), inject=inject, calls=calls, data=data) as calls_of:
        outcome = calls_of.running.wait()
    return outcome, calls_of()


@dataclass
class _Tracing:
    running: Running
    log: Path

    def __call__(self) -> list[Call]:
        return parse(self.log)


@contextlib.contextmanager
def tracing(
    running: Running, *, inject: str = "", calls: Sequence[str] = CHANGING, data: bool = False
) -> Iterator[_Tracing]:
    """Attach strace to a paused command and let it go on; call the result after the command has ended."""
    log = running.folder.parent / "strace"
    options = [
        "-f",
        "-y",
        "-q",
        "-o",
        str(log),
        "-p",
        str(running.pid),
        "-e",
        f"trace={','.join(f'?{name}' for name in calls)}",
    ]
    options += ["-xx", "-s", "100000000"] if data else ["-s", "0"]
    options += ["-e", f"inject={inject}"] if inject else []
    tracer = subprocess.Popen(["strace", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _wait_attached(running.pid, tracer)
        running.resume()
        yield _Tracing(running, log)
        tracer.wait(10)
    finally:
        tracer.kill()
        tracer.wait()
        assert tracer.stderr is not None
        tracer.stderr.close()


def _wait_attached(pid: int, tracer: "subprocess.Popen[str]") -> None:
    def holds() -> bool:
        if tracer.poll() is not None:
            assert tracer.stderr is not None
            raise Broken(f"strace ended: {tracer.stderr.read()}")
        return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()

    wait_until(holds)


def parse(log: Path) -> "list[Call]":
    """Read the log of strace; calls that another thread interrupts are put together again."""
    begun: dict[int, str] = {}
    found = []
    with log.open(errors="replace") as file:
        for line in file:
            if line.rstrip().endswith("<unfinished ...>"):
                if call := _CALL.match(line):
                    begun[int(call["tid"])] = line.rstrip().removesuffix("<unfinished ...>").rstrip()
                continue
            if resumed := _RESUMED.match(line):
                tid = int(resumed["tid"])
                line = begun.pop(tid, f"{tid} {resumed['name']}(") + resumed["rest"]
            call = _CALL.match(line)
            if call is None:
                continue
            result = list(_RESULT.finditer(call["rest"]))
            if not result or result[-1]["value"] == "?":
                continue
            arguments = call["rest"][: result[-1].start()]
            about, comma, data = arguments.partition(", ") if call["name"] in _WITH_DATA else (arguments, "", "")
            arguments = _HEX.sub(lambda text: bytes.fromhex(text[0].replace("\\x", "")).decode(), about) + comma + data
            found.append(
                Call(int(call["tid"]), call["name"], arguments, int(result[-1]["value"]), "(INJECTED)" in line)
            )
    return found


def of_one_process(calls: Sequence[Call]) -> list[Call]:
    """Leave out calls of child processes, which have descriptors of their own; the threads of the first one stay."""
    children: set[int] = set()
    for call in calls:
        is_start = call.name in ("clone", "clone3", "fork", "vfork") and call.value > 0
        if is_start and ("CLONE_THREAD" not in call.arguments or call.tid in children):
            children.add(call.value)
    return [call for call in calls if call.tid not in children]


def ordinals(calls: Sequence[Call], folder: Path) -> list[tuple[str, int]]:
    """Return name and number, counted per thread as strace counts, of every call that changes a folder."""
    counts: Counter[tuple[int, str]] = Counter()
    found = set()
    for call in calls:
        counts[call.tid, call.name] += 1
        is_change = call.name not in ("openat", "open", "close", "dup2") or "O_CREAT" in call.arguments
        if is_change and call.concerns(folder):
            found.add((call.name, counts[call.tid, call.name]))
    return sorted(found)


def has_strace() -> bool:
    return any(os.access(Path(folder) / "strace", os.X_OK) for folder in os.get_exec_path())
