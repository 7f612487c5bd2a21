"""The state of a cluster: its nodes, whether they can work, and what runs on them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lab2048.cluster.connection import Cluster
from lab2048.cluster.node import NodeFacts, NodeInfo, call_on, check_facts, facts_here, free_cores, running_workers
from lab2048.errors import LabError

ANSWER_SECONDS = 120.0  # a process may have to start there


@dataclass(frozen=True)
class NodeState:
    """A node, as `lab2048 cluster status` shows it."""

    info: NodeInfo
    free_cores: float
    free_memory: int  # bytes; 0 = unknown
    ready: tuple[str, ...]  # groups of kernels that are compiled
    n_groups: int
    problem: str  # why it cannot work; empty if it can
    tasks: tuple[str, ...]  # what workers of lab2048 do there

    def to_json(self) -> dict[str, Any]:
        return {
            **vars(self.info),
            "free_cores": self.free_cores,
            "free_memory": self.free_memory,
            "kernels_ready": list(self.ready),
            "kernels": self.n_groups,
            "problem": self.problem or None,
            "tasks": list(self.tasks),
        }


def look_around() -> tuple[NodeFacts, int, list[str]]:
    """Return facts, the free memory of this machine and the groups of kernels that are compiled; runs on a node."""
    from lab2048.arena.compile import is_ready
    from lab2048.kernels.group import GROUPS
    from lab2048.records.memory import free_memory

    return facts_here(), free_memory(), [group for group in GROUPS if is_ready(group)]


def survey(cluster: Cluster) -> Iterator[NodeState]:
    """Yield the state of each node."""
    running, free = running_workers(), free_cores()
    infos = cluster.infos()
    with ThreadPoolExecutor(max(1, len(infos))) as threads:
        for info, found in zip(infos, threads.map(_ask, infos), strict=True):
            memory, ready, problem = found
            tasks = [f"{each['task']}, {each['seconds']:.0f} s" for id_, each in running if info.id.startswith(id_)]
            yield NodeState(info, free.get(info.id, 0.0), memory, tuple(ready), _n_groups(), problem, tuple(tasks))


def _n_groups() -> int:
    from lab2048.kernels.group import GROUPS

    return len(GROUPS)


def _ask(info: NodeInfo) -> tuple[int, list[str], str]:
    try:
        facts, memory, ready = call_on(info, look_around, seconds=ANSWER_SECONDS)
        check_facts(info, facts)
    except LabError as error:
        return 0, [], str(error)
    return memory, ready, ""
