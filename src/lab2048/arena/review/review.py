"""The review of a game: every move graded, luck told from skill (lab2048.arena.review.ledger)."""

import heapq
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lab2048.arena.review.ledger import Entry, Grade, Ledger, make_ledger
from lab2048.arena.review.reviewer import Reviewer
from lab2048.arena.statistics import Interval, mean_interval
from lab2048.rules import Game, Turn
from lab2048.rules.move import move_name

N_SPAWNS = 10  # luckiest and unluckiest ones that are listed
N_MOMENTS = 5  # worst moves that are listed
FIGURES = ("accuracy", "error_rate", "luck", "skill", "drift", "final_value", "adjusted_score")  # of a ledger
PHASES = (11, 13)  # ranks of the highest tile at which the second and the third phase begin


class Phase(NamedTuple):
    """A part of a game, by the highest tile on the board."""

    name: str
    ledger: Ledger


@dataclass(frozen=True)
class Review:
    """The review of one game."""

    game: Game
    reviewer: str
    unit: str  # of all amounts: "score" (points) or "chance" (to reach the goal)
    ledger: Ledger

    @property
    def luckiest(self) -> list[Entry]:
        return heapq.nlargest(N_SPAWNS, self.ledger.entries, key=lambda entry: entry.luck)

    @property
    def unluckiest(self) -> list[Entry]:
        return heapq.nsmallest(N_SPAWNS, self.ledger.entries, key=lambda entry: entry.luck)

    @property
    def key_moments(self) -> list[Entry]:
        """Return the moves that lost most, the worst first."""
        worst = heapq.nlargest(N_MOMENTS, self.ledger.entries, key=lambda entry: entry.loss)
        return [entry for entry in worst if entry.loss > 0]

    def phases(self) -> Iterator[Phase]:
        """Return the parts of the game that were played: to 2048, to 8192, and the rest."""
        entries = self.ledger.entries
        tops = [max(board.ranks) for board in _states(self.game, len(entries))]
        cuts = [0, *(next((i for i, top in enumerate(tops) if top >= rank), len(entries)) for rank in PHASES)]
        names = (*(f"to {2**rank}" for rank in PHASES), f"from {2 ** PHASES[-1]}")
        for name, (begin, end) in zip(names, pairwise([*cuts, len(entries)]), strict=True):
            if begin < end:
                yield Phase(name, Ledger(entries[begin:end], entries[begin].value, 0.0))

    def to_json(self) -> dict[str, Any]:
        """Return the review as JSON data; initial_value + luck + skill + drift = final_score."""
        ledger = self.ledger
        return {
            "reviewer": self.reviewer,
            "unit": self.unit,
            "n_moves": len(ledger.entries),
            "is_over": self.game.is_over,
            "score": self.game.score,
            "initial_value": ledger.initial_value,
            "luck": ledger.luck,
            "skill": ledger.skill,
            "drift": ledger.drift,
            "final_score": ledger.final_value,
            "luck_adjusted_score": ledger.adjusted_score,
            "accuracy": ledger.accuracy,
            "error_rate": ledger.error_rate,
            "grades": {grade.value: ledger.count(grade) for grade in Grade},
            "phases": [
                {
                    "name": phase.name,
                    "n_moves": len(phase.ledger.entries),
                    "accuracy": phase.ledger.accuracy,
                    "error_rate": phase.ledger.error_rate,
                    "luck": phase.ledger.luck,
                    "skill": phase.ledger.skill,
                }
                for phase in self.phases()
            ],
            "moves": [
                {
                    "move": move_name(entry.turn.move),
                    "value": entry.value - entry.loss,
                    "best": entry.value,
                    "best_move": self._name(entry.best),
                    "loss": entry.loss,
                    "grade": entry.grade.value,
                    "luck": entry.luck,
                    "drift": entry.drift,
                }
                for entry in ledger.entries
            ],
        }

    def _name(self, move: int) -> str:
        return move_name(self.game.rules.shape.moves[move])


def _states(game: Game, n: int) -> list[Any]:
    return [game.first_board, *(turn.board for turn in game.turns)][:n]


def review_game(game: Game, reviewer: Reviewer, progress: Callable[[int], object] = lambda _: None) -> Review:
    """Review a game; `progress` is called with the number of valued moves.

    If the reviewer's values are chances to reach the goal, the game ends there.
    """
    has_rewards, turns = reviewer.unit == "score", game.turns
    if not has_rewards and game.moves_to_goal is not None:
        turns = turns[: game.moves_to_goal]
    valuations = []
    pairs = [(board, turn.after) for board, turn in zip(_states(game, len(turns)), turns, strict=True)]
    for valuation in reviewer.valuations(pairs):
        valuations.append(valuation)
        progress(len(valuations))
    ledger = make_ledger(turns, valuations, _last_value(game, turns, reviewer), has_rewards=has_rewards)
    return Review(game, reviewer.spec, reviewer.unit, ledger)


def _last_value(game: Game, turns: list[Turn], reviewer: Reviewer) -> float:
    if reviewer.unit == "chance" and game.moves_to_goal is not None:
        return 1.0
    return reviewer.state_value(turns[-1].board if turns else game.first_board)


@dataclass
class PlayerReview:
    """The figures of a player over several games."""

    player: str
    reviewer: str
    unit: str
    ledgers: list[Ledger]

    def figure(self, name: str) -> Interval:
        """Return the mean of a figure of the ledgers, such as "accuracy", with its interval."""
        return mean_interval([getattr(ledger, name) for ledger in self.ledgers])

    @property
    def variance_ratio(self) -> float:
        """Return the variance of the luck-adjusted score by that of the score; below 1, it takes fewer games."""
        scores, adjusted = (
            [getattr(each, name) for each in self.ledgers] for name in ("final_value", "adjusted_score")
        )
        spread = statistics.pvariance(scores) if len(scores) > 1 else 0.0
        return statistics.pvariance(adjusted) / spread if spread else 1.0

    def to_json(self) -> dict[str, Any]:
        figures = {name: self.figure(name) for name in FIGURES}
        return {
            "player": self.player,
            "reviewer": self.reviewer,
            "unit": self.unit,
            "games": len(self.ledgers),
            **{name: figure.value for name, figure in figures.items()},
            **{f"{name}_ci95": [figure.low, figure.high] for name, figure in figures.items()},
            "variance_ratio": self.variance_ratio,
        }
