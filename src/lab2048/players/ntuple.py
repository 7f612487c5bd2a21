"""`ntuple`: expectimax with an n-tuple network at the leaves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import FileError, OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.group import GAMES, NETWORK, NETWORK_GAMES
from lab2048.models import SHIPPED
from lab2048.models.ntuple.calibration import CLOCKED, Calibration
from lab2048.players.player import option
from lab2048.players.search.expectimax import ExpectimaxPlayer
from lab2048.players.search.player import (
    CUT_DOC,
    DEEPEN,
    DEEPEN_DOC,
    ENDGAMES_DOC,
    MS_DOC,
    THREADS_DOC,
    ClockedPlayer,
    SearchSettings,
)
from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.models.ntuple.network import Design, Network
    from lab2048.players.searcher import Searcher

DEPTH = 3
TRUST = 0.9
TOP, DOWNGRADED_TOP = 16384, 32768
CHOICES = ("return", "value")


@dataclass
class NTuplePlayer(ClockedPlayer):
    """Expectimax search that evaluates leaves with a trained n-tuple network."""

    measure: ClassVar[str] = "expected score"
    unit: ClassVar[str] = "score"

    weights: str | None = option(None, "network file, made by lab2048 train; default: the network shipped with lab2048")
    depth: int = option(DEPTH, "search depth in own moves; 1 evaluates afterstates")
    cut: float | None = option(None, CUT_DOC)
    deepen: str = option("no", DEEPEN_DOC, DEEPEN)
    ms: float | None = option(None, MS_DOC)
    top: int | None = option(
        None,
        "highest tile that is not downgraded; default: 16384, or no limit if the network downgrades tiles itself",
    )
    trust: float = option(
        TRUST,
        "expectimax chooses on late boards if less than this share of the weights for the board was trained; 0 = never",
    )
    threads: int = option(1, THREADS_DOC)
    by: str = option("return", "choose moves by reward plus value, or at depth 1 by value alone", CHOICES)
    endgames: str | None = option(None, ENDGAMES_DOC.format("shipped"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._calibration: Calibration | None = None

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:
        """Return the groups of its search and of its fallback, and the shipped network if no file is given."""
        found = {NETWORK, *super().groups(rules, games=games)}
        if self._has_fallback(rules):
            found |= {*ExpectimaxPlayer().leaf_groups(rules)}
        if GAMES in found:
            found.add(NETWORK_GAMES)
        return tuple(sorted(found if self.weights else {*found, SHIPPED}))

    def leaf_groups(self, rules: Rules) -> tuple[str, ...]:  # noqa: ARG002
        return (NETWORK,)

    def search_settings(self, rules: Rules) -> SearchSettings:  # noqa: ARG002
        from lab2048.models.ntuple.shipped import take_header

        highest = DOWNGRADED_TOP if take_header(self.weights).design.is_downgrading else TOP
        top = highest if self.top is None else self.top
        if not 4 <= top <= highest or top & (top - 1):
            raise OutOfRangeError("top", top, f"a tile from 4 to {highest}")
        if self.by not in CHOICES:
            raise UnknownNameError("by", self.by, CHOICES)
        if self._is_by_value and not (self.depth == 1 and self.deepen == "no" and self.ms is None and self.trust == 0):
            raise UsageError("by=value needs depth=1 and trust=0, without deepen and ms", field="by")
        return SearchSettings(
            "",
            self.depth,
            self.deepen,
            self.cut,
            self.threads,
            top.bit_length() - 1,
            trust=self.trust,
            is_by_value=self._is_by_value,
        )

    @property
    def _is_by_value(self) -> bool:
        return self.by == "value"

    def check(self, rules: Rules) -> None:
        """Check the options and the header of the network file, without reading weights."""
        from lab2048.models.ntuple.shipped import take_header

        self._check_clock()
        self.search_settings(rules)
        self._check_shape(take_header(self.weights).design, rules)
        self.book(rules)

    def _check_shape(self, design: "Design", rules: Rules) -> None:
        if design.rules.shape != rules.shape:
            name, shape = self.weights or "the network of lab2048", design.rules.board.to_text()
            raise FileError(f"{name} was trained on {shape}: expected one for {rules.board.to_text()}")

    def make_leaf_evaluator(self, rules: Rules) -> "Network":
        """Load the network; raise FileError if it was trained on another shape."""
        from lab2048.models.ntuple.shipped import take_network

        network = take_network(self.weights)
        self._check_shape(network.design, rules)
        self._calibration = Calibration.from_facts(network.facts)
        return network

    def make_fallback(self, rules: Rules) -> "Searcher | None":
        """Make an expectimax search, on boards that grow so large that the network may not know them."""
        return ExpectimaxPlayer(ms=self.ms, threads=self.threads).searcher(rules) if self._has_fallback(rules) else None

    def _has_fallback(self, rules: Rules) -> bool:
        from lab2048.kernels.search.confidence import LATE_RANK

        return self.trust != 0 and rules.max_rank >= LATE_RANK

    @property
    def tables(self) -> str:
        """Return which endgame tables it uses: by default none beside a network of your own, which plays alone."""
        return self.endgames or ("no" if self.weights or self._is_by_value else "shipped")

    def asks_tables_first(self, searcher: "Searcher", board: Board) -> bool:
        """Return True where the network is guessing; elsewhere the tables are leaves of the search."""
        return searcher.is_guessing(board)

    @property
    def search_name(self) -> str:
        """Return the name of its search among the factors of a calibration."""
        return CLOCKED if self.ms is not None else str(self.depth)

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """Return the value of every legal move, calibrated if the network is, and the search depth."""
        values, depth = self.search(searcher, board)
        if self._is_by_value:
            return {move: values[move] - slide.reward for move, slide in board.slides()}, depth
        factor = self.factor(board.tile_sum)
        return {move: value * factor for move, value in values.items()}, depth

    def glance(self, searcher: "Searcher", board: Board) -> dict[int, float]:
        """Return the values of the moves without search, calibrated if the network is."""
        factor = self.factor(board.tile_sum)
        return {move: value * factor for move, value in super().glance(searcher, board).items()}

    @property
    def is_uncalibrated(self) -> bool:
        """Return True if values are those of the network."""
        return self._calibration is None

    def factor(self, tile_sum: int) -> float:
        """Return by what values of the network are multiplied at a tile sum; 1 if it is not calibrated."""
        return 1.0 if self._calibration is None else self._calibration.factor(self.search_name, tile_sum)

    def search(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """Search with the network, or with the fallback where the network is guessing.

        The fallback's values are no scores: they are shown as shares of what the network hopes for.
        """
        if searcher.fallback is None or not searcher.is_guessing(board):
            return super().look(searcher, board)
        values, depth = super().look(searcher.fallback, board)
        hope = max(searcher.root_values(board, 1).values())
        best = max(values.values())
        return {move: hope + abs(hope) * (value - best) / max(abs(best), 1.0) for move, value in values.items()}, depth
