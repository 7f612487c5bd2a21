"""A node of a cluster: its worker process, which calls functions of lab2048 on threads."""

import contextlib
import hashlib
import os
import platform
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import lab2048
from lab2048.cluster import data
from lab2048.cluster.node_disk import N_READERS, READERS
from lab2048.errors import LabError
from lab2048.extras import load

T = TypeVar("T")
START_SECONDS = 120.0  # for a worker process to start, also on a slow machine
LOOK_SECONDS = 1.0  # between two looks, while a result is waited for, whether it can still come
SPARE_CALLS = 4  # calls besides the work: files, a stop, a question
_PREFIX = "lab2048:"  # of the names of workers


class LostNodeError(LabError):
    """A node or its worker process is gone; the work can be done elsewhere."""

    code = "cluster.node_lost"


@dataclass(frozen=True)
class NodeInfo:
    """What Ray knows about a node."""

    id: str
    host: str
    address: str
    n_cores: int
    memory: int  # bytes
    store: int  # bytes of the object store
    is_head: bool


@dataclass(frozen=True)
class NodeFacts:
    """What a worker process says about itself."""

    host: str
    pid: int
    version: str
    sources: str  # digest
    python: str
    machine: str
    cache: str  # folder


def living_nodes() -> list[NodeInfo]:
    """List the nodes that are alive, the head first."""
    found = []
    for each in load("ray").nodes():
        resources = each["Resources"]
        if each["Alive"]:
            found.append(
                NodeInfo(
                    each["NodeID"],
                    each["NodeManagerHostname"],
                    each["NodeManagerAddress"],
                    int(resources.get("CPU", 0)),
                    int(resources.get("memory", 0)),
                    int(resources.get("object_store_memory", 0)),
                    "node:__internal_head__" in resources,
                )
            )
    return sorted(found, key=lambda info: (not info.is_head, info.id))


@cache
def source_digest() -> str:
    """Return a digest of all Python files of lab2048: nodes must have the same."""
    folder, state = Path(lab2048.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        state.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return state.hexdigest()[:16]


def facts_here() -> NodeFacts:
    """Return the facts of this process."""
    from lab2048.kernels import _jit

    return NodeFacts(
        socket.gethostname(),
        os.getpid(),
        lab2048.__version__,
        source_digest(),
        platform.python_version(),
        platform.machine(),
        str(_jit.cache_root()),
    )


def check_facts(info: NodeInfo, facts: NodeFacts) -> None:
    """Raise LabError if a node has another Python or another lab2048 than this machine."""
    here = facts_here()
    if facts.python.rpartition(".")[0] != here.python.rpartition(".")[0]:
        raise LabError(
            f"node {info.host} runs Python {facts.python}: expected {here.python}, as here", code="cluster.version"
        )
    if (facts.version, facts.sources) != (here.version, here.sources):
        other = "with other sources " if facts.version == here.version else ""
        raise LabError(
            f"node {info.host} has lab2048 {facts.version} {other}({facts.sources}): "
            f"expected {here.version} ({here.sources}), as here",
            code="cluster.version",
            hint="install the same lab2048 on every node",
        )


class Worker:
    """The worker process of a node, an actor of Ray; module-level state of lab2048 lives as long as it does."""

    def __init__(self, task: str, name: str) -> None:
        self._task, self._since, self._n_calls = task, time.time(), 0
        sys.stdout = sys.stderr  # keep a player's output out of the results
        data.worker = name

    def call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, LabError | None]:
        """Call a function of lab2048; return its result, or its error as data."""
        try:
            return function(*arguments), None
        except LabError as error:
            return None, error
        finally:
            self._n_calls += 1

    def status(self) -> dict[str, Any]:
        return {"task": self._task, "seconds": time.time() - self._since, "calls": self._n_calls}


class Node:
    """The driver's end of a worker process."""

    def __init__(self, info: NodeInfo, name: str, n_threads: int, actor: Any, check: Callable[[], object]) -> None:
        """Use `start`; `name` is that of the worker process."""
        self.info, self.name, self.n_threads, self._actor, self._check = info, name, n_threads, actor, check
        self.files: dict[str, str] = {}  # where the driver's files are on this node
        self.n_running = 0  # units of work

    @classmethod
    def start(
        cls,
        info: NodeInfo,
        n_threads: int,
        task: str,
        is_stopped: Callable[[], bool] = lambda: False,
        check: Callable[[], object] = lambda: None,
    ) -> "Node":
        """Start a worker process; raise LabError if the node has no lab2048, or another one.

        Raise LostNodeError if `is_stopped` becomes true before it has started.  While a result is waited for,
        `check` is called every second; it raises LabError if no result can come.
        """
        ray = load("ray")
        strategy = load("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(info.id, soft=False)
        name = f"{_PREFIX}{info.id[:8]}:{os.getpid()}:{time.monotonic_ns()}"
        actor = (
            ray.remote(concurrency_groups={READERS: N_READERS})(Worker)
            .options(
                num_cpus=n_threads,
                max_concurrency=n_threads + SPARE_CALLS,
                scheduling_strategy=strategy,
                name=name,
            )
            .remote(task, name)
        )
        node = cls(info, name, n_threads, actor, check)
        try:
            starting = node.submit(facts_here)
            deadline = time.monotonic() + START_SECONDS
            while not wait([starting], 0.1).done:
                if is_stopped():
                    raise LostNodeError(f"node {info.host} is not needed any more")
                if time.monotonic() > deadline:
                    raise LabError(
                        f"node {info.host} has no free core for {START_SECONDS:.0f} s: "
                        "lab2048 cluster status shows what runs",
                        code="cluster.busy",
                    )
            check_facts(info, result_of(starting))
        except BaseException:
            node.end()
            raise
        return node

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[tuple[T | None, LabError | None]]":
        """Call a function on the node; `result` takes the future."""
        found: Future[tuple[T | None, LabError | None]] = self._actor.call.remote(function, *arguments).future()
        return found

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function on the node and wait for the result."""
        try:
            return self.result(self.submit(function, *arguments))
        except LostNodeError as error:
            raise LostNodeError(f"node {self.info.host}: {error}") from None

    def result(self, future: "Future[tuple[T | None, LabError | None]]") -> T:
        """Wait for the result of `submit`."""
        while not wait([future], LOOK_SECONDS).done:
            self._check()
        return result_of(future)

    def end(self) -> None:
        """End the worker process."""
        with contextlib.suppress(Exception):
            load("ray").kill(self._actor, no_restart=True)


def result_of(future: "Future[tuple[T | None, LabError | None]]", seconds: float | None = None) -> T:
    """Return the result of `Node.submit`; errors of Ray become one line."""
    try:
        value, error = future.result(seconds)
    except TimeoutError:
        raise
    except Exception as problem:
        raise _ray_error(problem) from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def _ray_error(problem: Exception) -> LabError:
    """Return the error of lab2048 for an exception of Ray."""
    kinds, text = load("ray.exceptions"), " ".join(str(problem).split())
    if "No module named 'lab2048" in text:
        return LabError(
            "a node of the cluster has no lab2048", code="cluster.version", hint="install the same version there"
        )
    if data.is_store_full(problem):
        return data.store_full()
    gone = (kinds.RayActorError, kinds.ObjectLostError, kinds.NodeDiedError, kinds.WorkerCrashedError)
    if isinstance(problem, gone):
        return LostNodeError("its worker process is gone")
    if isinstance(problem, kinds.RayTaskError):
        return LabError(f"a node failed: {text.rpartition(': ')[2][:200] or text[:200]}", code="cluster.failed")
    return LostNodeError(text[:200] or type(problem).__name__)


def call_on(info: NodeInfo, function: Callable[[], T], *, seconds: float) -> T:
    """Call a function on a node beside its workers, whether its cores are busy or not."""
    strategy = load("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(info.id, soft=False)
    task = load("ray").remote(_call).options(num_cpus=0, scheduling_strategy=strategy, max_retries=0)
    try:
        future: Future[tuple[T | None, LabError | None]] = task.remote(function).future()
        return result_of(future, seconds)
    except TimeoutError:
        raise LabError(f"node {info.host} does not answer within {seconds:.0f} s", code="cluster.busy") from None


def _call(function: Callable[[], T]) -> tuple[T | None, LabError | None]:
    try:
        return function(), None
    except LabError as error:
        return None, error


def free_cores() -> dict[str, float]:
    """Return the cores of each node that no worker has reserved."""
    found = load("ray._private.state").available_resources_per_node()
    return {id_: float(resources.get("CPU", 0.0)) for id_, resources in found.items()}


def running_workers() -> list[tuple[str, dict[str, Any]]]:
    """Return what the workers of lab2048 in the cluster do: the first letters of a node's id, and facts."""
    ray, found = load("ray"), []
    for named in load("ray.util").list_named_actors(all_namespaces=True):
        if not named["name"].startswith(_PREFIX):
            continue
        with contextlib.suppress(Exception):  # it may end at this moment
            actor = ray.get_actor(named["name"], namespace=named["namespace"])
            found.append((named["name"].split(":")[1], ray.get(actor.status.remote(), timeout=5)))
    return found
