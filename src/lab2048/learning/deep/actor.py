"""Train action values on a cluster: actors on the nodes play, and the learner in this process learns.

The games are divided into a fixed number of shares.  In every round an actor plays some moves of a share, with the
weights that the learner had before it learned from the last round.  So nodes play while the learner learns.  A share is
a unit of work (lab2048.arena.executor): what it plays depends only on its games, the weights and the number of the
round.  So a training is bit-identical on any number of nodes, also if some are lost.  It differs from the same training
without a cluster, in which every move is chosen by the latest weights; and if it is interrupted, the round that was
being played is played again with newer weights.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.executor.cluster import ClusterPool
from lab2048.cluster import data
from lab2048.learning.config import load
from lab2048.learning.deep.action_values import STEPS, ActionTraining, C51Training, DqnTraining
from lab2048.learning.deep.config import ActionConfig
from lab2048.learning.deep.optimizer import Adam
from lab2048.learning.deep.training import DeepProgress
from lab2048.learning.deep.vector_games import FinishedGame
from lab2048.learning.registry import EXCHANGE_SECONDS
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Rules

N_SHARES = 16  # units per round; more nodes with one core each would be idle
MIN_REPLAY = 100  # as in the options
OF_GAMES = ("words", "ranks", "lengths", "totals")  # arrays of VectorGames with a row per game
ROWS = ("boards", "moves", "rewards", "ended", "is_own")  # of a replay buffer
Arrays = dict[str, NDArray[Any]]


class Played(NamedTuple):
    """What an actor has played: rows for the replay buffer, one per step, and the games after it."""

    number: int  # of the share
    rows: Arrays
    games: Arrays
    finished: list[FinishedGame]
    n_ended: list[int]  # games, after each step


@dataclass(frozen=True)
class Share:
    """A unit of work: some moves of some games."""

    trainer: str  # module:class
    config: ActionConfig  # with the games of this share as its crowd
    rules: Rules
    number: int
    round: int
    n_games: int  # that the whole training has finished
    games: Arrays
    weights: data.Handle

    specs: ClassVar[Sequence[str]] = ()
    paths: ClassVar[Sequence[Path]] = ()
    is_compiled: ClassVar[bool] = True  # torch releases the GIL

    @property
    def home(self) -> int | None:
        return None

    def moved(self, where: Mapping[str, str]) -> Self:  # noqa: ARG002 - it reads no files
        return self

    def run(self, is_stopped: Callable[[], bool]) -> Played:  # noqa: ARG002 - it takes a moment
        """Play STEPS moves of every game."""
        training = _actor(self.trainer, self.config, self.rules, self.number)
        training.adam.live = _network(training.adam, self.weights)
        training.rng = np.random.default_rng([self.config.seed, self.number, self.round])
        games = training.games
        games.restore(self.games)
        games.finished.clear()
        training.replay.n_added, games.n_ended = 0, self.n_games
        n_ended = []
        for _ in range(STEPS):
            training._play()
            n_ended.append(games.n_ended - self.n_games)
        rows = {name: getattr(training.replay, name)[:STEPS].copy() for name in ROWS}
        state = {name: array.copy() for name, array in games.to_arrays().items()}
        return Played(self.number, rows, state, list(games.finished), n_ended)


@cache
def _actor(trainer: str, config: ActionConfig, rules: Rules, number: int) -> "ClusterActionTraining":  # noqa: ARG001
    """Return the games of a share, which stay on the node; several shares may be played at once."""
    kind: type[ClusterActionTraining] = load(trainer)
    actor = kind(config, rules, 1)
    actor.forget_learning()
    return actor


_latest: list[tuple[Any, DeepNetwork]] = []  # the weights of the round, of which a node has one copy


def _network(adam: Adam, weights: data.Handle) -> DeepNetwork:
    """Return the network of the round."""
    for known, network in _latest:
        if known == weights:
            return network
    flat = torch.from_numpy(data.get(weights).copy())
    _latest[:] = [(weights, DeepNetwork(adam.design, adam.view(flat), {}))]
    return _latest[0][1]


class ClusterActionTraining(ActionTraining):
    """Lets actors play; learns from what they have played."""

    def use(self, pool: ClusterPool, exchange_seconds: float = EXCHANGE_SECONDS) -> None:  # noqa: ARG002
        """Play on these nodes; rounds are short, so weights are exchanged more often than asked."""
        self._pool = pool
        self._caller = ThreadPoolExecutor(1, thread_name_prefix="actors")
        self._playing: Future[list[Played]] | None = None
        n = min(N_SHARES, self.config.crowd)
        self._bounds = [self.config.crowd * i // n for i in range(n + 1)]

    def forget_learning(self) -> None:
        """Free what an actor does not need: it plays with the weights of the learner."""
        nothing = torch.zeros(0)
        self.adam.flat, self.adam.mean = nothing, nothing
        self.adam.first_moment, self.adam.second_moment = nothing, nothing
        del self.adam.live, self._target_network

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[DeepProgress]:
        """Train until a total is reached; what the actors play at the end is dropped."""
        try:
            yield from super().run(seconds=seconds, n_moves=n_moves, n_games=n_games)
        finally:
            if self._playing is not None:
                wait([self._playing])
                self._playing = None

    def describe(self) -> str:
        """Return a few words about the network, how it is trained, and where."""
        n = len(self._pool.nodes())
        return f"{super().describe()}, played on {n} node{'s' if n > 1 else ''}"

    def round(self) -> None:
        """Take what the actors have played, let them play on, and learn from it."""
        played = (self._playing or self._send_out()).result()
        self._playing = None
        if len(played) < len(self._bounds) - 1:  # it was stopped
            return
        self._take_games(played)
        self._playing = None if self.is_ending else self._send_out()
        rows = {name: np.concatenate([each.rows[name] for each in played], axis=1) for name in ROWS}
        n_before = 0
        for step in range(STEPS):
            self.replay.add(*(rows[name][step] for name in ROWS))
            n_ended = sum(each.n_ended[step] for each in played)
            self._steps_due += self.config.ratio * self.config.crowd + self.config.per_game * (n_ended - n_before)
            n_before = n_ended
            while self._steps_due >= 1:
                self._steps_due -= 1
                self._learn()

    def _send_out(self) -> "Future[list[Played]]":
        """Begin to play the next moves of all games."""
        weights = data.share(self.adam.flat.detach().numpy().copy())
        state, trainer = self.games.to_arrays(), f"{type(self).__module__}:{type(self).__name__}"
        n_rounds, n_rows = self.n_moves // (STEPS * self.config.crowd), max(STEPS, self.config.ahead + 1)
        shares = []
        for number, (first, last) in enumerate(pairwise(self._bounds)):
            config = replace(self.config, crowd=last - first, replay=max(MIN_REPLAY, n_rows * (last - first)))
            games = {name: array[first:last].copy() for name, array in state.items() if name in OF_GAMES}
            games |= {name: np.zeros_like(array) for name, array in state.items() if name not in OF_GAMES}
            shares.append(Share(trainer, config, self.rules, number, n_rounds, self.n_games, games, weights))
        return self._caller.submit(self._play_shares, shares)

    def _play_shares(self, shares: list[Share]) -> list[Played]:
        found = {played.number: played for played in self._pool.run(shares)}
        return [found[share.number] for share in shares if share.number in found]

    def _take_games(self, played: list[Played]) -> None:
        """Put the games of all shares together."""
        state = self.games.to_arrays()
        joined = {name: np.concatenate([each.games[name] for each in played]) for name in OF_GAMES}
        pairs = state["pairs"] + sum(each.games["pairs"] for each in played)
        counts = [self.n_moves + STEPS * self.config.crowd, self.n_games + sum(each.n_ended[-1] for each in played)]
        self.games.restore(joined | {"pairs": pairs, "counts": np.array(counts, np.int64)})
        for each in played:
            self.games.finished.extend(each.finished)


class ClusterC51Training(ClusterActionTraining, C51Training):
    """Train a distribution over returns per move (C51), on a cluster."""


class ClusterDqnTraining(ClusterActionTraining, DqnTraining):
    """Train one value per move (double DQN), on a cluster."""
