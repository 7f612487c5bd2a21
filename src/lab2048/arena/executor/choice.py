"""Choose an executor: this machine, or a cluster."""

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab2048.arena.executor.executor import Executor
from lab2048.arena.executor.local import Pool

if TYPE_CHECKING:
    from lab2048.arena.executor.cluster import ClusterPool


@contextlib.contextmanager
def executor_for(cluster: str | None, n_workers: int = 0, task: str = "games") -> Iterator[Executor]:
    """Yield an executor and end it: for a cluster (auto, local or an address), else for the cores of this machine.

    `n_workers` is the number of units at a time (0 = one per core); it does not change the results.
    """
    with nodes_for(cluster, n_workers, task) as nodes:
        if nodes is not None:
            yield nodes
            return
        with Pool(n_workers or os.cpu_count() or 1) as pool:
            yield pool


@contextlib.contextmanager
def nodes_for(cluster: str | None, n_workers: int = 0, task: str = "games") -> "Iterator[ClusterPool | None]":
    """Yield the executor of a cluster and end it, or None if no cluster is named."""
    if not cluster:
        yield None
        return
    from lab2048.arena.executor.cluster import ClusterPool
    from lab2048.cluster.connection import Cluster

    with Cluster(cluster, n_workers) as found, ClusterPool(found, n_workers, task) as nodes:
        yield nodes
