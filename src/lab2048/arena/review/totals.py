"""The totals of a recorded game, without its turns: quick enough for thousands of games.

A game that fits packed boards is replayed and valued by kernels, and added up as arrays; the others turn by turn.
"""

from dataclasses import dataclass

import numpy as np

from lab2048.arena.review.grade import STEEPNESS
from lab2048.arena.review.ledger import Ledger
from lab2048.arena.review.review import review_game
from lab2048.arena.review.reviewer import NO_VALUE, NetworkReviewer, Reviewer
from lab2048.records.episode import Episode
from lab2048.rules import Board, dice
from lab2048.stop_flag import current


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a ledger; initial_value + luck + skill + drift = final_value."""

    n_moves: int
    initial_value: float
    luck: float
    skill: float
    drift: float
    final_value: float
    accuracy: float

    @classmethod
    def of(cls, ledger: Ledger) -> "Totals":
        return cls(
            len(ledger.entries),
            ledger.initial_value,
            ledger.luck,
            ledger.skill,
            ledger.drift,
            ledger.final_value,
            ledger.accuracy,
        )

    @property
    def error_rate(self) -> float:
        """Return the loss per 1,000 moves."""
        return 1000 * abs(self.skill) / self.n_moves if self.n_moves else 0.0

    @property
    def adjusted_score(self) -> float:
        """Return the final score without its luck."""
        return self.final_value - self.luck


def total_up(episode: Episode, reviewer: Reviewer, *, has_accuracy: bool = True) -> Totals:
    """Return the totals of a game; without its accuracy they come twice as fast."""
    if isinstance(reviewer, NetworkReviewer) and reviewer.is_plain and not episode.spawns and episode.moves:
        found = _total_packed(episode, reviewer, has_accuracy=has_accuracy)
        if found is not None:
            return found
    return Totals.of(review_game(episode.prove(), reviewer).ledger)


def _total_packed(episode: Episode, reviewer: NetworkReviewer, *, has_accuracy: bool) -> Totals | None:
    """Return the totals of a game on packed boards, or None if its boards do not fit a word."""
    from lab2048.kernels.search.ledger import make_turns, potentials, replay_packed

    rules, game = episode.rules, episode.begin()
    letters = np.array([rules.shape.letters.index(letter) for letter in episode.moves], np.uint8)
    boards, afters = np.zeros(len(letters) + 1, np.uint64), np.zeros(len(letters), np.uint64)
    key = np.uint64(dice.stream_key(episode.seed, dice.SPAWN))
    n_start = np.uint64(rules.n_start)
    if not reviewer.fits(game.board):
        return None
    first = np.uint64(game.board.to_packed())
    n = replay_packed(reviewer.plan, first, key, n_start, letters, boards, afters)
    if n < len(letters):
        return None
    turns = make_turns(boards[:-1], afters, letters, len(rules.shape.moves))
    reviewer.value(turns, has_second=has_accuracy)
    current().check()
    before, after = np.zeros(len(letters), np.int64), np.zeros(len(letters), np.int64)
    potentials(boards[:-1], before)
    potentials(afters, after)
    rewards = (after - before).astype(np.float64)
    rows = np.arange(len(letters))
    values = turns.values.astype(np.float64)
    best, made = values[rows, turns.best], values[rows, letters]
    expected, second = (
        sum((p * means[:, i] for i, (_, p) in enumerate(reviewer.spawns)), np.zeros(len(letters)))
        for means in (turns.expected, turns.second)
    )
    last = reviewer.state_value(Board.from_packed(rules.shape, int(boards[-1])))
    following = np.append(best[1:], last)
    accuracy = 100.0
    if has_accuracy:
        slid = np.zeros(len(letters), np.int64)
        potentials(turns.best_afters, slid)
        second_loss = (slid - before + second) - (rewards + expected)
        share = np.clip(np.minimum(best - made, second_loss), 0.0, None) / np.maximum(np.abs(best), 1e-9)
        is_free = (values > NO_VALUE).sum(axis=1) > 1
        if is_free.any():
            accuracy = 100.0 * float(np.exp(-STEEPNESS * np.minimum(share, 1.0))[is_free].mean())
    return Totals(
        len(letters),
        float(best[0]),
        float((following - expected).sum()),
        float((made - best).sum()),
        float((rewards + expected - made).sum()),
        episode.score + last,
        accuracy,
    )
