"""A Ray cluster of several nodes on this machine, for tests."""

import contextlib
import os
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
                cluster.add_node(num_cpus=n_cores, object_store_memory=store)
            cluster.wait_for_nodes()
            yield cluster
        finally:
            import ray

            ray.shutdown()
            cluster.shutdown()
