"""Set the clock back while a command runs, with libfaketime."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from torture.kill import compare
from torture.program import PATIENCE, Outcome, Program, streams_of, workplace
from torture.report import Report
from torture.task import Task, json_lines

PART = "clock"
_TIMES = ("-1d", "-3600", "-10y", "@1980-01-01 00:00:00", "@1970-01-01 00:00:01", "+1y", "@2037-12-31 23:59:59")


def faketime() -> Path | None:
    """Return the library, if it is installed."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


def set_back(program: Program, task: Task, n: int, rng: random.Random, report: Report) -> None:
    """Run a command n times while its clock jumps; the result must be the same."""
    library = faketime()
    if library is None:
        report.left_out.append("clock (apt-get install libfaketime)")
        return
    with workplace() as folder:
        task.prepare(folder)
        program.run(folder, task.command(folder)).judge(0)
        expected = task.result(folder)
    for _ in range(n):
        jumps = rng.sample(_TIMES, 2)
        with report.trying(PART, f"{task.name}, {jumps}"), workplace() as folder:
            report.count(PART, task.name)
            task.prepare(folder)
            # The first run is stopped in the middle, the second one ends: each with another clock.
            first = _run(program, task, folder, library, "+0", jumps[0], stop_after=0.4 + rng.random() * task.seconds)
            first.judge(0, 130, -15, 143)
            second = _run(program, task, folder, library, jumps[1], "-30d", stop_after=None).judge(0)
            task.check(folder, [*json_lines(first.out), *json_lines(second.out)])
            compare(task, folder, expected)


def _run(
    program: Program, task: Task, folder: Path, library: Path, begin: str, later: str, stop_after: float | None
) -> Outcome:
    clock = folder.parent / "clock"
    clock.write_text(begin)
    env = program.environment(folder) | {
        "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    streams_of(folder).mkdir(exist_ok=True)
    words, out, err = task.command(folder), streams_of(folder) / "out", streams_of(folder) / "err"
    with out.open("w") as out_file, err.open("w") as err_file:
        process = subprocess.Popen(
            [sys.executable, "-m", "lab2048", *words], cwd=folder, env=env,
            stdout=out_file, stderr=err_file, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        begun = time.monotonic()
        try:
            process.wait(1.2)
        except subprocess.TimeoutExpired:
            clock.with_name("clock-2").write_text(later)
            os.replace(clock.with_name("clock-2"), clock)  # noqa: PTH105
        try:
            process.wait(PATIENCE if stop_after is None else stop_after)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait(PATIENCE)
    return Outcome(
        words, process.returncode, out.read_text(), err.read_text(errors="replace"), time.monotonic() - begun
    )
