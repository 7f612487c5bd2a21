"""Train action values, c51 and dqn: see docs/players/c51.md.

The network maps a state to a value per move: a number (dqn) or a distribution over returns (c51, after
Sauren 2022).  Vectorized games are played epsilon-greedily, their steps go into a replay buffer, and
batches are sampled from it.  The target of a move is the n-step return plus the target network's value of
the following board, at the move that the online network prefers there (double DQN).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import UsageError
from lab2048.learning.deep.checkpoint_array import check_like, steps_due
from lab2048.learning.deep.config import ActionConfig, C51Config, DeepConfig, DqnConfig
from lab2048.learning.deep.replay_buffer import ReplayBuffer, Sample
from lab2048.learning.deep.strategy import StrategyConstraint
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Flags, Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates, slide_boards

STEPS = 16  # moves per game and round


class ActionTraining(DeepTraining):
    """Train a network with one value per move."""

    config: ActionConfig

    def __init__(self, config: ActionConfig, rules: Rules, n_threads: int = 1) -> None:
        super().__init__(config, rules, n_threads)
        self.constraint = StrategyConstraint(
            rules.shape, strategy=config.strategy, reward=config.reward, sides=config.sides, warm_up=config.warm_up
        )
        n_rows = config.replay // config.crowd
        if n_rows <= config.ahead:
            raise UsageError(
                f"replay {config.replay}: expected more than {config.ahead} moves of each of {config.crowd} games",
                field="replay",
            )
        self.replay = ReplayBuffer(n_rows, config.crowd, rules.shape.n_cells)
        self._target_network = self.adam.copy()
        self._steps_due = 0.0  # gradient steps to make; fractions carry over
        symmetries = rules.shape.symmetries if config.turn and self.constraint.is_free else rules.shape.symmetries[:1]
        self._cells = np.array([symmetry.cells for symmetry in symmetries], np.int64)
        # Reading a board in the order of a symmetry's cells applies the inverse symmetry.
        self._turned = np.array([np.argsort(symmetry.moves) for symmetry in symmetries], np.int64)

    def round(self) -> None:
        """Play some moves of every game and make the gradient steps that are due."""
        for _ in range(STEPS):
            n_ended = self.n_games
            self._play()
            self._steps_due += self.config.ratio * self.config.crowd + self.config.per_game * (self.n_games - n_ended)
            while self._steps_due >= 1:
                self._steps_due -= 1
                self._learn()

    def _play(self) -> None:
        """Play one move in every game and store it."""
        boards, afterstates = self.games.ranks.copy(), self.games.slide()
        allowed = self.constraint.mask(afterstates.legal)
        moves = best(self.adam.live.values(boards), allowed)
        is_random = self.rng.random(len(moves)) < self.config.epsilon_after(self.n_games)
        random_moves = best(self.rng.random(allowed.shape, np.float32), allowed)
        moves, is_own = self.constraint.shield(
            np.where(is_random, random_moves, moves), afterstates, self.games.lengths
        )
        step = self.games.step(moves, self.shape_rewards)
        self.replay.add(boards, moves, step.rewards, step.ended, is_own | self.config.learn_shield)

    def _learn(self) -> None:
        """Make a gradient step on a sampled batch, if the buffer has one."""
        sample = self.replay.draw(self.rng, self.config.batch, self.config.ahead, self.config.discount)
        if sample is None:
            return
        turns = self.rng.integers(0, len(self._cells), len(sample.moves))
        boards = np.take_along_axis(sample.boards, self._cells[turns], 1)
        moves = torch.from_numpy(self._turned[turns, sample.moves])
        out = self.adam.output(torch.from_numpy(boards.astype(np.int64)))
        self.learn(self.loss(out, moves, sample))
        if self.adam.n_steps % self.config.refresh == 0:
            self._target_network = self.adam.copy()

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """Return the loss of the outputs at `moves` against the targets of the sample."""
        raise NotImplementedError

    def target_output(self, sample: Sample) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the target network's output for the next boards, and the online network's moves there."""
        legal = slide_boards(self.games.plan, sample.next_boards).legal
        # The shield's unsafe moves have values of their own only if they are allowed here.
        allowed = legal if self.config.learn_shield else self.constraint.mask(legal)
        moves = best(self.adam.live.values(sample.next_boards), allowed)
        with torch.no_grad():
            out = self._target_network.output(sample.next_boards)
        return out, torch.from_numpy(moves)

    def choose(self, network: DeepNetwork, ranks: Ranks, afterstates: Afterstates, lengths: NDArray[np.int64]) -> Moves:
        """Return the best allowed moves, or the shield's."""
        moves = best(network.values(ranks), self.constraint.mask(afterstates.legal))
        return self.constraint.shield(moves, afterstates, lengths)[0]

    def shape_rewards(self, rewards: Floats, boards: Ranks) -> Floats:
        """Apply the reward shaping of the strategy."""
        return self.constraint.shape_rewards(rewards, boards)

    def extra_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the replay buffer, the target network and the number of steps due."""
        slow = torch.cat([part.flatten() for part in self._target_network.weights.values()]).numpy()
        return self.replay.to_arrays() | {"slow": slow, "debt": np.array([self._steps_due])}

    def restore_extra(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.replay.restore(arrays, self.rules)
        check_like("slow", arrays["slow"], self.adam.flat.detach().numpy())
        self._target_network = DeepNetwork(
            self.adam.design, self.adam.view(torch.from_numpy(arrays["slow"].copy())), {}
        )
        self._steps_due = steps_due(arrays["debt"])


class C51Training(ActionTraining):
    """Train a distribution over returns per move (C51)."""

    method: ClassVar[str] = "c51"
    config_class: ClassVar[type[DeepConfig]] = C51Config

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """Return the cross-entropy against the projected target distribution."""
        design = self.adam.design
        atoms = torch.from_numpy(design.atoms())
        next_boards, next_moves = self.target_output(sample)
        rows, size = torch.arange(len(moves)), (-1, design.n_moves, design.n_atoms)
        chances = torch.softmax(next_boards.view(size)[rows, next_moves], 1)
        rewards, discounts = torch.from_numpy(sample.rewards), torch.from_numpy(sample.discounts)
        wanted = project(rewards[:, None] + discounts[:, None] * atoms, chances, atoms)
        given = torch.log_softmax(out.view(size)[rows, moves], 1)
        return -(wanted * given).sum(1).mean()


class DqnTraining(ActionTraining):
    """Train one value per move (double DQN)."""

    method: ClassVar[str] = "dqn"
    config_class: ClassVar[type[DeepConfig]] = DqnConfig

    def loss(self, out: torch.Tensor, moves: torch.Tensor, sample: Sample) -> torch.Tensor:
        """Return the Huber loss."""
        rows = torch.arange(len(moves))
        next_boards, next_moves = self.target_output(sample)
        worth = self._target_network.to_score(next_boards)[rows, next_moves]
        wanted = torch.from_numpy(sample.rewards) + torch.from_numpy(sample.discounts) * worth
        return torch.nn.functional.smooth_l1_loss(out[rows, moves], self._target_network.from_score(wanted))


def best(values: Floats, allowed: Flags) -> Moves:
    """Return the allowed move with the highest value per row; 0 if none is allowed."""
    return np.asarray(np.where(allowed, values, -np.inf).argmax(axis=1), np.int64)


def project(returns: torch.Tensor, chances: torch.Tensor, atoms: torch.Tensor) -> torch.Tensor:
    """Project probabilities of returns onto the two nearest atoms, keeping the mean; clip beyond the ends."""
    returns = returns.clamp(float(atoms[0]), float(atoms[-1]))
    above = torch.searchsorted(atoms, returns.contiguous()).clamp(1, len(atoms) - 1)
    share = (returns - atoms[above - 1]) / (atoms[above] - atoms[above - 1])
    projected = torch.zeros_like(chances)
    projected.scatter_add_(1, above - 1, chances * (1 - share))
    projected.scatter_add_(1, above, chances * share)
    return projected
