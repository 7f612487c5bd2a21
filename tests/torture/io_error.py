"""Let each write of a command fail, one run per write, and see that it says so and loses nothing."""

import contextlib
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

from torture.kill import compare
from torture.program import Broken, Program, workplace
from torture.report import Report
from torture.system_call import CHANGING, ordinals, traced
from torture.task import Task, json_lines

PART = "io-error"
_ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS")
_FAILURES = 6  # of one command: more tell nothing new


def fail_calls(program: Program, task: Task, n: int, rng: random.Random, report: Report) -> None:
    """Let up to n different calls of a command fail, each in a run of its own."""
    with workplace() as folder:
        task.prepare(folder)
        outcome, calls = traced(program, folder, task.command(folder))
        outcome.judge(0)
        expected = task.result(folder)
        possible = ordinals(calls, folder)
    chosen = _spread(possible, n, rng)
    n_failed = len(report.failures)
    for number, (call, ordinal) in enumerate(chosen):
        if len(report.failures) >= n_failed + _FAILURES:
            return
        error = _ERRORS[number % 2] if number % 8 else _ERRORS[rng.randrange(4)]
        inject = f"{call}:error={error}:when={ordinal}"
        with report.trying(PART, f"{task.name}, {inject}"), workplace() as folder:
            _fail_one(program, task, folder, inject, expected, report)


def _spread(possible: list[tuple[str, int]], n: int, rng: random.Random) -> list[tuple[str, int]]:
    """Choose up to n calls, all of the rare kinds first: there are hundreds of writes and few renames."""
    by_name: dict[str, list[tuple[str, int]]] = {}
    for call in possible:
        by_name.setdefault(call[0], []).append(call)
    for calls in by_name.values():
        rng.shuffle(calls)
    chosen = []
    while len(chosen) < n and any(by_name.values()):
        chosen += [calls.pop() for calls in by_name.values() if calls]
    return chosen[:n]


def _fail_one(program: Program, task: Task, folder: Path, inject: str, expected: Any, report: Report) -> None:
    task.prepare(folder)
    outcome, calls = traced(program, folder, task.command(folder), inject=inject, calls=CHANGING)
    hit = [call for call in calls if call.is_injected]
    if not hit or not all(call.concerns(folder) for call in hit):
        return  # another call than meant: threads share the work differently each time
    report.count(PART, task.name)
    outcome.judge()
    _check_said(outcome.code, outcome.err)
    told = list(json_lines(outcome.out))
    task.check(folder, told)
    if outcome.code == 0:
        compare(task, folder, expected)
    again = program.run(folder, task.command(folder)).judge(0)
    task.check(folder, [*told, *json_lines(again.out)])
    compare(task, folder, expected)


def _check_said(code: int, err: str) -> None:
    lines = [line for line in err.splitlines() if line.startswith("lab2048: ")]
    if code and len(lines) != 1:
        raise Broken(f"exit code {code} with {len(lines)} lines that say why: {err[-300:]}")


def fill_disk(program: Program, task: Task, n: int, rng: random.Random, report: Report, megabytes: int = 8) -> None:
    """Run a command on a small disk that is full after a random number of bytes; then free space and resume."""
    with workplace() as folder:
        task.prepare(folder)
        program.run(folder, task.command(folder)).judge(0)
        expected, size = task.result(folder), sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    for _ in range(n):
        seed = rng.getrandbits(32)
        with (
            report.trying("full-disk", f"{task.name}, seed {seed}"),
            workplace() as folder,
            Disk(folder, megabytes + 2 * size // 1_000_000) as disk,
        ):
            task.prepare(disk.folder)
            disk.fill(leave=int(random.Random(seed).random() ** 2 * size * 1.5))
            outcome = program.run(disk.folder, task.command(disk.folder))
            report.count("full-disk", task.name)
            disk.free()
            outcome.judge()
            if outcome.code == 0:
                compare(task, disk.folder, expected)
            told = list(json_lines(outcome.out))
            task.check(disk.folder, told)
            again = program.run(disk.folder, task.command(disk.folder)).judge(0)
            task.check(disk.folder, [*told, *json_lines(again.out)])
            compare(task, disk.folder, expected)


class Disk:
    """A small file system in memory; needs root."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self._size = f"{megabytes}m"
        self._filler = folder / "filler"

    def __enter__(self) -> "Disk":
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self._size}", "tmpfs", str(self.folder)], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=True)

    def fill(self, leave: int) -> None:
        """Leave so many bytes free."""
        free = shutil.disk_usage(self.folder).free
        with contextlib.suppress(OSError):  # others write, too: then it is full
            self._filler.write_bytes(bytes(max(0, free - leave)))

    def free(self) -> None:
        self._filler.unlink()
