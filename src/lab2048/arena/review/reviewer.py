"""Reviewers: they give the values of a game's turns, from which its ledger is made (lab2048.arena.review.ledger).

A reviewer is a player whose values are expected scores, or chances to reach the goal.  The same function values the
state that came and those that might have come, so luck is fair whatever the reviewer believes.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.compile import groups_of
from lab2048.arena.episode import ask
from lab2048.errors import LabError, UsageError
from lab2048.kernels.group import LEDGER
from lab2048.players import Player, default_spec, fit_player
from lab2048.players.ntuple import NTuplePlayer
from lab2048.players.optimal import OptimalPlayer
from lab2048.rules import Board, Rules, Turn
from lab2048.rules.rules import Spawner
from lab2048.stop_flag import current

if TYPE_CHECKING:
    from lab2048.kernels.board.packed import Plan
    from lab2048.kernels.search.ledger import Turns

PACKED_SUM = 2 * 2**15  # tile sum from which two tiles of 32768 may merge, which do not fit a word
NO_VALUE = -1e38  # below every value
PART = 64  # turns that are valued in one call
SOLVED_CELLS = 8  # of boards that are solved within seconds


@dataclass(frozen=True, slots=True)
class Valuation:
    """The values of a turn: of each legal move, and of the states that might have followed the one made."""

    values: dict[int, float]  # with the reward of the move
    expected: float  # mean over all spawns of the value of the next state
    # The value of the best move after one more spawn: its reward plus the mean value of what may follow.  None if it
    # would be the same: the best move was made, or the reviewer is exact.
    second_best: float | None = None

    @property
    def best(self) -> float:
        return max(self.values.values())


class Reviewer(ABC):
    """Gives the values of turns; `unit` is "score" or "chance", as of a player."""

    def __init__(self, spec: str, player: Player, rules: Rules, unit: str = "") -> None:
        """Prepare to review games by these rules."""
        self.spec, self.player, self.rules, self.unit = spec, player, rules, unit or player.unit
        self.is_exact = isinstance(player, OptimalPlayer)

    def review(self, turns: Sequence[Turn], boards: Sequence[Board]) -> Iterator[Valuation]:
        """Value turns and the boards before them; where another move is better, look at both after one more spawn."""
        for turn, board in zip(turns, boards, strict=True):
            current().check()
            values, expected, second = self.values(board), self.expect(turn.after), None
            best = max(values, key=lambda move: values[move])
            if not self.is_exact and values[turn.move] < values[best]:
                after, reward = board.slide(best)
                second = self.expect(after) + (reward if self.unit == "score" else 0)
            yield Valuation(values, expected, second)

    @abstractmethod
    def values(self, board: Board) -> dict[int, float]:
        """Return the value of every legal move of a state."""

    @abstractmethod
    def state_value(self, board: Board) -> float:
        """Return the value of a state: of its best move, 0 if there is none, 1 if a chance has come true."""

    def expect(self, after: Board) -> float:
        """Return the mean value of the states that may follow an afterstate."""
        empty = [cell for cell, rank in enumerate(after.ranks) if not rank]
        return sum(
            p * sum(self.state_value(after.put(cell, rank)) for cell in empty) / len(empty)
            for rank, p in self.rules.spawn_table
        )


class PlayerReviewer(Reviewer):
    """A reviewer that asks a player about every board."""

    def values(self, board: Board) -> dict[int, float]:
        decision = ask(self.player, self.spec, board)
        if decision.errors:
            raise UsageError(f"the values of {self.spec} are random: expected ntuple or optimal", field="reviewer")
        return dict(decision.values)

    def state_value(self, board: Board) -> float:
        if self.unit == "chance" and max(board.ranks) >= self.rules.goal_rank:
            return 1.0
        return max(self.values(board).values()) if board.legal_moves() else 0.0


class NetworkReviewer(Reviewer):
    """A reviewer that searches with an n-tuple network, compiled for boards that fit a word.

    Where the network is guessing, the moves are compared by the search without it; the value of the state stays the
    network's, so that luck is fair.
    """

    def __init__(self, spec: str, player: NTuplePlayer, rules: Rules) -> None:
        super().__init__(spec, player, rules)
        self._ntuple, self._searcher = player, player.searcher(rules)
        self._slow = PlayerReviewer(spec, player, rules)  # for boards with tiles above 32768

    def values(self, board: Board) -> dict[int, float]:
        return self._slow.values(board)

    def review(self, turns: Sequence[Turn], boards: Sequence[Board]) -> Iterator[Valuation]:
        """Do the same in compiled parts."""
        for begin in range(0, len(turns), PART):
            part = range(begin, min(begin + PART, len(turns)))
            if all(self.fits(turns[t].board) for t in part):
                yield from self._review_packed([turns[t] for t in part], [boards[t] for t in part])
            else:
                yield from super().review([turns[t] for t in part], [boards[t] for t in part])

    def state_value(self, board: Board) -> float:
        return self._slow.state_value(board)

    @property
    def is_plain(self) -> bool:
        """Return True if its values are those of the network alone."""
        return self._searcher.fallback is None and self._ntuple.is_uncalibrated

    @property
    def spawns(self) -> list[tuple[int, float]]:
        return self._searcher.spawns

    @property
    def plan(self) -> "Plan":
        return self._searcher.plan

    def fits(self, board: Board) -> bool:
        """Return True if a board and those that it leads to next are packed."""
        return self._searcher.is_packed and board.tile_sum < PACKED_SUM

    def _review_packed(self, turns: Sequence[Turn], boards: Sequence[Board]) -> Iterator[Valuation]:
        from lab2048.kernels.search.ledger import make_turns

        before = np.array([board.to_packed() for board in boards], np.uint64)
        afters = np.array([turn.after.to_packed() for turn in turns], np.uint64)
        moves = np.array([turn.move for turn in turns], np.uint8)
        found = make_turns(before, afters, moves, len(self.rules.shape.moves))
        self.value(found)
        current().check()
        for t, (turn, board) in enumerate(zip(turns, boards, strict=True)):
            values = self._values(board, found.values[t])
            expected, best = self._expected(turn.after, found.expected[t]), max(values, key=lambda move: values[move])
            second = None
            if values[turn.move] < values[best]:
                after, reward = board.slide(best)
                is_valued = best == found.best[t]
                second = reward + (self._expected(after, found.second[t]) if is_valued else self.expect(after))
            yield Valuation(values, expected, second)

    def value(self, turns: "Turns", *, has_second: bool = True) -> None:
        """Fill the values of packed turns, not calibrated."""
        from lab2048.kernels.search.ledger import value_turns

        searcher = self._searcher
        searcher.begin()
        value_turns(searcher.address, searcher.plan, turns, searcher.depth, has_second)

    def _values(self, board: Board, row: NDArray[np.float32]) -> dict[int, float]:
        factor, legal = self._ntuple.factor(board.tile_sum), board.legal_moves()
        # A downgraded board may have other legal moves than the true one.
        known = {move: factor * float(row[move]) for move in legal if row[move] > NO_VALUE}
        values: dict[int, float] = {move: known.get(move, min(known.values(), default=0.0)) for move in legal}
        if self._searcher.is_guessing(board):
            best, other = max(values.values()), self._ntuple.search(self._searcher, board)[0]
            values = {move: best + factor * (value - max(other.values())) for move, value in other.items()}
        return values

    def _expected(self, after: Board, means: NDArray[np.float64]) -> float:
        tile_sum = after.tile_sum
        return sum(
            p * self._ntuple.factor(tile_sum + 2**rank) * float(mean)
            for (rank, p), mean in zip(self._searcher.spawns, means, strict=False)
        )


def make_reviewer(spec: str, rules: Rules) -> Reviewer:
    """Make the reviewer of a spec; raise LabError if it cannot review games by these rules."""
    if rules.spawner is not Spawner.FAIR:
        raise UsageError("only games with random spawns can be reviewed: others have no luck", field="game")
    player = fit_player(spec, rules)
    player.start(rules, 0)
    if isinstance(player, NTuplePlayer):
        return NetworkReviewer(spec, player, rules)
    if isinstance(player, OptimalPlayer):
        return PlayerReviewer(spec, player, rules, player.unit_of_table)
    if player.unit not in ("score", "chance"):
        raise UsageError(f"{spec} cannot review games: expected a player that knows expected scores", field="reviewer")
    return PlayerReviewer(spec, player, rules)


def default_reviewer(rules: Rules, own: Iterable[str] = ()) -> str:
    """Return the reviewer to use when none is named.

    It is the default player if it knows scores, else the first of the user's `own` tables and networks that fits, else
    perfect play on a board that is small enough to be solved at once.  Raises UsageError if there is none.
    """
    if default_spec(rules) == "ntuple":
        return "ntuple"
    for spec in own:
        with contextlib.suppress(LabError):
            fit_player(spec, rules)
            return spec
    if rules.shape.n_cells > SOLVED_CELLS:
        board = Board(rules.shape, (0,) * rules.shape.n_cells).to_text()
        raise UsageError(
            f"games on {board} have no reviewer yet: expected a network that was trained, or a table that was solved, "
            "for this board",
            code="reviewer.missing",
            field="reviewer",
            hint="name one as the reviewer",
        )
    return "optimal"


def default_totals_reviewer(rules: Rules) -> str:
    """Return the reviewer of many games: the same, but the network alone, whose games are valued by kernels."""
    return "ntuple:trust=0" if default_reviewer(rules) == "ntuple" else "optimal"


def quick_reviewer(rules: Rules) -> str:
    """Return the reviewer that measures luck in matches: its values need not be good, only the same at both ends."""
    return "ntuple:depth=1,trust=0" if default_reviewer(rules) == "ntuple" else "optimal"


def groups_of_reviewer(spec: str, rules: Rules) -> list[str]:
    """Return the groups of kernels that a reviewer calls."""
    return [*groups_of([spec], rules), *[LEDGER] * (spec.partition(":")[0] == "ntuple")]
