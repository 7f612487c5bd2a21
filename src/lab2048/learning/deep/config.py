"""How deep networks learn, as data: what can be asked for, method by method.  Nothing here needs torch."""

import math
from dataclasses import dataclass

from lab2048.errors import UsageError
from lab2048.learning.option import check_wishes, wish
from lab2048.models.deep.design_options import KINDS, READINGS, SCALES

STRATEGIES = ("none", "safe", "reverse-shield")
REWARDS = ("merge", "ordered")
BLAMES = ("end", "every")


@dataclass(frozen=True)
class DeepConfig:
    """How to learn: what all methods share."""

    network: str = wish("lines", "kind of network", known=KINDS, is_fixed=True)
    widths: str = wish("128,64,256", "widths of its layers", is_fixed=True)
    reading: str = wish("onehot", "how cells are read", known=READINGS, is_fixed=True)
    crowd: int = wish(256, "games that are played side by side", low=1, high=65536, is_fixed=True)
    batch: int = wish(128, "boards that are learnt from at once", low=1, high=65536)
    rate: float = wish(1e-3, "learning rate of Adam", low=1e-9, high=1.0)
    decay: float = wish(0.0, "the rate falls with the square root of moves through this; 0: never", low=0, high=1e15)
    clip: float = wish(1.0, "longest gradient", low=1e-9, high=1e9)
    average: float = wish(0.999, "how slowly the weights that play follow those that learn", low=0, high=0.999999)
    trial_every: int = wish(2000, "games between trials; 0: none", low=0, high=10**9)
    trial_games: int = wish(100, "games of a trial", low=2, high=100_000)
    seed: int = wish(1, "seed of games, first weights and batches", low=0, high=2**53 - 1, is_fixed=True)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_wishes(self)

    def widths_read(self) -> tuple[int, ...]:
        """The widths as numbers."""
        words = self.widths.replace(",", " ").split()
        if not words or not all(word.isascii() and word.isdigit() for word in words):
            raise UsageError(f"widths {self.widths}: expected numbers such as 128,64,256", field="widths")
        return tuple(map(int, words))

    def rate_after(self, n_moves: int) -> float:
        """The learning rate when so many moves were made."""
        return self.rate if self.decay == 0 else self.rate / math.sqrt(1 + n_moves / self.decay)


@dataclass(frozen=True)
class AfterstateConfig(DeepConfig):
    """How a value of afterstates learns."""

    rate: float = wish(3e-3, "learning rate of Adam", low=1e-9, high=1.0)
    decay: float = wish(3e5, "the rate falls with the square root of moves through this; 0: never", low=0, high=1e15)
    window: int = wish(16, "moves of each game in a round", low=1, high=10_000, is_fixed=True)
    trace: float = wish(0.5, "lambda: how much the rest of the window counts against the next value", low=0, high=1)
    passes: int = wish(1, "how often a window is learnt", low=1, high=100)
    turn: bool = wish(True, "learn boards turned and mirrored at random")
    unit: float = wish(1000.0, "score that the network sees as 1", low=1e-6, high=1e9, is_fixed=True)


@dataclass(frozen=True)
class ActionConfig(DeepConfig):
    """How values of moves learn."""

    reward: str = wish(
        "merge", "tiles merged, or those times the share of lines in order", known=REWARDS, is_fixed=True
    )
    strategy: str = wish("none", "what holds it to two sides of the board", known=STRATEGIES, is_fixed=True)
    sides: str = wish("left-down", "the two sides", is_fixed=True)
    warm_up: int = wish(50, "moves of a game before the reverse shield acts", low=0, high=10**9)
    epsilon: float = wish(0.01, "chance of a move at random", low=0, high=1)
    discount: float = wish(0.99, "what a reward is worth a move later", low=0, high=1)
    ahead: int = wish(3, "rewards that are added up before the network judges", low=1, high=100, is_fixed=True)
    replay: int = wish(200_000, "moves that are kept to learn from", low=100, high=100_000_000, is_fixed=True)
    ratio: float = wish(0.02, "gradients for each move", low=0, high=100)
    per_game: float = wish(0.0, "gradients for each game that ends", low=0, high=100_000)
    refresh: int = wish(500, "gradients after which the slower copy is made anew", low=1, high=10**9)
    turn: bool = wish(True, "learn boards turned and mirrored at random, if there is no strategy")
    least: float = wish(0.0, "c51: least return", low=-1e9, high=1e9, is_fixed=True)
    most: float = wish(20_000.0, "c51: largest return", low=-1e9, high=1e9, is_fixed=True)
    atoms: int = wish(51, "c51: returns that a distribution is about", low=2, high=1001, is_fixed=True)
    support: str = wish("symlog", "how returns are spread or squeezed", known=SCALES, is_fixed=True)


@dataclass(frozen=True)
class ReturnsConfig(DeepConfig):
    """How values of moves learn from whole games."""

    epsilon: float = wish(0.1, "chance of a move at random", low=0, high=1)
    discount: float = wish(0.99, "what a reward is worth a move later", low=0, high=1)
    penalty: float = wish(1000.0, "what a game costs if the goal was not made", low=0, high=1e9)
    blame: str = wish("end", "whether the end of a lost game pays for it, or every move alike", known=BLAMES)
    passes: int = wish(1, "how often a game is learnt", low=1, high=100)
    support: str = wish("symlog", "whether returns are squeezed", known=SCALES, is_fixed=True)


@dataclass(frozen=True)
class DistilConfig(DeepConfig):
    """How a network learns to do what another player does."""

    teacher: str = wish("shield:inner=greedy,strategy=left-up", "the player whose moves are learnt", is_fixed=True)
    crowd: int = wish(64, "games that are played side by side", low=1, high=65536, is_fixed=True)
    share: float = wish(
        0.5, "share of the games in which the teacher moves; in the rest the learner does", low=0, high=1
    )
    stress: float = wish(1.0, "how much a board counts on which a shield overrode its player", low=0, high=1e6)
    replay: int = wish(500_000, "boards that are kept to learn from", low=100, high=100_000_000, is_fixed=True)
    ratio: float = wish(0.05, "gradients for each move", low=0, high=100)


# Document 003, and where it is silent its published code: 2 rewards ahead, returns from -1 to 2048, tiles as plain
# numbers, and one gradient for each game.
PRESET_003 = {
    "network": "mlp", "widths": "128", "reading": "tiles", "crowd": 1, "batch": 64, "rate": 1e-3, "clip": 1e9,
    "average": 0.0, "epsilon": 0.1, "discount": 0.95, "ahead": 2, "replay": 10_000, "ratio": 0.0, "per_game": 1.0,
    "refresh": 50, "turn": False, "least": -1.0, "most": 2048.0, "atoms": 51, "support": "linear",
    "trial_every": 25, "trial_games": 10,
}  # fmt: skip
