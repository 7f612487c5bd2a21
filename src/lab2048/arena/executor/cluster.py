"""Run units on the nodes of a Ray cluster.

Every node has one worker process with a pool of its own (lab2048.arena.executor.node_pool).  Nodes may come and go:
the units of a lost node are run elsewhere, and a new node is used as soon as it is ready.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from lab2048.arena.executor import node_pool
from lab2048.arena.executor.executor import Executor, LostUnitError, Unit
from lab2048.cluster.connection import Cluster
from lab2048.cluster.file_transfer import pack, send
from lab2048.cluster.node import LostNodeError, Node, NodeInfo, result_of
from lab2048.errors import LabError, UsageError
from lab2048.players.player_file import player_sources
from lab2048.players.registry import is_only_here
from lab2048.players.spec_file import files_in, uses_built_tables

T = TypeVar("T")
LOOK_SECONDS = 3.0  # between two looks for new nodes
WAIT_SECONDS = 0.2  # between two looks whether the head is there
EMPTY_SECONDS = 60.0  # to wait for a node if there is none
MAX_STARTS = 5  # of workers on one node
MAX_STARTING = 32  # nodes that are made ready at once


class ClusterPool(Executor):
    """Runs units on all nodes of a cluster."""

    def __init__(self, cluster: Cluster, n_workers: int = 0, task: str = "games") -> None:
        """Start nothing yet; `n_workers` limits the number of threads of all nodes together (0 = all cores)."""
        super().__init__(0)
        self._cluster, self._most, self._task = cluster, n_workers, task
        self._specs: list[str] = []
        self._groups: list[str] = []
        self._nodes: dict[str, Node] = {}
        self._homes: dict[int, str] = {}  # the node that has the data of a home
        self._node_of: dict[Future[Any], Node] = {}
        self._n_starts: dict[str, int] = {}
        self._starting: dict[str, Future[Node]] = {}
        self._threads = ThreadPoolExecutor(MAX_STARTING, thread_name_prefix="node")
        self._looked_at = 0.0
        self._sending = threading.Lock()

    def __exit__(self, *_: object) -> None:
        """End the worker processes."""
        if self._cluster.is_lost:  # every call of Ray would wait for its head
            super().stop()
            self._threads.shutdown(wait=False, cancel_futures=True)
            return
        self.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for node in list(self._nodes.values()):
            node.end()
        self._nodes = {}

    def stop(self) -> None:
        super().stop()
        for node in self._nodes.values():
            node.submit(node_pool.stop)

    @property
    def room(self) -> int:
        # At least one unit, which waits for a node while there is none.
        return max(1, sum(node.n_threads + 1 for node in self._nodes.values()))

    def make_ready(self, specs: Sequence[str], groups: Sequence[str]) -> None:
        """Start workers on all nodes, unless they run; compile there, and send files that only this machine has."""
        for spec in specs:
            if is_only_here(spec):
                raise UsageError(
                    f"player {spec} is known to this process only: expected one of a player file, "
                    "which is sent to the nodes",
                    field="player",
                )
            if uses_built_tables(spec):
                raise UsageError(
                    f"player {spec} uses the endgame tables of each machine: expected endgames=shipped, or a folder",
                    field="player",
                )
        self._specs += [spec for spec in specs if spec not in self._specs]
        self._groups += [group for group in groups if group not in self._groups]
        known = list(self._nodes.values())
        for ready in [self._threads.submit(self._prepare, node) for node in known]:
            self._wait(ready)
            ready.result()
        self._look()
        for id_, starting in list(self._starting.items()):
            self._wait(starting)
            self._take(id_, starting)
        if not self._nodes:
            raise LabError("the cluster has no node with a core", code="cluster.empty", field="cluster")

    def _wait(self, future: "Future[Any]") -> None:
        """Wait until something is ready, as long as the cluster has its head."""
        while not wait([future], WAIT_SECONDS).done:
            self._check()

    def _prepare(self, node: Node) -> None:
        node.ask(node_pool.begin, node.n_threads, player_sources(), self._groups)
        self._send(node, self._specs)

    def nodes(self) -> list[Node]:
        """Return the nodes that are ready now; looks for new ones now and then."""
        self._refresh()
        return list(self._nodes.values())

    def send(self, node: Node, path: Path) -> str:
        """Send a file unless the node has it; return where it is there."""
        self._send(node, [], [path])
        return node.files[str(path.absolute())]

    def _send(self, node: Node, specs: Sequence[str], paths: Sequence[Any] = ()) -> None:
        """Send the files that a node does not have yet."""
        found = [path for spec in specs for path in files_in(spec).values()]
        for path in [*found, *paths]:
            name = str(path.absolute())
            if name not in node.files:
                with self._sending:  # one at a time, so that little is in the object store
                    parcel = pack(path)
                node.files[name] = send(parcel, node)

    def _look(self) -> None:
        """Begin to start workers on nodes that have none."""
        self._looked_at = time.monotonic()
        n_left = self._most - self.n_workers if self._most else 10**9
        for info in self._infos():
            n_threads = min(info.n_cores, n_left)
            is_known = info.id in self._nodes or info.id in self._starting
            if n_threads > 0 and not is_known and self._n_starts.get(info.id, 0) < MAX_STARTS:
                self._n_starts[info.id] = self._n_starts.get(info.id, 0) + 1
                self._starting[info.id] = self._threads.submit(self._start, info, n_threads)
                n_left -= n_threads

    def _infos(self) -> list[NodeInfo]:
        """List the nodes that are alive now; asked on a thread, because Ray does not return if the head is gone."""
        found: Future[list[NodeInfo]] = Future()

        def ask() -> None:
            try:
                found.set_result(self._cluster.infos())
            except Exception as error:
                found.set_exception(error)

        threading.Thread(target=ask, name="lookout", daemon=True).start()  # Python does not wait for it at its end
        self._wait(found)
        return found.result()

    def _start(self, info: NodeInfo, n_threads: int) -> Node:
        node = Node.start(info, n_threads, self._task, self._stop.is_set, self._check)
        try:
            self._prepare(node)
        except BaseException:
            node.end()
            raise
        return node

    def _take(self, id_: str, starting: "Future[Node]") -> None:
        """Use a node whose worker has started; a node that was lost meanwhile is left out."""
        del self._starting[id_]
        try:
            node = starting.result()
        except LostNodeError:
            return
        self._nodes[id_] = node
        self.n_workers = sum(node.n_threads for node in self._nodes.values())

    def _check(self) -> None:
        self._cluster.check_head()

    def _refresh(self) -> None:
        if time.monotonic() > self._looked_at + LOOK_SECONDS and self._cluster.check_head():
            self._look()
        for id_, starting in list(self._starting.items()):
            if starting.done():
                self._take(id_, starting)

    def _submit(self, unit: Unit[T]) -> "Future[Any]":
        deadline = time.monotonic() + EMPTY_SECONDS
        while True:
            self._refresh()
            node = self._choose(unit.home)
            if node is None:
                self._check()
                if time.monotonic() > deadline and not self._starting:
                    raise LabError(
                        "all nodes of the cluster are gone: what is finished is saved, and can be continued",
                        code="cluster.empty",
                    )
                time.sleep(WAIT_SECONDS)
                continue
            try:
                self._send(node, unit.specs, unit.paths)
                future = node.submit(node_pool.run_unit, unit.moved(node.files))
            except LostNodeError:
                self.drop(node)
                continue
            node.n_running += 1
            self._node_of[future] = node
            return future

    def _choose(self, home: int | None) -> Node | None:
        """Return the node that owns some data, or the one with most room; None if there is no node."""
        nodes = sorted(self._nodes.values(), key=lambda node: node.info.id)
        if home is not None and nodes:
            return self._owner(home, nodes)
        return max(nodes, key=lambda node: node.n_threads + 1 - node.n_running, default=None)

    def _owner(self, home: int, nodes: Sequence[Node]) -> Node:
        """Return the node of some data: always the same one, unless it is gone or has more than its share."""
        counts = Counter(id_ for id_ in self._homes.values() if id_ in self._nodes)
        idle = min(nodes, key=lambda node: counts[node.info.id] / node.n_threads)
        owner = self._nodes.get(self._homes.get(home, ""), idle)
        if counts[owner.info.id] / owner.n_threads > (counts[idle.info.id] + 1) / idle.n_threads:
            owner = idle
        self._homes[home] = owner.info.id
        return owner

    def settle(self, homes: Mapping[int, str]) -> None:
        """Have the units of homes run in the worker processes that have their data."""
        by_name = {node.name: node.info.id for node in self._nodes.values()}
        self._homes = {home: by_name[name] for home, name in homes.items() if name in by_name}

    def everywhere(self, function: Callable[..., T], *arguments: Any) -> dict[str, T]:
        """Call a function on all nodes; return the results by worker process, without nodes that are lost meanwhile."""
        found = {}
        for node in list(self._nodes.values()):
            try:
                found[node.name] = node.ask(function, *arguments)
            except LostNodeError:
                self.drop(node)
        return found

    def all_can(self, function: Callable[..., bool], *arguments: Any) -> bool:
        """Return whether a function is true on all nodes; a node that is lost meanwhile does not count."""
        return all(self.everywhere(function, *arguments).values())

    def _abandon(self, future: "Future[Any]") -> None:
        self._node_of.pop(future).n_running -= 1

    def _result(self, future: "Future[Any]") -> Any:
        self._refresh()
        node = self._node_of.pop(future)
        node.n_running -= 1
        try:
            return result_of(future)
        except LostNodeError as error:
            self.drop(node)
            raise LostUnitError(f"node {node.info.host}: {error}") from None

    def drop(self, node: Node) -> None:
        """Forget a node that is lost."""
        if self._nodes.get(node.info.id) is node:
            del self._nodes[node.info.id]
            node.end()
            self.n_workers = sum(node.n_threads for node in self._nodes.values())
            self._looked_at = 0.0
