"""A solve in shards writes the same files as a solve without them, bit by bit."""

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lab2048.cluster.data import LostDataError
from lab2048.rules import Rules
from lab2048.solver.memory import Memory
from lab2048.solver.nodes.sharded import Shards
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers


@pytest.fixture(autouse=True)
def layers(tmp_path, monkeypatch) -> Path:
    """Return the folder in which nodes keep layers."""
    monkeypatch.setenv("LAB2048_LAYERS", str(tmp_path / "layers"))
    return tmp_path / "layers"


def solve(
    problem: Problem,
    folder: Path,
    shards: Shards | None,
    *,
    is_exact: bool = False,
    n_workers: int = 1,
    checkpoint_seconds: float = 5.0,
) -> dict[str, bytes]:
    with Workers(n_workers) as workers:
        memory = Memory(2**27, n_workers)
        Solve(
            problem,
            folder,
            workers,
            memory,
            is_exact=is_exact,
            is_kept=False,
            shards=shards,
            checkpoint_seconds=checkpoint_seconds,
        ).run()
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "solved.json"}


def run_here(units: Any) -> Iterator[tuple[int, Any]]:
    return (unit.run(lambda: False) for unit in list(units))


@pytest.mark.parametrize(
    ("board", "goal", "objective", "options"),
    [
        ("2x3", 32, "win", {}),
        ("2x2", 2048, "score", {}),
        ("3x3", 32, "win", {}),
        ("2x3", 32, "win", {"spawner": "worst"}),
        ("2x2", 64, "win", {"spawn": "2:0.5,4:0.3,8:0.2"}),
        ("AA#|AG#|###", 32, "win", {}),
    ],
)
def test_the_table_is_the_same(board, goal, objective, options, tmp_path):
    problem = Problem.of(Rules.from_text(board, goal=goal, **options), objective)
    shards = Shards(run_here, lambda: 1, least=0, n_shards=5)
    expected = solve(problem, tmp_path / "one", None, is_exact=True)
    assert solve(problem, tmp_path / "many", shards, is_exact=True) == expected


def test_small_and_large_layers_can_alternate(tmp_path):
    problem = Problem.of(Rules.from_text("3x3", goal=64), "win")
    shards = Shards(run_here, lambda: 1, can_read=lambda *_: False, least=1500, n_shards=3)
    assert solve(problem, tmp_path / "many", shards) == solve(problem, tmp_path / "one", None)


def test_several_threads_work_on_a_shard_if_there_are_more_workers_than_shards(tmp_path):
    problem = Problem.of(Rules.from_text("3x3", goal=64), "win")
    shards = Shards(run_here, lambda: 12, least=1500, n_shards=5)
    expected = solve(problem, tmp_path / "one", None)
    assert solve(problem, tmp_path / "many", shards, n_workers=4) == expected
    assert shards.n_threads == 3
    for n_workers, shared in ((1, (4, 1)), (8, (32, 1)), (1000, (32, 32))):
        many = Shards(run_here, lambda: n_workers)  # noqa: B023
        many.begin()
        assert (many.n_shards, many.n_threads) == shared


@pytest.mark.parametrize("n_units", [53, 97, 211, 503])
def test_lost_data_is_computed_again(n_units, tmp_path):
    n_done = 0

    def run_badly(units: Any) -> Iterator[tuple[int, Any]]:
        nonlocal n_done
        for i, unit in enumerate(list(units)):
            n_done += 1
            if n_done % n_units == 0 and i == 1:
                raise LostDataError("gone")
            yield unit.run(lambda: False)

    problem = Problem.of(Rules.from_text("2x3", goal=64), "win")
    shards = Shards(run_badly, lambda: 1, least=0, n_shards=3)
    assert solve(problem, tmp_path / "many", shards) == solve(problem, tmp_path / "one", None)
    assert n_done > n_units


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("damage", ["lost", "damaged", "all of a shard"])
def test_lost_files_of_nodes_are_made_again(damage, seed, tmp_path, layers):
    """Files of any layer may be gone at any time: afterstates, states and values."""
    random, n_lost = Random(seed), 0

    def run_on_bad_disks(units: Any) -> Iterator[tuple[int, Any]]:
        nonlocal n_lost
        files = sorted(layers.rglob("*-*-*"))
        if files and random.random() < 0.04:
            lost = [random.choice(files)]
            if damage == "all of a shard":
                lost = [path for path in files if path.name.endswith("-0001")]
            for path in lost:
                n_lost += 1
                if damage == "damaged":
                    path.write_bytes(path.read_bytes()[:-4] + b"ruin")
                else:
                    path.unlink()
        return run_here(units)

    problem = Problem.of(Rules.from_text("3x3", goal=64), "win")
    shards = Shards(run_on_bad_disks, lambda: 1, least=300, n_shards=3)
    expected = solve(problem, tmp_path / "one", None)
    assert solve(problem, tmp_path / "many", shards, checkpoint_seconds=seed % 2 * 1e9) == expected
    assert n_lost > 1
    assert not list(layers.iterdir())


class EnoughError(Exception):
    """Stands for the end of the command by SIGKILL."""


def killed(problem: Problem, folder: Path, n_rounds: int) -> None:
    """Solve until some rounds of units are done."""
    left = n_rounds

    def run_for_a_while(units: Any) -> Iterator[tuple[int, Any]]:
        nonlocal left
        left -= 1
        if left < 0:
            raise EnoughError
        return run_here(units)

    with pytest.raises(EnoughError):
        solve(problem, folder, Shards(run_for_a_while, lambda: 1, least=300, n_shards=3), checkpoint_seconds=0)


# Forward, around the turn, and backward.
@pytest.mark.parametrize("n_rounds", [60, 215, 260, 450])
@pytest.mark.parametrize("how", ["without nodes", "with the same nodes", "with other nodes"])
def test_a_solve_goes_on(n_rounds, how, tmp_path, layers):
    """The journal and the files are those of any solve, so that a lost cluster loses nothing."""
    problem = Problem.of(Rules.from_text("3x3", goal=64), "win")
    killed(problem, tmp_path / "many", n_rounds)
    assert list(layers.rglob("*-*-*"))
    if how == "with other nodes":
        shutil.rmtree(layers)
    shards = None if how == "without nodes" else Shards(run_here, lambda: 1, least=300, n_shards=5)
    assert solve(problem, tmp_path / "many", shards) == solve(problem, tmp_path / "one", None)
    assert shards is None or not list(layers.rglob("*-*-*"))


def test_the_journal_tells_which_node_has_what(tmp_path):
    killed(Problem.of(Rules.from_text("3x3", goal=64), "win"), tmp_path / "many", 60)
    lines = [json.loads(line) for line in (tmp_path / "many" / "journal.jsonl").read_text().splitlines()]
    assert [line["n_shards"] for line in lines if line["kind"] == "nodes"] == [3]
    on_nodes = [line for line in lines if "nodes" in line]
    assert on_nodes
    for line in on_nodes:
        assert line["nodes"]["on"] == [socket.gethostname()] * 3
        assert sum(n for n, _ in line["nodes"]["keys"]) == line["count"]["afterstates"]


def test_a_folder_of_nodes_with_an_impossible_name_is_not_deleted(tmp_path, layers):
    problem = Problem.of(Rules.from_text("3x3", goal=64), "win")
    killed(problem, tmp_path / "many", 60)
    journal = tmp_path / "many" / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "nodes":
            line["folder"] = "../precious"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (layers.parent / "precious").mkdir()
    shards = Shards(run_here, lambda: 1, least=300, n_shards=3)
    assert solve(problem, tmp_path / "many", shards) == solve(problem, tmp_path / "one", None)
    assert (layers.parent / "precious").exists()
