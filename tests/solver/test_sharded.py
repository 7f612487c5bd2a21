"""A solve in shards writes the same files as a solve without them, bit by bit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab2048.cluster.data import LostDataError
from lab2048.rules import Rules
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.sharded import Shards
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers


def solve(
    problem: Problem, folder: Path, shards: Shards | None, *, is_exact: bool = False, n_workers: int = 1
) -> dict[str, bytes]:
    with Workers(n_workers) as workers:
        memory = Memory(2**27, n_workers)
        Solve(problem, folder, workers, memory, is_exact=is_exact, is_kept=False, shards=shards).run()
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
    for n_nodes, expected in ((1, (32, 32)), (50, (50, 20)), (1000, (64, 16))):
        many = Shards(run_here, lambda: 1000, lambda: n_nodes)  # noqa: B023
        many.begin()
        assert (many.n_shards, many.n_threads) == expected


def test_lost_data_is_computed_again(tmp_path):
    n_lost = 0

    def run_badly(units: Any) -> Iterator[tuple[int, Any]]:
        nonlocal n_lost
        for i, unit in enumerate(list(units)):
            n_lost += 1
            if n_lost % 97 == 0 and i == 1:
                raise LostDataError("gone")
            yield unit.run(lambda: False)

    problem = Problem.of(Rules.from_text("2x3", goal=64), "win")
    shards = Shards(run_badly, lambda: 1, least=0, n_shards=3)
    assert solve(problem, tmp_path / "many", shards) == solve(problem, tmp_path / "one", None)
    assert n_lost > 97


def test_a_solve_goes_on_without_shards(tmp_path):
    """The journal and the files are those of any solve, so that a lost cluster loses nothing."""

    class EnoughError(Exception):
        pass

    def run_for_a_while(units: Any, left: list[int] = [60]) -> Iterator[tuple[int, Any]]:  # noqa: B006
        left[0] -= 1
        if left[0] < 0:
            raise EnoughError
        return run_here(units)

    problem = Problem.of(Rules.from_text("2x3", goal=64), "win")
    with pytest.raises(EnoughError):
        solve(problem, tmp_path / "many", Shards(run_for_a_while, lambda: 1, least=0, n_shards=3))
    assert solve(problem, tmp_path / "many", None) == solve(problem, tmp_path / "one", None)
