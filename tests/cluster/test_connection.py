"""Mistakes with clusters are one line each, and nothing is started before they are found."""

import socket
import subprocess
import sys
import threading
import time

import pytest

from lab2048.cluster.connection import Cluster, _connection_error, check_where
from lab2048.errors import LabError, MissingPackageError, UsageError


@pytest.mark.parametrize("where", ["auto", "local", "10.0.0.5:6379", "node-1.example:1", "[::1]:6379"])
def test_places(where):
    assert check_where(where) == where


@pytest.mark.parametrize(
    "where", ["", "AUTO", "10.0.0.5", "10.0.0.5:0", "10.0.0.5:65536", "a b:1", "http://x:1", ":6379"]
)
def test_other_places_are_one_line(where):
    with pytest.raises(UsageError, match="expected auto, local, or the address") as caught:
        check_where(where)
    assert "\n" not in str(caught.value)


def test_the_address_of_the_client_says_what_to_do():
    with pytest.raises(UsageError, match="expected auto, on a machine of the cluster; log in to a node"):
        check_where("ray://10.0.0.5:10001")


def test_without_ray_the_command_to_install_it_is_named(monkeypatch):
    monkeypatch.setattr("lab2048.extras.find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r'needs the extra .cluster.*pip install "lab2048\[cluster\]"'):
        Cluster("auto")


@pytest.mark.parametrize("is_given", [True, False])
def test_an_address_where_nobody_answers_is_one_line(is_given, monkeypatch):
    pytest.importorskip("ray", reason="needs the extra cluster")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", "" if is_given else address)
        with pytest.raises(UsageError, match=r"there is no Ray cluster at .*: nobody answers there; start one"):
            Cluster(address if is_given else "auto")


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"+\n"])
def test_another_program_at_the_address_is_one_line(says, monkeypatch):
    pytest.importorskip("ray", reason="needs the extra cluster")
    monkeypatch.setattr("lab2048.cluster.connection.REACH_SECONDS", 0.5)  # one of them never answers
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def answer():
            kept.append(server.accept()[0])
            kept[0].sendall(says)

        threading.Thread(target=answer).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError, match=r"no Ray cluster at .*: another program answers there; start one"):
            Cluster(address)
        kept[0].close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Could not find any running Ray instance. Please specify", "no Ray cluster is running on this machine; start"),
        (
            "Version mismatch: The cluster was started with:\n    Ray: 2.60.0\n    Python: 3.12.1\n"
            "This process on node 10.0.0.1 was started with:\n    Ray: 2.60.0\n    Python: 3.11.2\n",
            "the cluster at auto runs Ray 2.60.0 and Python 3.12.1, this process Ray 2.60.0 and Python 3.11.2: "
            "expected the same versions everywhere",
        ),
        (
            "This node has an IP address of 10.0.0.9, and Ray",
            "this machine is no node of the cluster at auto; first join it",
        ),
        (
            "Failed to connect to Ray cluster at 10.0.0.5:6379",
            "the cluster at auto refuses this process, or has crashed; if it needs a token, set RAY_AUTH_MODE=token",
        ),
        ("something\nelse", "Ray at auto cannot be used: something else"),
    ],
)
def test_errors_of_ray_become_one_line(text, expected):
    error = _connection_error("auto", RuntimeError(text))
    assert isinstance(error, LabError)
    assert str(error).startswith(expected)
    assert "\n" not in str(error)


def test_a_ray_that_does_not_start_is_one_line(monkeypatch):
    pytest.importorskip("ray", reason="needs the extra cluster")

    def fail(*_):
        raise Exception("The current node timed out during startup.\nSee the logs.")

    monkeypatch.setattr(Cluster, "_init", fail)
    with pytest.raises(LabError, match=r"Ray at local cannot be used: The current node timed out") as caught:
        Cluster("local")
    assert "\n" not in str(caught.value)


def test_standard_error_may_be_closed():
    code = "from lab2048.cluster.connection import _quiet\nwith _quiet(): print('connected')"
    command = ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code]
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout == "connected\n"


@pytest.fixture
def raylet(tmp_path):
    """A program that listens, as Ray's process on this machine does."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "raylet"))
        server.listen()
        yield server


def test_a_head_that_is_gone_is_one_line(monkeypatch, raylet):
    monkeypatch.setattr("lab2048.cluster.connection.CHECK_SECONDS", 0.01)
    monkeypatch.setattr("lab2048.cluster.connection.LOST_SECONDS", 0.1)
    cluster = Cluster.__new__(Cluster)
    cluster._checked_at, cluster._silent_since, cluster.is_lost = 0.0, None, False
    cluster._raylet = raylet.getsockname()
    with socket.create_server(("127.0.0.1", 0)) as head:
        cluster._head = f"127.0.0.1:{head.getsockname()[1]}"
        assert cluster.check_head()
    time.sleep(0.2)  # nobody looked for a while
    assert not cluster.check_head()  # it may come back
    assert not cluster.is_lost
    time.sleep(0.1)
    with pytest.raises(LabError, match=r"the head of the cluster is gone: what is finished is saved"):
        cluster.check_head()
    assert cluster.is_lost


def test_ray_that_has_ended_on_this_machine_is_one_line(raylet):
    cluster = Cluster.__new__(Cluster)
    cluster._checked_at, cluster._silent_since, cluster.is_lost = 0.0, None, False
    cluster._raylet = raylet.getsockname()
    with socket.create_server(("127.0.0.1", 0)) as head:
        cluster._head = f"127.0.0.1:{head.getsockname()[1]}"
        assert cluster.check_head()
        raylet.close()
        cluster._checked_at = 0.0
        with pytest.raises(LabError, match=r"Ray has ended on this machine: what is finished is saved"):
            cluster.check_head()
    assert cluster.is_lost
