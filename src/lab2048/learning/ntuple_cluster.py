"""Train an n-tuple network on the nodes of a cluster.

Every node plays and learns with a network of its own, on lock-free threads (lab2048.learning.replica).  Every few
seconds this process collects the largest changes of every node, merges them (lab2048.kernels.ntuple.exchange), adds
them to the common network, and returns them to the nodes, which go on playing all the while.  Smaller changes stay with
their node until they have grown.  So no node waits for another one, and the bytes per exchange are bounded.

The common network is in this process: it is what checkpoints hold.  A node that is lost takes with it what it has not
sent, a few seconds of learning.  A new node begins with the common network.
"""

import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.executor.cluster import ClusterPool
from lab2048.cluster import data
from lab2048.cluster.node import LostNodeError, Node
from lab2048.errors import LabError, UsageError
from lab2048.kernels.ntuple import self_play as kernel
from lab2048.learning import replica
from lab2048.learning.config import CURVE_GROWTH
from lab2048.learning.ntuple import Progress, Training
from lab2048.learning.ntuple_config import Config
from lab2048.learning.registry import EXCHANGE_SECONDS
from lab2048.learning.replica import News, Order
from lab2048.models.ntuple.change import merge
from lab2048.records.process_lock import temporary_folder
from lab2048.rules import Rules

FIRST_SECONDS = 0.1  # until the first exchange; the time doubles, because weights change most in the beginning
EXCHANGE_BYTES = 32 * 2**20  # of all nodes together
LAST_BYTES = 16 * EXCHANGE_BYTES  # at the end, when nobody plays any more
EMPTY_SECONDS = 60.0  # to wait for a node if all are gone


class ClusterTraining(Training):
    """A network that the nodes of a cluster train; the number of threads is that of all nodes at the beginning."""

    @classmethod
    def begin(cls, config: Config, rules: Rules, n_threads: int) -> Self:
        _check(config)
        return super().begin(config, rules, n_threads)

    @classmethod
    def resume(cls, path: Path, n_threads: int, **changes: Any) -> Self:
        """Continue from a checkpoint, of one machine or of a cluster."""
        training = super().resume(path, n_threads, **changes)
        _check(training.config)
        return training

    def use(self, pool: ClusterPool, exchange_seconds: float = EXCHANGE_SECONDS) -> None:
        """Train on these nodes, which are ready; call it before `run`."""
        self._pool, self._every = pool, exchange_seconds
        self._nodes: dict[str, Node] = {}  # that have a replica
        self._cursors_of: dict[str, NDArray[np.uint64]] = {}
        self._spare: list[NDArray[np.uint64]] = list(self.cursors)  # of no node
        self._stop = threading.Event()

    def describe(self) -> str:
        """Return a short description of the network and the cluster."""
        n = len(self._pool.nodes())
        return (
            f"{self.config.network}: {self.n_weights:,} weights, {self.n_threads} threads on {n} "
            f"node{'s' if n > 1 else ''}, an exchange every {self._every:g} s"
        )

    def end(self) -> None:
        """Make `run` end soon."""
        super().end()
        self._stop.set()

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[Progress]:
        """Train until a total of seconds, moves or games is reached; yield the progress after every exchange."""
        self._limits, wait = (n_moves, n_games), FIRST_SECONDS
        while self.seconds < seconds and self.n_moves < n_moves and self.n_games < n_games and not self.is_ending:
            begin = time.monotonic()
            self._join()
            self._stop.wait(min(wait, max(0.05, seconds - self.seconds)))
            wait = min(2 * wait, self._every)
            self._exchange(begin, is_last=False)
            yield self._note()
        self._exchange(time.monotonic(), is_last=True)
        self._nodes = {}

    def _note(self) -> Progress:
        progress = self.progress()
        if self.n_moves >= CURVE_GROWTH * (self.curve[-1]["n_moves"] if self.curve else 1):
            self.curve.append(progress.to_json())
        return progress

    def _join(self) -> None:
        """Give new nodes a replica; raise LabError if there has been no node for a while."""
        deadline = time.monotonic() + EMPTY_SECONDS
        while not (found := self._pool.nodes()) and not self.is_ending:
            if time.monotonic() > deadline:
                raise LabError(
                    "all nodes of the cluster are gone: what is saved can be continued", code="cluster.empty"
                )
            self._stop.wait(0.2)
        new = [node for node in found if node.info.id not in self._nodes]
        if not new:
            return
        with temporary_folder() as folder:
            file = self._write(folder) if self.n_moves else None
            starting = []
            for node in new:
                cursors = self._cursors_for(node)
                where = Path(self._pool.send(node, file)) if file else None
                arguments = (self.config, self.rules, where, where != file, cursors, self._order(len(found)))
                starting.append((node, node.submit(replica.begin, *arguments)))
            for node, future in starting:
                try:
                    node.result(future)
                except LostNodeError:
                    self._lose(node)
                    continue
                self._nodes[node.info.id] = node

    def _write(self, folder: Path) -> Path:
        """Write the common network for nodes that have none."""
        file = folder / "common.safetensors"
        n_points = len(self.curve)
        self.save(file)
        del self.curve[n_points:]
        return file

    def _cursors_for(self, node: Node) -> NDArray[np.uint64]:
        """Return a cursor for each thread of a node: of a lost one if possible, else new games."""
        mine = [self._spare.pop(0) for _ in range(min(node.n_threads, len(self._spare)))]
        first = int(self.cursors[:, kernel.NUMBER].max()) + self.n_threads
        for i in range(node.n_threads - len(mine)):
            cursor = self.cursors[i % len(self.cursors)].copy()
            cursor[[kernel.NUMBER, kernel.START]] = first + i, 0
            mine.append(cursor)
        self._cursors_of[node.info.id] = np.array(mine)
        self._gather_cursors()
        return self._cursors_of[node.info.id]

    def _gather_cursors(self) -> None:
        self.cursors = np.concatenate([*self._cursors_of.values(), *(cursor[None] for cursor in self._spare)])
        self.n_threads = len(self.cursors)

    def _order(self, n_nodes: int) -> Order:
        done, is_late = (self.n_moves, self.n_games), self.n_moves >= self.config.late_after
        n_moves, n_games = ((limit - n) / max(1, n_nodes) for limit, n in zip(self._limits, done, strict=True))
        return Order(self.n_moves, self.n_threads, is_late, n_moves, n_games)

    def _exchange(self, begin: float, *, is_last: bool) -> None:
        """Collect changes, merge them, and return them to all nodes."""
        if is_last:
            self._ask_all(replica.stop_playing)
        share = (LAST_BYTES if is_last else EXCHANGE_BYTES) / max(1, len(self._nodes))
        news: dict[str, News] = self._ask_all(replica.collect_changes, share)
        if not news:
            return
        for id_, each in news.items():
            if each.error:
                raise LabError(each.error)
            self._cursors_of[id_] = each.cursors
        self._gather_cursors()
        merged = merge([each.packet.copy() for each in news.values()])
        merged.add_to(self.network.weights, self.network.rates)
        self._count(np.array([each.report for each in news.values()]), time.monotonic() - begin)
        self._prepare()  # adds later stages when they are due
        if not is_last:
            order = self._order(len(self._nodes))
            self._ask_all(replica.apply_changes, data.share(merged.indexes), data.share(merged.changes), order)

    def _ask_all(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """Call a function on all nodes at once; nodes that are lost are left out."""
        nodes, found = list(self._nodes.values()), {}
        for node, future in [(node, node.submit(function, *arguments)) for node in nodes]:
            try:
                found[node.info.id] = node.result(future)
            except LostNodeError:
                self._lose(node)
        return found

    def _lose(self, node: Node) -> None:
        """Forget a node; its games are continued by the next one that comes."""
        self._nodes.pop(node.info.id, None)
        self._spare.extend(self._cursors_of.pop(node.info.id, ()))
        self._pool.drop(node)


def _check(config: Config) -> None:
    for name, value in (("promote", False), ("keep", "last")):
        if getattr(config, name) != value:
            raise UsageError(
                f"{name} {getattr(config, name)} is not possible on a cluster: expected {value}", field=name
            )
