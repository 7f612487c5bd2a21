"""Trainings on a cluster: they learn, survive lost nodes, and are continued with and without a cluster."""

import threading

import pytest

pytest.importorskip("ray", reason="needs the extra cluster")

from ray_nodes import add_node, ray_nodes, remove_node

import lab2048 as lab
from lab2048.errors import UsageError
from lab2048.learning import ntuple_cluster
from lab2048.models.ntuple.file import load_array, load_network

TINY = {"rules": "3x3", "network": "mlp", "widths": "8", "crowd": 32, "batch": 8, "trial_every": 0, "replay": 2000}


@pytest.fixture(scope="module")
def nodes():
    with ray_nodes(2) as cluster:
        yield cluster


def test_a_network_learns_on_two_nodes_and_goes_on_elsewhere(nodes, tmp_path):
    path = tmp_path / "net.safetensors"
    options = {"rules": "2x3", "seed": 1, "out": path}
    network = lab.train("ntuple", moves=40_000, cluster=nodes.address, exchange=0.2, **options)
    assert network.points()[-1]["n_moves"] >= 40_000
    assert network.evaluate(games=100, depth=1).mean() > 200
    cursors = load_array(path, "cursors")
    assert cursors is not None
    assert len(cursors) == 2  # one thread on each node
    network = lab.train("ntuple", moves=60_000, threads=1, resume=True, **options)
    assert network.points()[-1]["n_moves"] >= 60_000
    network = lab.train("ntuple", moves=80_000, cluster=nodes.address, resume=True, **options)
    assert network.points()[-1]["n_moves"] >= 80_000
    assert load_network(path, with_rates=True).rates is not None
    assert [session["threads"] for session in network._training.sessions] == [2, 1, 2]


def test_later_stages_begin_on_all_nodes(nodes):
    options = {"stages": "64", "late_after": 10_000, "moves": 3_000_000, "seed": 1}
    network = lab.train("ntuple", rules="2x3", cluster=nodes.address, exchange=0.2, **options)
    trained = network._training.network
    assert trained.design.n_stages == 2
    assert trained.weights[trained.design.stage_size :].any()


def test_a_node_is_lost_and_another_one_comes(nodes):
    changed = threading.Event()

    def note(progress):
        if progress.n_moves > 20_000 and not changed.is_set():
            changed.set()
            remove_node(nodes)
            add_node(nodes)

    options = {"exchange": 0.2, "on_progress": note, "seed": 1}
    network = lab.train("ntuple", rules="2x3", moves=200_000, cluster=nodes.address, **options)
    assert changed.is_set()
    assert network.points()[-1]["n_moves"] >= 200_000


def test_actors_play_the_same_on_any_number_of_nodes(nodes, tmp_path):
    found = []
    for name, threads in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.safetensors"
        network = lab.train("dqn", moves=4000, threads=threads, out=path, cluster=nodes.address, **TINY)
        found.append((network._training.adam.flat.detach().numpy().tobytes(), network._training.n_games))
    assert found[0] == found[1]
    assert found[0][1] > 0
    path = tmp_path / "two.safetensors"
    options = {"out": path, "resume": True}
    assert lab.train("dqn", moves=5000, **options).points()[-1]["n_moves"] >= 5000
    assert lab.train("dqn", moves=6000, cluster=nodes.address, **options).points()[-1]["n_moves"] >= 6000


@pytest.mark.parametrize(
    ("method", "options"), [("ntuple", {"keep": "best"}), ("ntuple", {"promote": True}), ("returns", {})]
)
def test_what_a_cluster_cannot_do_is_one_line(nodes, method, options):
    with pytest.raises(UsageError, match="cluster: expected") as caught:
        lab.train(method, rules="2x3", moves=100, cluster=nodes.address, **options)
    assert "\n" not in str(caught.value)


def test_without_any_node_it_gives_up(monkeypatch):
    monkeypatch.setattr(ntuple_cluster, "EMPTY_SECONDS", 0.0)
    training = ntuple_cluster.ClusterTraining.begin(
        ntuple_cluster.Config(network="small"), lab.Rules.from_text("2x3"), 1
    )

    class Empty:
        def nodes(self):
            return []

    training.use(Empty())
    with pytest.raises(lab.LabError, match="all nodes of the cluster are gone"):
        next(training.run(n_moves=100))
