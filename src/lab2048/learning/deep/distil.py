"""Training a network to do what another player does: see docs/players/c51.md.

Document 003 leaves it to later work to bring what its shield knows into the network, so that it can play without it.
Here a teacher, any player, is asked for a move on every board that comes up, and the network learns to give
that move the highest of its numbers.  In some games the teacher moves, in the others the learner: a learner that saw
only the boards of its teacher would not know what to do after its own mistakes.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import UsageError
from lab2048.learning.deep.action_values import best
from lab2048.learning.deep.config import DeepConfig, DistilConfig
from lab2048.learning.deep.replay_buffer import Replay
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Board, Rules
from lab2048.rules.afterstates import Afters, slide_boards

STEPS = 16  # moves of each game in a round


class DistilTraining(DeepTraining):
    """A network that learns from a teacher's moves."""

    method: ClassVar[str] = "distil"
    config_class: ClassVar[type[DeepConfig]] = DistilConfig
    config: DistilConfig

    def __init__(self, config: DistilConfig, rules: Rules, n_threads: int = 1) -> None:
        """Begin with untrained weights."""
        super().__init__(config, rules, n_threads)
        self.teacher = config.make_teacher()
        self.teacher.start(rules, config.seed)
        if config.replay // config.crowd < 2:
            raise UsageError(
                f"replay {config.replay}: expected two boards or more of each of {config.crowd} games", field="replay"
            )
        self.replay = Replay(config.replay // config.crowd, config.crowd, rules.shape.n_cells)
        self._counts = np.zeros(3)  # of this round: boards asked about, overridden there, where both would do the same
        self._is_taught = np.arange(config.crowd) < round(config.share * config.crowd)
        self._debt = 0.0  # gradients that are due

    def round(self) -> None:
        """Play some moves of every game, and follow the gradients that become due."""
        self._counts[:] = 0
        for _ in range(STEPS):
            self._play()
            self._debt += self.config.ratio * self.config.crowd
            while self._debt >= 1:
                self._debt -= 1
                self._learn()

    def _play(self) -> None:
        """Ask the teacher about every game; a move of each."""
        boards, legal = self.games.ranks.copy(), self.games.slide().legal
        lessons, is_overridden = self._ask(boards)
        own = best(self.adam.live.values(boards), legal)
        self._counts += len(boards), int(is_overridden.sum()), int((own == lessons).sum())
        step = self.games.step(np.where(self._is_taught, lessons, own))
        # What stands in the ring for rewards is how much a board counts.
        stress: Floats = np.where(is_overridden, np.float32(self.config.stress), np.float32(1))
        self.replay.add(boards, lessons, stress, step.ended, np.ones(len(boards), np.bool_))

    def _ask(self, boards: Ranks) -> tuple[Moves, Flags]:
        """The teacher's moves, and where its shield overrode the player behind it."""
        decisions = [self.teacher.choose(Board(self.rules.shape, tuple(ranks))) for ranks in boards.tolist()]
        moves = np.array([decision.move for decision in decisions], np.int64)
        return moves, np.array([decision.overridden is not None for decision in decisions], np.bool_)

    def _learn(self) -> None:
        """Follow a gradient, if there is something to learn from: the surprise at the teacher's moves."""
        sample = self.replay.draw(self.rng, self.config.batch, 1, 0.0)
        if sample is None:
            return
        out = self.adam.output(torch.from_numpy(sample.boards.astype(np.int64)))
        legal = slide_boards(self.games.plan, sample.boards).legal
        out = out.masked_fill(torch.from_numpy(~legal), -torch.inf)
        surprise = torch.nn.functional.cross_entropy(out, torch.from_numpy(sample.moves), reduction="none")
        self.learn((torch.from_numpy(sample.rewards) * surprise).mean())

    def figures(self) -> dict[str, float]:
        """How often the learner would do as its teacher, and how often a shield overrode the player behind it."""
        n, n_overridden, n_same = self._counts
        return {"agreement": float(n_same / max(1, n)), "overridden": float(n_overridden / max(1, n))}

    def choose(self, network: DeepNetwork, ranks: Ranks, afters: Afters, lengths: NDArray[np.int64]) -> Moves:  # noqa: ARG002
        """The legal move of the highest number: no teacher, no shield."""
        return best(network.values(ranks), afters.legal)

    def more_arrays(self) -> dict[str, NDArray[Any]]:
        """The ring, and what is due."""
        return self.replay.to_arrays() | {"debt": np.array([self._debt])}

    def restore_more(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on with those; a teacher that draws lots begins its own anew."""
        self.replay.restore(arrays)
        self._debt = float(arrays["debt"][0])
