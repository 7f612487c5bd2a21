"""What all trainings of deep networks share: how they are asked for, run, reported, kept and taken up again.

A method (afterstate_values, action_values, returns) fills in one thing: a round, which plays some moves of
many games at once and learns from them.  Limits are looked at between rounds and trials have dice of their own,
so that one seed makes one curve, however often the training is interrupted.
"""

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import LabError, UsageError
from lab2048.learning.config import not_resumable
from lab2048.learning.deep.config import DeepConfig
from lab2048.learning.deep.optimizer import Adam
from lab2048.learning.deep.vector_games import N_RANKS, Crowd, Ending, Floats, Moves, Ranks
from lab2048.learning.evaluation import Trial, run_trial
from lab2048.models.deep.file import load_deep, save_deep
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.records.provenance import provenance
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afters

WINDOW = 500  # last games that the live figures are about, at most
GAP = 1.02  # the curve has a point each time that the number of games has grown so much
N_TILES = 6  # highest tiles whose rates and pairs are reported
KEPT = ("seconds", "n_moves", "n_games", "best", "curve", "trials", "sessions", "next_trial")


@dataclass
class DeepProgress:
    """How a training stands: totals, what the last games came to, and the last trial."""

    seconds: float
    n_moves: int
    n_games: int
    n_steps: int  # gradients followed
    pace: float  # moves a second, lately
    step_pace: float  # gradients a second, lately
    n_last: int  # games that the next lines are about: the last quarter of all, within bounds
    mean: float  # score
    total: float  # return as the learner counts it
    length: float  # moves
    tile_sum: float
    max_tile: int
    best: float  # score of all games
    rates: dict[int, float]  # how many made a tile
    pairs: dict[int, float]  # how often two tiles lay side by side, a game
    loss: float
    more: dict[str, float]  # what else a method counts
    trial: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """A line of the log."""
        return asdict(self)


class DeepTraining(ABC):
    """A deep network that learns, and where it stands."""

    method: ClassVar[str]
    config_class: ClassVar[type[DeepConfig]]

    def __init__(self, config: DeepConfig, rules: Rules, n_threads: int = 1) -> None:
        """Begin with untrained weights."""
        torch.set_num_threads(1)  # sums in several threads differ in their last bits
        self.config, self.rules, self.n_threads = config, rules, n_threads
        self.adam = Adam(config.design(rules), config.seed, clip=config.clip, average=config.average)
        self.games = Crowd(rules, config.crowd, config.seed)
        self.rng = np.random.default_rng(config.seed)
        self.seconds, self.best = 0.0, 0.0
        self.curve: list[dict[str, Any]] = []  # how it stood, ever more seldom
        self.trials: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.next_trial = config.trial_every
        self.is_ending = False
        self._rate = config.rate
        self._last: deque[Ending] = deque(maxlen=WINDOW)
        # Games that had ended, moves that were made and pairs that were seen by then, round by round.
        self._pairs: deque[tuple[int, int, NDArray[np.int64]]] = deque([(0, 0, np.zeros(N_RANKS, np.int64))])
        self._losses: deque[float] = deque(maxlen=1000)
        self._paces: deque[tuple[int, int, float]] = deque(maxlen=20)

    # --- what a method says ------------------------------------------------------------

    @abstractmethod
    def round(self) -> None:
        """Play some moves and learn from some."""

    @abstractmethod
    def choose(self, network: DeepNetwork, ranks: Ranks, afters: Afters, lengths: NDArray[np.int64]) -> Moves:
        """The moves of a network that does not explore."""

    def weigh(self, rewards: Floats, boards: Ranks) -> Floats:  # noqa: ARG002
        """What the learner counts for rewards that led to boards."""
        return rewards

    @abstractmethod
    def more_arrays(self) -> dict[str, NDArray[Any]]:
        """What else it takes to go on."""

    @abstractmethod
    def restore_more(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on with that."""

    def figures(self) -> dict[str, float]:
        """What else it counts, of late."""
        return {}

    # --- what all share ----------------------------------------------------------------

    @property
    def n_moves(self) -> int:
        return self.games.n_moves

    @property
    def n_weights(self) -> int:
        return len(self.adam.flat)

    @property
    def n_steps(self) -> int:
        """Gradient steps so far."""
        return self.adam.n_steps

    @property
    def n_games(self) -> int:
        return self.games.n_ended

    def describe(self) -> str:
        """Return a few words about the network and how it is trained."""
        config = self.config
        return f"{config.network} {config.widths}: {self.n_weights:,} weights, {config.crowd} games in parallel"

    @classmethod
    def begin(cls, config: Any, rules: Rules, n_threads: int) -> Self:
        """Start with untrained weights."""
        return cls(config, rules, n_threads)

    @classmethod
    def resume(cls, path: Path, n_threads: int, **changes: Any) -> Self:
        """Continue from a checkpoint; `changes` are options that get another value."""
        network, arrays = load_deep(path)
        facts: Any = network.facts.get("training")
        try:
            if facts["method"] != cls.method:
                raise UsageError(f"{path} was trained by lab2048 train {facts['method']}, not {cls.method}")
            config = cls.config_class.from_checkpoint(facts["config"])
            config.check_unchanged(changes)
            training = cls(replace(config, **changes), network.design.rules, n_threads)
            training._restore(facts, arrays)
        except UsageError:
            raise
        except (TypeError, KeyError, ValueError, IndexError, AttributeError, LabError):
            raise not_resumable(path) from None
        return training

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        groups: dict[str, dict[str, NDArray[Any]]] = {"adam": {}, "games": {}, "more": {}}
        for name, array in arrays.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = array
        self.adam.restore(groups["adam"])
        self.games.restore(groups["games"])
        self.rng.bit_generator.state = facts["rng"]
        for name in KEPT:
            if name not in ("n_moves", "n_games"):
                setattr(self, name, type(getattr(self, name))(facts[name]))
        self._last.extend(Ending(*ending) for ending in facts["last"])
        if self.config.trial_every:
            later = self.n_games + self.config.trial_every
            self.next_trial = min(self.next_trial or later, later)
        self.restore_more(groups["more"])
        self._pairs = deque([(self.n_games, self.n_moves, self.games.pairs.copy())])

    def network(self) -> DeepNetwork:
        """The network that plays: the mean of the weights of late."""
        return self.adam.averaged()

    def save(self, path: Path) -> None:
        """Write a checkpoint, with everything that it takes to go on."""
        network = self.network()
        facts = {name: getattr(self, name) for name in KEPT}
        facts |= {"method": self.method, "config": asdict(self.config), "rng": self.rng.bit_generator.state}
        facts["last"] = [list(ending) for ending in self._last]
        network.facts = {"training": facts}
        groups = {"adam": self.adam.to_arrays(), "games": self.games.to_arrays(), "more": self.more_arrays()}
        save_deep(
            path, network, {f"{group}.{name}": a for group, arrays in groups.items() for name, a in arrays.items()}
        )

    def end(self) -> None:
        """Let `run` end after the round at hand."""
        self.is_ending = True

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[DeepProgress]:
        """Learn until a total of seconds, moves or games is reached; say how it stands after every round."""
        self.sessions.append(provenance() | {"threads": self.n_threads, "from_seconds": round(self.seconds)})
        while self.seconds < seconds and self.n_moves < n_moves and self.n_games < n_games and not self.is_ending:
            begin, moves, steps = time.monotonic(), self.n_moves, self.adam.n_steps
            self._rate = self.config.rate_after(moves)  # of the whole round: moves are made while it learns
            self.round()
            spent = time.monotonic() - begin
            self.seconds += spent
            self._paces.append((self.n_moves - moves, self.adam.n_steps - steps, spent))
            self._count()
            if self.config.trial_every and self.n_games >= self.next_trial:
                self._try()
            progress = self.progress()
            if self.n_games and self.n_games >= GAP * (self.curve[-1]["n_games"] if self.curve else 1):
                self.curve.append(progress.to_json())
            yield progress

    def learn(self, loss: torch.Tensor) -> None:
        """Follow a gradient."""
        self._losses.append(self.adam.step(loss, self._rate))

    def _count(self) -> None:
        while self.games.endings:
            ending = self.games.endings.popleft()
            self.best = max(self.best, float(ending.score))
            self._last.append(ending)
        self._pairs.append((self.n_games, self.n_moves, self.games.pairs.copy()))
        while len(self._pairs) > 2 and self.n_games - self._pairs[1][0] >= self._n_last():
            self._pairs.popleft()

    def _n_last(self) -> int:
        """How many games are the last ones: few as long as there are few, so that the curve shows how they change."""
        return min(WINDOW, max(20, self.n_games // 4))

    def _try(self) -> None:
        trial = self.trial(self.config.trial_games)
        at = {"n_games": self.n_games, "n_moves": self.n_moves, "seconds": round(self.seconds, 3)}
        self.trials.append(at | trial.to_json())
        while self.next_trial <= self.n_games:
            self.next_trial += self.config.trial_every

    def trial(self, n: int) -> Trial:
        """Play games that are the same for every training."""
        network = self.network()
        return run_trial(self.rules, n, lambda *seen: self.choose(network, *seen), weigh=self.weigh)

    def progress(self) -> DeepProgress:
        """How it stands."""
        last = list(self._last)[-self._n_last() :]
        n = max(1, len(last))
        tiles = np.array([ending.max_tile for ending in last] or [0])
        highest = int(tiles.max()).bit_length()
        ranks = range(max(1, highest - N_TILES), highest)
        moves, steps, spent = (sum(column) for column in zip(*self._paces, strict=True)) if self._paces else (0, 0, 1)
        length = sum(ending.n_moves for ending in last) / n
        # By moves and not by games: many games are under way when the first ones end.
        pairs = (self._pairs[-1][2] - self._pairs[0][2]) * length / max(1, self._pairs[-1][1] - self._pairs[0][1])
        return DeepProgress(
            seconds=round(self.seconds, 3),
            n_moves=self.n_moves,
            n_games=self.n_games,
            n_steps=self.adam.n_steps,
            pace=moves / max(1e-9, spent),
            step_pace=steps / max(1e-9, spent),
            n_last=len(last),
            mean=sum(ending.score for ending in last) / n,
            total=sum(ending.total for ending in last) / n,
            length=length,
            tile_sum=sum(ending.tile_sum for ending in last) / n,
            max_tile=int(tiles.max()),
            best=self.best,
            rates={1 << rank: float((tiles >= 1 << rank).mean()) for rank in ranks},
            pairs={1 << rank: float(pairs[rank]) for rank in ranks},
            loss=sum(self._losses) / max(1, len(self._losses)),
            more=self.figures(),
            trial=self.trials[-1] if self.trials else None,
        )
