"""Networks: patterns, their weights, and what kernels need to look them up."""

import mmap
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lab2048.errors import BoardError, UsageError
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.ntuple import lookup as of
from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.models.ntuple.pattern import MAX_WEIGHTS, Pattern, parse_patterns
from lab2048.rules import Board, Rules
from lab2048.rules.kind import rectangle
from lab2048.rules.plan import make_plan

MARGIN = 3000.0  # of score
MIN_STAGE, MAX_STAGE = 2, 15  # ranks
MAX_RADIX = 16  # a nibble
MIN_SET_CELLS = 4  # three tiles of 32768 behind the first cell are on no board


def huge_array(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Zeros in huge pages where the system has them: a lookup at random then needs no walk to find its page.

    Memory that is never touched is never taken.
    """
    size = max(1, n * np.dtype(dtype).itemsize)
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.frombuffer(mmap.mmap(-1, size), dtype)[:n]
    # Private: what is shared, as it is by default, gets no huge pages.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype)[:n]


@dataclass(frozen=True)
class Design:
    """What a network looks at: everything but its weights."""

    rules: Rules
    patterns: tuple[Pattern, ...]
    stages: tuple[int, ...] = ()  # ranks of the highest tile from which on a further set of weights serves
    is_shared: bool = True  # turned and mirrored copies of the board look up the same weights
    is_promoting: bool = False  # what a later stage has not learnt it takes from the stage before
    is_downgrading: bool = False  # large tiles are looked up by their order alone (lab2048.kernels.ntuple.large)

    def __post_init__(self) -> None:
        """Refuse what cannot be looked up."""
        _check_packed(self.rules)
        if len(self.stages) >= of.MAX_STAGES or list(self.stages) != sorted(set(self.stages)):
            raise UsageError(
                f"stages are not understood: expected at most {of.MAX_STAGES - 1} tiles, each above the last",
                field="stages",
            )
        if any(not MIN_STAGE <= rank <= MAX_STAGE for rank in self.stages):
            raise UsageError(f"stage out of range: expected tiles from {2**MIN_STAGE} to {2**MAX_STAGE}")

        if self.is_downgrading and (self.radix < MAX_RADIX or len(self.patterns[0]) < MIN_SET_CELLS):
            raise UsageError(
                "large tiles cannot be downgraded: expected a board with room for 32768 "
                f"and a first pattern of at least {MIN_SET_CELLS} cells"
            )
        if self.stage_size > MAX_WEIGHTS:
            each = "pattern" if self.is_shared else "place of a pattern"
            raise UsageError(
                f"network has {self.stage_size:,} weights, {self.radix}^cells for each {each}: "
                f"expected at most {MAX_WEIGHTS:,}",
                field="network",
            )

    @classmethod
    def from_text(
        cls,
        rules: Rules,
        network: str,
        stages: tuple[int, ...] = (),
        *,
        is_shared: bool = True,
        is_promoting: bool = False,
        is_downgrading: bool = False,
    ) -> "Design":
        """A design whose patterns are a preset, at every place unless weights are shared, or hex digits."""
        _check_packed(rules)  # first: patterns are not sought on a board that has none
        patterns = parse_patterns(network, rules.shape, radix_of(rules), is_shared=is_shared)
        return cls(rules, patterns, stages, is_shared, is_promoting, is_downgrading)

    def check_further(self, stages: tuple[int, ...]) -> None:
        """Refuse stages that are not these and further ones."""
        if stages[: len(self.stages)] != self.stages:
            tiles = ",".join(str(2**rank) for rank in self.stages)
            raise UsageError(f"the network has stages from {tiles} on: expected the same, and further ones")

    @property
    def radix(self) -> int:
        """How many ranks, 0 among them, a cell of a pattern tells apart."""
        return radix_of(self.rules)

    @property
    def n_copies(self) -> int:
        return len(self.rules.shape.symmetries) if self.is_shared else 1

    @property
    def n_lookups(self) -> int:
        return len(self.patterns) * self.n_copies + self.is_downgrading

    @property
    def table_sizes(self) -> list[int]:
        """How many weights each pattern has, in one stage."""
        radix = self.radix
        return [radix ** len(pattern) for pattern in self.patterns]

    @property
    def stage_size(self) -> int:
        return sum(self.table_sizes)

    @property
    def n_stages(self) -> int:
        return 1 + len(self.stages)

    @property
    def n_weights(self) -> int:
        return self.n_stages * self.stage_size


def _check_packed(rules: Rules) -> None:
    if not make_plan(rules)[at.IS_PACKED]:
        raise BoardError(
            f"{rules.board.to_text()} has {rules.shape.n_cells} cells: "
            "expected a board of at most 16 cells, spawns below 32768"
        )


def radix_of(rules: Rules) -> int:
    """How many ranks, 0 among them, can appear on a board: the number of values of a digit of its tables.

    >>> radix_of(Rules.from_text("3x3")), radix_of(Rules.from_text("4x4"))
    (11, 16)
    """
    return min(MAX_RADIX, rules.max_rank + 1)


def runs_of(pattern: Pattern) -> list[tuple[int, int]]:
    """How to cut a pattern out of a packed board: (shift, mask) of each stretch of neighbouring nibbles.

    >>> [(shift, hex(mask)) for shift, mask in runs_of((0, 1, 4))]
    [(0, '0xff'), (8, '0xf00')]
    """
    runs: list[tuple[int, int]] = []
    for digit, cell in enumerate(pattern):
        shift, mask = 4 * (cell - digit), 0xF << 4 * digit
        if runs and runs[-1][0] == shift:
            runs[-1] = shift, runs[-1][1] | mask
        else:
            runs.append((shift, mask))
    return runs


@dataclass
class Network:
    """A design and its weights; `rates` are the sums behind the learning rates, while it learns."""

    design: Design
    weights: NDArray[Any]  # float32, or int16 in units of `step`
    step: float | None = None
    rates: NDArray[np.float32] | None = None  # for each weight the sum of errors, and of their sizes
    facts: dict[str, Any] = field(default_factory=dict)  # where it comes from
    margin: float | None = MARGIN  # a search leaves out moves that are judged so much worse than another

    def __post_init__(self) -> None:
        """Make the words that kernels read."""
        design, plan = self.design, make_plan(self.design.rules)
        words = np.zeros(of.PATTERNS + len(design.patterns) * of.PATTERN_SIZE, np.uint64)
        runs = [runs_of(pattern) for pattern in design.patterns]
        is_whole = design.rules.shape == rectangle(4, 4) and design.is_shared
        words[of.N_PATTERNS], words[of.N_COPIES] = len(design.patterns), design.n_copies
        words[of.N_LOOKUPS] = design.n_lookups
        words[of.WEIGHTS] = address_of(self.weights)
        words[of.STEP] = 0 if self.step is None else int(np.array(self.step, np.float32).view(np.uint32))
        words[of.RATES] = 0 if self.rates is None else address_of(self.rates)
        words[of.STAGE_SIZE], words[of.N_STAGES] = design.stage_size, design.n_stages
        words[of.STAGES + 1 : of.STAGES + design.n_stages] = design.stages
        words[of.PLAN], words[of.PLAN_SIZE] = address_of(plan), len(plan)
        words[of.HAS_EIGHT] = is_whole and max(map(len, runs)) <= of.EIGHT_RUNS
        words[of.RADIX] = design.radix
        words[of.LARGE_SETS] = design.table_sizes[0] - N_LARGE_SETS if design.is_downgrading else 0
        first = 0
        for i, size in enumerate(design.table_sizes):
            here = of.PATTERNS + i * of.PATTERN_SIZE
            words[here + of.FIRST], words[here + of.N_RUNS] = first, len(runs[i])
            words[here + of.CELLS] = sum(0xF << 4 * cell for cell in design.patterns[i])
            words[here + of.RUNS : here + of.RUNS + 2 * len(runs[i])] = [number for run in runs[i] for number in run]
            first += size
        self.plan, self.words = plan, words

    @classmethod
    def empty(cls, design: Design, value: float = 0.0, *, is_coherent: bool = False) -> "Network":
        """A network that thinks every board worth `value`, ready to learn."""
        weights = huge_array(design.n_weights, np.float32)
        if value:
            weights[:] = value / design.n_lookups
        if design.is_promoting:
            weights[design.stage_size :] = np.nan
        rates = huge_array(2 * design.n_weights, np.float32) if is_coherent else None
        return cls(design, weights, rates=rates)

    def with_stages(self, stages: tuple[int, ...], value: float = 0.0) -> "Network":
        """The same network with further stages, as empty as a new network."""
        self.design.check_further(stages)
        grown = Network.empty(replace(self.design, stages=stages), value, is_coherent=self.rates is not None)
        grown.weights[: len(self.weights)], grown.facts = self.weights, self.facts
        if grown.rates is not None:
            grown.rates[: len(self.rates)] = self.rates  # type: ignore[arg-type]
        return grown

    @property
    def address(self) -> int:
        """What kernels take."""
        return address_of(self.words)

    def value(self, board: Board) -> float:
        """The value of an afterstate: the score that is still to come."""
        index = np.zeros(self.design.n_lookups, np.uint64)
        of.find(self.address, np.uint64(board.to_packed()), address_of(index))
        return float(of.value_of(self.address, address_of(index)))
