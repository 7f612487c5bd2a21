"""Reviews of a player: the figures of its games, with intervals."""

import statistics
from dataclasses import dataclass
from typing import Any

from lab2048.arena.review.totals import Totals
from lab2048.arena.statistics import Interval, mean_interval

FIGURES = ("accuracy", "error_rate", "luck", "skill", "drift", "final_value", "adjusted_score")  # of a game


@dataclass
class PlayerReview:
    """The figures of a player over several games."""

    player: str
    reviewer: str
    unit: str
    games: list[Totals]

    def figure(self, name: str) -> Interval:
        """Return the mean of a figure of the ledgers, such as "accuracy", with its interval."""
        return mean_interval([getattr(ledger, name) for ledger in self.games])

    @property
    def variance_ratio(self) -> float:
        """Return the variance of the luck-adjusted score by that of the score; below 1, it takes fewer games."""
        scores, adjusted = ([getattr(each, name) for each in self.games] for name in ("final_value", "adjusted_score"))
        spread = statistics.pvariance(scores) if len(scores) > 1 else 0.0
        return statistics.pvariance(adjusted) / spread if spread else 1.0

    def to_json(self) -> dict[str, Any]:
        figures = {name: self.figure(name) for name in FIGURES}
        return {
            "player": self.player,
            "reviewer": self.reviewer,
            "unit": self.unit,
            "games": len(self.games),
            **{name: figure.value for name, figure in figures.items()},
            **{f"{name}_ci95": [figure.low, figure.high] for name, figure in figures.items()},
            "variance_ratio": self.variance_ratio,
        }
