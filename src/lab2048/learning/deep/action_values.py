"""Training values of moves, c51 and dqn: see docs/players/c51.md.

The network is shown a state and says what every move is worth: a number (dqn) or a distribution over
returns (c51, after document 003).  Many games are played at once, with a move at random now and then; the
steps go into a replay buffer, and batches are drawn from it.  What a move ought to be worth is
the sum of the next rewards + what a slower copy of the network thinks of the board that they led to, at the
move that the network itself would make there (double).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import UsageError
from lab2048.learning.deep.config import ActionConfig, C51Config, DeepConfig, DqnConfig
from lab2048.learning.deep.replay_buffer import Replay, Sample
from lab2048.learning.deep.strategy import Discipline
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afters, slide_boards

STEPS = 16  # moves of each game in a round


class ActionTraining(DeepTraining):
    """Values of moves that learn."""

    config: ActionConfig

    def __init__(self, config: ActionConfig, rules: Rules, n_threads: int = 1) -> None:
        """Begin with untrained weights."""
        super().__init__(config, rules, n_threads)
        self.discipline = Discipline(
            rules.shape, strategy=config.strategy, reward=config.reward, sides=config.sides, warm_up=config.warm_up
        )
        n_rows = config.replay // config.crowd
        if n_rows <= config.ahead:
            raise UsageError(
                f"replay {config.replay}: expected more than {config.ahead} moves of each of {config.crowd} games",
                field="replay",
            )
        self.replay = Replay(n_rows, config.crowd, rules.shape.n_cells)
        self._slow = self.adam.copy()
        self._debt = 0.0  # gradients that are due
        symmetries = rules.shape.symmetries if config.turn and self.discipline.is_free else rules.shape.symmetries[:1]
        self._cells = np.array([symmetry.cells for symmetry in symmetries], np.int64)
        # A board read in the order of a symmetry's cells is turned the other way round.
        self._turned = np.array([np.argsort(symmetry.moves) for symmetry in symmetries], np.int64)

    def round(self) -> None:
        """Play some moves of every game, and follow the gradients that become due."""
        for _ in range(STEPS):
            n_ended = self.n_games
            self._play()
            self._debt += self.config.ratio * self.config.crowd + self.config.per_game * (self.n_games - n_ended)
            while self._debt >= 1:
                self._debt -= 1
                self._learn()

    def _play(self) -> None:
        """A move of every game."""
        boards, afters = self.games.ranks.copy(), self.games.slide()
        allowed = self.discipline.mask(afters.legal)
        moves = best(self.adam.live.values(boards), allowed)
        is_whim = self.rng.random(len(moves)) < self.config.epsilon
        whims = best(self.rng.random(allowed.shape, np.float32), allowed)
        moves, is_own = self.discipline.shield(np.where(is_whim, whims, moves), afters, self.games.lengths)
        step = self.games.step(moves, self.weigh)
        self.replay.add(boards, moves, step.rewards, step.ended, is_own)

    def _learn(self) -> None:
        """Follow a gradient, if there is something to learn from."""
        sample = self.replay.draw(self.rng, self.config.batch, self.config.ahead, self.config.discount)
        if sample is None:
            return
        turns = self.rng.integers(0, len(self._cells), len(sample.moves))
        boards = np.take_along_axis(sample.boards, self._cells[turns], 1)
        moves = torch.from_numpy(self._turned[turns, sample.moves])
        out = self.adam.output(torch.from_numpy(boards.astype(np.int64)))
        self.learn(self.loss(out, moves, sample))
        if self.adam.n_steps % self.config.refresh == 0:
            self._slow = self.adam.copy()

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """How far what the network gives is from what it ought to."""
        raise NotImplementedError

    def judge_later(self, sample: Sample) -> tuple[torch.Tensor, torch.Tensor]:
        """What the slower copy gives for the boards that moves led to, and what the network would do there."""
        allowed = self.discipline.mask(slide_boards(self.games.plan, sample.later).legal)
        moves = best(self.adam.live.values(sample.later), allowed)
        with torch.no_grad():
            out = self._slow.output(sample.later)
        return out, torch.from_numpy(moves)

    def choose(self, network: DeepNetwork, ranks: Ranks, afters: Afters, lengths: NDArray[np.int64]) -> Moves:
        """The best move that the mask allows, or the shield's."""
        moves = best(network.values(ranks), self.discipline.mask(afters.legal))
        return self.discipline.shield(moves, afters, lengths)[0]

    def weigh(self, rewards: Floats, boards: Ranks) -> Floats:
        """As the discipline has it."""
        return self.discipline.weigh(rewards, boards)

    def more_arrays(self) -> dict[str, NDArray[Any]]:
        """The ring, the slower copy, and what is due."""
        slow = torch.cat([part.flatten() for part in self._slow.weights.values()]).numpy()
        return self.replay.to_arrays() | {"slow": slow, "debt": np.array([self._debt])}

    def restore_more(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on with those."""
        self.replay.restore(arrays)
        self._slow = DeepNetwork(self.adam.design, self.adam.view(torch.from_numpy(arrays["slow"].copy())), {})
        self._debt = float(arrays["debt"][0])


class C51Training(ActionTraining):
    """Distributions over returns, one for each move."""

    method: ClassVar[str] = "c51"
    config_class: ClassVar[type[DeepConfig]] = C51Config

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """The surprise at the distribution that ought to be."""
        design = self.adam.design
        atoms = torch.from_numpy(design.atoms())
        later, then = self.judge_later(sample)
        rows, size = torch.arange(len(moves)), (-1, design.n_moves, design.n_atoms)
        chances = torch.softmax(later.view(size)[rows, then], 1)
        rewards, discounts = torch.from_numpy(sample.rewards), torch.from_numpy(sample.discounts)
        wanted = project(rewards[:, None] + discounts[:, None] * atoms, chances, atoms)
        given = torch.log_softmax(out.view(size)[rows, moves], 1)
        return -(wanted * given).sum(1).mean()


class DqnTraining(ActionTraining):
    """A number for each move."""

    method: ClassVar[str] = "dqn"
    config_class: ClassVar[type[DeepConfig]] = DqnConfig

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """The distance from what ought to be, large ones not squared."""
        rows = torch.arange(len(moves))
        later, then = self.judge_later(sample)
        worth = self._slow.to_score(later)[rows, then]
        wanted = torch.from_numpy(sample.rewards) + torch.from_numpy(sample.discounts) * worth
        return torch.nn.functional.smooth_l1_loss(out[rows, moves], self._slow.from_score(wanted))


def best(values: Floats, allowed: Flags) -> Moves:
    """The move with the highest value of those allowed; the first if none is."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1), np.int64)


def project(returns: torch.Tensor, chances: torch.Tensor, atoms: torch.Tensor) -> torch.Tensor:
    """Give the chance of every return to the two atoms around it, so that the mean stays; beyond an end, to it."""
    returns = returns.clamp(float(atoms[0]), float(atoms[-1]))
    above = torch.searchsorted(atoms, returns.contiguous()).clamp(1, len(atoms) - 1)
    share = (returns - atoms[above - 1]) / (atoms[above] - atoms[above - 1])
    projected = torch.zeros_like(chances)
    projected.scatter_add_(1, above - 1, chances * (1 - share))
    projected.scatter_add_(1, above, chances * share)
    return projected
