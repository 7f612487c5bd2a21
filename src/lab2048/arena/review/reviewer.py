"""Reviewers: they give the values of a game's turns, from which its ledger is made (lab2048.arena.review.ledger).

A reviewer is a player whose values are expected scores, or chances to reach the goal.  The same function values the
state that came and those that might have come, so luck is fair whatever the reviewer believes.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.compile import groups_of
from lab2048.arena.episode import ask
from lab2048.errors import UsageError
from lab2048.kernels.group import LEDGER
from lab2048.players import Player, default_spec, fit_player
from lab2048.players.ntuple import NTuplePlayer
from lab2048.players.optimal import OptimalPlayer
from lab2048.rules import Board, Rules, Turn
from lab2048.rules.rules import Spawner
from lab2048.stop_flag import current

PACKED_TOP = 15  # two tiles of this rank would not fit when they merge
NO_VALUE = -1e38  # below every value
PART = 64  # turns that are valued in one call


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
        for begin in range(0, len(turns), PART):
            part = list(zip(boards[begin : begin + PART], turns[begin : begin + PART], strict=True))
            found = list(self.valuations([(board, turn.after) for board, turn in part]))
            again: dict[int, tuple[Board, Board, int]] = {}
            for i, ((board, turn), valuation) in enumerate(zip(part, found, strict=True)):
                if not self.is_exact and valuation.values[turn.move] < valuation.best:
                    after, reward = board.slide(max(valuation.values, key=lambda move: valuation.values[move]))
                    again[i] = board, after, reward if self.unit == "score" else 0
            seconds = self.valuations([(board, after) for board, after, _ in again.values()])
            for (i, (_, _, reward)), second in zip(again.items(), seconds, strict=True):
                found[i] = replace(found[i], second_best=reward + second.expected)
            yield from found

    @abstractmethod
    def valuations(self, turns: Sequence[tuple[Board, Board]]) -> Iterator[Valuation]:
        """Value turns: pairs of the state before the move and the afterstate of the move made."""

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

    def valuations(self, turns: Sequence[tuple[Board, Board]]) -> Iterator[Valuation]:
        for board, after in turns:
            current().check()
            yield Valuation(self.values(board), self.expect(after))

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

    def valuations(self, turns: Sequence[tuple[Board, Board]]) -> Iterator[Valuation]:
        for begin in range(0, len(turns), PART):
            part = turns[begin : begin + PART]
            if self._searcher.is_packed and all(max(after.ranks) < PACKED_TOP for _, after in part):
                yield from self._value_packed(part)
            else:
                yield from self._slow.valuations(part)

    def state_value(self, board: Board) -> float:
        return self._slow.state_value(board)

    def _value_packed(self, turns: Sequence[tuple[Board, Board]]) -> Iterator[Valuation]:
        from lab2048.kernels.search.ledger import value_turns

        searcher = self._searcher
        boards, afters = (np.array([pair[i].to_packed() for pair in turns], np.uint64) for i in range(2))
        values = np.empty((len(turns), len(self.rules.shape.moves)), np.float32)
        expected = np.empty((len(turns), len(searcher.spawns)))
        searcher.begin()
        value_turns(searcher.address, searcher.plan, boards, afters, searcher.depth, values, expected)
        current().check()
        for (board, after), row, means in zip(turns, values, expected, strict=True):
            yield Valuation(self._values(board, row), self._expected(after, means))

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
            for (rank, p), mean in zip(self._searcher.spawns, means, strict=True)
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


def default_reviewer(rules: Rules) -> str:
    """Return the reviewer to use when none is named: the default player if it knows scores, else perfect play."""
    return spec if (spec := default_spec(rules)) == "ntuple" else "optimal"


def groups_of_reviewer(spec: str, rules: Rules) -> list[str]:
    """Return the groups of kernels that a reviewer calls."""
    return [*groups_of([spec], rules), *[LEDGER] * (spec.partition(":")[0] == "ntuple")]
