"""Compare trainings on one and on several nodes: python benchmarks/cluster_training.py --nodes 1 2 --repeat 3

Starts a Ray cluster on this machine, with nodes of one core each, and trains an n-tuple network until the mean score of
the last 1,000 games reaches a target.  Prints the seconds of each training, and the CPU seconds of its busiest node:
what the training would take if every node had a core to itself.  On a machine with fewer free cores than nodes, only
the latter can be compared.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from ray_nodes import ray_nodes

import lab2048 as lab

STORE = 400 * 2**20  # bytes of the object store of a node


def cpu_of_workers() -> dict[int, float]:
    """Return the CPU seconds of the worker processes of this machine's Ray nodes, by process."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and "ray::Worker" in (folder / "cmdline").read_text():
                words = (folder / "stat").read_text().rpartition(")")[2].split()
                found[int(folder.name)] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return found


def measure(n_nodes: int, words: argparse.Namespace, seed: int) -> dict[str, Any]:
    points: list[dict[str, Any]] = []
    with ray_nodes(n_nodes, store=STORE) as nodes, tempfile.TemporaryDirectory() as folder:
        begin, reached = 0.0, False
        first: dict[int, float] = {}

        def note(progress: Any) -> None:
            nonlocal begin, reached, first
            now = cpu_of_workers()
            if not begin:
                begin, first = time.monotonic(), now
            cpu = max((now[pid] - first.get(pid, 0.0) for pid in now), default=0.0)
            point = {
                "seconds": round(time.monotonic() - begin, 1),
                "cpu": round(cpu, 1),
                "moves": progress.n_moves,
                "mean": round(progress.mean),
            }
            points.append(point)
            if progress.n_last >= 500 and progress.mean >= words.target and not reached:
                reached = True
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            lab.train(
                "ntuple",
                rules="4x4",
                minutes=words.minutes,
                network="4x6",
                stages="none",
                seed=seed,
                cluster=nodes.address,
                exchange=words.exchange,
                out=Path(folder) / "network.safetensors",
                checkpoint=1e6,
                on_progress=note,
                progress=False,
            )
    last = points[-1] | {"nodes": n_nodes, "seed": seed, "reached": reached, "load": round(os.getloadavg()[0], 1)}
    print(json.dumps(last), flush=True)
    if words.curve:
        for point in points[:: max(1, len(points) // 20)]:
            print("  ", json.dumps(point), flush=True)
    return last


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--target", type=float, default=100_000, help="mean score")
    parser.add_argument("--minutes", type=float, default=30, help="most minutes per training")
    parser.add_argument("--exchange", type=float, default=2.0, help="seconds between two exchanges")
    parser.add_argument("--curve", action="store_true", help="also print points of the curve")
    words = parser.parse_args()
    found: dict[int, list[dict[str, Any]]] = {n: [] for n in words.nodes}
    for seed in range(1, words.repeat + 1):
        for n_nodes in words.nodes:
            found[n_nodes].append(measure(n_nodes, words, seed))
    for n_nodes, runs in found.items():
        medians = {name: statistics.median(run[name] for run in runs) for name in ("seconds", "cpu", "moves")}
        print(f"{n_nodes} nodes: median {medians}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
