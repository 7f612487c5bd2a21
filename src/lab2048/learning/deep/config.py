"""Options of deep networks, method by method.  Nothing here needs torch."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lab2048.errors import UsageError
from lab2048.kernels.group import ENVIRONMENTS
from lab2048.learning.config import TrainingConfig, option, with_default
from lab2048.models.deep.design_options import KINDS, READINGS, SCALES
from lab2048.rules import Rules

if TYPE_CHECKING:
    from lab2048.models.deep.design import DeepDesign
    from lab2048.players.player import Player

STRATEGIES = ("none", "safe", "reverse-shield")
REWARDS = ("merge", "ordered")
BLAMES = ("end", "every")
OPTIMIZERS, LOSSES, ILLEGALS = ("adam", "sgd"), ("huber", "squared"), ("masked", "allowed")
GAME_BYTES = 40  # of one game of the vectorized environment in a checkpoint
RETURNS_ROOM = 256  # moves per game that `returns` allocates at first


_MAX_DIGITS = 9  # of a width; longer words are mistakes, and int() refuses very long ones


def read_widths(text: str) -> tuple[int, ...]:
    """Return layer widths as numbers.

    >>> read_widths("128,64,256")
    (128, 64, 256)
    """
    words = text.replace(",", " ").split()
    if not words or not all(word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS for word in words):
        raise UsageError(f"widths {' '.join(text.split())}: expected numbers such as 128,64,256", field="widths")
    return tuple(map(int, words))


@dataclass(frozen=True)
class DeepConfig(TrainingConfig):
    """Options that all deep methods share."""

    n_copies: ClassVar[int] = 5  # of the weights in a checkpoint: playing, learning, Adam's two moments, average

    network: str = option("lines", "Network architecture", choices=KINDS, is_fixed=True)
    widths: str = option("128,64,256", "Layer widths", is_fixed=True, metavar="WIDTHS", check=read_widths)
    reading: str = option("onehot", "Cell encoding", choices=READINGS, is_fixed=True)
    crowd: int = option(256, "Games played in parallel", low=1, high=65536, is_fixed=True)
    batch: int = option(128, "Minibatch size", low=1, high=65536)
    rate: float = option(1e-3, "Learning rate", low=1e-9, high=1.0)
    decay: float = option(
        0.0, "The learning rate decays as 1/sqrt(1 + moves / N); 0 = constant", low=0, high=1e15, metavar="MOVES"
    )
    clip: float = option(1.0, "Gradient clipping: largest norm", low=1e-9, high=1e9)
    average: float = option(
        0.999, "Decay of the moving average of the weights; the averaged network plays", low=0, high=0.999999
    )
    trial_every: int = option(2000, "Games between evaluations; 0 = no evaluations", low=0, high=10**9, metavar="GAMES")
    trial_games: int = option(100, "Games per evaluation", low=2, high=100_000)
    seed: int = option(1, "Seed of games, initial weights and minibatches", low=0, high=2**53 - 1, is_fixed=True)

    def rate_after(self, n_moves: int) -> float:
        return self.rate if self.decay == 0 else self.rate / math.sqrt(1 + n_moves / self.decay)

    def design(self, rules: Rules) -> "DeepDesign":
        from lab2048.models.deep.design import DeepDesign

        widths = read_widths(self.widths)
        return DeepDesign(rules, self.network, self.head, widths, self.reading, **self._scale())

    def _scale(self) -> dict[str, Any]:
        """Return what the outputs of the network mean, as fields of its design."""
        raise NotImplementedError

    def check(self, rules: Rules) -> None:
        self.design(rules)

    def groups(self, rules: Rules) -> tuple[str, ...]:  # noqa: ARG002
        return (ENVIRONMENTS,)

    @classmethod
    def _read_header(cls, path: Path) -> tuple[Rules, dict[str, Any]]:
        from lab2048.models.deep.header import read_deep_header

        design, facts = read_deep_header(path)
        return design.rules, facts

    def sizes(self, rules: Rules, n_moves: float = 0, limit: float = math.inf) -> tuple[int, int]:
        """Return the bytes of a checkpoint; approximate, because games under way are of any length."""
        n_weights = sum(math.prod(shape) for shape in self.design(rules).shapes().values())
        n_cells = rules.shape.n_cells
        least = 4 * self.n_copies * n_weights + (GAME_BYTES + n_cells) * self.crowd
        step = n_cells + 7  # board, move, reward and two flags
        now, next_boards = (least + step * self._n_steps_kept(n) for n in (n_moves, max(n_moves, limit)))
        return now, next_boards

    def _n_steps_kept(self, n_moves: float) -> int:  # noqa: ARG002
        """Return how many moves to learn from a checkpoint holds after `n_moves`."""
        return 0


@dataclass(frozen=True)
class AfterstateConfig(DeepConfig):
    """Options of a network that values afterstates."""

    head: ClassVar[str] = "value"

    rate: float = with_default(DeepConfig, "rate", 3e-3)
    decay: float = with_default(DeepConfig, "decay", 3e5)
    window: int = option(16, "Moves of each game per round", low=1, high=10_000, is_fixed=True)
    trace: float = option(0.5, "TD(lambda): weight of the rest of the window against the next value", low=0, high=1)
    passes: int = option(1, "Epochs per window", low=1, high=100)
    turn: bool = option(True, "Augment boards by random rotations and reflections")
    unit: float = option(1000.0, "Score that the network outputs as 1", low=1e-6, high=1e9, is_fixed=True)

    def _scale(self) -> dict[str, Any]:
        return {"high": self.unit}

    def _n_steps_kept(self, n_moves: float) -> int:
        return self.crowd * (self.window + 1 if n_moves else 1)


# Sauren 2022, and where the thesis is silent its published code: 2-step returns from -1 to 2048, tiles as plain
# numbers, and one gradient step per game.
PRESET_003 = {
    "network": "mlp", "widths": "128", "reading": "tiles", "crowd": 1, "batch": 64, "rate": 1e-3, "clip": 1e9,
    "average": 0.0, "epsilon": 0.1, "discount": 0.95, "ahead": 2, "replay": 10_000, "ratio": 0.0, "per_game": 1.0,
    "refresh": 50, "turn": False, "least": -1.0, "most": 2048.0, "atoms": 51, "support": "linear",
    "trial_every": 25, "trial_games": 10,
}  # fmt: skip


@dataclass(frozen=True)
class ActionConfig(DeepConfig):
    """Options of a network that values moves and learns from a replay buffer."""

    n_copies: ClassVar[int] = 6  # and the target network
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"003": PRESET_003}

    reward: str = option(
        "merge", "Reward: merged tiles, or those times the share of ordered lines", choices=REWARDS, is_fixed=True
    )
    strategy: str = option("none", "How strictly moves are restricted to two sides", choices=STRATEGIES, is_fixed=True)
    sides: str = option(
        "left-down",
        "The two sides",
        is_fixed=True,
        metavar="SIDES",
        check="lab2048.players.strategy:read_strategy",
    )
    warm_up: int = option(50, "Moves of a game before the reverse shield acts", low=0, high=10**9, metavar="MOVES")
    learn_shield: bool = option(False, "Also learn from the moves of the reverse shield, with every legal move allowed")
    epsilon: float = option(0.01, "Probability of a random move (epsilon-greedy)", low=0, high=1)
    epsilon_end: float | None = option(
        None, "Probability to which epsilon falls linearly; none = it stays the same", low=0, high=1
    )
    epsilon_games: int = option(500, "Games until epsilon has fallen", low=1, high=10**9, metavar="GAMES")
    discount: float = option(0.99, "Discount factor per move", low=0, high=1)
    ahead: int = option(3, "Rewards summed before bootstrapping (n-step returns)", low=1, high=100, is_fixed=True)
    replay: int = option(200_000, "Size of the replay buffer", low=100, high=10**8, is_fixed=True, metavar="MOVES")
    ratio: float = option(0.02, "Gradient steps per move", low=0, high=100)
    per_game: float = option(0.0, "Gradient steps per finished game", low=0, high=100_000)
    refresh: int = option(500, "Gradient steps between updates of the target network", low=1, high=10**9)
    turn: bool = option(True, "Augment boards by random rotations and reflections, unless there is a strategy")
    least: float = option(0.0, "c51: lowest return", low=-1e9, high=1e9, is_fixed=True)
    most: float = option(20_000.0, "c51: highest return", low=-1e9, high=1e9, is_fixed=True)
    atoms: int = option(51, "c51: atoms of the return distribution", low=2, high=1001, is_fixed=True)
    support: str = option("symlog", "Scale of returns", choices=SCALES, is_fixed=True)

    def epsilon_after(self, n_games: int) -> float:
        """Return the probability of a random move after some games."""
        if self.epsilon_end is None:
            return self.epsilon
        return self.epsilon + (self.epsilon_end - self.epsilon) * min(1.0, n_games / self.epsilon_games)

    def _n_steps_kept(self, n_moves: float) -> int:
        return int(min(self.replay, n_moves))


@dataclass(frozen=True)
class C51Config(ActionConfig):
    """Options of a network that outputs a return distribution for each move."""

    head: ClassVar[str] = "atoms"

    def _scale(self) -> dict[str, Any]:
        return {"low": self.least, "high": self.most, "n_atoms": self.atoms, "scale": self.support}


@dataclass(frozen=True)
class DqnConfig(ActionConfig):
    """Options of a network that outputs a value for each move."""

    head: ClassVar[str] = "actions"

    def _scale(self) -> dict[str, Any]:
        return {"high": 1000.0, "n_atoms": self.atoms, "scale": self.support}


# Kuznetsov 2022, from its Java source.
PRESET_KUZNETSOV = {
    "network": "mlp", "widths": "70,70,70,70,70", "reading": "tiles", "crowd": 1, "rate": 1e-7, "clip": 1e9,
    "average": 0.0, "epsilon": 0.1, "discount": 1.0, "penalty": 0.0, "tile_penalty": 2.0, "support": "linear",
    "unit": 1.0, "optimizer": "sgd", "momentum": 0.9, "l2": 0.1, "slope": 0.01, "loss": "squared",
    "illegal": "allowed", "by_game": True,
}  # fmt: skip


@dataclass(frozen=True)
class ReturnsConfig(DeepConfig):
    """Options of a network that values moves and learns from the returns of whole games."""

    head: ClassVar[str] = "actions"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"kuznetsov": PRESET_KUZNETSOV}

    epsilon: float = with_default(ActionConfig, "epsilon", 0.1)
    discount: float = with_default(ActionConfig, "discount", 0.99)
    penalty: float = option(1000.0, "Penalty for a game that does not reach the goal", low=0, high=1e9)
    tile_penalty: float = option(
        0.0, "The same, in multiples of the highest tile, added to the penalty", low=0, high=1000
    )
    blame: str = option(
        "end", "How a lost game is penalized: a reward at its end, or the target of every move", choices=BLAMES
    )
    passes: int = option(1, "Epochs per game", low=1, high=100)
    by_game: bool = option(False, "One gradient step per game, with the mean gradient of its moves")
    support: str = with_default(ActionConfig, "support", "symlog")
    unit: float = with_default(AfterstateConfig, "unit", 1000.0)
    optimizer: str = option("adam", "Adam, or gradient descent with momentum", choices=OPTIMIZERS, is_fixed=True)
    momentum: float = option(0.9, "Share of the last step in the next, with sgd", low=0, high=0.9999)
    l1: float = option(0.0, "Factor of L1 regularization", low=0, high=1e6)
    l2: float = option(0.0, "Factor of L2 regularization", low=0, high=1e6)
    dropout: float = option(0.0, "Share of hidden units that a gradient step leaves out", low=0, high=0.9)
    slope: float = option(0.0, "Slope of leaky ReLU below 0; 0 = ReLU", low=0, high=0.99, is_fixed=True)
    spread: float = option(0.0, "Standard deviation of the initial weights; 0 = He", low=0, high=100, is_fixed=True)
    loss: str = option("huber", "Loss function", choices=LOSSES)
    illegal: str = option(
        "masked", "Illegal moves while training: masked, or allowed, where they earn 0", choices=ILLEGALS, is_fixed=True
    )

    def _scale(self) -> dict[str, Any]:
        return {"high": self.unit, "scale": self.support, "slope": self.slope}

    def check(self, rules: Rules) -> None:
        """Refuse games that might never end."""
        super().check(rules)
        if self.illegal == "allowed" and self.epsilon == 0:
            raise UsageError(
                "a network that repeats an illegal move needs random moves: expected epsilon above 0", field="epsilon"
            )

    def _n_steps_kept(self, n_moves: float) -> int:  # noqa: ARG002
        return self.crowd * RETURNS_ROOM


@dataclass(frozen=True)
class DistilConfig(DeepConfig):
    """Options of a network that imitates another player."""

    head: ClassVar[str] = "actions"

    teacher: str = option("shield:inner=greedy,strategy=left-up", "Player to imitate", is_fixed=True, metavar="PLAYER")
    crowd: int = with_default(DeepConfig, "crowd", 64)
    share: float = option(
        0.5, "Share of the games in which the teacher moves; in the rest the learner does", low=0, high=1
    )
    stress: float = option(1.0, "Weight of a board on which a shield overrode its player", low=0, high=1e6)
    replay: int = with_default(ActionConfig, "replay", 500_000)
    ratio: float = with_default(ActionConfig, "ratio", 0.05)

    def _scale(self) -> dict[str, Any]:
        return {"high": 1.0}

    def make_teacher(self) -> "Player":
        """Return the teacher; raise UsageError if it is a person."""
        from lab2048.players.registry import make_player

        teacher = make_player(self.teacher)
        if teacher.is_interactive:
            raise UsageError(
                f"teacher {self.teacher} is interactive: expected a player that is not",
                field="teacher",
            )
        return teacher

    def check(self, rules: Rules) -> None:
        from lab2048.players.registry import fit_player

        super().check(rules)
        fit_player(self.teacher, rules)
        self.make_teacher()

    def groups(self, rules: Rules) -> tuple[str, ...]:
        return (*super().groups(rules), *self.make_teacher().groups(rules))

    def _n_steps_kept(self, n_moves: float) -> int:
        return int(min(self.replay, n_moves))
