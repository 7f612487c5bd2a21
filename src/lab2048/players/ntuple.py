"""The player that looks ahead with what a network has learnt: `ntuple`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import FileError, OutOfRangeError
from lab2048.models import SHIPPED
from lab2048.players.player import option
from lab2048.players.search import DEEPEN, ClockedPlayer, ExpectimaxPlayer, Plan
from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.models.ntuple.network import Design, Network
    from lab2048.players.searcher import Searcher

DEPTH = 3
TRUST = 0.9
LATE_RANK = 13  # as in lab2048.kernels.search.confidence
TOP, DOWNGRADED_TOP = 16384, 32768


@dataclass
class NTuplePlayer(ClockedPlayer):
    """Expectimax over the values of a trained network of n-tuples."""

    kernels: ClassVar[tuple[str, ...]] = ("play", "network")
    measure: ClassVar[str] = "expected score"
    unit: ClassVar[str] = "score"

    weights: str | None = option(None, "a file that lab2048 train made; otherwise the network that comes with lab2048")
    depth: int = option(DEPTH, "own moves to look ahead; 1 judges afterstates")
    cut: float | None = option(
        None,
        "lines of spawns less likely than this are judged where they stand; otherwise 1/2 for every move and one more",
    )
    deepen: str = option(
        "no", "look further: no; empty: by one when few cells are empty; tiles: with their number", DEEPEN
    )
    ms: float | None = option(None, "milliseconds for a move: look as deep as they allow")
    top: int | None = option(
        None,
        "highest tile that is judged as it is (16384, or any if the network downgrades boards itself); "
        "where one is missing below, higher boards are lowered",
    )
    trust: float = option(
        TRUST,
        "late boards of which the network knows a smaller share of its weights are searched by expectimax; 0: none are",
    )
    threads: int = option(1, "threads that search together; the move is the same for any number")

    @property
    def groups(self) -> tuple[str, ...]:
        """Its kernels, and the shipped network if it plays with that."""
        return self.kernels if self.weights else (*self.kernels, SHIPPED)

    def plan_search(self, rules: Rules) -> Plan:  # noqa: ARG002
        """As the options say."""
        from lab2048.models.ntuple.shipped import take_header

        highest = DOWNGRADED_TOP if take_header(self.weights).design.is_downgrading else TOP
        top = highest if self.top is None else self.top
        if not 4 <= top <= highest or top & (top - 1):
            raise OutOfRangeError("top", top, f"a tile from 4 to {highest}")
        return Plan("", self.depth, self.deepen, self.cut, self.threads, top.bit_length() - 1, trust=self.trust)

    def check(self, rules: Rules) -> None:
        """Look at the options, and at what the file says of its network; no weight is read."""
        from lab2048.models.ntuple.shipped import take_header

        self._check_clock()
        self.plan_search(rules)
        self._check_shape(take_header(self.weights).design, rules)

    def _check_shape(self, design: "Design", rules: Rules) -> None:
        if design.rules.shape != rules.shape:
            name, shape = self.weights or "the network of lab2048", design.rules.board.to_text()
            raise FileError(f"{name} was trained on {shape}: expected one for {rules.board.to_text()}")

    def make_judge(self, rules: Rules) -> "Network":
        """The network, if it is made for boards of this shape."""
        from lab2048.models.ntuple.shipped import take_network

        network = take_network(self.weights)
        self._check_shape(network.design, rules)
        return network

    def make_fallback(self, rules: Rules) -> "Searcher | None":
        """Make an expectimax search, on boards that grow so large that the network may not know them."""
        if self.trust == 0 or rules.max_rank < LATE_RANK:
            return None
        return ExpectimaxPlayer(ms=self.ms, threads=self.threads).searcher(rules)

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """Search with the network, or with the fallback where the network is guessing.

        The fallback's values are no scores: they are shown as shares of what the network hopes for.
        """
        if searcher.fallback is None or not searcher.is_guessing(board):
            return super().look(searcher, board)
        values, depth = super().look(searcher.fallback, board)
        hope = max(searcher.root_values(board, 1).values())
        best = max(values.values())
        return {move: hope + abs(hope) * (value - best) / max(abs(best), 1.0) for move, value in values.items()}, depth
