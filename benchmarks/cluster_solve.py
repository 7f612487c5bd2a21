"""Predict the time of a solve on many nodes, and check it on this machine: python benchmarks/cluster_solve.py

First a solve of 2x5 to 128 in shards, in one process, which counts what every part of it takes per afterstate: CPU
seconds of the nodes and of the command, bytes between nodes, bytes that nodes write to their disks and read from there,
bytes that the command fetches and writes to the folder of the table.  Then the same without shards, because a solve
makes small layers without nodes.  Then what Ray takes: seconds per unit of work, per array and per byte from one node
to another; and how fast the disk is.

The model adds these up for 3x4 on 10, 100 and 1,000 nodes, and on one of them without Ray, with the network and the
disk as measured here, or as `--link` and `--disk` say.  `--check` solves boards on 1, 2 and 3 nodes of one core each,
all on this machine, and prints how far the model is off; here, the command and all nodes share the cores, of which
other programs may use a part: `cores` is what they left.  Small layers would be made without nodes, and most layers of
these boards are small, so `--least` lowers the limit.
"""

import argparse
import dataclasses
import json
import logging
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import numpy as np
from ray_nodes import ray_nodes

import lab2048 as lab
from lab2048.cluster.node_disk import NodeFile
from lab2048.library.solve import read_problem
from lab2048.solver.column_file import Column, write_column
from lab2048.solver.nodes import sharded
from lab2048.solver.nodes.sharded import PER_WORKER, Shards
from lab2048.solver.nodes.spread_column import Disks
from lab2048.solver.solve import Solve
from lab2048.solver.table import Table
from lab2048.solver.workers import Workers

STORE = 1 << 30  # bytes of the object store of a node
N_3X4 = 739_648_886_170  # afterstates
ROUNDS = 9  # per layer, in which all shards are worked on: three forward, six backward
EXCHANGES = 9  # arrays per layer from each shard to each: three forward, and three questions and answers backward
N_SUMS_3X4 = 8_189  # layers: even tile sums from 4 up to 16,380, the largest board


@dataclass
class Costs:
    """What a solve takes, per afterstate unless noted otherwise."""

    node_cpu: float = 0.0  # seconds
    command_cpu: float = 0.0  # to fetch what the table holds, and to write it
    unit_cpu: float = 0.0  # seconds of the command for each unit of work, without Ray
    alone_cpu: float = 0.0  # of an afterstate in a layer that the command makes without nodes
    between_nodes: float = 0.0  # bytes
    from_disks: float = 0.0  # of the nodes
    to_disks: float = 0.0
    to_folder: float = 0.0  # of the table; the command fetches it from the nodes
    per_unit: float = 0.0  # seconds that Ray takes for a unit of work
    per_array: float = 0.0  # seconds for a small array from one node to another
    per_handle: float = 0.0  # CPU seconds of the command for each array that it hands from one node to another
    per_byte: float = 0.0  # seconds for a byte from one node to another, on this machine
    write: float = 0.0  # seconds for a byte to the disk of this machine
    read: float = 0.0  # and from it


class Clock:
    """Measures seconds, and how many cores other programs leave to this one and what it started."""

    def __init__(self) -> None:
        self._begin, self._is_over = time.monotonic(), threading.Event()
        self._first, self._last = processes_below(os.getpid()), dict[int, float]()
        self._all = cpu_of_machine()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """Look often: the time of a process that ends is not known afterwards."""
        while not self._is_over.wait(0.5):
            self._last |= processes_below(os.getpid())

    def stop(self) -> tuple[float, float]:
        """Return the seconds, and the number of cores."""
        self._is_over.set()
        seconds = time.monotonic() - self._begin
        self._last |= processes_below(os.getpid())
        mine = sum(spent - self._first.get(pid, 0.0) for pid, spent in self._last.items())
        others = cpu_of_machine() - self._all - mine
        return seconds, max(0.05, (os.cpu_count() or 1) - others / seconds)

    def at_rest(self) -> float:
        """Return the seconds that one thread at a time would take if nothing else ran."""
        seconds, cores = self.stop()
        return seconds * min(1.0, cores)


def cpu_of_machine() -> float:
    """Return the CPU seconds of all processes, and those that the host of a virtual machine took."""
    user, nice, system, _, _, *others = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + sum(others)) / os.sysconf("SC_CLK_TCK")


def processes_below(root: int) -> dict[int, float]:
    """Return the CPU seconds of a process and all that it started, by process."""
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(path.parent.name)
        parents[pid], spent[pid] = int(words[1]), (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: spent[pid] for pid in below}


def n_bytes(thing: Any) -> tuple[int, int]:
    """Return the bytes of the arrays in a unit or a result, and of its files on nodes."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes, 0
    if isinstance(thing, NodeFile):
        return 0, thing.n * np.dtype(thing.dtype).itemsize
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        thing = [getattr(thing, field.name) for field in dataclasses.fields(thing)]
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, list | tuple):
        both = [n_bytes(each) for each in thing]
        return sum(some for some, _ in both), sum(others for _, others in both)
    return 0, 0


def measure_solve(board: str, goal: int | None) -> Costs:
    """Solve a board in shards in this process, and count."""
    costs, n_units, counting, writing = Costs(), 0, 0.0, 0.0

    def run(units: Any) -> Iterator[tuple[int, Any]]:
        nonlocal n_units, counting
        for unit in list(units):
            n_units += 1
            begin = time.process_time()
            found = unit.run(lambda: False)
            end = time.process_time()
            costs.node_cpu += end - begin
            arrays, files = n_bytes(unit)
            costs.between_nodes += arrays
            costs.from_disks += files
            costs.to_disks += n_bytes(found)[1]
            counting += time.process_time() - end
            yield found

    def write(*arguments: Any, **options: Any) -> Column:
        nonlocal writing
        begin = time.process_time()
        column = write_column(*arguments, **options)
        writing += time.process_time() - begin
        return column

    def everywhere(function: Any, *arguments: Any) -> dict[str, Any]:
        begin = time.process_time()
        found = function(*arguments)
        costs.node_cpu += time.process_time() - begin
        return {"": found}

    problem, memory, _ = read_problem(board, goal, None, None, None, None, "4G", 1)
    with tempfile.TemporaryDirectory() as folder, Workers(1) as workers:
        begin = time.process_time()
        table = Solve(problem, Path(folder) / "alone", workers, memory).run()
        alone = time.process_time() - begin
        begin = time.process_time()
        shards = Shards(run, lambda: 1, n_shards=PER_WORKER, disks=Disks(everywhere))
        with mock.patch.object(sharded, "write_column", write):
            Solve(problem, Path(folder) / "table", workers, memory, shards=shards).run()
        n, n_here = table.count.afterstates, table.count.afterstates - n_shared(table)[1]
        costs.alone_cpu = alone / n
        costs.command_cpu = writing / (n - n_here)
        rest = time.process_time() - begin - costs.node_cpu - n_here * costs.alone_cpu - counting - writing
        costs.unit_cpu = max(0.0, rest) / n_units
        costs.to_folder = table.n_bytes / n  # checkpoints take little: they wait until they do
    for name in ("node_cpu", "between_nodes", "from_disks", "to_disks"):
        setattr(costs, name, getattr(costs, name) / (n - n_here))
    print(f"{board}: {n:,} afterstates, {n_here / n:.1%} of them in small layers", flush=True)
    return costs


def measure_disk(costs: Costs) -> None:
    """Measure how fast this machine writes a large file and reads it back from the disk."""
    size, piece = 2**30, os.urandom(2**24)
    with tempfile.NamedTemporaryFile() as file:
        begin = time.monotonic()
        for _ in range(size // len(piece)):
            file.write(piece)
        os.fsync(file.fileno())
        costs.write = (time.monotonic() - begin) / size
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        begin = time.monotonic()
        while file.read(len(piece)):
            pass
        costs.read = (time.monotonic() - begin) / size


class Holder:
    """A worker process on a node that makes arrays and fetches those of another node."""

    def make(self, n: int, size: int) -> Any:
        import ray

        return [ray.put(np.zeros(size, np.uint8)) for _ in range(n)]

    def fetch(self, handles: Any) -> float:
        import ray

        begin = time.monotonic()
        ray.get(handles)
        return time.monotonic() - begin

    def nothing(self) -> None: ...


def measure_ray(costs: Costs) -> None:
    """Measure what Ray takes per call, per array and per byte between two nodes of this machine."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    remote: Any = ray.remote(Holder)
    with ray_nodes(2, store=STORE) as nodes:
        ray.init(address=nodes.address, logging_level=logging.ERROR, log_to_driver=False)
        found: Any = ray
        homes = [each["NodeID"] for each in found.nodes() if each["Resources"].get("CPU")]
        first, second = (
            remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(home, soft=False)).remote()
            for home in homes
        )
        seconds = []
        for _ in range(5):
            handles, clock = ray.get(first.make.remote(1, 10**8)), Clock()
            spent = ray.get(second.fetch.remote(handles))
            seconds.append(spent * min(1.0, clock.stop()[1]) / 10**8)
        costs.per_byte = statistics.median(seconds)
        seconds, cpu = [], time.process_time()
        for _ in range(5):
            clock = Clock()
            ray.get(second.fetch.remote(ray.get(first.make.remote(100, 20_000))))
            seconds.append(clock.at_rest() / 100)
        costs.per_array, costs.per_handle = statistics.median(seconds), (time.process_time() - cpu) / 500
        clock = Clock()
        for _ in range(200):
            ray.get(first.nothing.remote())
        costs.per_unit = clock.at_rest() / 200


def n_shared(table: Table) -> tuple[int, int]:
    """Return the number of layers that are large enough for nodes, and of the afterstates in them."""
    large = [layer.count for layer in table.layers.values()]
    large = [count for count in large if count.afterstates + count.states >= sharded.LEAST]
    return len(large), sum(count.afterstates for count in large)


def messages(costs: Costs, n_layers: int, n_shards: int, at_once: int) -> float:
    """Return the seconds that calls and small arrays take: the command calls and hands on, the nodes send."""
    calls, n_arrays = ROUNDS * n_shards * (costs.per_unit + costs.unit_cpu), EXCHANGES * n_shards**2
    return n_layers * (calls + n_arrays * max(costs.per_handle, costs.per_array / at_once))


def predict_here(costs: Costs, table: Table, n_nodes: int, n_cores: float) -> float:
    """Return the seconds of a solve on nodes of one core each that share this machine's cores with the command."""
    at_once, alone, (n_layers, n) = min(n_nodes, n_cores), min(1.0, n_cores), n_shared(table)
    moved = costs.between_nodes * costs.per_byte * (n_nodes - 1) / n_nodes  # the disks are in the memory here
    fetched = costs.to_folder * costs.per_byte
    shared = n * ((costs.command_cpu + fetched) / alone + (costs.node_cpu + moved) / at_once)
    small = (table.count.afterstates - n) * costs.alone_cpu / n_cores
    return shared + small + messages(costs, n_layers, PER_WORKER * n_nodes, at_once) / alone


def predict(costs: Costs, n_nodes: int, words: argparse.Namespace) -> dict[str, float]:
    """Return the hours of each part of a solve of 3x4 on real nodes, or on one such node without Ray (0)."""
    n, slowest = N_3X4, 0.0 if not n_nodes else 1 / words.link if words.link else costs.per_byte
    write, read = (1 / words.disk, 1 / words.disk) if words.disk else (costs.write, costs.read)
    # All that goes into the folder goes through the network of the command, too.
    seconds = {"folder": n * costs.to_folder * max(write, slowest)}
    if n_nodes:
        n_shards = sharded.MOST_SHARDS
        n_busy = min(n_nodes, n_shards)
        seconds |= {
            "nodes": n * costs.node_cpu / (n_busy * words.cores),
            "disks": n * (costs.to_disks * write + costs.from_disks * read) / n_busy,
            "network": n * costs.between_nodes * slowest / n_busy,
            "messages": messages(costs, N_SUMS_3X4, n_shards, n_busy),
            "command": n * costs.command_cpu,
        }
    else:  # states and their values are written and read, too, and afterstates are read
        seconds["folder"] += n * (costs.to_disks - 8) * write + n * costs.from_disks * read
        seconds["command"] = n * costs.alone_cpu / words.cores
    hours = {name: value / 3600 for name, value in seconds.items()}
    return hours | {"all": sum(hours.values())}


def check(board: str, goal: int | None, n_nodes: int, costs: Costs) -> None:
    """Solve on local nodes, and compare with the model."""
    with ray_nodes(n_nodes, store=STORE) as nodes, tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        solution = lab.solve(
            board, goal=goal, out=Path(folder) / "table", memory="4G", cluster=nodes.address, progress=False
        )
        seconds, n = solution.seconds, solution.table.count.afterstates
        cores = clock.stop()[1]
        expected = predict_here(costs, solution.table, n_nodes, cores)
    line = {"board": board, "goal": goal, "nodes": n_nodes, "afterstates": n, "cores": round(cores, 2)}
    line |= {"seconds": round(seconds, 1)}
    print(json.dumps(line | {"predicted": round(expected, 1), "off": f"{expected / seconds - 1:+.0%}"}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="*", default=["3x3", "2x5"], metavar="BOARD[:GOAL]")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--from", dest="source", default="2x5:128", metavar="BOARD[:GOAL]", help="the solve to measure")
    parser.add_argument("--cores", type=int, default=32, help="of a real node")
    parser.add_argument("--link", type=float, help="bytes per second of its network (default: as measured here)")
    parser.add_argument("--disk", type=float, help="bytes per second of each disk (default: as measured here)")
    parser.add_argument("--least", type=int, default=100_000, help="boards of the smallest layer that nodes make")
    parser.add_argument("--costs", type=Path, help="keep what was measured in this file, or take it from there")
    words = parser.parse_args()
    sharded.LEAST = words.least

    def read(text: str) -> tuple[str, int | None]:
        board, _, goal = text.partition(":")
        return board, int(goal) if goal else None

    if words.costs and words.costs.exists():
        costs = Costs(**json.loads(words.costs.read_text()))
    else:
        costs = measure_solve(*read(words.source))
        measure_ray(costs)
        measure_disk(costs)
        if words.costs:
            words.costs.write_text(json.dumps(dataclasses.asdict(costs)))
    print(json.dumps({name: float(f"{value:.3g}") for name, value in dataclasses.asdict(costs).items()}), flush=True)
    for n_nodes in (0, 10, 100, 1000):
        found = {name: round(hours, 1) for name, hours in predict(costs, n_nodes, words).items()}
        where = f"{n_nodes:,} nodes" if n_nodes else "one node, without Ray"
        print(f"3x4 on {where}, hours:", found, flush=True)
    for text in words.check:
        for n_nodes in words.nodes:
            check(*read(text), n_nodes, costs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
