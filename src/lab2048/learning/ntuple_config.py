"""Training options of n-tuple networks; the defaults worked best on the classic board."""

import contextlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lab2048.errors import UsageError
from lab2048.kernels.group import TRAINING
from lab2048.learning.config import TrainingConfig, option
from lab2048.models import SHIPPED
from lab2048.models.ntuple.pattern import AUTO, BEST, SMALL, SMALL_BOARD, corners
from lab2048.rules import Rules
from lab2048.rules.kind import rectangle

if TYPE_CHECKING:
    from lab2048.kernels.ntuple.update import Method
    from lab2048.models.ntuple.network import Design

METHODS = ("tc", "td")
ORDERS = ("backward", "forward")
CHOICES = ("return", "value")
KEEPS = ("last", "best")
DECAY_MOVES, DECAYED = 200_000, 0.1  # the learning rate decays each time, down to this share
EXPLORED = 0.1  # the share of epsilon that is left in the end
AUTO_STAGE = 14  # the rank of 16384
BY_LARGE = (13, 14, 15)  # after tile downgrading: two, three and four large tiles
PACE = 1e6  # moves per second and thread, roughly
SPARE = 3  # a fast machine makes this many times as many
MOVES_PER_GAME = 1e4  # with its restarts, roughly
# The network for trainings of at most this many moves on one thread (docs/players/ntuple.md).
NETWORKS = {SMALL: 4e7, "4x6": 1e8, BEST: math.inf}
SMALL_BOARD_NETWORKS = {SMALL: 4e7, BEST: math.inf}


# A network that is trained further: its weights are good, so they should change little.
FINE_TUNING: dict[str, Any] = {"method": "td", "alpha": 0.002, "decay": 1.0, "guide": 0.0, "late_after": 0.0}

_MAX_DIGITS = 20  # of a tile; int() refuses very long numbers


def read_stages(text: str) -> tuple[int, ...]:
    """Return the ranks of a list of tiles; empty for `auto` and `none`.

    >>> read_stages("8192,16384")
    (13, 14)
    """
    ranks = []
    for word in [] if text in ("auto", "none") else text.replace(",", " ").split():
        tile = int(word) if word.isascii() and word.isdigit() and len(word) <= _MAX_DIGITS else 0
        if tile < 2 or tile & (tile - 1):
            raise UsageError(
                f"stages {' '.join(text.split())}: expected tiles such as 8192,16384, or none", field="stages"
            )
        ranks.append(tile.bit_length() - 1)
    return tuple(ranks)


def init_name(init: str) -> str | None:
    """Return the name of an initial network as lab2048.models.ntuple.shipped takes it: None is the shipped one."""
    return None if init == SHIPPED else init


def best_path(path: Path) -> Path:
    """Return the file of the network of the best game, beside the checkpoint.

    >>> best_path(Path("net.safetensors")).name
    'net-best.safetensors'
    """
    return path.with_name(f"{path.stem}-best{path.suffix}")


@dataclass(frozen=True)
class Config(TrainingConfig):
    """Training options of an n-tuple network."""

    network: str = option(
        AUTO,
        "Patterns: auto (by board and time), small, best, count x size (8x6), rows, pairs, pairs-triplets-quartets, "
        "or hex (0123,4567)",
        is_fixed=True,
        before=BEST,
        metavar="CELLS",
    )
    init: str = option(
        "",
        "Start from the weights of a network (a file, or shipped) and train it as it was trained, but with td and a "
        "small learning rate",
        is_fixed=True,
        before="",
        metavar="FILE",
    )
    method: str = option(
        "tc",
        "Learning rates: tc adapts one per weight (temporal coherence), td uses one for all weights",
        choices=METHODS,
        is_fixed=True,
    )
    order: str = option(
        "backward",
        "Update order: backward updates a finished game from its end, forward updates after every move",
        choices=ORDERS,
    )
    alpha: float | None = option(
        None,
        "Learning rate, divided by the number of weights that a board looks up (default: 1 for tc, 0.1 for td)",
        low=0,
        high=10,
    )
    trace: float = option(
        0.5,
        "Lambda of the TD(lambda) return: 0 uses the next value only, 1 the full return; backward order only",
        low=0,
        high=1,
        flag="lambda",
    )
    decay: float = option(
        1.0, "Factor of the learning rate every 200,000 moves, down to a tenth of the rate", low=0.01, high=1
    )
    discount: float = option(1.0, "Discount factor per move", low=0, high=1)
    choose: str = option(
        "return", "Choose moves by reward plus value (return), or by value alone (value)", choices=CHOICES
    )
    epsilon: float = option(
        0.0, "Probability of a random move (epsilon-greedy); 0.05 on boards of at most 9 cells", low=0, high=1
    )
    explored: float = option(
        0.0,
        "Number of moves after which epsilon falls to a tenth; 0 = never; 1e8 on boards of at most 9 cells",
        low=0,
        high=1e15,
        metavar="MOVES",
        before=0.0,
    )
    optimism: float = option(
        0.0,
        "Initial value of every board (optimistic initialization)",
        low=-1e7,
        high=1e7,
        is_fixed=True,
        metavar="SCORE",
    )
    restart: bool = option(True, "Start each game halfway through the last one, until fewer than 10 moves are left")
    carousel: bool = option(
        True, "Start games in turn from the beginning and from boards of earlier games, large tile sums first"
    )
    guide: float = option(
        1.0, "Bonus for moves that leave the highest tile in a corner, as a multiple of that tile", low=0, high=100
    )
    guided: float = option(1e8, "Number of moves after which the guide bonus ends", low=0, high=1e15, metavar="MOVES")
    stages: str = option(
        "auto",
        "Highest tiles at which separate weights begin, such as 8192,16384; none; auto = 16384 where it fits",
        metavar="TILES",
        check=read_stages,
    )
    late_after: float = option(
        4e8,
        "Number of moves after which the carousel and later stages begin",
        low=0,
        high=1e15,
        metavar="MOVES",
        before=0.0,
    )
    promote: bool = option(
        False, "Initialize the weights of later stages from the stage before", is_fixed=True, before=False
    )
    taught: float = option(
        1e8,
        "Number of moves in later stages that the stage before chooses, on a downgraded board",
        low=0,
        high=1e15,
        metavar="MOVES",
        before=0.0,
    )
    downgrade: bool = option(
        False, "Look up tiles of 4096 and more by their order only (tile downgrading)", is_fixed=True, before=False
    )
    synthetic: float = option(
        0.0, "Share of all moves that are played from synthetic late boards", low=0, high=0.99, before=0.0
    )
    truncate: int = option(
        1,
        "End games from synthetic boards after N new 4096 tiles and bootstrap from the last value; 0 = play to the end",
        low=0,
        high=16,
        before=0,
    )
    early: float = option(
        0.0,
        "Share of non-synthetic moves in games that end at a tile sum of 16384 and bootstrap from the last value",
        low=0,
        high=0.99,
        before=0.0,
    )
    keep: str = option(
        "last",
        "What to write: with best also the network of the best game so far, to FILE-best.safetensors",
        choices=KEEPS,
    )
    share: bool = option(True, "Share weights among rotated and mirrored boards", is_fixed=True)
    seed: int = option(1, "Seed of the games", is_fixed=True, check="lab2048.rules.dice:check_seed")

    @classmethod
    def for_board(cls, rules: Rules, n_moves: float = math.inf, **given: Any) -> Self:
        """Make a Config; options that are not given get the best defaults for the board and the length of the training.

        Small boards need exploration to be learned completely.  A network that is trained further keeps the options
        of its training.
        """
        if given.get("init"):
            return cls(**cls._options_of(given["init"]) | FINE_TUNING | given)
        is_small = rules.shape.n_cells <= SMALL_BOARD
        if given.get("network", AUTO) == AUTO:
            table = SMALL_BOARD_NETWORKS if is_small else NETWORKS
            most = min(n_moves, math.inf if is_small or given.get("share", True) else NETWORKS["4x6"])
            given["network"] = next(name for name, last in table.items() if most <= last)
        small = {"epsilon": 0.05, "explored": 1e8, "guide": 0.0, "late_after": 0.0}
        return cls(**(small if is_small else {}) | given)

    @classmethod
    def _options_of(cls, init: str) -> dict[str, Any]:
        """Return the options with which a network was trained; those of its design if the file does not tell more."""
        from lab2048.models.ntuple.pattern import write_patterns
        from lab2048.models.ntuple.shipped import take_header

        header = take_header(init_name(init), "init")
        design, saved = header.design, {}
        with contextlib.suppress(KeyError, TypeError, UsageError):
            saved = asdict(cls.from_checkpoint(header.facts["training"]["config"]))
        return saved | {
            "network": write_patterns(design.patterns),
            "stages": ",".join(str(2**rank) for rank in design.stages) or "none",
            "share": design.is_shared,
            "promote": design.is_promoting,
            "downgrade": design.is_downgrading,
            "seed": 1,
        }

    @classmethod
    def moves_within(cls, limits: Mapping[str, float], n_threads: int) -> float:
        """Return how many moves a training makes within its limits, roughly."""
        return min(
            limits.get("n_moves", math.inf),
            PACE * n_threads * limits.get("seconds", math.inf),
            MOVES_PER_GAME * limits.get("n_games", math.inf),
        )

    def stage_ranks(self, rules: Rules) -> tuple[int, ...]:
        """Return the highest ranks at which later stages begin."""
        if self.stages != "auto":
            return read_stages(self.stages)
        if self.downgrade:
            return BY_LARGE
        return (AUTO_STAGE,) if rules.max_rank >= AUTO_STAGE + 2 else ()

    def design(self, rules: Rules, *, is_late: bool = True) -> "Design":
        """Return the design of the network; without later stages unless `is_late`."""
        from lab2048.models.ntuple.network import Design

        if self.synthetic and rules.shape != rectangle(4, 4):
            raise UsageError(
                "synthetic boards exist only for 4x4: expected synthetic 0 on other shapes", field="synthetic"
            )
        return Design.from_text(
            rules,
            self.network,
            self.stage_ranks(rules) if is_late else (),
            is_shared=self.share,
            is_promoting=self.promote,
            is_downgrading=self.downgrade,
        )

    def check(self, rules: Rules) -> None:
        design = self.design(rules)
        if not self.init:
            return
        from lab2048.models.ntuple.shipped import take_header

        if self.method != "td":
            raise UsageError(
                f"method {self.method} would forget the weights of init {self.init}: expected td", field="method"
            )
        found = take_header(init_name(self.init), "init").design
        if replace(found, gap=design.gap) != design:
            raise UsageError(
                f"init {self.init} has other rules, patterns or stages: expected a network of the same kind",
                field="init",
            )

    def groups(self, rules: Rules) -> tuple[str, ...]:  # noqa: ARG002
        return (TRAINING,)

    @classmethod
    def _read_header(cls, path: Path) -> tuple[Rules, dict[str, Any]]:
        from lab2048.models.ntuple.file import read_header

        header = read_header(path)
        return header.design.rules, header.facts

    def sizes(self, rules: Rules, n_moves: float = 0, limit: float = math.inf) -> tuple[int, int]:
        """Return the size of a checkpoint in bytes if all weights are visited, now and at the end."""
        from lab2048.models.ntuple.visited import most_bytes

        has_rates = self.method == "tc"
        now = most_bytes(self.design(rules, is_late=n_moves >= self.late_after), has_rates=has_rates)
        gets_late = SPARE * limit > self.late_after
        return now, most_bytes(self.design(rules), has_rates=has_rates) if gets_late else now

    def kernel_method(self, rules: Rules, n_threads: int, *, n_moves: int = 0, is_late: bool = True) -> "Method":
        """Return the options as the kernel takes them after `n_moves`.

        The learning rate is divided by sqrt(n_threads).
        """
        import numpy as np

        from lab2048.kernels.ntuple.update import Method

        alpha = self.alpha if self.alpha is not None else 1.0 if self.method == "tc" else 0.1
        alpha *= max(DECAYED, self.decay ** (n_moves // DECAY_MOVES))
        return Method(
            alpha=np.float32(alpha / math.sqrt(n_threads)),
            discount=np.float32(self.discount),
            trace=np.float32(self.trace),
            epsilon=self.epsilon * (EXPLORED if 0 < self.explored <= n_moves else 1.0),
            is_coherent=self.method == "tc",
            is_backward=self.order == "backward",
            is_restarting=self.restart,
            is_carousel=self.carousel and is_late,
            guide=np.float32(self.guide),
            guided=round(self.guided / n_threads),
            corners=np.uint64(sum(0xF << 4 * cell for cell in corners(rules.shape))),
            taught=0 if self.downgrade else round(self.taught / n_threads),
            synthetic=self.synthetic,
            truncate=self.truncate,
            early=self.early,
            is_by_value=self.choose == "value",
        )
