"""Training n-tuple networks by temporal differences: see docs/players/ntuple.md.

The network plays against the dice and learns from every move (lab2048.kernels.learn).
Threads play games of their own on the same weights without locks: fast, but no two runs are
alike.  One thread comes to the same bits every time, however often it is interrupted.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, FileError, UsageError, nearest
from lab2048.kernels import train as kernel
from lab2048.kernels.learn import Method, make_trail
from lab2048.models.file import load_array, load_network, save_network
from lab2048.models.network import Design, Network
from lab2048.models.pattern import BEST, SMALL_BOARD, corners
from lab2048.records.provenance import provenance
from lab2048.rules import Rules

METHODS = ("tc", "td")
SAID = {"trace": "lambda"}  # what a field is called on the command line, where Python has the word for itself
FIXED = ("network", "method", "optimism", "share", "promote", "seed")  # what a training that goes on cannot change
ORDERS = ("backward", "forward")
SLICE = 0.4  # seconds that a thread plays before it reports
AUTO_STAGE = 14  # the rank of 16384
WINDOW = 1000  # last games that the live figures are about
TILES = tuple(range(11, 17))  # ranks whose rates are reported: 2048 and on
# What a checkpoint says of a training, besides how it learns.
KEPT = {"seconds": float | int, "n_moves": int, "n_games": int, "best": float | int, "curve": list, "sessions": list}


@dataclass(frozen=True)
class Config:
    """How to learn.  Defaults are what worked best here on the classic board; `for_board` has those of small ones."""

    network: str = BEST
    "A preset or cells in hex: lab2048.models.pattern."
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
    share: bool = True
    "Turned and mirrored boards share their weights."
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.method not in METHODS:
            raise UsageError(f"method {self.method} is unknown: {nearest(self.method, METHODS)}")
        if self.order not in ORDERS:
            raise UsageError(f"order {self.order} is unknown: {nearest(self.order, ORDERS)}")
        for name, low, high in (
            ("alpha", 0, 10),
            ("trace", 0, 1),
            ("discount", 0, 1),
            ("epsilon", 0, 1),
            ("guide", 0, 100),
            ("guided", 0, 1e15),
            ("taught", 0, 1e15),
            ("late_after", 0, 1e15),
        ):
            number = getattr(self, name)
            if number is not None and not low <= number <= high:
                raise UsageError(f"{SAID.get(name, name)} {number} is out of range: expected {low} to {high}")
        if not math.isfinite(self.optimism) or abs(self.optimism) > 1e7:
            raise UsageError(f"optimism {self.optimism} is out of range: expected at most 10000000")

    @classmethod
    def for_board(cls, rules: Rules, **wishes: Any) -> "Config":
        """What is not wished for is what works best on a board.

        A small board is learnt to the last move only by whoever tries the other moves, too.
        """
        small = {"epsilon": 0.05, "guide": 0.0, "late_after": 0.0}
        return cls(**(small if rules.shape.n_cells <= SMALL_BOARD else {}) | wishes)

    def design(self, rules: Rules, *, is_late: bool = True) -> Design:
        """The network to train for some rules; further weights come late."""
        stages = parse_stages(self.stages, rules) if is_late else ()
        return Design.from_text(rules, self.network, stages, is_shared=self.share, is_promoting=self.promote)

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
            taught=round(self.taught / n_threads),
        )


def parse_stages(text: str, rules: Rules) -> tuple[int, ...]:
    """The ranks of a list of tiles.

    >>> parse_stages("8192,16384", Rules.from_text("4x4"))
    (13, 14)
    """
    if text == "auto":
        return (AUTO_STAGE,) if rules.max_rank >= AUTO_STAGE + 2 else ()
    if text == "none":
        return ()
    ranks = []
    for word in text.replace(",", " ").split():
        tile = int(word) if word.isdigit() else 0
        if tile < 2 or tile & (tile - 1):
            raise UsageError(f"stages {text}: expected tiles such as 8192,16384, or none")
        ranks.append(tile.bit_length() - 1)
    return tuple(ranks)


@dataclass
class Progress:
    """How a training stands: totals, and what the last games came to."""

    seconds: float  # spent on this network, all sessions together
    n_moves: int
    n_games: int  # from the start; restarts are not counted
    pace: float  # moves a second, lately
    mean: float  # score of the last games
    best: float  # score of all games
    rates: dict[int, float]  # how many of the last games reached a tile
    n_last: int  # how many games that is
    learning_rate: float  # mean of all weights that were moved lately
    error: float  # mean size of the errors lately

    def to_json(self) -> dict[str, Any]:
        """A line of the log."""
        return asdict(self) | {"rates": {str(tile): rate for tile, rate in self.rates.items()}}


@dataclass
class Training:
    """A network that learns, and where it stands."""

    config: Config
    network: Network
    n_threads: int = 1
    cursors: NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, kernel.CURSOR_SIZE), np.uint64))
    seconds: float = 0.0
    n_moves: int = 0
    n_games: int = 0
    best: float = 0.0
    curve: list[dict[str, Any]] = field(default_factory=list)  # a point for each checkpoint
    sessions: list[dict[str, Any]] = field(default_factory=list)  # the commands that made it

    def __post_init__(self) -> None:
        """Give every thread its place."""
        if len(self.cursors) != self.n_threads:
            before = self.cursors
            first = int(self.cursors[:, kernel.NUMBER].max()) if len(self.cursors) else 0
            made = int(self.cursors[:, kernel.MADE].sum()) // self.n_threads
            self.cursors = np.zeros((self.n_threads, kernel.CURSOR_SIZE), np.uint64)
            for i, cursor in enumerate(self.cursors):
                cursor[[kernel.SEED, kernel.NUMBER, kernel.STRIDE]] = self.config.seed, first + i, self.n_threads
                cursor[kernel.MADE] = made
                if len(before):
                    cursor[kernel.TURN :] = before[i % len(before), kernel.TURN :]
        self._reports: deque[NDArray[np.float64]] = deque()
        self._paces: deque[tuple[float, float]] = deque(maxlen=20)
        self.is_ending = False
        self.sessions.append(provenance() | {"threads": self.n_threads, "from_seconds": round(self.seconds)})

    @classmethod
    def begin(cls, config: Config, rules: Rules, n_threads: int) -> "Training":
        """Start with an empty network."""
        config.design(rules)  # refuse now what would be refused late
        design = config.design(rules, is_late=config.late_after == 0)
        network = Network.empty(design, config.optimism, is_coherent=config.method == "tc")
        return cls(config, network, n_threads)

    @classmethod
    def resume(cls, path: Path, n_threads: int, **wishes: Any) -> "Training":
        """Go on where a file was left; some things may go on differently."""
        network = load_network(path, with_rates=True)
        facts: Any = network.facts.get("training")
        cursors = load_array(path, "cursors")
        try:
            # One of before lacks what was added since.
            added = {"promote": False, "taught": 0.0, "late_after": 0.0}
            config = Config(**{f.name: (added | facts["config"])[f.name] for f in fields(Config)})
            if cursors is None or cursors.shape[1:] != (kernel.CURSOR_SIZE,) or cursors.dtype != np.uint64:
                raise KeyError("cursors")
            if network.step is not None or (config.method == "tc" and network.rates is None):
                raise KeyError("rates")
            numbers = {name: facts[name] for name in KEPT}
            if not all(isinstance(number, KEPT[name]) for name, number in numbers.items()):
                raise TypeError("numbers")
        except (TypeError, KeyError, UsageError):
            raise FileError(f"{path} cannot be trained further: expected a checkpoint of lab2048 train") from None
        for name, wish in wishes.items():
            before = getattr(config, name)
            if name == "network" and Design.from_text(network.design.rules, wish).patterns == network.design.patterns:
                continue  # the same by another name
            if name in FIXED and before != wish:
                said = SAID.get(name, name)
                raise UsageError(
                    f"{said} {wish}: the network was trained with {before}; leave it out, or begin another"
                )
        config = replace(config, **wishes)
        network.design.check_further(parse_stages(config.stages, network.design.rules))
        return cls(config, network, n_threads, cursors, **numbers)

    def save(self, path: Path) -> None:
        """Write a checkpoint, with everything that it takes to go on."""
        self.curve.append(self.progress().to_json())
        facts = {name: getattr(self, name) for name in KEPT} | {"config": asdict(self.config)}
        self.network.facts = {"training": facts}
        save_network(path, self.network, cursors=self.cursors)

    def end(self) -> None:
        """Let `run` end after the slice at hand."""
        self.is_ending = True

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[Progress]:
        """Learn until a total of seconds, moves or games is reached; say how it stands after every slice."""
        trails = [make_trail(self.network.design.n_lookups) for _ in range(self.n_threads)]
        reports = np.zeros((self.n_threads, kernel.REPORT_SIZE))
        budget = 20_000
        with ThreadPoolExecutor(self.n_threads) as pool:
            while self.seconds < seconds and self.n_moves < n_moves and self.n_games < n_games and not self.is_ending:
                method, network = self._prepare()
                begin = time.monotonic()
                reports[:] = kernel.make_report((n_games - self.n_games) / self.n_threads)
                ends = [end - self.n_moves for end in (n_moves, self.config.late_after) if end > self.n_moves]
                left = max(1, min(budget, *(end / self.n_threads for end in ends)))
                slices = [
                    pool.submit(kernel.train, network.plan, network.address, method, cursor, trail, report, int(left))
                    for cursor, trail, report in zip(self.cursors, trails, reports, strict=True)
                ]
                for one in slices:
                    one.result()
                spent = time.monotonic() - begin
                budget = int(budget * min(2.0, max(0.5, SLICE / max(spent, 1e-6))))
                self._count(reports, spent)
                if self.n_moves == 0 and self.n_games >= WINDOW:
                    board = network.design.rules.board.to_text()
                    raise BoardError(f"no move can be learnt on {board}: expected tiles that sum to less than 65536")
                yield self.progress()

    def _prepare(self) -> tuple[Method, Network]:
        """How to learn in the next slice, and what: the late game may have begun."""
        rules, is_late = self.network.design.rules, self.n_moves >= self.config.late_after
        stages = self.config.design(rules).stages
        if is_late and stages != self.network.design.stages:
            self.network = self.network.with_stages(stages, self.config.optimism)
        return self.config.kernel_method(rules, self.n_threads, is_late=is_late), self.network

    def _count(self, reports: NDArray[np.float64], spent: float) -> None:
        report = reports.sum(axis=0)
        report[kernel.BEST] = reports[:, kernel.BEST].max()
        self.seconds += spent
        self.n_moves += int(report[kernel.N_MOVES])
        self.n_games += int(report[kernel.N_GAMES])
        self.best = max(self.best, float(report[kernel.BEST]))
        self._paces.append((float(report[kernel.N_MOVES]), spent))
        self._reports.append(report)
        while sum(other[kernel.N_GAMES] for other in self._reports) - self._reports[0][kernel.N_GAMES] >= WINDOW:
            self._reports.popleft()

    def progress(self) -> Progress:
        """How it stands."""
        last = np.sum(self._reports, axis=0) if self._reports else np.zeros(kernel.REPORT_SIZE)
        n, moves = max(1.0, last[kernel.N_GAMES]), max(1.0, last[kernel.N_MOVES])
        highest = last[kernel.HIGHEST :]
        return Progress(
            seconds=round(self.seconds, 3),
            n_moves=self.n_moves,
            n_games=self.n_games,
            pace=sum(made for made, _ in self._paces) / max(1e-9, sum(spent for _, spent in self._paces)),
            mean=float(last[kernel.SCORE] / n),
            best=self.best,
            rates={2**rank: float(highest[rank:].sum() / n) for rank in TILES},
            n_last=int(last[kernel.N_GAMES]),
            learning_rate=float(last[kernel.RATE] / moves),
            error=float(last[kernel.ERROR] / moves),
        )
