"""Grades and accuracy: how good a move was, by the share of what was at stake that it gives away.

At stake is the value of the best move: what the reviewer expects still to come.
"""

import math
from enum import StrEnum

# Accuracy of a move in per cent: 100 exp(-STEEPNESS x share); docs/essays/luck.md has the curve and why it is so steep.
STEEPNESS = 10.0


class Grade(StrEnum):
    """How good a move was."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"
    UNCLEAR = "unclear"  # the two looks of the reviewer disagree whether it is a fault

    @property
    def sign(self) -> str:
        """Return the sign of chess notation; empty for the best and for good moves."""
        return _SIGNS.get(self, "")


_SIGNS = {Grade.INACCURACY: "?!", Grade.MISTAKE: "?", Grade.BLUNDER: "??"}
# The largest share that a grade may give away; values have about seven digits.
LIMITS = {Grade.BEST: 1e-6, Grade.GOOD: 0.005, Grade.INACCURACY: 0.025, Grade.MISTAKE: 0.1, Grade.BLUNDER: math.inf}
FAULTS = (Grade.INACCURACY, Grade.MISTAKE, Grade.BLUNDER)


def share_of(loss: float, stake: float) -> float:
    """Return the share of the stake that a loss is, from 0 to 1.

    >>> share_of(20, 1000), share_of(5, 0)
    (0.02, 1.0)
    """
    return min(1.0, loss / max(abs(stake), 1e-9)) if loss > 0 else 0.0


def grade_of(share: float) -> Grade:
    """Return the grade of a move that gives away a share.

    >>> grade_of(0.0).value, grade_of(0.2).value, grade_of(0.2).sign
    ('best', 'blunder', '??')
    """
    return next(grade for grade, limit in LIMITS.items() if share <= limit)


def accuracy_of(share: float) -> float:
    """Return the accuracy of a move in per cent.

    >>> accuracy_of(0.0), round(accuracy_of(0.01))
    (100.0, 90)
    """
    return 100.0 * math.exp(-STEEPNESS * share)
