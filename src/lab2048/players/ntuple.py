"""The player that looks ahead with what a network has learnt: `ntuple`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import FileError, OutOfRangeError
from lab2048.models import SHIPPED
from lab2048.players.player import option
from lab2048.players.search import DEEPEN, ClockedPlayer, Plan
from lab2048.rules import Rules

if TYPE_CHECKING:
    from lab2048.models.ntuple.network import Design, Network

DEPTH = 3
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
        return Plan("", self.depth, self.deepen, self.cut, self.threads, top.bit_length() - 1)

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
