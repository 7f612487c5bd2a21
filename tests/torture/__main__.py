"""Torture lab2048: kill it, let its writes fail, cut its power, set its clock back, run it twice, feed it nonsense.

Run it as script/torture.  Every part goes on, round by round, until the time is over; each part runs at least once.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from torture import clock, fuzzing, io_error, kill, page_fault, pair, power_loss
from torture.command_task import TASKS
from torture.program import Program
from torture.report import Report
from torture.system_call import has_strace
from torture.task import Task

Part = Callable[[Program, random.Random, Report], None]


def _each(name: str, do: Callable[[Program, Task, int, random.Random, Report], None], n: int) -> Part:
    def part(program: Program, rng: random.Random, report: Report) -> None:
        for task in TASKS:
            with report.trying(name, task.name):
                do(program, task(), n, rng, report)

    return part


def _kills(program: Program, rng: random.Random, report: Report) -> None:
    _each("kill", kill.kill_command, 6)(program, rng, report)
    kill.kill_page(program, 12, rng, report)


def _errors(program: Program, rng: random.Random, report: Report) -> None:
    _each("io-error", io_error.fail_calls, 12)(program, rng, report)
    page_fault.fail_page(program, 12, rng, report)


def _full_disks(program: Program, rng: random.Random, report: Report) -> None:
    _each("full-disk", io_error.fill_disk, 2)(program, rng, report)
    page_fault.fill_disk_of_page(program, 4, rng, report)


def _losses(program: Program, rng: random.Random, report: Report) -> None:
    _each("power-loss", power_loss.lose_power, 20)(program, rng, report)
    with report.trying(power_loss.PART, "serve"):
        power_loss.lose_power_of_page(program, 40, rng, report)


def _pairs(program: Program, rng: random.Random, report: Report) -> None:
    _each("two-at-once", pair.run_twice, 2)(program, rng, report)
    pair.serve_twice(program, 2, rng, report)


def _fuzz(program: Program, rng: random.Random, report: Report) -> None:
    fuzzing.fuzz(20_000, rng, report)


PARTS: dict[str, Part] = {
    "kill": _kills,
    "io-error": _errors,
    "full-disk": _full_disks,
    "power-loss": _losses,
    "two-at-once": _pairs,
    "clock": _each("clock", clock.set_back, 1),
    "fuzz": _fuzz,
}
_NEEDS_STRACE = ("io-error", "power-loss")


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, metavar="M", help="how long (default: 10)")
    parser.add_argument("--only", choices=PARTS, action="append", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=None, metavar="S", help="seed of all random choices")
    parser.add_argument("--fuzzed", type=int, default=0, metavar="N", help="fuzz N inputs, whatever the time")
    parser.add_argument("--out", type=Path, default=Path(".cache/torture.json"), metavar="FILE", help="figures as JSON")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"seed {seed}", flush=True)
    rng, report = random.Random(seed), Report(seed)
    names = [name for name in options.only or PARTS if name not in _NEEDS_STRACE or has_strace()]
    if len(names) < len(options.only or PARTS):
        report.left_out.append("I/O errors and power losses (apt-get install strace)")
    end = time.monotonic() + 60 * options.minutes
    with Program() as program:
        is_first = True
        while is_first or time.monotonic() < end:
            for name in names:
                if is_first or time.monotonic() < end:
                    with report.timing(name):
                        PARTS[name](program, rng, report)
                    report.write(options.out)
            is_first = False
    if options.fuzzed:
        with report.timing("fuzz"):
            fuzzing.fuzz(options.fuzzed, rng, report)
    report.write(options.out)
    print(report.table())
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
