"""Train n-tuple networks by temporal difference learning (docs/players/ntuple.md).

The network learns from self-play (lab2048.kernels.ntuple.self_play).  Several threads update the
same weights without locks: this is fast, but not reproducible.  Training with one thread is
bit-identical every time, however often it is interrupted and resumed.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, UsageError
from lab2048.kernels.board.packed import FULL_SUM
from lab2048.kernels.ntuple import self_play as kernel
from lab2048.kernels.ntuple.update import Method, make_trajectory
from lab2048.learning.config import CURVE_GROWTH, not_resumable
from lab2048.learning.ntuple_config import DECAY_MOVES, Config, best_path, init_name
from lab2048.models.ntuple.file import load_array, load_network, save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.models.ntuple.pattern import AUTO, parse_patterns, write_patterns
from lab2048.models.ntuple.shipped import network_path
from lab2048.models.ntuple.visited import estimate_bytes
from lab2048.records.provenance import provenance
from lab2048.rules import Rules

SLICE = 0.4  # seconds between reports
SIZE_GROWTH = 1.1  # the size of a checkpoint is estimated each time the moves have grown by this factor
WINDOW = 1000  # recent games that the live figures cover
TILES = tuple(range(11, 17))  # ranks whose rates are reported: 2048 and up
# The state of a training in its checkpoint, besides its options; lab2048.models.training_facts checks it.
KEPT = ("seconds", "n_moves", "n_games", "best", "curve", "sessions")
MAX_THREADS = 256
_COUNTS = (kernel.N_SYNTHETIC, kernel.N_EARLY, kernel.N_WHOLE)


@dataclass
class Progress:
    """The progress of a training: totals, and averages over recent games."""

    seconds: float  # of training, over all sessions
    n_moves: int
    n_games: int  # games from the beginning; other starts do not count
    pace: float  # recent moves per second
    mean: float  # mean score of recent games
    best: float  # best score of all games
    rates: dict[int, float]  # share of recent games that reached each tile
    n_last: int  # number of recent games
    learning_rate: float  # recent mean over all updated weights
    error: float  # recent mean absolute TD error
    n_bytes: int  # size of a checkpoint, roughly

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of one progress event."""
        return asdict(self) | {"rates": {str(tile): rate for tile, rate in self.rates.items()}}


@dataclass
class Training:
    """A network in training, with everything that its checkpoint stores."""

    config: Config
    network: Network
    n_threads: int = 1
    cursors: NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, kernel.CURSOR_SIZE), np.uint64))
    seconds: float = 0.0
    n_moves: int = 0
    n_games: int = 0
    best: float = 0.0
    curve: list[dict[str, Any]] = field(default_factory=list)  # progress at growing intervals, and at checkpoints
    sessions: list[dict[str, Any]] = field(default_factory=list)  # one entry per command that trained it

    def __post_init__(self) -> None:
        """Set up one cursor per thread; if their number has changed, continue from the old cursors."""
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
        self._n_bytes, self._measured_at = 0, -1
        self._best_weights: NDArray[np.float32] | None = None
        self.is_ending = False
        self.sessions.append(provenance() | {"threads": self.n_threads, "from_seconds": round(self.seconds)})

    @classmethod
    def begin(cls, config: Config, rules: Rules, n_threads: int) -> Self:
        if rules.stop_at_goal:
            raise UsageError(
                "n-tuple networks learn games that go on beyond the goal: expected rules that do not stop there",
                field="stop_at_goal",
            )
        config.check(rules)  # also checks what is needed only later in training
        design = config.design(rules, is_late=config.late_after == 0)
        network = Network.empty(design, config.optimism, is_coherent=config.method == "tc")
        if config.init:
            network.copy_weights(load_network(network_path(init_name(config.init))))
        return cls(config, network, n_threads)

    @classmethod
    def resume(cls, path: Path, n_threads: int, **changes: Any) -> Self:
        """Continue from a checkpoint; `changes` are options with new values."""
        network = load_network(path, with_rates=True)
        facts: Any = network.facts.get("training")
        cursors = load_array(path, "cursors")
        try:
            config = Config.from_checkpoint(facts["config"])
            if not _is_named(network.design, config.network):  # the preset had other patterns when it was saved
                config = replace(config, network=write_patterns(network.design.patterns))
            config.design(network.design.rules)  # not `check`: the network of `init` is not needed any more
            if network.step is not None or (config.method == "tc" and network.rates is None):
                raise KeyError("rates")
            numbers = {name: facts[name] for name in KEPT}
        except (TypeError, KeyError, UsageError):
            raise not_resumable(path) from None
        if cursors is None or not _are_usable(cursors, network.design):
            raise not_resumable(path, "its cursors")
        name = changes.get("network", AUTO)
        if name == AUTO or _is_named(network.design, name):  # the same patterns by another name
            changes["network"] = config.network if name == AUTO else name
            config = replace(config, network=changes["network"])
        config.check_unchanged(changes)
        config = replace(config, **changes)
        network.design.check_further(config.stage_ranks(network.design.rules))
        return cls(config, network, n_threads, cursors, **numbers)

    @property
    def rules(self) -> Rules:
        return self.network.design.rules

    @property
    def n_weights(self) -> int:
        return self.network.design.n_weights

    @property
    def n_steps(self) -> int:
        """The number of gradient steps; always 0 for an n-tuple network."""
        return 0

    def describe(self) -> str:
        """Return a short description of the network and the threads."""
        return f"{self.config.network}: {self.n_weights:,} weights, {self.n_threads} threads"

    def save(self, path: Path) -> None:
        """Write a checkpoint from which training can resume, and the network of the best game if it is kept."""
        if not self.curve or self.curve[-1]["n_moves"] != self.n_moves:
            self.curve.append(self.progress().to_json())
        facts = {name: getattr(self, name) for name in KEPT} | {"config": asdict(self.config)}
        self.network.facts = {"training": facts}
        save_network(path, self.network, self._initial, cursors=self.cursors)
        if self._best_weights is not None:
            weights = self._best_weights
            save_network(
                best_path(path), Network(self.network.design, weights, facts=self.network.facts), self._initial
            )
        self._n_bytes, self._measured_at = path.stat().st_size, self.n_moves

    def end(self) -> None:
        """Make `run` end after the current slice."""
        self.is_ending = True

    def run(
        self, *, seconds: float = math.inf, n_moves: float = math.inf, n_games: float = math.inf
    ) -> Iterator[Progress]:
        """Train until a total of seconds, moves or games is reached; yield the progress after every slice."""
        trajectories = [make_trajectory(self.network.design.n_lookups) for _ in range(self.n_threads)]
        reports = np.zeros((self.n_threads, kernel.REPORT_SIZE))
        budget, yield_at = 20_000, 0.0
        keeps_best = self.config.keep == "best"  # then a slice is one game of every thread
        with ThreadPoolExecutor(self.n_threads) as pool:
            while self.seconds < seconds and self.n_moves < n_moves and self.n_games < n_games and not self.is_ending:
                method, network = self._prepare()
                begin = time.monotonic()
                reports[:] = kernel.make_report(1 if keeps_best else (n_games - self.n_games) / self.n_threads)
                next_decay = DECAY_MOVES * (self.n_moves // DECAY_MOVES + 1) if self.config.decay < 1 else math.inf
                limits = (n_moves, self.config.late_after, self.config.explored, next_decay)
                ends = [end - self.n_moves for end in limits if end > self.n_moves]
                left = max(1, min(budget, *(end / self.n_threads for end in ends)))
                slices = [
                    pool.submit(
                        kernel.train, network.plan, network.address, method, cursor, trajectory, report, int(left)
                    )
                    for cursor, trajectory, report in zip(self.cursors, trajectories, reports, strict=True)
                ]
                # The first thread to finish ends the slice, so that the others stop after their current game.
                wait(slices, return_when=FIRST_COMPLETED)
                reports[:, kernel.MOST_GAMES] = 0
                for one in slices:
                    one.result()
                spent = time.monotonic() - begin
                if not keeps_best:
                    budget = int(budget * min(2.0, max(0.5, SLICE / max(spent, 1e-6))))
                elif reports[:, kernel.BEST].max() > self.best:
                    self._best_weights = network.weights.copy()
                self._count(reports, spent)
                if self.n_moves == 0 and self.n_games >= WINDOW:
                    board = network.design.rules.board.to_text()
                    raise BoardError(f"no move can be learned on {board}: expected tiles with a sum below 65536")
                if keeps_best and begin < yield_at and self.n_games < n_games:
                    continue
                yield_at = begin + SLICE
                progress = self.progress()
                if self.n_moves >= CURVE_GROWTH * (self.curve[-1]["n_moves"] if self.curve else 1):
                    self.curve.append(progress.to_json())
                yield progress

    def _prepare(self) -> tuple[Method, Network]:
        """Return the options and the network of the next slice; adds later stages when they are due."""
        rules, is_late = self.network.design.rules, self.n_moves >= self.config.late_after
        stages = self.config.design(rules).stages
        if is_late and stages != self.network.design.stages:
            self.network = self.network.with_stages(stages, self.config.optimism)
        method = self.config.kernel_method(rules, self.n_threads, n_moves=self.n_moves, is_late=is_late)
        return method, self.network

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
            n_bytes=self._checkpoint_bytes(),
        )

    def _checkpoint_bytes(self) -> int:
        """Return the size of a checkpoint: of the last one, or estimated when the moves have grown by a tenth."""
        if self._measured_at < 0 or self.n_moves > SIZE_GROWTH * self._measured_at:
            self._n_bytes, self._measured_at = estimate_bytes(self.network, self._initial), self.n_moves
        return self._n_bytes

    @property
    def _initial(self) -> np.float32:
        """The value of an untrained weight."""
        return np.float32(self.config.optimism / self.network.design.n_lookups)


def _is_named(design: Design, network: str) -> bool:
    """Return True if `network` (a preset or hex digits) names the patterns of a design."""
    return parse_patterns(network, design.rules.shape, design.radix, is_shared=design.is_shared) == design.patterns


def _are_usable(cursors: NDArray[Any], design: Design) -> bool:
    """Return True if kernels can continue from cursors: every count and every board is one that a training makes."""
    if cursors.dtype != np.uint64 or cursors.ndim != 2 or cursors.shape[1] != kernel.CURSOR_SIZE:
        return False
    first, last = kernel.START_BUCKETS, kernel.START_BUCKETS + kernel.N_BUCKETS * kernel.BUCKET_SIZE
    n_cells, shifts = design.rules.shape.n_cells, np.arange(0, 64, 4, dtype=np.uint64)
    boards = np.concatenate([cursors[:, [kernel.START]], cursors[:, first:last]], axis=1)
    ranks = boards[:, :, None] >> shifts & np.uint64(15)
    sums = np.where(ranks > 0, np.uint64(1) << ranks, np.uint64(0)).sum(axis=2)
    counts = cursors[:, [kernel.NUMBER, kernel.STRIDE, kernel.MADE, kernel.TURN, kernel.TAUGHT, *_COUNTS]]
    return bool(
        1 <= len(cursors) <= MAX_THREADS
        and (counts < np.uint64(2**62)).all()
        and (cursors[:, kernel.HIGHEST_BUCKET] < kernel.N_BUCKETS).all()
        and (cursors[:, [kernel.IS_SYNTHETIC, kernel.IS_EARLY]] <= 1).all()
        and not ranks[:, :, n_cells:].any()
        and (ranks < design.radix).all()
        and (ranks[:, :, :n_cells] == 0).any(axis=2).all()  # afterstates have an empty cell
        and (sums < FULL_SUM).all()
    )
