"""The base class of deep trainings: running, progress, checkpoints and resuming.

A method (afterstate_values, action_values, returns, distil) implements `round`, which plays some moves of
vectorized games and trains on them.  Limits are checked between rounds and evaluation games have their own
seeds, so a seed always gives the same curve, however often the training is interrupted.
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
from lab2048.learning.config import CURVE_GROWTH, not_resumable
from lab2048.learning.deep.config import DeepConfig
from lab2048.learning.deep.optimizer import Adam
from lab2048.learning.deep.vector_games import N_RANKS, FinishedGame, Floats, Moves, Ranks, VectorGames
from lab2048.learning.evaluation import Evaluation, evaluate
from lab2048.models.deep.file import load_deep, save_deep
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.records.memory import check_memory
from lab2048.records.provenance import provenance
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates

WINDOW = 500  # maximum number of recent games in progress figures
N_TILES = 6  # number of highest tiles with reported rates and pairs
# What a checkpoint's header holds: attribute, and name in the file.
SAVED = {
    "seconds": "seconds",
    "n_moves": "n_moves",
    "n_games": "n_games",
    "best": "best",
    "curve": "curve",
    "evaluations": "trials",
    "sessions": "sessions",
    "next_evaluation": "next_trial",
}


@dataclass
class DeepProgress:
    """The progress of a training: totals, statistics of recent games, and the last evaluation."""

    seconds: float
    n_moves: int
    n_games: int
    n_steps: int  # gradient steps
    pace: float  # moves per second, recently
    step_pace: float  # gradient steps per second, recently
    n_last: int  # number of recent games in the following figures
    mean: float  # score
    total: float  # return after reward shaping
    length: float  # moves
    tile_sum: float
    max_tile: int
    best: float  # highest score of all games
    rates: dict[int, float]  # share of games that reached each tile
    pairs: dict[int, float]  # adjacent equal tiles per game, by tile
    loss: float
    more: dict[str, float]  # further figures of the method
    trial: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """Return one line of the log."""
        return asdict(self)


class DeepTraining(ABC):
    """A deep network in training."""

    method: ClassVar[str]
    config_class: ClassVar[type[DeepConfig]]

    def __init__(self, config: DeepConfig, rules: Rules, n_threads: int = 1) -> None:
        torch.set_num_threads(1)  # sums over several threads are not reproducible
        self.config, self.rules, self.n_threads = config, rules, n_threads
        self.adam = self.make_optimizer()
        self.games = VectorGames(rules, config.crowd, config.seed)
        self.rng = np.random.default_rng(config.seed)
        self.seconds, self.best = 0.0, 0.0
        self.curve: list[dict[str, Any]] = []  # progress at growing intervals
        self.evaluations: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.next_evaluation = config.trial_every
        self.is_ending = False
        self._rate = config.rate
        self._last: deque[FinishedGame] = deque(maxlen=WINDOW)
        # Per round: total games, moves and pair counts so far.
        self._pairs: deque[tuple[int, int, NDArray[np.int64]]] = deque([(0, 0, np.zeros(N_RANKS, np.int64))])
        self._losses: deque[float] = deque(maxlen=1000)
        self._paces: deque[tuple[int, int, float]] = deque(maxlen=20)

    def make_optimizer(self) -> Adam:
        """Return the optimizer with its initial weights."""
        config = self.config
        return Adam(config.design(self.rules), config.seed, clip=config.clip, average=config.average)

    # --- implemented by each method ----------------------------------------------------

    @abstractmethod
    def round(self) -> None:
        """Play some moves and train on some."""

    @abstractmethod
    def choose(self, network: DeepNetwork, ranks: Ranks, afterstates: Afterstates, lengths: NDArray[np.int64]) -> Moves:
        """Return the greedy moves of a network, without exploration."""

    def shape_rewards(self, rewards: Floats, boards: Ranks) -> Floats:  # noqa: ARG002
        """Apply reward shaping, given the boards that the rewards led to."""
        return rewards

    @abstractmethod
    def extra_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the method's own state for a checkpoint."""

    @abstractmethod
    def restore_extra(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `extra_arrays` returned."""

    def figures(self) -> dict[str, float]:
        """Return further recent figures of the method."""
        return {}

    # --- shared ------------------------------------------------------------------------

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
        return cls(config, rules, n_threads)

    @classmethod
    def resume(cls, path: Path, n_threads: int, **changes: Any) -> Self:
        """Continue from a checkpoint; `changes` are options that get another value."""
        network, arrays = load_deep(path)
        facts: Any = network.facts.get("training")
        rules = network.design.rules
        try:
            if facts["method"] != cls.method:
                raise UsageError(f"{path} was trained by lab2048 train {facts['method']}, not {cls.method}")
            config = cls.config_class.from_checkpoint(facts["config"])
            if config.design(rules).shapes() != network.design.shapes():
                raise ValueError("config")
        except UsageError as error:
            raise error if facts["method"] != cls.method else not_resumable(path) from None
        except (TypeError, KeyError, ValueError, LabError):
            raise not_resumable(path) from None
        config.check_unchanged(changes)
        config = replace(config, **changes)
        check_memory(config.sizes(rules, math.inf)[0], path)
        try:
            training = cls(config, rules, n_threads)
            training._restore(facts, arrays)
        except UsageError as error:
            raise error if changes else not_resumable(path) from None
        except (TypeError, KeyError, ValueError, OverflowError, IndexError, AttributeError) as error:
            reason = str(error) if type(error) is ValueError else "a part is missing"
            raise not_resumable(path, reason) from None
        return training

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        groups: dict[str, dict[str, NDArray[Any]]] = {"adam": {}, "games": {}, "more": {}}
        for name, array in arrays.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = array
        self.adam.restore(groups["adam"])
        self.games.restore(groups["games"])
        self.rng.bit_generator.state = facts["rng"]
        for attribute, name in SAVED.items():
            if name not in ("n_moves", "n_games"):
                setattr(self, attribute, type(getattr(self, attribute))(facts[name]))
        self._last.extend(map(_finished_game, facts["last"]))
        if self.config.trial_every:
            due = self.n_games + self.config.trial_every
            self.next_evaluation = min(self.next_evaluation or due, due)
        self.restore_extra(groups["more"])
        self._pairs = deque([(self.n_games, self.n_moves, self.games.pairs.copy())])

    def network(self) -> DeepNetwork:
        """Return the network for playing, with averaged weights."""
        return self.adam.averaged()

    def save(self, path: Path) -> None:
        """Write a checkpoint with everything needed to resume."""
        network = self.network()
        facts = {name: getattr(self, attribute) for attribute, name in SAVED.items()}
        facts |= {"method": self.method, "config": asdict(self.config), "rng": self.rng.bit_generator.state}
        facts["last"] = [list(finished_game) for finished_game in self._last]
        network.facts = {"training": facts}
        groups = {"adam": self.adam.to_arrays(), "games": self.games.to_arrays(), "more": self.extra_arrays()}
        save_deep(
            path, network, {f"{group}.{name}": a for group, arrays in groups.items() for name, a in arrays.items()}
        )

    def end(self) -> None:
        """Make `run` stop after the current round."""
        self.is_ending = True

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[DeepProgress]:
        """Train until a total of seconds, moves or games is reached; yield the progress after every round."""
        self.sessions.append(provenance() | {"threads": self.n_threads, "from_seconds": round(self.seconds)})
        if self.config.trial_every and not self.n_moves and not self.evaluations:
            self._evaluate()  # of the network before it has learned anything
        while self.seconds < seconds and self.n_moves < n_moves and self.n_games < n_games and not self.is_ending:
            begin, moves, steps = time.monotonic(), self.n_moves, self.adam.n_steps
            self._rate = self.config.rate_after(moves)  # constant within a round, because moves are played concurrently
            self.round()
            spent = time.monotonic() - begin
            self.seconds += spent
            self._paces.append((self.n_moves - moves, self.adam.n_steps - steps, spent))
            self._count()
            if self.config.trial_every and self.n_games >= self.next_evaluation:
                self._evaluate()
                n_missed = (self.n_games - self.next_evaluation) // self.config.trial_every
                self.next_evaluation += (n_missed + 1) * self.config.trial_every
            progress = self.progress()
            if self.n_games and self.n_games >= CURVE_GROWTH * (self.curve[-1]["n_games"] if self.curve else 1):
                self.curve.append(progress.to_json())
            yield progress

    def learn(self, loss: torch.Tensor) -> None:
        """Make one optimizer step."""
        self._losses.append(self.adam.step(loss, self._rate))

    def _count(self) -> None:
        while self.games.finished:
            finished_game = self.games.finished.popleft()
            self.best = max(self.best, float(finished_game.score))
            self._last.append(finished_game)
        self._pairs.append((self.n_games, self.n_moves, self.games.pairs.copy()))
        while len(self._pairs) > 2 and self.n_games - self._pairs[1][0] >= self._n_last():
            self._pairs.popleft()

    def _n_last(self) -> int:
        """Return the number of recent games: a quarter of all, within bounds, so that early changes show."""
        return min(WINDOW, max(20, self.n_games // 4))

    def _evaluate(self) -> None:
        evaluation = self.evaluate(self.config.trial_games)
        at = {"n_games": self.n_games, "n_moves": self.n_moves, "seconds": round(self.seconds, 3)}
        self.evaluations.append(at | evaluation.to_json())

    def evaluate(self, n: int) -> Evaluation:
        """Play n evaluation games, on the same seeds for every training."""
        network = self.network()
        return evaluate(self.rules, n, lambda *seen: self.choose(network, *seen), shape_rewards=self.shape_rewards)

    def progress(self) -> DeepProgress:
        last = list(self._last)[-self._n_last() :]
        n = max(1, len(last))
        tiles = np.array([finished_game.max_tile for finished_game in last] or [0])
        highest = int(tiles.max()).bit_length()
        ranks = range(max(1, highest - N_TILES), highest)
        moves, steps, spent = (sum(column) for column in zip(*self._paces, strict=True)) if self._paces else (0, 0, 1)
        length = sum(finished_game.n_moves for finished_game in last) / n
        # Per move rather than per game, because many games are in progress when the first ones end.
        pairs = (self._pairs[-1][2] - self._pairs[0][2]) * length / max(1, self._pairs[-1][1] - self._pairs[0][1])
        return DeepProgress(
            seconds=round(self.seconds, 3),
            n_moves=self.n_moves,
            n_games=self.n_games,
            n_steps=self.adam.n_steps,
            pace=moves / max(1e-9, spent),
            step_pace=steps / max(1e-9, spent),
            n_last=len(last),
            mean=sum(finished_game.score for finished_game in last) / n,
            total=sum(finished_game.total for finished_game in last) / n,
            length=length,
            tile_sum=sum(finished_game.tile_sum for finished_game in last) / n,
            max_tile=int(tiles.max()),
            best=self.best,
            rates={1 << rank: float((tiles >= 1 << rank).mean()) for rank in ranks},
            pairs={1 << rank: float(pairs[rank]) for rank in ranks},
            loss=sum(self._losses) / max(1, len(self._losses)),
            more=self.figures(),
            trial=self.evaluations[-1] if self.evaluations else None,
        )


def _finished_game(saved: Any) -> FinishedGame:
    """Return a finished game of a checkpoint; raise ValueError if it is damaged."""
    game = FinishedGame(*saved)
    if not all(type(count) is int and 0 <= count < 2**62 for count in game[:-1]) or not abs(game.total) < 1e300:
        raise ValueError("a finished game is out of range")
    return game
