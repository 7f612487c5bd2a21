"""Players that look ahead: `greedy`, `lookahead` and `expectimax`, over any evaluator."""

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.players.player import Decision, GamesKernel, Player, option
from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.models.ntuple.network import Network
    from lab2048.players.evaluator import Evaluator
    from lab2048.players.searcher import Searcher

MAX_THREADS = 64
DEPTH, DEPTH_OF_MANY, MANY_CELLS = 7, 4, 16  # own moves that expectimax looks ahead; on boards of more cells than that
_MODES = {"fast": (2, "no"), "normal": (3, "no"), "optimal": (2, "empty")}  # of document 002, in own moves
DEEPEN = ("no", "tiles", "empty")  # in the order of lab2048.kernels.search.context
ENDS = ("move", "spawn")


@dataclass(frozen=True)
class Plan:
    """How a player searches."""

    eval: str
    depth: int
    deepen: str = "no"
    cut: float | None = 0.0
    n_threads: int = 1
    top: int | None = None  # rank
    end: str = "move"
    trust: float = 0.0  # share of trained weights below which a network is guessing

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        from lab2048.players.searcher import MAX_DEPTH

        if not 1 <= self.depth <= MAX_DEPTH:
            raise OutOfRangeError("depth", self.depth, f"1 to {MAX_DEPTH}")
        if self.cut is not None and not 0 <= self.cut < 1:
            raise OutOfRangeError("cut", self.cut, "0 to below 1")
        if self.deepen not in DEEPEN:
            raise UnknownNameError("deepen", self.deepen, DEEPEN)
        if not 1 <= self.n_threads <= MAX_THREADS:
            raise OutOfRangeError("threads", self.n_threads, f"1 to {MAX_THREADS}")
        if not 0 <= self.trust <= 1:
            raise OutOfRangeError("trust", self.trust, "0 to 1")
        if self.end not in ENDS:
            raise UnknownNameError("end", self.end, ENDS)


@dataclass
class SearchPlayer(Player):
    """What the searching players share: an evaluator, and how far to look."""

    releases_lock: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Nothing is prepared before the rules are known."""
        self._searcher: Searcher | None = None

    @abstractmethod
    def plan_search(self, rules: Rules) -> Plan:
        """How to search boards of these rules, as the options say."""

    def searcher(self, rules: Rules) -> "Searcher":
        """The searcher for these rules; its table is kept from move to move and from game to game."""
        from lab2048.players.searcher import Searcher

        if self._searcher is None or self._searcher.rules != rules:
            plan = self.plan_search(rules)
            deepen = DEEPEN.index(plan.deepen)
            # States after the last spawn are those from which the next depth would move.
            is_state_judged = plan.end == "spawn"
            self._searcher = Searcher(
                rules,
                self.make_judge(rules),
                plan.depth + is_state_judged,
                deepen,
                plan.cut,
                plan.n_threads,
                top=plan.top,
                is_state_judged=is_state_judged,
                fallback=self.make_fallback(rules),
                trust=plan.trust,
            )
        return self._searcher

    def make_fallback(self, rules: Rules) -> "Searcher | None":  # noqa: ARG002
        """Make the searcher that is asked where the judge is guessing, if it can guess."""
        return None

    def check(self, rules: Rules) -> None:
        """Find the evaluator, and whether it has weights for this shape."""
        from lab2048.players.evaluator import make_evaluator

        make_evaluator(self.plan_search(rules).eval).weights(rules.shape)

    def make_judge(self, rules: Rules) -> "Evaluator | Network":
        """Who judges boards of these rules: an evaluator by the plan's name."""
        from lab2048.players.evaluator import make_evaluator

        return make_evaluator(self.plan_search(rules).eval)

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Prepare the search for these rules."""
        self.searcher(rules)

    def choose(self, board: Board) -> Decision:
        """Take the move of the highest value."""
        searcher = self._searcher
        if searcher is None or searcher.rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        before = searcher.n_states
        values, depth = self.look(searcher, board)
        best = max(values, key=lambda move: values[move])
        return Decision(best, values, searcher.n_states - before, depth, confidence=searcher.confidence(board))

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """The value of every legal move, and how far ahead that is."""
        depth = searcher.depth_of(board)
        return searcher.root_values(board, depth), depth - searcher.is_state_judged

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """The same choices, compiled; only for boards that fit one word."""
        from lab2048.kernels.games import play

        searcher = self.searcher(rules)
        if not searcher.is_packed:
            return None
        return lambda games, budget: int(play.play_games(searcher.plan, games, play.RANDOM, searcher.address, budget))


class ClockedPlayer(SearchPlayer):
    """A searching player that can play by the clock and on threads, if it has these options."""

    ms: float | None
    threads: int

    @property
    def is_repeatable(self) -> bool:
        """Not with a clock."""
        return self.ms is None

    def check(self, rules: Rules) -> None:
        """Look at the clock, too."""
        self._check_clock()
        super().check(rules)

    def _check_clock(self) -> None:
        if self.ms is not None and not 0 < self.ms <= 3_600_000:
            raise OutOfRangeError("ms", self.ms, "above 0, at most 3600000")

    def searcher(self, rules: Rules) -> "Searcher":
        """The searcher for these rules, if the clock makes sense."""
        self._check_clock()
        return super().searcher(rules)

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """To the depth, or by the clock the deepest search that comes to an end in time."""
        if self.ms is None:
            return super().look(searcher, board)
        return searcher.deepen_until(time.monotonic_ns() + int(self.ms * 1e6), board)

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """The same choices, compiled, unless a clock or threads take part."""
        return super().games_kernel(rules) if self.ms is None and self.threads == 1 else None


@dataclass
class GreedyPlayer(SearchPlayer):
    """The move whose afterstate looks best: no look ahead at all."""

    eval: str = option("snake", "what a board is worth: an evaluator's name, or a TOML file")

    def plan_search(self, rules: Rules) -> Plan:  # noqa: ARG002
        """Depth 1 judges afterstates."""
        return Plan(self.eval, 1)


@dataclass
class LookaheadPlayer(SearchPlayer):
    """Every spawn and every move to a fixed depth, and the best expected value."""

    depth: int = option(2, "own moves to look ahead")
    eval: str = option("order", "what a board is worth: an evaluator's name, or a TOML file")
    end: str = option("move", "boards are judged after the last own move, or after the spawn that follows it", ENDS)

    def plan_search(self, rules: Rules) -> Plan:  # noqa: ARG002
        """All of the tree, nothing cut."""
        return Plan(self.eval, self.depth, end=self.end)


@dataclass
class ExpectimaxPlayer(ClockedPlayer):
    """Expectimax that leaves out what is unlikely, remembers boards, and can play by the clock."""

    depth: int | None = option(
        None, "own moves to look ahead; if neither this nor a mode is given 7, on boards of more than 16 cells 4"
    )
    eval: str = option("rows", "what a board is worth: an evaluator's name, or a TOML file")
    cut: float | None = option(
        None,
        "lines of spawns less likely than this are judged where they stand; otherwise 1/2 for every move and one more",
    )
    deepen: str | None = option(
        None,
        "look further: no; empty: by one when few cells are empty; tiles: with the number of different tiles",
        DEEPEN,
    )
    mode: str | None = option(
        None, "fast, normal or optimal, as in document 002: depth 2; 3; 2 and with few empty cells 3", _MODES
    )
    ms: float | None = option(None, "milliseconds for a move: look as deep as they allow")
    threads: int = option(1, "threads that search together; the move is the same for any number")

    def plan_search(self, rules: Rules) -> Plan:
        """As the options say; a mode says what they do not."""
        if self.mode is not None and self.mode not in _MODES:
            raise UnknownNameError("mode", self.mode, _MODES)
        by_itself = DEPTH if rules.shape.n_cells <= MANY_CELLS else DEPTH_OF_MANY
        depth, deepen = _MODES.get(self.mode or "", (by_itself, "no"))
        depth, deepen = self.depth if self.depth is not None else depth, self.deepen or deepen
        return Plan(self.eval, depth, deepen, self.cut, self.threads)
