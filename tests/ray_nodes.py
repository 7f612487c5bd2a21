"""A Ray cluster of several nodes on this machine, for tests."""

import contextlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

STORE = 80 * 2**20  # bytes: the smallest object store that Ray accepts is 75 MB


@contextlib.contextmanager
def ray_nodes(n_nodes: int, n_cores: int = 1, store: int = STORE) -> Iterator[Any]:
    """Start Ray with some nodes besides a head without cores, which is never removed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    with warnings.catch_warnings(action="ignore"):
        from ray.cluster_utils import Cluster

        # Without hooks for the exit, which only the main thread may set: tests add nodes on others.
        cluster = Cluster(
            initialize_head=True,
            shutdown_at_exit=False,
            head_node_args={"num_cpus": 0, "object_store_memory": store},
        )
        try:
            for _ in range(n_nodes):
                add_node(cluster, n_cores, store)
            cluster.wait_for_nodes()
            yield cluster
        finally:
            import ray

            disks = [node.disk for node in cluster.list_all_nodes() if hasattr(node, "disk")]
            ray.shutdown()
            cluster.shutdown()
            for disk in disks:
                disk.cleanup()


def add_node(cluster: Any, n_cores: int = 1, store: int = STORE) -> None:
    """Add a node with a disk of its own for layers."""
    disk = tempfile.TemporaryDirectory(prefix="lab2048-node-")
    node = cluster.add_node(num_cpus=n_cores, object_store_memory=store, env_vars={"LAB2048_LAYERS": disk.name})
    node.disk = disk


def remove_node(cluster: Any) -> None:
    """Remove the newest node, and its disk."""
    node = cluster.list_all_nodes()[-1]
    cluster.remove_node(node)
    node.disk.cleanup()
