"""Distil a player into a network by imitation: see docs/players/c51.md.

Sauren 2022 leaves to future work how to train the shield's knowledge into the network.  Here a teacher, any
player, labels every board with its move, and the network learns to predict it.  The teacher plays some of
the games and the learner the others, because a learner that only saw its teacher's boards could not recover
from its own mistakes (DAgger).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import UsageError
from lab2048.learning.deep.action_values import best
from lab2048.learning.deep.checkpoint_array import are_legal, steps_due
from lab2048.learning.deep.config import DeepConfig, DistilConfig
from lab2048.learning.deep.replay_buffer import ReplayBuffer
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Board, Rules
from lab2048.rules.afterstates import Afterstates, slide_boards

STEPS = 16  # moves per game and round


class DistilTraining(DeepTraining):
    """Train a network to predict a teacher's moves."""

    method: ClassVar[str] = "distil"
    config_class: ClassVar[type[DeepConfig]] = DistilConfig
    config: DistilConfig

    def __init__(self, config: DistilConfig, rules: Rules, n_threads: int = 1) -> None:
        super().__init__(config, rules, n_threads)
        self.teacher = config.make_teacher()
        self.teacher.start(rules, config.seed)
        if config.replay // config.crowd < 2:
            raise UsageError(
                f"replay {config.replay}: expected two boards or more of each of {config.crowd} games", field="replay"
            )
        self.replay = ReplayBuffer(config.replay // config.crowd, config.crowd, rules.shape.n_cells)
        self._counts = np.zeros(3)  # per round: boards, boards with an override, boards where both agree
        self._is_taught = np.arange(config.crowd) < round(config.share * config.crowd)
        self._steps_due = 0.0  # gradient steps to make; fractions carry over

    def round(self) -> None:
        """Play some moves of every game and make the gradient steps that are due."""
        self._counts[:] = 0
        for _ in range(STEPS):
            self._play()
            self._steps_due += self.config.ratio * self.config.crowd
            while self._steps_due >= 1:
                self._steps_due -= 1
                self._learn()

    def _play(self) -> None:
        """Label every board with the teacher's move, store it, and play one move in every game."""
        boards, legal = self.games.ranks.copy(), self.games.slide().legal
        lessons, is_overridden = self._ask(boards)
        own = best(self.adam.live.values(boards), legal)
        self._counts += len(boards), int(is_overridden.sum()), int((own == lessons).sum())
        step = self.games.step(np.where(self._is_taught, lessons, own))
        # The buffer's rewards hold the sample weights.
        stress: Floats = np.where(is_overridden, np.float32(self.config.stress), np.float32(1))
        self.replay.add(boards, lessons, stress, step.ended, np.ones(len(boards), np.bool_))

    def _ask(self, boards: Ranks) -> tuple[Moves, Flags]:
        """Return the teacher's moves, and where its shield overrode the inner player."""
        decisions = [self.teacher.choose(Board(self.rules.shape, tuple(ranks))) for ranks in boards.tolist()]
        moves = np.array([decision.move for decision in decisions], np.int64)
        return moves, np.array([decision.overridden is not None for decision in decisions], np.bool_)

    def _learn(self) -> None:
        """Make a gradient step on the weighted cross-entropy, if the buffer has a batch."""
        sample = self.replay.draw(self.rng, self.config.batch, 1, 0.0)
        if sample is None:
            return
        out = self.adam.output(torch.from_numpy(sample.boards.astype(np.int64)))
        legal = slide_boards(self.games.plan, sample.boards).legal
        out = out.masked_fill(torch.from_numpy(~legal), -torch.inf)
        surprise = torch.nn.functional.cross_entropy(out, torch.from_numpy(sample.moves), reduction="none")
        self.learn((torch.from_numpy(sample.rewards) * surprise).mean())

    def figures(self) -> dict[str, float]:
        """Return how often learner and teacher agree, and how often the shield overrode the inner player."""
        n, n_overridden, n_same = self._counts
        return {"agreement": float(n_same / max(1, n)), "overridden": float(n_overridden / max(1, n))}

    def choose(self, network: DeepNetwork, ranks: Ranks, afterstates: Afterstates, lengths: NDArray[np.int64]) -> Moves:  # noqa: ARG002
        """Return the legal moves with the highest logit, without teacher or shield."""
        return best(network.values(ranks), afterstates.legal)

    def extra_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the replay buffer and the number of steps due."""
        return self.replay.to_arrays() | {"debt": np.array([self._steps_due])}

    def restore_extra(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `extra_arrays` returned; a random teacher restarts its random stream."""
        self.replay.restore(arrays, self.rules)
        n = len(arrays["boards"])
        if n and not are_legal(arrays["boards"].reshape(-1, self.replay.n_cells), arrays["moves"].ravel(), self.rules):
            raise ValueError("a move is not legal")
        self._steps_due = steps_due(arrays["debt"])
