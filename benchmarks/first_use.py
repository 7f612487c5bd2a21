"""The time to first use: python benchmarks/first_use.py [--rounds 5] [--board BOARD]

Runs commands in processes of their own, with an empty cache (cold) and with a full one (warm), and prints the median
CPU and wall seconds of each, child processes included.  Run it on an idle machine: under load, CPU seconds rise a
little and wall seconds a lot.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

BOARD = "2 4 8 16 / # # 2 # / # # # # / # # # 2"
LAB = ("-m", "lab2048")
EVERYTHING = (
    "from lab2048.arena.compile import prepare; from lab2048.kernels.group import GROUPS; prepare(print, *GROUPS)"
)
# The second time, so that loading the code does not count.
UNPACK = (
    "import time; from lab2048.models.ntuple.shipped import unpack; unpack(); "
    "cpu, wall = time.process_time(), time.monotonic(); unpack(); "
    "print(time.process_time() - cpu, time.monotonic() - wall)"
)


def measure(words: Sequence[str], cache: str) -> tuple[float, float]:
    """Return the CPU and wall seconds of a Python command."""
    environment = {**os.environ, "LAB2048_CACHE": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as users have it
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure_inside(code: str, cache: str) -> tuple[float, float]:
    """Return the CPU and wall seconds that Python code prints."""
    environment = {**os.environ, "LAB2048_CACHE": cache}
    text = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    cpu, wall = map(float, text.stdout.split())
    return cpu, wall


@contextmanager
def empty_cache() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="lab2048-cache-", dir=Path.home()) as folder:
        yield folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--board", default=BOARD)
    options = parser.parse_args()
    random = (*LAB, "match", "random", "--games", "10")
    hint = (*LAB, "hint", options.board)
    found: dict[str, list[tuple[float, float]]] = {}
    for number in range(options.rounds + 1):
        rows = {}
        with empty_cache() as cache:
            rows["cold: match random --games 10"] = measure(random, cache)
            rows["warm: match random --games 10"] = measure(random, cache)
        with empty_cache() as cache:
            rows["cold: hint BOARD"] = measure(hint, cache)
            rows["warm: hint BOARD"] = measure(hint, cache)
            rows["unpack the network"] = measure_inside(UNPACK, cache)
            rows["--help"] = measure((*LAB, "--help"), cache)
        with empty_cache() as cache:
            rows["cold: all kernels"] = measure(("-c", EVERYTHING), cache)
        if number > 0:  # the first round fills the caches of Python and of the disk
            for name, seconds in rows.items():
                found.setdefault(name, []).append(seconds)
    print(f"{'median of ' + str(options.rounds):32}{'CPU s':>8}{'wall s':>8}")
    for name, times in found.items():
        cpu, wall = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name:32}{cpu:8.2f}{wall:8.2f}")


if __name__ == "__main__":
    main()
