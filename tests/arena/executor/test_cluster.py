"""The same units on a cluster of three nodes: same results, also if nodes are lost and added."""

from types import SimpleNamespace

import pytest

pytest.importorskip("ray", reason="needs the extra cluster")

from ray_nodes import add_node, ray_nodes, remove_node

import lab2048 as lab
from lab2048.arena.compile import groups_of
from lab2048.arena.executor.cluster import ClusterPool
from lab2048.arena.executor.local import Pool
from lab2048.arena.executor.status import survey
from lab2048.arena.match import Match
from lab2048.arena.regret import measure_on, measure_regret
from lab2048.arena.review.batch import ReviewBatch
from lab2048.arena.tuning.tune import Tuning
from lab2048.cluster.connection import Cluster
from lab2048.cluster.node import LostNodeError
from lab2048.errors import UsageError
from lab2048.kernels.group import SOLVER
from lab2048.library.solve import _reads
from lab2048.players.evaluator import make_evaluator
from lab2048.records.tuning_study import TuningStudy
from lab2048.rules import Rules
from lab2048.solver.memory import Memory
from lab2048.solver.nodes.sharded import Shards
from lab2048.solver.nodes.spread_column import Disks
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers
from lab2048.studies.reading import load_study
from lab2048.studies.result import ResultFolder
from lab2048.studies.run.runner import Runner

PLAYER_FILE = """
import lab2048 as lab
from helper import last

class Last(lab.Player):
    def choose(self, board):
        return lab.Decision(last(board.legal_moves()), dict.fromkeys(board.legal_moves(), 0.0))

lab.register("last-of-file", Last)
"""


@pytest.fixture(scope="module")
def nodes():
    with ray_nodes(3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connected(nodes):
    with Cluster(nodes.address) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def pool(connected):
    with ClusterPool(connected) as pool:
        yield pool


def play(pool, players, rules="3x3", n_games=30, seed=5):
    match = Match(Rules.from_text(rules), players, seed, n_games)
    pool.make_ready(players, groups_of(players, match.rules, games=True))
    for _ in match.play(pool):
        pass
    return {
        player: {n: game._replace(seconds=0.0) for n, game in sorted(result.games.items())}
        for player, result in match.results.items()
    }


def play_here(players, **options):
    with Pool(1) as pool:
        return play(pool, players, **options)


def test_a_match_is_the_same(pool):
    players = ["expectimax:depth=2", "random"]
    assert play(pool, players) == play_here(players)
    assert pool.n_workers == 3


def test_files_that_only_the_driver_has_travel(pool, tmp_path, monkeypatch):
    (tmp_path / "helper.py").write_text("def last(moves):\n    return moves[-1]\n")
    (tmp_path / "mine.py").write_text(PLAYER_FILE)
    lab.load_player_file(tmp_path / "mine.py")
    (tmp_path / "own.toml").write_text("[own]\nempty = 1\nlost = 0\n")
    monkeypatch.chdir(tmp_path)
    # For another process this path names another file, as a path of another machine does.
    players = ["last-of-file", "greedy:eval=/proc/self/cwd/own.toml"]
    assert play(pool, players) == play_here(players)


def test_a_player_of_this_process_alone_is_one_line(pool):
    class Mine(lab.Player):
        def choose(self, board):
            return lab.Decision(board.legal_moves()[0], {})

    lab.register("mine-of-this-process", Mine)
    with pytest.raises(UsageError, match="known to this process only"):
        pool.make_ready(["mine-of-this-process"], [])


def test_regret_is_the_same(pool, tmp_path):
    solution = lab.solve("2x2", goal=16, out=tmp_path / "table")
    specs = ["random", "greedy"]
    pool.make_ready(specs, [SOLVER, *groups_of(specs, solution.rules, games=True)])
    found = list(measure_on(pool, solution.table, specs, seed=1, n_games=20))
    assert sorted(found, key=lambda each: specs.index(each.player)) == [
        measure_regret(solution.table, spec, seed=1, n_games=20) for spec in specs
    ]


def test_reviews_are_the_same(pool):
    rules = Rules.from_text("2x2")
    batches = [ReviewBatch("random", "optimal", rules, 1, [i]) for i in range(4)]
    found = {number: totals for some in pool.run(batches) for number, totals in some.items()}
    here = lab.review_player("random", rules="2x2", games=4, reviewer="optimal")
    assert [found[i].skill for i in range(4)] == [totals.skill for totals in here.games]


def test_a_tuning_is_the_same(pool, tmp_path):
    def tuned(pool, name):
        tuning = Tuning(Rules.from_text("2x3"), "greedy", make_evaluator("{empty = 1, merges = 2}"), seed=1, n_games=5)
        study = TuningStudy(tmp_path / f"{name}.sqlite", tuning.identity())
        trials = sorted(tuning.run(1, pool, study), key=lambda trial: trial.number)
        study.close()
        return [(trial.params, trial.value) for trial in trials]

    with Pool(1) as here:
        assert tuned(pool, "there") == tuned(here, "here")


def test_a_study_is_the_same(pool, tmp_path):
    def measured(name, nodes):
        folder = ResultFolder(load_study("000-lookahead"), "tiny", 1, tmp_path / name)
        runner = Runner(
            folder, 1, say=lambda _: None, show=lambda _: None, only=["empty-512", "score-512"], nodes=nodes
        )
        return {row.id: [(game.number, game.score) for game in result.games] for row, result in runner.run()}

    assert measured("there", pool) == measured("here", None)


def test_a_solve_is_the_same(pool, tmp_path):
    problem = Problem.of(Rules.from_text("2x3", goal=16), "win")
    pool.make_ready([], [SOLVER])

    def solved(name, shards):
        with Workers(1) as workers:
            Solve(problem, tmp_path / name, workers, Memory(2**27, 1), shards=shards).run()
        return {path.name: path.read_bytes() for path in (tmp_path / name).iterdir() if path.name != "solved.json"}

    shards = Shards(
        pool.run,
        lambda: 3,
        can_read=lambda path, token: pool.all_can(_reads, path, token),
        settle=pool.settle,
        disks=Disks(pool.everywhere),
        least=90,
        n_shards=3,
    )
    assert solved("there", shards) == solved("here", None)


def test_status_shows_nodes_and_what_runs(pool, connected):
    states = list(survey(connected))
    assert [state.info.n_cores for state in states] == [0, 1, 1, 1]
    assert not any(state.problem for state in states)
    assert [len(state.tasks) for state in states] == [0, 1, 1, 1]


def test_a_node_with_other_sources_is_one_line(connected, monkeypatch):
    monkeypatch.setattr("lab2048.cluster.node.source_digest", lambda: "other")
    problems = {state.problem for state in survey(connected)}
    assert all("(other), as here; install the same lab2048 on every node" in each for each in problems)
    assert not any("\n" in each for each in problems)


def test_a_node_that_is_lost_changes_nothing(nodes, pool):
    """The units of the lost node are played elsewhere, and a new node is used."""
    players = ["expectimax:depth=2"]
    match = Match(Rules.from_text("3x3"), players, 5, 60)
    pool.make_ready(players, groups_of(players, match.rules, games=True))
    for i, _ in enumerate(match.play(pool)):
        if i == 3:
            remove_node(nodes)
            add_node(nodes)
    found = {n: game._replace(seconds=0.0) for n, game in sorted(match.results[players[0]].games.items())}
    assert found == play_here(players, n_games=60)[players[0]]


def test_a_node_that_is_lost_while_it_is_asked_does_not_count():
    class Gone:
        info, name, n_threads = SimpleNamespace(id="gone"), "gone", 1

        def ask(self, function, *arguments):
            raise LostNodeError("its worker process is gone")

        def end(self):
            pass

    class Here(Gone):
        info = SimpleNamespace(id="here")

        def ask(self, function, *arguments):
            return function(*arguments)

    pool = ClusterPool(None)
    pool._nodes = {"gone": Gone(), "here": Here()}
    assert pool.all_can(lambda: True)
    assert list(pool._nodes) == ["here"]
    assert not pool.all_can(lambda: False)
