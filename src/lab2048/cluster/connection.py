"""The connection of this process to a Ray cluster; all mistakes become one line."""

import contextlib
import logging
import os
import re
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any, Self

from lab2048.cluster.node import NodeInfo, living_nodes
from lab2048.errors import LabError, UsageError
from lab2048.extras import load, need

AUTO, LOCAL = "auto", "local"
NAMESPACE = "lab2048"
STORE_BYTES = 200 * 2**20  # of the object store that `local` starts: results of games are small
REACH_SECONDS = 5.0  # to open a connection to the address
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
# Ray's workers have niceness 15 unless told otherwise: beside other programs they would get hardly any time.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
}
EXPECTED = "expected auto, local, or the address of a Ray cluster such as 10.0.0.5:6379"


def check_where(where: str) -> str:
    """Return `where` if it names a cluster, else raise UsageError; connects to nothing.

    >>> check_where("10.0.0.5:6379")
    '10.0.0.5:6379'
    """
    if where.startswith("ray://"):
        raise UsageError(
            f"cluster {where} is an address of Ray's client: expected auto, on a machine of the cluster",
            field="cluster",
            hint="log in to a node, or hand the command to `ray job submit`",
        )
    found = _ADDRESS.fullmatch(where)
    if where not in (AUTO, LOCAL) and not (found and 0 < int(found[2]) < 2**16):
        raise UsageError(f"cluster {where!r} is not understood: {EXPECTED}", field="cluster")
    return where


class Cluster:
    """A Ray cluster to which this process is connected."""

    def __init__(self, where: str, n_cores: int = 0) -> None:
        """Connect; `local` starts Ray on this machine with `n_cores` (0 = all), until `close`."""
        self.where = check_where(where)
        need("cluster")
        self._is_ours = False
        with _configured(), warnings.catch_warnings(action="ignore"):
            ray = load("ray")
            if ray.is_initialized():  # the caller's own connection stays
                return
            _check_address(os.environ.get("RAY_ADDRESS", AUTO) if self.where == AUTO else self.where)
            try:
                self._init(ray, n_cores)
            except Exception as error:  # Ray also raises plain ones, for example if it takes too long to start
                _close()
                raise _connection_error(self.where, error) from None
        self._is_ours = True

    def _init(self, ray: Any, n_cores: int) -> None:
        common = {
            "namespace": NAMESPACE,
            "log_to_driver": False,
            "logging_level": logging.CRITICAL,
            "configure_logging": True,
        }
        with _keeping_signals():
            if self.where == LOCAL:
                ray.init(
                    address="local",
                    num_cpus=n_cores or os.cpu_count() or 1,
                    object_store_memory=STORE_BYTES,
                    include_dashboard=False,
                    **common,
                )
            else:
                ray.init(address=self.where, **common)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect, unless the caller was connected before; `local` ends Ray."""
        if self._is_ours:
            self._is_ours = False
            _close()

    def infos(self) -> list[NodeInfo]:
        """List the nodes that are alive now."""
        return living_nodes()


def _close() -> None:
    with _configured(), _keeping_signals(), contextlib.suppress(Exception):
        load("ray").shutdown()


def _check_address(where: str) -> None:
    """Raise UsageError if nobody answers at an address: Ray itself tries for a minute."""
    found = _ADDRESS.fullmatch(where)
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), REACH_SECONDS).close()
    except OSError as error:
        reason = "the name is unknown" if isinstance(error, socket.gaierror) else "nobody answers there"
        raise UsageError(
            f"there is no Ray cluster at {where}: {reason}", code="cluster.unreachable", field="cluster", hint=_START
        ) from None


_START = "start one with Ray's own command, as in docs/cluster.md; it prints the address"


def _connection_error(where: str, error: Exception) -> LabError:
    text = " ".join(str(error).split())
    if "Could not find any running Ray instance" in text:
        return UsageError(
            "no Ray cluster is running on this machine", code="cluster.unreachable", field="cluster", hint=_START
        )
    if "Version mismatch" in text:
        versions = re.findall(r"Ray: (\S+).*?Python: (\S+)", text)
        there, here = (f"Ray {ray} and Python {python}" for ray, python in (*versions, ("?", "?"), ("?", "?"))[:2])
        return UsageError(
            f"the cluster at {where} runs {there}, this process {here}: expected the same versions everywhere",
            code="cluster.version",
            field="cluster",
        )
    if "IP address" in text and "node" in text:
        return UsageError(
            f"this machine is no node of the cluster at {where}",
            code="cluster.not_a_node",
            field="cluster",
            hint="first join it with Ray's own command, as in docs/cluster.md",
        )
    return LabError(
        f"Ray at {where} cannot be used: {text[:200] or type(error).__name__}", code="cluster.failed", field="cluster"
    )


@contextlib.contextmanager
def _configured() -> Iterator[None]:
    """Keep Ray from reporting usage, and its workers from being nice; what the user has set stays."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    yield


@contextlib.contextmanager
def _keeping_signals() -> Iterator[None]:
    """Restore signal handlers that Ray replaces: the command line ends work in good order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
