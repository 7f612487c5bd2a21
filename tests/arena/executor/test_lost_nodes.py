"""Nodes are removed, and the driver is killed, at random moments: everything is finished, and identical."""

import contextlib
import itertools
import json
import random
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("ray", reason="needs the extra cluster")

from ray_nodes import add_node, ray_nodes, remove_node

import lab2048 as lab

pytestmark = pytest.mark.heavy
N_MOMENTS = 5
LEAST = 40_000  # boards of a layer that nodes make: some forty layers of the solves below
COMMAND = f"""
import sys
from lab2048.cli.app import run
from lab2048.solver.nodes import sharded
sharded.LEAST = {LEAST}
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def nodes():
    with ray_nodes(3) as cluster:
        yield cluster


class Remover:
    """Removes a node after some seconds, unless the work has ended by then, and adds another one; None: never."""

    def __init__(self, nodes, seconds):
        self._nodes, self._seconds, self._is_over = nodes, seconds, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.has_removed = False

    def _run(self):
        if not self._is_over.wait(self._seconds):
            remove_node(self._nodes)
            self.has_removed = not self._is_over.is_set()
            add_node(self._nodes)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()


def match(where, folder):
    result = lab.match(["expectimax:depth=2", "greedy"], rules="4x4", games=150, seed=3, cluster=where)
    assert result.is_complete
    return [result.scores(player) for player in result.players]


def study(where, folder):
    found = lab.study("000-lookahead", quick=True, folder=folder).run(["empty-512", "score-512"], cluster=where)
    figures = [(row["row"], row["ours"]) for row in found.to_dict()["figures"] if "time" not in row["measure"]]
    assert any(ours for _, ours in figures)
    return figures


def tune(where, folder):
    options = {"player": "greedy", "rules": "3x3", "games": 20, "trials": 16, "fresh": 20}
    result = lab.tune("{empty = 1, merges = 2}", study=folder / "tuning.sqlite", cluster=where, **options)
    return result.evaluator.to_inline(), result.gain


def table(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "solved.json"}


def solve(where, folder):
    lab.solve("3x3", goal=128, out=folder / "table", cluster=where)
    return table(folder / "table")


def endgame(where, folder):
    rules = lab.Rules.from_text("AA##|AG##|####", goal=64)
    lab.solve(rules, objective="win", out=folder / "table", cluster=where)
    return table(folder / "table")


@pytest.mark.parametrize("work", [match, study, tune, solve, endgame])
def test_a_node_is_removed(work, nodes, tmp_path, monkeypatch):
    monkeypatch.setattr("lab2048.solver.nodes.sharded.LEAST", LEAST)
    folders = (tmp_path / str(i) for i in itertools.count())

    def run(where):
        folder = next(folders)
        folder.mkdir()
        return work(where, folder)

    expected = run(None)
    random_, took, n_removed = random.Random(work.__name__), None, 0
    for _ in range(4 * N_MOMENTS):
        with Remover(nodes, took and random_.uniform(0.05, 0.9) * took) as remover:  # the first run is undisturbed
            begin = time.monotonic()
            assert run(nodes.address) == expected
        n_removed += remover.has_removed
        if n_removed == N_MOMENTS:
            return
        if not remover.has_removed:
            took = time.monotonic() - begin
    pytest.fail(f"the work ended first in all but {n_removed} of {4 * N_MOMENTS} runs")


@pytest.mark.parametrize(
    "words",
    [
        "match expectimax:depth=2 --rules 4x4 --games 200 --resume --store T/games.sqlite",
        "solve 3x3 --goal 128 --out T/table",
        "tune {empty=1,merges=2} --player greedy --rules 3x3 --games 20 --trials 16 --fresh 20 --study T/tuning.sqlite",
    ],
)
def test_the_driver_is_killed(words, nodes, tmp_path):
    def command(name):
        return [sys.executable, "-c", COMMAND, *words.replace("T/", f"{tmp_path}/{name}-").split(), "--json"]

    def n_bytes(name):
        """Return the size of all that a command has written so far."""
        paths = [path for found in tmp_path.glob(f"{name}-*") for path in (found, *found.rglob("*"))]
        with contextlib.suppress(FileNotFoundError):  # renamed at this moment
            return sum(path.stat().st_size for path in paths if path.is_file())
        return 0

    expected = subprocess.run(command("here"), capture_output=True, text=True, check=True).stdout
    again = [*command("there"), "--cluster", nodes.address]
    random_, n_killed, most = random.Random(words), 0, n_bytes("here")
    for share in sorted(random_.uniform(0, 0.9) for _ in range(N_MOMENTS)):
        driver = subprocess.Popen(again, stdout=subprocess.DEVNULL)
        while driver.poll() is None and n_bytes("there") < share * most:
            time.sleep(0.01)
        n_killed += driver.poll() is None
        driver.kill()
        driver.wait()
    assert n_killed == N_MOMENTS
    output = subprocess.run(again, capture_output=True, text=True, check=True).stdout
    assert facts(json.loads(output)) == facts(json.loads(expected))


SAVED = "what is finished is saved, and can be continued"
PROCESSES = {"gcs_server": "the head of the cluster is gone", "raylet": "Ray has ended on this machine"}


def kill_head_under(words, has_begun, process="gcs_server"):
    """Run a command on a cluster and kill the head once it has begun; check that it ends with one line."""
    with ray_nodes(1) as nodes:
        driver = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words.split(), "--cluster", nodes.address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while driver.poll() is None and not has_begun():
            time.sleep(0.1)
        for each in nodes.head_node.all_processes[process]:
            each.process.kill()
        said = driver.communicate(timeout=60)[1]
    assert driver.returncode == 1
    assert [line for line in said.splitlines() if line.startswith("lab2048: ")] == [
        f"lab2048: {PROCESSES[process]}: {SAVED}"
    ]


@pytest.mark.parametrize("process", PROCESSES)
def test_the_head_is_killed_under_a_match(process, tmp_path):
    store = tmp_path / "games.sqlite"
    words = f"match expectimax:depth=3 --rules 4x4 --games 4000 --resume --store {store} --json"
    kill_head_under(words, lambda: n_games(store), process)
    assert 0 < n_games(store) < 4000
    again = [sys.executable, "-c", COMMAND, *words.split()]
    result = json.loads(subprocess.run(again, capture_output=True, text=True, check=True).stdout)
    assert result["players"][0]["games"] == 4000
    assert n_games(store) == 4000


def test_the_head_is_killed_under_a_training(tmp_path):
    out = tmp_path / "network.safetensors"
    kill_head_under(
        f"train ntuple --rules 3x3 --network small --minutes 10 --exchange 1 --checkpoint 0.05 --out {out}", out.exists
    )
    assert lab.open_network(out).points()


CATCH = """
import sys, time
import lab2048 as lab

def note(progress):
    if progress.n_moves:
        print("begun", flush=True)

options = {"network": "small", "minutes": 10, "exchange": 1, "progress": False}
try:
    lab.train("ntuple", rules="3x3", cluster=sys.argv[1], on_progress=note, **options)
except lab.LabError as error:
    print(error, flush=True)
print(lab.match(["random"], rules="2x2", games=10, progress=False).is_complete)
sys.exit(5)
"""


def test_a_program_that_catches_the_loss_of_the_head_goes_on():
    with ray_nodes(1) as nodes:
        driver = subprocess.Popen([sys.executable, "-c", CATCH, nodes.address], stdout=subprocess.PIPE, text=True)
        assert driver.stdout.readline()  # the training has begun
        for each in nodes.head_node.all_processes["gcs_server"]:
            each.process.kill()
        said = driver.communicate(timeout=200)[0]
    assert said.splitlines()[-2:] == [f"the head of the cluster is gone: {SAVED}", "True"]
    assert driver.returncode == 5


def n_games(path):
    with lab.open_store(path) as store:
        return len(store)


def facts(data):
    """Return all figures that do not depend on time, on memory or on the names of files."""
    if isinstance(data, dict):
        left_out = ("seconds", "per_second", "memory", "table", "study", "time", "toml")  # the last has the command
        return {name: facts(each) for name, each in data.items() if not any(word in name for word in left_out)}
    return [facts(each) for each in data] if isinstance(data, list) else data
