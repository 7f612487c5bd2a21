"""The ledger of a game: how much of its result was luck, how much skill, and how far the reviewer is to be believed.

With the reviewer's value of a state (that of its best move), each turn has three entries:

    skill   value of the move made - value of the best move; never positive
    drift   reward + expected value after the spawn - value of the move made: what the reviewer changed its mind by
    luck    value of the state that came - expected value over all spawns

They add up: value of the first state + luck + skill + drift = final score.  Luck has mean zero for any reviewer.  For
an exact one, drift is zero.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lab2048.arena.review.grade import FAULTS, Grade, accuracy_of, grade_of, share_of
from lab2048.arena.review.reviewer import Valuation
from lab2048.rules import Turn


@dataclass(frozen=True, slots=True)
class Entry:
    """The entries of one turn."""

    turn: Turn
    values: dict[int, float]  # of every legal move
    skill: float
    drift: float
    luck: float
    second_loss: float  # the loss after one more spawn; the same as `loss` for an exact reviewer

    @property
    def best(self) -> int:
        """Return the best move; the one made if it is as good."""
        return int(self.turn.move) if self.grade is Grade.BEST else max(self.values, key=lambda move: self.values[move])

    @property
    def value(self) -> float:
        """Return the value of the best move."""
        return max(self.values.values())

    @property
    def loss(self) -> float:
        return abs(self.skill)

    @property
    def sure_loss(self) -> float:
        """Return the loss that both looks of the reviewer agree on; 0 if the second one sees none."""
        return max(0.0, min(self.loss, self.second_loss))

    @property
    def share(self) -> float:
        """Return the share of the best move's value that was surely given away, from 0 to 1."""
        return share_of(self.sure_loss, self.value)

    @property
    def is_forced(self) -> bool:
        """Return True if there was no other move."""
        return len(self.values) == 1

    @property
    def grade(self) -> Grade:
        first, agreed = grade_of(share_of(self.loss, self.value)), grade_of(self.share)
        if first is Grade.BEST:
            return Grade.BEST
        is_disputed = agreed is Grade.BEST or (first in FAULTS and agreed not in FAULTS)
        return Grade.UNCLEAR if is_disputed else agreed

    @property
    def accuracy(self) -> float:
        return accuracy_of(self.share)


@dataclass(frozen=True)
class Ledger:
    """The entries of a game; all amounts are in points, or in chances to reach the goal."""

    entries: Sequence[Entry]
    initial_value: float
    final_value: float  # the score; with the value of the last state if the game is not over

    @property
    def luck(self) -> float:
        return math.fsum(entry.luck for entry in self.entries)

    @property
    def skill(self) -> float:
        return math.fsum(entry.skill for entry in self.entries)

    @property
    def drift(self) -> float:
        return math.fsum(entry.drift for entry in self.entries)

    @property
    def adjusted_score(self) -> float:
        """Return the final score without its luck."""
        return self.final_value - self.luck

    @property
    def accuracy(self) -> float:
        """Return the mean accuracy of the moves, in per cent, without forced ones; 100 if all were forced."""
        chosen = [entry.accuracy for entry in self.entries if not entry.is_forced]
        return math.fsum(chosen) / len(chosen) if chosen else 100.0

    @property
    def error_rate(self) -> float:
        """Return the loss per 1,000 moves."""
        return 1000 * abs(self.skill) / len(self.entries) if self.entries else 0.0

    @cached_property
    def counts(self) -> Counter[Grade]:
        """The number of moves of each grade, counted once: a long game has many."""
        return Counter(entry.grade for entry in self.entries)

    def count(self, grade: Grade) -> int:
        return self.counts[grade]


def make_ledger(
    turns: Sequence[Turn], valuations: Iterable[Valuation], last_value: float, *, has_rewards: bool = True
) -> Ledger:
    """Make the ledger of turns; `last_value` is the value of the state after the last one.

    Without rewards, values are chances to reach the goal, and the result is `last_value`.
    """
    entries: list[Entry] = []
    valued = list(valuations)
    initial = valued[0].best if valued else last_value
    for i, (turn, now) in enumerate(zip(turns, valued, strict=True)):
        best, made, reward = now.best, now.values[turn.move], turn.reward if has_rewards else 0
        next_value = valued[i + 1].best if i + 1 < len(valued) else last_value
        luck, drift = next_value - now.expected, reward + now.expected - made
        second = best - made if now.second_best is None else now.second_best - (reward + now.expected)
        entries.append(Entry(turn, now.values, made - best, drift, luck, second))
    score = sum(turn.reward for turn in turns) if has_rewards else 0
    return Ledger(entries, initial, score + last_value)
