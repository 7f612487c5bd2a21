"""N-tuple networks: patterns, weights, and the array through which kernels look them up."""

import mmap
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lab2048.errors import BoardError, UsageError
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.ntuple import lookup as of
from lab2048.kernels.ntuple.large import N_LARGE_SETS
from lab2048.kernels.ntuple.pages import PAGE
from lab2048.models.ntuple.pattern import MAX_WEIGHTS, Pattern, parse_patterns
from lab2048.rules import Board, Rules
from lab2048.rules.kind import rectangle
from lab2048.rules.plan import make_plan

MARGIN = 3000.0  # points
DISCOUNTED_MARGIN = 1000.0  # of a network that was trained with a discount, whose values are smaller
MIN_STAGE, MAX_STAGE = 2, 15  # ranks
MAX_RADIX = 16  # a nibble
MIN_SET_CELLS = 4  # no board has 32768 on three cells after the first
# Unused places after each table, so that weights of small tiles, which are looked up most often, do not compete for the
# same lines of the processor's caches in all tables; a multiple of 64, the weights per block of a file.
GAP = 780 * 16
MIN_GAP_TABLE = 1 << 20  # weights of a table that has such a gap


def huge_array(n: int, dtype: DTypeLike) -> NDArray[Any]:
    """Allocate zeros, in huge pages if the system has them: random lookups then miss the TLB less often.

    Pages that are never touched use no memory.
    """
    size = max(1, n * np.dtype(dtype).itemsize)
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.frombuffer(mmap.mmap(-1, size), dtype)[:n]
    # Private: shared mappings, the default, get no huge pages.
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype)[:n]


class Table(NamedTuple):
    """Where the weights of a pattern and a stage are."""

    begin: int
    end: int
    n_cells: int
    has_sets: bool  # its last entries are the weights for sets of large tiles


@dataclass(frozen=True)
class Design:
    """The structure of a network: everything but its weights."""

    rules: Rules
    patterns: tuple[Pattern, ...]
    stages: tuple[int, ...] = ()  # ranks of the highest tile at which later stages begin
    is_shared: bool = True  # symmetric copies of the board look up the same weights
    is_promoting: bool = False  # untrained weights of a later stage are copied from the stage before
    is_downgrading: bool = False  # large tiles are looked up by their order only (lab2048.kernels.ntuple.large)
    gap: int = GAP  # unused places after each large table

    def __post_init__(self) -> None:
        """Raise a LabError if kernels cannot look up such a network."""
        _check_packed(self.rules)
        if len(self.stages) >= of.MAX_STAGES or list(self.stages) != sorted(set(self.stages)):
            raise UsageError(
                f"stages are invalid: expected at most {of.MAX_STAGES - 1} tiles in increasing order",
                field="stages",
            )
        if any(not MIN_STAGE <= rank <= MAX_STAGE for rank in self.stages):
            raise UsageError(f"stage out of range: expected tiles from {2**MIN_STAGE} to {2**MAX_STAGE}")

        if self.is_downgrading and (self.radix < MAX_RADIX or len(self.patterns[0]) < MIN_SET_CELLS):
            raise UsageError(
                "large tiles cannot be downgraded: expected a board with room for 32768 "
                f"and a first pattern of at least {MIN_SET_CELLS} cells"
            )
        n_weights = sum(self.table_sizes)
        if n_weights > MAX_WEIGHTS:
            each = "pattern" if self.is_shared else "placement of a pattern"
            raise UsageError(
                f"network has {n_weights:,} weights, {self.radix}^cells for each {each}: "
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
        gap: int = GAP,
    ) -> "Design":
        """Make a design from a preset or from patterns in hex digits.

        Without shared weights, a preset stands for all symmetric placements of its patterns.
        """
        _check_packed(rules)  # first: large boards have no patterns
        patterns = parse_patterns(network, rules.shape, radix_of(rules), is_shared=is_shared)
        return cls(rules, patterns, stages, is_shared, is_promoting, is_downgrading, gap)

    def check_further(self, stages: tuple[int, ...]) -> None:
        """Raise UsageError unless `stages` begin with the stages of this design."""
        if stages[: len(self.stages)] != self.stages:
            tiles = ",".join(str(2**rank) for rank in self.stages)
            raise UsageError(f"the network has the stages {tiles}: expected these first, then new ones")

    @property
    def radix(self) -> int:
        """Return the number of ranks that a cell can have, including 0."""
        return radix_of(self.rules)

    @property
    def n_copies(self) -> int:
        return len(self.rules.shape.symmetries) if self.is_shared else 1

    @property
    def n_lookups(self) -> int:
        return len(self.patterns) * self.n_copies + self.is_downgrading

    @property
    def table_sizes(self) -> list[int]:
        """Return the number of weights per pattern and stage."""
        radix = self.radix
        return [radix ** len(pattern) for pattern in self.patterns]

    @property
    def tables(self) -> list[Table]:
        """Return the tables of all stages."""
        tables, begin = [], 0
        for _ in range(self.n_stages):
            for p, size in enumerate(self.table_sizes):
                tables.append(Table(begin, begin + size, len(self.patterns[p]), self.is_downgrading and p == 0))
                begin += size + self._gap_after(size)
        return tables

    def _gap_after(self, size: int) -> int:
        return self.gap if size >= MIN_GAP_TABLE else 0

    @property
    def page_counts(self) -> list[int]:
        """Return the number of pages per pattern and stage, if weights are stored in pages."""
        return [-(-size // PAGE) for size in self.table_sizes]

    @property
    def stage_size(self) -> int:
        """Return the number of places per stage: of its weights and of the gaps between tables."""
        return sum(size + self._gap_after(size) for size in self.table_sizes)

    @property
    def n_stages(self) -> int:
        return 1 + len(self.stages)

    @property
    def n_weights(self) -> int:
        return self.n_stages * sum(self.table_sizes)

    @property
    def n_entries(self) -> int:
        """Return the length of the array of weights."""
        return self.n_stages * self.stage_size


def _check_packed(rules: Rules) -> None:
    if not make_plan(rules)[at.IS_PACKED]:
        raise BoardError(
            f"{rules.board.to_text()} has {rules.shape.n_cells} cells: "
            "expected a board of at most 16 cells, spawns below 32768"
        )
    if rules.shape.n_free:
        raise BoardError(f"networks know no free large tiles: expected {rules.shape.size_name} without F")


def radix_of(rules: Rules) -> int:
    """Return the number of ranks that a cell can have, including 0; at most 16.

    >>> radix_of(Rules.from_text("3x3")), radix_of(Rules.from_text("4x4"))
    (11, 16)
    """
    return min(MAX_RADIX, rules.max_rank + 1)


def runs_of(pattern: Pattern, *, is_planes: bool) -> list[tuple[int, int]]:
    """Return the (shift, mask) pairs that extract a pattern from planes or a packed board, one per run of cells.

    >>> [(shift, hex(mask)) for shift, mask in runs_of((0, 1, 4), is_planes=False)]
    [(0, '0xff'), (8, '0xf00')]
    >>> [(shift, hex(mask)) for shift, mask in runs_of((0, 1, 4), is_planes=True)]
    [(0, '0x3000300030003'), (2, '0x4000400040004')]
    """
    runs: list[tuple[int, int]] = []
    for digit, cell in enumerate(pattern):
        shift, mask = (1 if is_planes else 4) * (cell - digit), _mask_of((digit,), is_planes=is_planes)
        if runs and runs[-1][0] == shift:
            runs[-1] = shift, runs[-1][1] | mask
        else:
            runs.append((shift, mask))
    return runs


def _mask_of(cells: Pattern, *, is_planes: bool) -> int:
    return sum(0x1_0001_0001_0001 << cell if is_planes else 0xF << 4 * cell for cell in cells)


@dataclass
class Network:
    """A design and its weights; while training with TC, also the accumulators of the learning rates."""

    design: Design
    weights: NDArray[Any]  # float32, or int16 in units of `step`
    step: float | None = None
    rates: NDArray[np.float32] | None = None  # per weight: sum of errors, sum of absolute errors
    facts: dict[str, Any] = field(default_factory=dict)  # provenance and training history
    pages: NDArray[np.uint32] | None = None  # where `weights` has each page (lab2048.models.ntuple.pages); None: dense

    def __post_init__(self) -> None:
        """Fill the array that kernels read (lab2048.kernels.ntuple.lookup)."""
        design, plan = self.design, make_plan(self.design.rules)
        words = np.zeros(of.PATTERNS + len(design.patterns) * of.PATTERN_SIZE, np.uint64)
        is_planes = design.radix == MAX_RADIX
        runs = [runs_of(pattern, is_planes=is_planes) for pattern in design.patterns]
        is_whole = design.rules.shape == rectangle(4, 4) and design.is_shared and is_planes
        words[of.N_PATTERNS], words[of.N_COPIES] = len(design.patterns), design.n_copies
        words[of.N_LOOKUPS] = design.n_lookups
        words[of.WEIGHTS] = address_of(self.weights)
        words[of.STEP] = 0 if self.step is None else int(np.array(self.step, np.float32).view(np.uint32))
        words[of.RATES] = 0 if self.rates is None else address_of(self.rates)
        firsts, stage_size = [table.begin for table in design.tables], design.stage_size
        if self.pages is not None:
            words[of.PAGES], counts = address_of(self.pages), design.page_counts
            firsts, stage_size = [PAGE * sum(counts[:p]) for p in range(len(counts))], PAGE * sum(counts)
        words[of.STAGE_SIZE], words[of.N_STAGES] = stage_size, design.n_stages
        words[of.STAGES + 1 : of.STAGES + design.n_stages] = design.stages
        words[of.PLAN], words[of.PLAN_SIZE] = address_of(plan), len(plan)
        words[of.HAS_EIGHT] = is_whole and max(map(len, runs)) <= of.EIGHT_RUNS
        words[of.RADIX] = design.radix
        words[of.LARGE_SETS] = design.table_sizes[0] - N_LARGE_SETS if design.is_downgrading else 0
        for i in range(len(design.patterns)):
            here = of.PATTERNS + i * of.PATTERN_SIZE
            words[here + of.FIRST], words[here + of.N_RUNS] = firsts[i], len(runs[i])
            words[here + of.CELLS] = _mask_of(design.patterns[i], is_planes=is_planes)
            words[here + of.N_CELLS] = len(design.patterns[i])
            words[here + of.RUNS : here + of.RUNS + 2 * len(runs[i])] = [number for run in runs[i] for number in run]
        self.plan, self.words = plan, words

    @classmethod
    def empty(cls, design: Design, value: float = 0.0, *, is_coherent: bool = False) -> "Network":
        """Make an untrained network in which every board has the same value."""
        weights = huge_array(design.n_entries, np.float32)
        if value:
            weights[:] = value / design.n_lookups
        if design.is_promoting:
            weights[design.stage_size :] = np.nan
        rates = huge_array(2 * design.n_entries, np.float32) if is_coherent else None
        return cls(design, weights, rates=rates)

    def with_stages(self, stages: tuple[int, ...], value: float = 0.0) -> "Network":
        """Return a copy with more stages; new ones are untrained."""
        self.design.check_further(stages)
        grown = Network.empty(replace(self.design, stages=stages), value, is_coherent=self.rates is not None)
        grown.weights[: len(self.weights)], grown.facts = self.weights, self.facts
        if grown.rates is not None:
            grown.rates[: len(self.rates)] = self.rates  # type: ignore[arg-type]
        return grown

    def copy_weights(self, other: "Network") -> None:
        """Take the weights of another network of the same kind, which may be quantized."""
        step = np.float32(1 if other.step is None else other.step)
        for mine, theirs in zip(self.design.tables, other.design.tables, strict=True):
            np.multiply(
                other.weights[theirs.begin : theirs.end],
                step,
                out=self.weights[mine.begin : mine.end],
                dtype=np.float32,
            )

    @property
    def address(self) -> int:
        """Return the address that kernels take."""
        return address_of(self.words)

    @property
    def margin(self) -> float:
        """Return how far below the best a move's value may be; a search skips moves below."""
        discount = self.facts.get("training", {}).get("config", {}).get("discount", 1.0)
        return DISCOUNTED_MARGIN if discount != 1.0 else MARGIN

    def value(self, board: Board) -> float:
        """Return the value of an afterstate: the expected future score."""
        index = np.zeros(self.design.n_lookups, np.uint64)
        of.find(self.address, np.uint64(board.to_packed()), address_of(index))
        return float(of.value_of(self.address, address_of(index)))
