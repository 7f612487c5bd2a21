"""What is wrong with a node of a cluster is one line."""

from concurrent.futures import Future
from dataclasses import replace

import pytest

from lab2048.cluster.node import LostNodeError, NodeInfo, check_facts, facts_here, result_of
from lab2048.errors import LabError

INFO = NodeInfo("id", "far", "127.0.0.1", 1, 0, 0, is_head=False)


def test_another_python_is_one_line():
    check_facts(INFO, facts_here())
    with pytest.raises(LabError, match=r"^node far runs Python 2\.7\.18: expected \d+\.\d+\.\d+, as here$"):
        check_facts(INFO, replace(facts_here(), python="2.7.18"))


def test_another_version_is_one_line():
    with pytest.raises(LabError, match=r"^node far has lab2048 0\.0\.1 \(.*\): expected .*, as here.*on every node$"):
        check_facts(INFO, replace(facts_here(), version="0.0.1"))


def failed(error: Exception) -> Future:
    future: Future = Future()
    future.set_exception(error)
    return future


def test_what_ray_says_is_one_line():
    kinds = pytest.importorskip("ray.exceptions", reason="needs the extra cluster")
    with pytest.raises(LabError, match="the object store of a node is full") as caught:
        result_of(failed(kinds.ObjectStoreFullError("Failed to put object\nin the store")))
    assert "\n" not in str(caught.value)
    with pytest.raises(LostNodeError, match=r"^its worker process is gone$"):
        result_of(failed(kinds.ActorDiedError()))
    with pytest.raises(LabError, match="a node of the cluster has no lab2048; install the same version there"):
        result_of(failed(RuntimeError("ModuleNotFoundError: No module named 'lab2048'\n")))
