"""What players that search have in common: their settings, threads, endgame tables and clock."""

import dataclasses
import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import LabError, OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.board import layout as at
from lab2048.kernels.group import (
    CLASSIC,
    ENDGAME,
    ENDGAME_GAMES,
    FORCED,
    GAMES,
    PACKED,
    SEARCH,
    SEARCH_GAMES,
    THREADS,
    TIMED,
    WIDE,
)
from lab2048.players.player import Decision, GamesKernel, Player, SuccessRate
from lab2048.rules import Board, Rules, Spawner
from lab2048.rules.plan import make_plan

if TYPE_CHECKING:
    from lab2048.models.ntuple.network import Network
    from lab2048.players.evaluator import Evaluator
    from lab2048.players.searcher import Searcher
    from lab2048.solver.endgame.book import Answer, Book

MAX_THREADS = 64
DEEPEN = ("no", "tiles", "empty")  # in the order of lab2048.kernels.search.context
ENDS = ("move", "spawn")
EVAL_DOC = "evaluator of leaves: its name, or a TOML file"
CUT_DOC = "probability of a sequence of spawns below which the search stops; default: 1/2^(depth + 1); 0 = no cutoff"
MS_DOC = "time limit per move in milliseconds; the search goes as deep as the time allows"
THREADS_DOC = "threads that search in parallel; the move does not depend on their number"
ENDGAMES_DOC = "endgame tables to use: shipped, auto (also those built), a folder, no; default: {}"
DEEPEN_DOC = "search deeper: empty: by 1 if few cells are empty; tiles: by the number of distinct tiles; no: never"


@dataclass(frozen=True)
class SearchSettings:
    """How a player searches."""

    eval: str
    depth: int
    deepen: str = "no"
    cut: float | None = 0.0
    n_threads: int = 1
    shared_from: int | None = None  # nanoseconds of a search from which threads share it; None: if they save time
    top: int | None = None  # rank
    end: str = "move"
    extra: bool = False
    trust: float = 0.0  # share of trained weights below which a network is guessing
    is_by_value: bool = False

    def __post_init__(self) -> None:
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
    """Base class of players that search with compiled kernels."""

    releases_lock: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._searcher: Searcher | None = None

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:
        """Return the groups of the search that suits the board."""
        if not make_plan(rules)[at.IS_PACKED]:
            return (WIDE,)  # without a loop for whole games
        forced = [] if rules.spawner is Spawner.FAIR else [FORCED]
        return (SEARCH, *self.leaf_groups(rules), *forced, *((GAMES, SEARCH_GAMES) if games else ()))

    def leaf_groups(self, rules: Rules) -> tuple[str, ...]:
        """Return the groups of the recursive search of a packed board."""
        from lab2048.players.evaluator import make_evaluator

        try:
            settings = self.search_settings(rules)
            evaluator = make_evaluator(settings.eval)
        except LabError:
            return ()  # it cannot play
        is_general = evaluator.has_board_terms or settings.end == "spawn" or settings.extra or rules.null_moves
        return (PACKED,) if is_general or not make_plan(rules)[at.IS_CLASSIC] else (CLASSIC,)

    @abstractmethod
    def search_settings(self, rules: Rules) -> SearchSettings:
        """Return how to search boards of these rules, from the options."""

    def searcher(self, rules: Rules) -> "Searcher":
        """Return the searcher for these rules; its transposition table is kept across moves and games."""
        from lab2048.players.searcher import Searcher

        if self._searcher is None or self._searcher.rules != rules:
            settings = self.search_settings(rules)
            deepen = DEEPEN.index(settings.deepen)
            # States after the last spawn are those from which the next depth would move.
            is_state_evaluated = settings.end == "spawn"
            self._searcher = Searcher(
                rules,
                self.make_leaf_evaluator(rules),
                settings.depth + is_state_evaluated,
                deepen,
                settings.cut,
                settings.n_threads,
                shared_from=settings.shared_from,
                top=settings.top,
                is_state_evaluated=is_state_evaluated,
                has_extra_tile=settings.extra,
                fallback=self.make_fallback(rules),
                trust=settings.trust,
                is_by_value=settings.is_by_value,
            )
        return self._searcher

    def make_fallback(self, rules: Rules) -> "Searcher | None":  # noqa: ARG002
        """Make the searcher for boards that the network hardly knows; None if there is none."""
        return None

    def check(self, rules: Rules) -> None:
        """Check that the evaluator exists and fits this shape."""
        from lab2048.players.evaluator import make_evaluator

        make_evaluator(self.search_settings(rules).eval).check(rules.shape)

    def make_leaf_evaluator(self, rules: Rules) -> "Evaluator | Network":
        """Return what evaluates the leaves: an evaluator or a network."""
        from lab2048.players.evaluator import make_evaluator

        return make_evaluator(self.search_settings(rules).eval)

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        self.searcher(rules)

    def choose(self, board: Board) -> Decision:
        """Choose the move with the highest value."""
        searcher = self._searcher
        if searcher is None or searcher.rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        before = searcher.n_states
        values, depth = self.look(searcher, board)
        best = max(values, key=lambda move: values[move])
        return Decision(
            best,
            values,
            searcher.n_states - before,
            depth,
            confidence=searcher.confidence(board),
            is_guess=searcher.is_guessing(board),
        )

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """Return the value of every legal move, and the search depth."""
        depth = searcher.depth_of(board)
        values = searcher.root_values(board, depth)
        return values, depth - searcher.ends_at_state

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """Return a compiled loop that makes the same choices, if boards fit one word."""
        from lab2048.kernels.games import play

        searcher = self.searcher(rules)
        if not searcher.is_packed:
            return None
        address = searcher.games_address()

        def play_some(games: play.Games, budget: int) -> int:
            searcher.begin()
            return int(play.play_games(searcher.plan, games, play.RANDOM, address, budget))

        return play_some


class ThreadedPlayer(SearchPlayer):
    """Base class of search players with the options `threads` and `endgames`."""

    threads: int
    endgames: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._book: Book | None = None

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:
        """Return the groups of the search, on several threads if they are set, and of endgame tables."""
        games = games and self.threads == 1
        found = super().groups(rules, games=games)
        tables = [ENDGAME, *[ENDGAME_GAMES] * games] if SEARCH in found and self.book(rules) is not None else []
        return (*found, *[THREADS] * (self.threads > 1), *tables)

    @property
    def tables(self) -> str:
        """Return which endgame tables it uses: the option `endgames`, or its default."""
        return self.endgames or "no"

    def book(self, rules: Rules) -> "Book | None":
        """Return the endgame tables that it uses on boards of these rules; None without any."""
        # Only the classic board has tables that ship with lab2048.
        if self.tables == "no" or (self.tables == "shipped" and not make_plan(rules)[at.IS_CLASSIC]):
            return None
        from lab2048.solver.endgame.book import Book

        if self._book is None or self._book.rules != rules:
            self._book = Book.open(self.tables, rules)
        return self._book if self._book.tables else None

    def check(self, rules: Rules) -> None:
        super().check(rules)
        self.book(rules)

    def searcher(self, rules: Rules) -> "Searcher":
        """Return the searcher for these rules, which knows the endgame tables."""
        before, found = self._searcher, super().searcher(rules)
        if found is not before:
            found.use_tables(self.book(rules))
        return found

    def choose(self, board: Board) -> Decision:
        """Choose the move of an endgame table, if it is asked first and sure enough, or else by search."""
        searcher = self._searcher
        book = searcher.book if searcher is not None and searcher.rules.shape == board.shape else None
        if searcher is None or book is None:
            return super().choose(board)
        answer = book.look_up(board) if self.asks_tables_first(searcher, board) else None
        if answer is None:
            decision = super().choose(board)
            return dataclasses.replace(decision, endgame=_success_rate(book.rate(board, decision.move)))
        before, values = searcher.n_states, self.glance(searcher, board)
        best = max(values, key=lambda move: values[move])
        return Decision(
            answer.move,
            values,
            searcher.n_states - before,
            1,
            overridden=None if best == answer.move else best,
            confidence=searcher.confidence(board),
            endgame=_success_rate(answer),
        )

    def asks_tables_first(self, searcher: "Searcher", board: Board) -> bool:  # noqa: ARG002
        """Return True if an endgame table that is sure enough chooses the move without a search."""
        return True

    def glance(self, searcher: "Searcher", board: Board) -> dict[int, float]:
        """Return the values of the moves without search: a table has chosen, and a search would only take time."""
        return searcher.root_values(board, 1)

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """Return a compiled loop that makes the same choices, unless several threads are set."""
        return super().games_kernel(rules) if self.threads == 1 else None


def _success_rate(answer: "Answer | None") -> SuccessRate | None:
    if answer is None:
        return None
    formation = answer.formation
    return SuccessRate(answer.value, formation.rules.goal, formation.rules.board_text, formation.while_text)


class ClockedPlayer(ThreadedPlayer):
    """Base class of search players with the options `ms` and `threads`."""

    ms: float | None

    @property
    def is_repeatable(self) -> bool:
        """Return False if the player is limited by time."""
        return self.ms is None

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:
        """Return the groups of the search, with a clock if it is set."""
        found = super().groups(rules, games=games and self.ms is None)
        return (*found, *[TIMED] * (self.ms is not None))

    def check(self, rules: Rules) -> None:
        self._check_clock()
        super().check(rules)

    def _check_clock(self) -> None:
        if self.ms is not None and not 0 < self.ms <= 3_600_000:
            raise OutOfRangeError("ms", self.ms, "above 0, at most 3600000")

    def searcher(self, rules: Rules) -> "Searcher":
        """Return the searcher for these rules, after a check of `ms`."""
        self._check_clock()
        before, found = self._searcher, super().searcher(rules)
        if found is not before and self.ms is not None:
            found.load_clock()
        return found

    def look(self, searcher: "Searcher", board: Board) -> tuple[dict[int, float], int]:
        """Search to the depth or, with `ms`, by iterative deepening until the time is up."""
        if self.ms is None:
            return super().look(searcher, board)
        return searcher.deepen_until(time.monotonic_ns() + int(self.ms * 1e6), board)

    def games_kernel(self, rules: Rules) -> GamesKernel | None:
        """Return a compiled loop that makes the same choices, unless `ms` or several threads are set."""
        return super().games_kernel(rules) if self.ms is None else None
