"""Train afterstate values with TD(lambda): see docs/players/net.md.

A round plays a window of moves in all games with the network of the round's start, always the move with the
highest reward + afterstate value.  The same values serve as targets, so training needs no further forward
pass: backwards from the end of the window, the target of an afterstate is the next reward plus the
lambda-weighted mixture of the next value and the next target.

Meanwhile the network trains on the previous window.  Playing and training use two threads if allowed; the
result is the same bit for bit.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.checkpoint_array import are_legal, check_boards, check_like, check_moves
from lab2048.learning.deep.config import AfterstateConfig, DeepConfig
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Floats, Moves, Ranks
from lab2048.models.deep.network import DeepNetwork, TurnedNetwork
from lab2048.models.deep.torch_import import torch
from lab2048.rules import Rules
from lab2048.rules.afterstates import Afterstates


class AfterstateTraining(DeepTraining):
    """Train a network with one value per afterstate."""

    method: ClassVar[str] = "afterstate"
    config_class: ClassVar[type[DeepConfig]] = AfterstateConfig
    config: AfterstateConfig

    def __init__(self, config: AfterstateConfig, rules: Rules, n_threads: int = 1) -> None:
        super().__init__(config, rules, n_threads)
        n, n_cells = config.crowd, rules.shape.n_cells
        self._symmetries = np.array([symmetry.cells for symmetry in rules.shape.symmetries], np.int64)
        # The moves chosen but not yet played: their afterstates, rewards and values.
        self._moves = np.full(n, -1, np.int64)
        self._after, self._reward, self._value = (
            np.zeros((n, n_cells), np.uint8),
            np.zeros(n, np.float32),
            np.zeros(n, np.float32),
        )
        # The window to train on next.
        self._boards, self._targets = np.zeros((0, n_cells), np.uint8), np.zeros(0, np.float32)
        self._pool = ThreadPoolExecutor(1) if n_threads > 1 else None

    def round(self) -> None:
        """Play a window with a copy of the network while training on the previous window."""
        network = self.adam.copy()
        if self._pool is None:
            self._learn_window()
            self._boards, self._targets = self._play_window(network)
        else:
            learning = self._pool.submit(self._learn_window)
            window = self._play_window(network)
            learning.result()
            self._boards, self._targets = window

    def _decide(self, network: DeepNetwork) -> None:
        """Choose the next move of every game."""
        afterstates = self.games.slide()
        rows = np.arange(len(afterstates.rewards))
        worth = evaluate(network, afterstates)
        self._moves = np.asarray((worth + afterstates.rewards).argmax(axis=1), np.int64)
        self._after, self._reward = (
            afterstates.boards[rows, self._moves],
            np.maximum(afterstates.rewards[rows, self._moves], 0),
        )
        self._value = np.where(afterstates.legal.any(axis=1), worth[rows, self._moves], 0).astype(np.float32)

    def _play_window(self, network: DeepNetwork) -> tuple[Ranks, Floats]:
        """Play a window; return its afterstates and their targets."""
        n, length = self.config.crowd, self.config.window
        boards = np.empty((length, n, self._after.shape[1]), np.uint8)
        rewards, values = np.empty((length, n), np.float32), np.empty((length, n), np.float32)
        is_last = np.empty((length, n), np.bool_)
        if self._moves[0] < 0:
            self._decide(network)
        for t in range(length):
            boards[t] = self._after
            is_last[t] = self.games.step(self._moves).ended
            self._decide(network)
            rewards[t], values[t] = self._reward, self._value
        targets, beyond = np.empty((length, n), np.float32), values[-1]
        for t in reversed(range(length)):
            mixture = (1 - self.config.trace) * values[t] + self.config.trace * beyond
            targets[t] = beyond = np.where(is_last[t], 0, rewards[t] + mixture)
        return boards.reshape(length * n, -1), targets.reshape(-1)

    def _learn_window(self) -> None:
        """Train on the waiting window, in random batches."""
        targets = torch.from_numpy(self._targets / np.float32(self.config.unit))
        for _ in range(self.config.passes if len(targets) else 0):
            boards = self._boards
            if self.config.turn:
                turns = self.rng.integers(0, len(self._symmetries), len(boards))
                boards = np.take_along_axis(boards, self._symmetries[turns], 1)
            ranks = torch.from_numpy(boards.astype(np.int64))
            for batch in torch.split(torch.from_numpy(self.rng.permutation(len(boards))), self.config.batch):
                error = self.adam.output(ranks[batch])[:, 0] - targets[batch]
                self.learn((error * error).mean())

    def choose(self, network: DeepNetwork, ranks: Ranks, afterstates: Afterstates, lengths: NDArray[np.int64]) -> Moves:  # noqa: ARG002
        """Return the moves with the highest reward + afterstate value."""
        return np.asarray((evaluate(network, afterstates) + afterstates.rewards).argmax(axis=1), np.int64)

    def extra_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the chosen moves and the waiting window."""
        arrays: dict[str, NDArray[Any]] = {"moves": self._moves, "after": self._after, "reward": self._reward}
        return arrays | {"value": self._value, "boards": self._boards, "targets": self._targets}

    def restore_extra(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name, array in self.extra_arrays().items():
            check_like(name, arrays[name], array, any_length=name in ("boards", "targets"))
        if len(arrays["boards"]) != len(arrays["targets"]):
            raise ValueError("the window has other lengths")
        check_boards(arrays["boards"], self.rules)
        check_boards(arrays["after"], self.rules)
        if (arrays["moves"] != -1).any():  # no move is chosen before the first round
            check_moves(arrays["moves"], self.rules)
            if not are_legal(self.games.ranks, arrays["moves"], self.rules):
                raise ValueError("a move is not legal")
        for name in self.extra_arrays():
            setattr(self, f"_{name}", arrays[name].copy())


def evaluate(network: DeepNetwork | TurnedNetwork, afterstates: Afterstates) -> Floats:
    """Return the value of every afterstate; -inf for illegal moves."""
    worth = np.full(afterstates.rewards.shape, -np.inf, np.float32)
    legal = afterstates.legal
    if legal.any():
        worth[legal] = network.values(afterstates.boards[legal])
    return worth
