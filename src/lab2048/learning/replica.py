"""A network that learns on a node of a cluster, beside the others (lab2048.learning.ntuple_cluster).

The worker process of the node keeps one replica.  A thread plays and learns all the time.  Meanwhile the driver
collects the largest changes, and returns the merged changes of all nodes.
"""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import LabError
from lab2048.kernels.ntuple import self_play as kernel
from lab2048.kernels.ntuple.update import Method
from lab2048.learning.ntuple import Progress, Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.change import Packet, collect, no_changes
from lab2048.models.ntuple.network import Network
from lab2048.records.memory import check_memory
from lab2048.rules import Rules

Cursors = NDArray[np.uint64]


class Order(NamedTuple):
    """What the driver tells all replicas; `n_moves` and `n_threads` are of the whole cluster."""

    n_moves: int
    n_threads: int
    is_late: bool
    most_moves: float  # of this replica until the next order
    most_games: float


class News(NamedTuple):
    """What a replica tells the driver: its largest changes, and what it has done since the last time."""

    packet: Packet
    cursors: Cursors
    report: NDArray[np.float64]
    error: str  # why it plays no more; empty if it does


class Replica(Training):
    """The network of one node, the common weights, and the thread that trains."""

    def begin_with(self, order: Order) -> None:
        """Start to play and learn; the weights are the common ones now."""
        self._order, self._error = order, ""
        self._common = _copy_of(self.network)
        self._sent = no_changes()
        self._told = self._sum = np.zeros(kernel.REPORT_SIZE)
        self._begun = np.zeros(2)  # moves and games at the last order
        self._slice = threading.Lock()  # held while a slice is played
        self._may_play, self._has_order = threading.Event(), threading.Event()
        self._may_play.set()
        self._thread = threading.Thread(target=self._play, name="replica", daemon=True)
        self._thread.start()

    def _play(self) -> None:
        try:
            while not self.is_ending:
                self._has_order.clear()
                n_moves, n_games = self._sum[[kernel.N_MOVES, kernel.N_GAMES]] - self._begun
                moves_left, games_left = self._order.most_moves - n_moves, self._order.most_games - n_games
                if min(moves_left, games_left) <= 0:
                    self._has_order.wait()
                    continue
                slices = self.run(n_moves=self.n_moves + moves_left, n_games=self.n_games + games_left)
                while self._play_slice(slices):
                    pass
        except LabError as error:
            self._error = str(error)

    def _play_slice(self, slices: Iterator[Progress]) -> bool:
        self._may_play.wait()
        with self._slice:
            return next(slices, None) is not None

    def _prepare(self) -> tuple[Method, Network]:
        """Return the options and the network of the next slice; the learning rate is that of this node's threads."""
        order, rules = self._order, self.rules
        method = self.config.kernel_method(rules, order.n_threads, n_moves=order.n_moves, is_late=order.is_late)
        own = self.config.kernel_method(rules, self.n_threads, n_moves=order.n_moves, is_late=order.is_late)
        return method._replace(alpha=own.alpha), self.network

    def _count(self, reports: NDArray[np.float64], spent: float) -> None:
        super()._count(reports, spent)
        report = reports.sum(axis=0)
        report[kernel.BEST] = 0
        self._sum = self._sum + report
        self._sum[kernel.BEST] = self.best

    def collect(self, most_bytes: float) -> News:
        """Return the largest changes and what was done since the last call."""
        common = self._common
        self._sent = collect(self.network.weights, common.weights, self.network.rates, common.rates, most_bytes)
        done, self._told = self._sum - self._told, self._sum
        done[kernel.BEST] = self._sum[kernel.BEST]
        return News(self._sent, self.cursors.copy(), done, self._error)

    def apply(self, merged: Packet, order: Order) -> None:
        """Add the merged changes of all nodes, and follow a new order."""
        own, self._sent = self._sent, no_changes()
        network, common = self.network, self._common
        merged.apply(network.weights, common.weights, network.rates, common.rates, own)
        stages = self.config.design(self.rules, is_late=order.is_late).stages
        if stages != network.design.stages:
            self._may_play.clear()
            with self._slice:
                self.network = network.with_stages(stages, self.config.optimism)
                self._common = common.with_stages(stages, self.config.optimism)
            self._may_play.set()
        self._follow(order)

    def _follow(self, order: Order) -> None:
        self._order = order
        self._begun = self._sum[[kernel.N_MOVES, kernel.N_GAMES]].copy()
        self._has_order.set()

    def end(self) -> None:
        """Stop playing after the current slice."""
        super().end()
        self._has_order.set()
        self._thread.join()


def _copy_of(network: Network) -> Network:
    """Return a network with the same weights and rates."""
    copy = Network.empty(network.design, is_coherent=network.rates is not None)
    copy.weights[:] = network.weights
    if copy.rates is not None:
        copy.rates[:] = network.rates
    return copy


# What follows is called by the driver, in the worker process of a node.

_replica: Replica | None = None


def begin(config: Config, rules: Rules, file: Path | None, is_copy: bool, cursors: Cursors, order: Order) -> None:
    """Start a replica, from a checkpoint if there is one, which is deleted if `is_copy`; one thread per cursor."""
    global _replica
    if _replica is not None:
        _replica.end()
        _replica = None  # its memory is free now
    check_memory(2 * config.sizes(rules, order.n_moves)[0], Path("the network and its copy"))
    if file is None:
        replica = Replica.begin(config, rules, len(cursors))
    else:
        replica = Replica.resume(file, len(cursors))
        if is_copy:
            shutil.rmtree(file.parent, ignore_errors=True)
    replica.cursors[:] = cursors
    replica.begin_with(order)
    _replica = replica


def collect_changes(most_bytes: float) -> News:
    return _the_replica().collect(most_bytes)


def apply_changes(indexes: NDArray[Any], changes: NDArray[Any], order: Order) -> None:
    _the_replica().apply(Packet(indexes, changes).copy(), order)


def stop_playing() -> None:
    _the_replica().end()


def _the_replica() -> Replica:
    if _replica is None:
        raise LabError("this node has no network in training", code="cluster.failed")
    return _replica
