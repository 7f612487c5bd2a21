"""Players that look ahead: `greedy`, `lookahead` and `expectimax`, over any evaluator."""

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import UsageError, nearest
from lab2048.players.player import Decision, GamesKernel, Player, option
from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.players.searcher import Searcher

MAX_DEPTH = 12
_DEEPEN = ("no", "tiles", "empty")  # in the order of lab2048.kernels.context


@dataclass
class SearchPlayer(Player):
    """What the searching players share: an evaluator, and how far to look."""

    releases_lock: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Nothing is prepared before the rules are known."""
        self._searcher: Searcher | None = None

    @abstractmethod
    def plan_search(self) -> tuple[str, int, str, float]:
        """Evaluator, depth, when to look further, and how unlikely a line of spawns may become."""

    def searcher(self, rules: Rules) -> "Searcher":
        """The searcher for these rules; its table is kept from move to move and from game to game."""
        from lab2048.players.evaluator import make_evaluator
        from lab2048.players.searcher import Searcher

        if self._searcher is None or self._searcher.rules != rules:
            name, depth, deepen, cut = self.plan_search()
            if not 1 <= depth <= MAX_DEPTH:
                raise UsageError(f"depth={depth} is out of range: expected 1 to {MAX_DEPTH}")
            if not 0 <= cut < 1:
                raise UsageError(f"cut={cut} is out of range: expected 0 to below 1")
            if deepen not in _DEEPEN:
                raise UsageError(f"deepen={deepen} is unknown: {nearest(deepen, _DEEPEN)}")
            self._searcher = Searcher(rules, make_evaluator(name), depth, _DEEPEN.index(deepen), cut)
        return self._searcher

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Prepare the search for these rules."""
        self.searcher(rules)

    def choose(self, board: Board) -> Decision:
        """Take the move of the highest value."""
        searcher = self._searcher
        if searcher is None or searcher.rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        before, depth = searcher.n_states, searcher.depth_of(board)
        values = searcher.root_values(board, depth)
        assert values is not None  # there is no deadline
        return Decision(max(values, key=lambda move: values[move]), values, searcher.n_states - before, depth)

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """The same choices, compiled; only for boards that fit one word."""
        from lab2048.kernels import play

        searcher = self.searcher(rules)
        if not searcher.is_packed:
            return None
        return lambda games, budget: int(play.play_games(searcher.plan, games, play.RANDOM, searcher.address, budget))


@dataclass
class GreedyPlayer(SearchPlayer):
    """The move whose afterstate looks best: no look ahead at all."""

    eval: str = option("snake", "what a board is worth: an evaluator's name, or a TOML file")

    def plan_search(self) -> tuple[str, int, str, float]:
        """Depth 1 judges afterstates."""
        return self.eval, 1, "no", 0.0


@dataclass
class LookaheadPlayer(SearchPlayer):
    """Every spawn and every move to a fixed depth, and the best expected value."""

    depth: int = option(2, "own moves to look ahead")
    eval: str = option("order", "what a board is worth: an evaluator's name, or a TOML file")

    def plan_search(self) -> tuple[str, int, str, float]:
        """All of the tree, nothing cut."""
        return self.eval, self.depth, "no", 0.0


@dataclass
class ExpectimaxPlayer(SearchPlayer):
    """Expectimax that leaves out what is unlikely, remembers boards, and can play by the clock."""

    depth: int = option(3, "own moves to look ahead, at least")
    eval: str = option("rows", "what a board is worth: an evaluator's name, or a TOML file")
    cut: float = option(1e-3, "lines of spawns less likely than this are judged where they stand")
    deepen: str = option(
        "empty", "look further: no; by one when few cells are empty; or with the number of different tiles"
    )
    ms: float | None = option(None, "milliseconds for a move: look as deep as they allow")

    @property
    def is_repeatable(self) -> bool:
        """Not with a clock."""
        return self.ms is None

    def plan_search(self) -> tuple[str, int, str, float]:
        """As the options say."""
        if self.ms is not None and not 0 < self.ms <= 3_600_000:
            raise UsageError(f"ms={self.ms} is out of range: expected above 0, at most 3600000")
        return self.eval, self.depth, self.deepen, self.cut

    def choose(self, board: Board) -> Decision:
        """Take the move of the highest value, of the deepest search that came to an end in time."""
        if self.ms is None:
            return super().choose(board)
        begin, searcher = time.monotonic_ns(), self._searcher
        if searcher is None or searcher.rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        deadline, before = begin + int(self.ms * 1e6), searcher.n_states
        values, reached = searcher.root_values(board, 1), 1
        assert values is not None
        for depth in range(2, MAX_DEPTH + 1 if len(values) > 1 else 2):
            deeper = searcher.root_values(board, depth, deadline)
            if deeper is None:
                break
            values, reached = deeper, depth
        return Decision(max(values, key=lambda move: values[move]), values, searcher.n_states - before, reached)

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """The same choices, compiled, unless a clock takes part."""
        return super().games_kernel(rules) if self.ms is None else None
