"""The review of a game: every move graded, luck told from skill (lab2048.arena.review.ledger)."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lab2048.arena.review.grade import FAULTS, Grade
from lab2048.arena.review.ledger import Entry, Ledger, make_ledger
from lab2048.arena.review.reviewer import Reviewer, Valuation
from lab2048.rules import Board, Game, Turn
from lab2048.rules.move import move_name

N_SPAWNS = 10  # luckiest and unluckiest ones that are listed
N_MOMENTS = 5  # worst moves, and key moments, that are listed
PHASES = (11, 13)  # ranks of the highest tile at which the second and the third phase begin
MILESTONE = 5  # rank of the first highest tile that counts as one


class Phase(NamedTuple):
    """A part of a game, by the highest tile on the board."""

    name: str
    first: int  # number of its first move, from 1
    ledger: Ledger


class Milestone(NamedTuple):
    """A new highest tile, and the number of the move that made it."""

    tile: int
    move: int


class Moment(NamedTuple):
    """A turn that changed the value most: by a bad move, a lucky or an unlucky spawn."""

    kind: str
    entry: Entry

    @property
    def change(self) -> float:
        return self.entry.skill if self.kind == "mistake" else self.entry.luck


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
    def worst_moves(self) -> list[Entry]:
        """Return the bad moves that lost most, the worst first."""
        faults = (entry for entry in self.ledger.entries if entry.grade in FAULTS)
        return heapq.nlargest(N_MOMENTS, faults, key=lambda entry: entry.loss)

    @property
    def key_moments(self) -> list[Moment]:
        """Return the turns that changed the value most, in the order of the game."""
        moments = [Moment("mistake", entry) for entry in self.worst_moves]
        moments += [Moment("lucky", entry) for entry in self.luckiest[:N_MOMENTS] if entry.luck > 0]
        moments += [Moment("unlucky", entry) for entry in self.unluckiest[:N_MOMENTS] if entry.luck < 0]
        found = heapq.nlargest(N_MOMENTS, moments, key=lambda moment: abs(moment.change))
        return sorted(found, key=lambda moment: moment.entry.turn.number)

    def phases(self) -> Iterator[Phase]:
        """Return the parts of the game that were played: to 2048, to 8192, and the endgame."""
        entries = self.ledger.entries
        tops = [max(board.ranks) for board in states(self.game, len(entries))]
        cuts = [0, *(next((i for i, top in enumerate(tops) if top >= rank), len(entries)) for rank in PHASES)]
        names = (*(f"to {2**rank}" for rank in PHASES), f"endgame, from {2 ** PHASES[-1]}")
        for name, (begin, end) in zip(names, pairwise([*cuts, len(entries)]), strict=True):
            if begin < end:
                yield Phase(name, begin + 1, Ledger(entries[begin:end], entries[begin].value, 0.0))

    def milestones(self) -> list[Milestone]:
        """Return the new highest tiles, from 32 on."""
        found, highest = [], max(max(self.game.first_board.ranks), MILESTONE - 1)
        for turn in self.game.turns:
            if (top := max(turn.board.ranks)) > highest:
                highest = top
                found.append(Milestone(2**top, turn.number))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the review as JSON data; initial_value + luck + skill + drift = final_score."""
        return {
            **self.summary(),
            "moves": [
                {
                    "move": move_name(entry.turn.move),
                    "value": entry.value - entry.loss,
                    "best": entry.value,
                    "loss": entry.loss,
                    "grade": entry.grade.value,
                    "luck": entry.luck,
                    "best_move": self.name(entry.best),
                    "drift": entry.drift,
                }
                for entry in self.ledger.entries
            ],
        }

    def summary(self) -> dict[str, Any]:
        """Return all but the moves as JSON data."""
        return {
            **self.figures(),
            "phases": [
                {
                    "name": phase.name,
                    "first_move": phase.first,
                    "n_moves": len(phase.ledger.entries),
                    "accuracy": phase.ledger.accuracy,
                    "error_rate": phase.ledger.error_rate,
                    "luck": phase.ledger.luck,
                    "skill": phase.ledger.skill,
                }
                for phase in self.phases()
            ],
            "milestones": [milestone._asdict() for milestone in self.milestones()],
            "key_moments": [
                {"kind": moment.kind, "move": moment.entry.turn.number, "change": moment.change}
                for moment in self.key_moments
            ],
            "worst_moves": [entry.turn.number for entry in self.worst_moves],
            "luckiest": [_spawn_data(entry) for entry in self.luckiest],
            "unluckiest": [_spawn_data(entry) for entry in self.unluckiest],
        }

    def figures(self) -> dict[str, Any]:
        """Return the totals as JSON data."""
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
        }

    def name(self, move: int) -> str:
        return move_name(self.game.rules.shape.moves[move])


def _spawn_data(entry: Entry) -> dict[str, Any]:
    cell, rank = entry.turn.spawn
    return {"move": entry.turn.number, "cell": cell, "tile": 2**rank, "luck": entry.luck}


def states(game: Game, n: int) -> list[Board]:
    """Return the boards before the first `n` moves."""
    return [game.first_board, *(turn.board for turn in game.turns[:n])][:n]


def reviewed_turns(game: Game, unit: str) -> list[Turn]:
    """Return the turns that a review covers: if values are chances to reach the goal, the game ends there."""
    return game.turns[: game.moves_to_goal] if unit == "chance" and game.moves_to_goal is not None else game.turns


def value_turns(game: Game, reviewer: Reviewer, n_known: int = 0) -> Iterator[Valuation]:
    """Value the turns of a game, without the first `n_known`."""
    turns = reviewed_turns(game, reviewer.unit)
    yield from reviewer.review(turns[n_known:], states(game, len(turns))[n_known:])


def review_game(game: Game, reviewer: Reviewer) -> Review:
    """Review a game."""
    return make_review(game, reviewer, list(value_turns(game, reviewer)))


def make_review(game: Game, reviewer: Reviewer, valuations: Sequence[Valuation]) -> Review:
    """Make the review of a game whose turns have been valued."""
    turns = reviewed_turns(game, reviewer.unit)
    if reviewer.unit == "chance" and game.moves_to_goal is not None:
        last_value = 1.0
    else:
        last_value = reviewer.state_value(turns[-1].board if turns else game.first_board)
    return finish_review(game, reviewer.spec, reviewer.unit, valuations, last_value)


def finish_review(game: Game, spec: str, unit: str, valuations: Sequence[Valuation], last_value: float) -> Review:
    """Make a review from its parts; `last_value` is the value of the last board."""
    turns = reviewed_turns(game, unit)
    return Review(game, spec, unit, make_ledger(turns, valuations, last_value, has_rewards=unit == "score"))
