"""Players that use a deep network: `c51` for action values, `net` for afterstate values."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, OutOfRangeError, UsageError
from lab2048.extras import need
from lab2048.kernels.group import ENVIRONMENTS
from lab2048.players.player import Decision, Player, option
from lab2048.rules import Board, Rules
from lab2048.rules.afterstates import slide_boards
from lab2048.rules.plan import make_plan

if TYPE_CHECKING:
    from lab2048.models.deep.design import DeepDesign
    from lab2048.models.deep.network import DeepNetwork


@dataclass
class DeepPlayer(Player):
    """Base class: loads a network file that was trained on boards of the same shape."""

    kernels: ClassVar[tuple[str, ...]] = (ENVIRONMENTS,)
    measure: ClassVar[str] = "expected score"
    unit: ClassVar[str] = "score"
    heads: ClassVar[tuple[str, ...]]
    methods: ClassVar[str]

    weights: str | None = option(None, "network file, made by lab2048 train")

    def __post_init__(self) -> None:
        self._rules: Rules | None = None

    def check(self, rules: Rules) -> None:
        """Check the header of the network file, without reading weights or importing torch."""
        from lab2048.models.deep.header import read_deep_header

        need("deep")
        self._check_design(read_deep_header(self._file()[1])[0], rules)

    def _file(self) -> tuple[str, Path]:
        """Return the network file as it was given, and as a path."""
        if self.weights is None:
            raise FileError(
                f"no network is given: expected weights=FILE, a file written by lab2048 train {self.methods}"
            )
        return self.weights, Path(self.weights)

    def _check_design(self, design: "DeepDesign", rules: Rules) -> None:
        if design.head not in self.heads:
            raise FileError(
                f"{self.weights} is another kind of network: expected a file of lab2048 train {self.methods}"
            )
        if design.rules.shape != rules.shape:
            shape = design.rules.board.to_text()
            raise FileError(f"{self.weights} was trained on {shape}: expected one for {rules.board.to_text()}")

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Load the network; raise FileError if it was trained on another shape."""
        name, _ = self._file()
        from lab2048.models.deep.file import take_deep
        from lab2048.models.deep.torch_import import torch

        torch.set_num_threads(1)  # one board is too little work for several threads
        network = take_deep(name)
        self._check_design(network.design, rules)
        self._network: DeepNetwork = network
        self._rules, self._plan = rules, make_plan(rules)

    def choose(self, board: Board) -> Decision:
        """Choose the legal move with the highest value."""
        if self._rules is None or self._rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        values, nodes, depth = self.evaluate(np.array([board.ranks], np.uint8))
        by_move = {int(move): float(values[move]) for move in board.legal_moves()}
        return Decision(max(by_move, key=lambda move: by_move[move]), by_move, nodes=nodes, depth=depth)

    def evaluate(self, ranks: NDArray[np.uint8]) -> tuple[NDArray[np.float32], int, int]:
        """Return a value per move of one board, the number of boards evaluated, and the depth."""
        raise NotImplementedError


@dataclass
class C51Player(DeepPlayer):
    """Chooses the move with the highest action value, from a network trained by c51, dqn or returns."""

    heads: ClassVar[tuple[str, ...]] = ("atoms", "actions")
    methods: ClassVar[str] = "c51, dqn or returns"
    measure: ClassVar[str] = "expected return"
    unit: ClassVar[str] = "value"

    def evaluate(self, ranks: NDArray[np.uint8]) -> tuple[NDArray[np.float32], int, int]:
        return self._network.values(ranks)[0], 1, 0


@dataclass
class NetPlayer(DeepPlayer):
    """Chooses the move with the highest reward plus afterstate value, from a deep network."""

    heads: ClassVar[tuple[str, ...]] = ("value",)
    methods: ClassVar[str] = "afterstate"

    depth: int = option(
        1, "search depth in own moves: 1 evaluates afterstates, 2 adds every spawn and the move after it"
    )
    turned: bool = option(False, "average the value over all rotations and reflections of a board")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth not in (1, 2):
            raise OutOfRangeError("depth", self.depth, "1 or 2")

    def start(self, rules: Rules, seed: int) -> None:
        """Load the network, and wrap it if values are averaged over symmetries."""
        super().start(rules, seed)
        from lab2048.models.deep.network import TurnedNetwork

        self._valuer: DeepNetwork | TurnedNetwork = TurnedNetwork(self._network) if self.turned else self._network

    def evaluate(self, ranks: NDArray[np.uint8]) -> tuple[NDArray[np.float32], int, int]:
        """Add the reward of each move to the value of its afterstate."""
        afterstates = slide_boards(self._plan, ranks)
        legal = afterstates.legal[0]
        values = np.full(len(legal), -np.inf, np.float32)
        if self.depth == 1:
            worth, nodes = self._valuer.values(afterstates.boards[0, legal]), int(legal.sum())
        else:
            worth, nodes = self._look_further(afterstates.boards[0, legal])
        values[legal] = afterstates.rewards[0, legal] + worth
        return values, nodes, self.depth

    def _look_further(self, afterstates: NDArray[np.uint8]) -> tuple[NDArray[np.float32], int]:
        """Return the expected value of the best move after every spawn, evaluated in one batch."""
        assert self._rules is not None
        sources, cells = np.nonzero(afterstates == 0)
        table = self._rules.spawn_table
        n_empty = np.bincount(sources, minlength=len(afterstates))
        states = np.repeat(afterstates[sources], len(table), axis=0)
        spawned = np.tile(np.array([rank for rank, _ in table], np.uint8), len(sources))
        states[np.arange(len(states)), np.repeat(cells, len(table))] = spawned
        chances = np.tile(np.array([p for _, p in table]), len(sources)) / np.repeat(n_empty[sources], len(table))
        following = slide_boards(self._plan, states)
        best, legal = np.full(following.rewards.shape, -np.inf, np.float32), following.legal
        if legal.any():
            best[legal] = following.rewards[legal] + self._valuer.values(following.boards[legal])
        worth = np.where(legal.any(axis=1), best.max(axis=1), 0.0)  # a lost game earns no more
        means = np.bincount(np.repeat(sources, len(table)), weights=chances * worth, minlength=len(afterstates))
        return means.astype(np.float32), int(legal.sum())
