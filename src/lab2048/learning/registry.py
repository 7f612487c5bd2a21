"""Training methods: the one list from which command line, page, studies and docs are made.

To add a method, write its file (a Config and a Training) and add a line to METHODS.  Listing methods and
their options imports neither numba nor torch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

from lab2048.errors import MissingPackageError, UnknownNameError, UsageError
from lab2048.extras import need
from lab2048.learning.config import TrainingConfig, load
from lab2048.rules import Rules

EXCHANGE_SECONDS = 2.0  # between two exchanges of the nodes of a cluster


class Training(Protocol):
    """A network that learns."""

    config: Any
    sessions: list[dict[str, Any]]  # provenance of each session
    curve: list[dict[str, Any]]
    seconds: float
    is_ending: bool

    @classmethod
    def begin(cls, config: Any, rules: Rules, n_threads: int) -> Self:
        """Start with an untrained network."""
        ...

    @classmethod
    def resume(cls, path: Path, n_threads: int, **changes: Any) -> Self:
        """Continue from a checkpoint; `changes` are options that get another value."""
        ...

    @property
    def rules(self) -> Rules: ...
    @property
    def n_moves(self) -> int: ...
    @property
    def n_games(self) -> int: ...
    @property
    def n_weights(self) -> int: ...
    @property
    def n_steps(self) -> int:
        """Gradient steps so far; 0 for a network that has none."""
        ...

    def run(self, *, seconds: float = ..., n_moves: float = ..., n_games: float = ...) -> Iterator[Any]:
        """Learn until a total is reached; yield progress now and then."""
        ...

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        ...

    def end(self) -> None:
        """Let `run` end soon."""
        ...

    def progress(self) -> Any: ...

    def describe(self) -> str:
        """Return a few words about the network and how it is trained."""
        ...


class ClusterTraining(Training, Protocol):
    """A network that learns on the nodes of a cluster."""

    def use(self, pool: Any, exchange_seconds: float = ...) -> None:
        """Train on the nodes of a `ClusterPool`, which are ready; call it before `run`."""
        ...


@dataclass(frozen=True)
class Method:
    """A training method."""

    name: str
    title: str  # short, for lists
    doc: str  # one line
    config_path: str  # module:class, imported without numba and torch
    training_path: str  # module:class, imported when a training starts
    player: str  # plays the trained network
    example: str  # options of an example on the command line
    cluster_path: str = ""  # module:class that trains on a cluster; empty if there is none
    is_deep: bool = True  # a deep network, which needs torch and comes out the same on any number of threads

    @cached_property
    def config(self) -> type[TrainingConfig]:
        found: type[TrainingConfig] = load(self.config_path)
        return found

    def training(self) -> type[Training]:
        """Import the training; raises MissingPackageError if it needs torch and there is none."""
        found: type[Training] = load(self.training_path)
        return found

    def cluster_training(self) -> type["ClusterTraining"]:
        """Import the training on a cluster; raise UsageError if the method has none."""
        if not self.cluster_path:
            known = ", ".join(each.name for each in METHODS.values() if each.cluster_path)
            raise UsageError(f"method {self.name} does not run on a cluster: expected {known}", field="cluster")
        found: type[ClusterTraining] = load(self.cluster_path)
        return found

    @property
    def why_not(self) -> str:
        """Return why it cannot be used on this machine; empty if it can."""
        try:
            self.check_installed()
        except MissingPackageError as error:
            return str(error)
        return ""

    def check_installed(self) -> None:
        """Raise MissingPackageError if it cannot be used on this machine."""
        if self.is_deep:
            need("deep")


_DEEP = "lab2048.learning.deep"
METHODS = {
    method.name: method
    for method in (
        Method(
            "ntuple",
            "n-tuples",
            "Train an n-tuple network by temporal-difference learning: the strongest and fastest method",
            "lab2048.learning.ntuple_config:Config",
            "lab2048.learning.ntuple:Training",
            "ntuple",
            "--minutes 10",
            "lab2048.learning.ntuple_cluster:ClusterTraining",
            is_deep=False,
        ),
        Method(
            "afterstate",
            "deep, afterstates",
            "Train a deep network that values afterstates, by temporal-difference learning",
            f"{_DEEP}.config:AfterstateConfig",
            f"{_DEEP}.afterstate_values:AfterstateTraining",
            "net",
            "--minutes 60",
        ),
        Method(
            "c51",
            "deep, C51",
            "Train a deep network that predicts a distribution of returns for each move (C51)",
            f"{_DEEP}.config:C51Config",
            f"{_DEEP}.action_values:C51Training",
            "c51",
            "--games 1000",
            f"{_DEEP}.actor:ClusterC51Training",
        ),
        Method(
            "dqn",
            "deep, double DQN",
            "Train a deep network that values moves (double DQN)",
            f"{_DEEP}.config:DqnConfig",
            f"{_DEEP}.action_values:DqnTraining",
            "c51",
            "--games 1000",
            f"{_DEEP}.actor:ClusterDqnTraining",
        ),
        Method(
            "returns",
            "deep, whole games",
            "Train a deep network that values moves by the returns of whole games",
            f"{_DEEP}.config:ReturnsConfig",
            f"{_DEEP}.returns:ReturnsTraining",
            "c51",
            "--games 10000",
        ),
        Method(
            "distil",
            "deep, distilled",
            "Train a deep network to imitate another player, its shield included",
            f"{_DEEP}.config:DistilConfig",
            f"{_DEEP}.distil:DistilTraining",
            "c51",
            "--teacher greedy",
        ),
    )
}


def names() -> list[str]:
    return list(METHODS)


def find_method(name: str) -> Method:
    """Return a method; raise UsageError if there is none of this name."""
    if name not in METHODS:
        raise UnknownNameError("method", name[:40], METHODS)
    return METHODS[name]


def player_of_head(head: str) -> str:
    """Return the player for a deep network with this output.

    >>> player_of_head("value"), player_of_head("atoms")
    ('net', 'c51')
    """
    return next(method.player for method in METHODS.values() if method.config.head == head)
