"""How fast boards are solved: forward, backward and files together, in afterstates per CPU second.

    python benchmarks/solver.py [--json] [--rounds 3] [--boards 3x3-512 2x4]

Each solve runs in a process of its own, kernels compiled before; boards and numbers of
workers are measured in turn, several times, and the medians are compared.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BOARDS = ("3x3-512", "3x3-1024", "2x4", "3x3")
WORKERS = (1, 2)


def measure(name: str, n_workers: int) -> dict[str, float]:
    board, _, goal = name.partition("-")
    with tempfile.TemporaryDirectory() as folder:
        words = ["solve", board, *(["--goal", goal] if goal else []), "--workers", str(n_workers), "--json"]
        command = [sys.executable, "-m", "lab2048", *words, "--out", str(Path(folder) / "table")]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = json.loads(done.stdout)
    names = ("afterstates", "cpu_seconds", "seconds", "peak_memory", "bytes")
    return {name: float(found[name]) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--boards", nargs="+", default=list(BOARDS))
    options = parser.parse_args()
    measure("2x2-16", 1)  # compiles, if that is still to be done
    rows = [(name, n_workers) for name in options.boards for n_workers in WORKERS]
    rounds = [{row: measure(*row) for row in rows} for _ in range(options.rounds)]
    result = []
    for name, n_workers in rows:
        found = [each[name, n_workers] for each in rounds]
        middle = {key: statistics.median(each[key] for each in found) for key in found[0]}
        rate = statistics.median(each["afterstates"] / each["cpu_seconds"] for each in found)
        result.append({"board": name, "workers": n_workers, **middle, "afterstates_per_cpu_second": rate})
    if options.json:
        print(json.dumps({"rounds": options.rounds, "rows": result}))
        return
    for row in result:
        print(
            f"{row['board']:<10} {row['workers']} workers {row['afterstates_per_cpu_second'] / 1e6:6.2f} million "
            f"afterstates per CPU second, {row['seconds']:6.1f} s, {row['peak_memory'] / 2**20:5.0f} MB"
        )


if __name__ == "__main__":
    main()
