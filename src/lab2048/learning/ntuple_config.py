"""How an n-tuple network learns: every option of a training, with what worked best as its default."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.ntuple.update import Method
from lab2048.models.ntuple.network import Design
from lab2048.models.ntuple.pattern import BEST, SMALL_BOARD, corners
from lab2048.rules import Rules
from lab2048.rules.shape import rectangle

METHODS = ("tc", "td")
ORDERS = ("backward", "forward")
AUTO_STAGE = 14  # the rank of 16384
BY_LARGE = (13, 14, 15)  # of downgraded boards: two large tiles, three, four
# In files of before these were options.
BEFORE = {"promote": False, "taught": 0.0, "late_after": 0.0, "downgrade": False, "synthetic": 0.0, "truncate": 0}
SAID = {"trace": "lambda", "late_after": "late-after"}  # what a field is called on the command line


@dataclass(frozen=True)
class Config:
    """How to learn.  Defaults are what worked best here on the classic board; `for_board` has those of small ones."""

    network: str = BEST
    "A preset or cells in hex: lab2048.models.ntuple.pattern."
    method: str = "tc"
    "tc: each weight has its own learning rate, by how much its errors agree; td: all have the same."
    order: str = "backward"
    "backward: play a game, then learn it from its end; forward: learn after every move."
    alpha: float | None = None
    "Learning rate: how much of an error is mended at once, shared by all weights of a board (1 for tc, 0.1 for td)."
    trace: float = 0.5
    "Lambda: how much the return of the rest of the game counts against the value of the next board; backward only."
    discount: float = 1.0
    "What a reward is worth a move later."
    epsilon: float = 0.0
    "Chance of a move at random; what is learnt is what the best one would have brought."
    optimism: float = 0.0
    "What an untrained network thinks every board worth: what it has not seen looks promising."
    restart: bool = True
    "Begin again half-way through the last game, until few moves are left: more of the late game."
    carousel: bool = True
    "Begin in turn anew and at boards of earlier games, from small tile sums to large ones: more of the late game."
    guide: float = 1.0
    "At first a move that leaves the highest tile in a corner seems better by so much of that tile."
    guided: float = 1e8
    "For so many moves: what is learnt there the network keeps to by itself."
    stages: str = "auto"
    "Tiles from which on further weights serve, such as 8192,16384, or none; auto: 16384 where boards have room for it."
    late_after: float = 4e8
    "Carousel and further weights begin after so many moves: the late game is for those who get there."
    promote: bool = False
    "Weights of later stages begin as copies of the stage before, when they are first met; otherwise with nothing."
    taught: float = 1e8
    "For so many moves of later stages the stage before chooses, on a lowered board: it knows its way there."
    downgrade: bool = False
    "Large tiles, 4096 and more, are looked up by their order alone: what is learnt beside some serves beside all."
    synthetic: float = 0.0
    "Share of the moves in games that begin on a made-up late board: large tiles in a corner, some shuffled."
    truncate: int = 1
    "Such games end after so many new tiles of 4096, with the value that the board has there; 0: they are played on."
    share: bool = True
    "Turned and mirrored boards share their weights."
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.method not in METHODS:
            raise UnknownNameError("method", self.method, METHODS)
        if self.order not in ORDERS:
            raise UnknownNameError("order", self.order, ORDERS)
        for name, low, high in (
            ("alpha", 0, 10),
            ("trace", 0, 1),
            ("discount", 0, 1),
            ("epsilon", 0, 1),
            ("guide", 0, 100),
            ("guided", 0, 1e15),
            ("taught", 0, 1e15),
            ("late_after", 0, 1e15),
            ("synthetic", 0, 0.99),
            ("truncate", 0, 16),
        ):
            number = getattr(self, name)
            if number is not None and not low <= number <= high:
                raise UsageError(f"{SAID.get(name, name)} {number} is out of range: expected {low:g} to {high:g}")
        if not math.isfinite(self.optimism) or abs(self.optimism) > 1e7:
            raise OutOfRangeError("optimism", self.optimism, "at most 10000000")

    @classmethod
    def for_board(cls, rules: Rules, **wishes: Any) -> "Config":
        """What is not wished for is what works best on a board.

        A small board is learnt to the last move only by whoever tries the other moves, too.
        """
        small = {"epsilon": 0.05, "guide": 0.0, "late_after": 0.0}
        return cls(**(small if rules.shape.n_cells <= SMALL_BOARD else {}) | wishes)

    def design(self, rules: Rules, *, is_late: bool = True) -> Design:
        """The network to train for some rules; further weights come late."""
        stages = parse_stages(self.stages, rules, is_downgrading=self.downgrade) if is_late else ()
        if self.synthetic and rules.shape != rectangle(4, 4):
            raise UsageError(
                "synthetic starts are boards of 4x4: expected synthetic 0 on another shape", field="synthetic"
            )
        return Design.from_text(
            rules,
            self.network,
            stages,
            is_shared=self.share,
            is_promoting=self.promote,
            is_downgrading=self.downgrade,
        )

    def n_bytes(self, rules: Rules, *, is_late: bool = True) -> int:
        """How large a checkpoint is: a float for each weight, and two more for its learning rate."""
        return self.design(rules, is_late=is_late).n_weights * (12 if self.method == "tc" else 4)

    def sizes(self, rules: Rules, n_moves: float = 0, limit: float | None = None) -> tuple[int, int]:
        """How large a checkpoint is after so many moves, and at the limit of moves if there is one."""
        now = self.n_bytes(rules, is_late=n_moves >= self.late_after)
        gets_late = limit is None or limit > self.late_after
        return now, self.n_bytes(rules) if gets_late else now

    def kernel_method(self, rules: Rules, n_threads: int, *, is_late: bool = True) -> Method:
        """The same for the kernel; threads that learn at once must each learn more slowly."""
        alpha = self.alpha if self.alpha is not None else 1.0 if self.method == "tc" else 0.1
        return Method(
            alpha=np.float32(alpha / math.sqrt(n_threads)),
            discount=np.float32(self.discount),
            trace=np.float32(self.trace),
            epsilon=self.epsilon,
            is_coherent=self.method == "tc",
            is_backward=self.order == "backward",
            is_restarting=self.restart,
            is_circling=self.carousel and is_late,
            guide=np.float32(self.guide),
            guided=round(self.guided / n_threads),
            corners=np.uint64(sum(0xF << 4 * cell for cell in corners(rules.shape))),
            taught=0 if self.downgrade else round(self.taught / n_threads),
            synthetic=self.synthetic,
            truncate=self.truncate,
        )


def parse_stages(text: str, rules: Rules, *, is_downgrading: bool = False) -> tuple[int, ...]:
    """The ranks of a list of tiles.

    >>> parse_stages("8192,16384", Rules.from_text("4x4"))
    (13, 14)
    """
    if text == "auto" and is_downgrading:
        return BY_LARGE
    if text == "auto":
        return (AUTO_STAGE,) if rules.max_rank >= AUTO_STAGE + 2 else ()
    if text == "none":
        return ()
    ranks = []
    for word in text.replace(",", " ").split():
        tile = int(word) if word.isdigit() else 0
        if tile < 2 or tile & (tile - 1):
            raise UsageError(f"stages {text}: expected tiles such as 8192,16384, or none", field="stages")
        ranks.append(tile.bit_length() - 1)
    return tuple(ranks)
