"""The connection of this process to a Ray cluster; all mistakes become one line."""

import atexit
import contextlib
import ctypes
import logging
import os
import re
import signal
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, Self

from lab2048.cluster.node import NodeInfo, living_nodes
from lab2048.errors import LabError, UsageError
from lab2048.extras import load, need

AUTO, LOCAL = "auto", "local"
NAMESPACE = "lab2048"
STORE_BYTES = 200 * 2**20  # of the object store that `local` starts: results of games are small
CHECK_SECONDS = 2.0  # between two looks whether the head answers
LOST_SECONDS = 20.0  # without an answer; Ray itself ends the process after a minute
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
        self._head, self._raylet, self._checked_at = "", "", 0.0
        self._silent_since: float | None = None
        self.is_lost = False
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
        self._head = str(ray.get_runtime_context().gcs_address)
        self._raylet = load("ray._private.worker")._global_node.raylet_socket_name

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
                with _quiet():
                    ray.init(address=self.where, **common)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect, unless the caller was connected before; `local` ends Ray."""
        if self._is_ours:
            self._is_ours = False
            if self.is_lost:
                _forget()
            else:
                _close()

    def check_head(self) -> bool:
        """Return whether the head of the cluster answers; raise LabError if it has not for a while.

        Without the head, results of the nodes do not arrive and Ray's calls do not return; after a minute Ray ends this
        process.  The same without the raylet, Ray's process on this machine.
        """
        now = time.monotonic()
        if self._head and now > self._checked_at + CHECK_SECONDS:
            self._checked_at = now
            if not _listens(self._raylet):
                self._raise_lost("Ray has ended on this machine")
            host, _, port = self._head.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), CHECK_SECONDS).close()
                self._silent_since = None
            except OSError:
                self._silent_since = self._silent_since or now
        if self._silent_since is not None and now > self._silent_since + LOST_SECONDS:
            self._raise_lost("the head of the cluster is gone")
        return self._silent_since is None

    def _raise_lost(self, what: str) -> NoReturn:
        self.is_lost = True
        raise LabError(f"{what}: what is finished is saved, and can be continued", code="cluster.lost")

    def infos(self) -> list[NodeInfo]:
        """List the nodes that are alive now."""
        return living_nodes()


def _listens(path: str) -> bool:
    """Return False if the program of a Unix socket has ended."""
    if not hasattr(socket, "AF_UNIX"):
        return True
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.setblocking(False)
            probe.connect(path)
    except (ConnectionRefusedError, FileNotFoundError):
        return False
    except OSError:  # busy
        return True
    return True


def _close() -> None:
    with _configured(), _keeping_signals(), contextlib.suppress(Exception):
        load("ray").shutdown()


def _forget() -> None:
    """Leave the connection to a head that is gone as it is: to close it, Ray would wait for the head.

    Ray's compiled code may crash when the process ends with an open connection.  So the process ends before that, when
    Python has done all that it does at its end, with its exit code.
    """
    atexit.unregister(load("ray._private.worker").shutdown)
    with contextlib.suppress(AttributeError):  # only the C library of GNU tells the exit code
        library = ctypes.CDLL(None)
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)


def _check_address(where: str) -> None:
    """Raise UsageError if no Ray cluster answers at an address: Ray itself tries for minutes."""
    found = _ADDRESS.fullmatch(where)
    if found is None:
        return
    reason = ""
    try:
        with socket.create_connection((found[1].strip("[]"), int(found[2])), REACH_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_http2(connection):
                reason = "another program answers there"
    except OSError as error:
        reason = "the name is unknown" if isinstance(error, socket.gaierror) else "nobody answers there"
    if reason:
        raise UsageError(
            f"there is no Ray cluster at {where}: {reason}", code="cluster.unreachable", field="cluster", hint=_START
        )


def _speaks_http2(connection: socket.socket) -> bool:
    """Return True if the other side greets with its settings, as every server of HTTP/2 does, and so Ray's."""
    connection.settimeout(REACH_SECONDS)
    try:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _HTTP2_SETTINGS + bytes(5))
        head = b""  # of the first frame: three bytes of length, then its type
        while len(head) < 4 and (more := connection.recv(4 - len(head))):
            head += more
    except OSError:
        return False
    return head[3:] == _HTTP2_SETTINGS


_HTTP2_SETTINGS = b"\x04"
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
    if "Failed to connect to Ray cluster" in text or "uthentication token" in text:
        return UsageError(
            f"the cluster at {where} refuses this process, or has crashed",
            code="cluster.refused",
            field="cluster",
            hint="if it needs a token, set RAY_AUTH_MODE=token, with the ~/.ray/auth_token of its head on this machine",
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
def _quiet() -> Iterator[None]:
    """Drop what Ray's compiled code writes to standard error while it connects: an error says it in one line."""
    try:
        before = os.dup(2)
    except OSError:  # it is closed, so nothing can be written
        yield
        return
    try:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


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
