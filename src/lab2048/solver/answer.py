"""The answer of a solve, from the values of the start boards."""

import math
from collections.abc import Mapping
from typing import Any

from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Objective, Problem


def answer(problem: Problem, starts: Mapping[int, float]) -> dict[str, float]:
    """Return the value over all start boards, and with a goal the probability of losing, in full precision."""
    if problem.objective is Objective.SCORE:
        value = math.fsum(start.chance * (starts[start.key] - start.board.potential) for start in problem.starts)
        return {"value": value}
    decided = {True: float("inf"), False: 0.0}
    odds = {
        start.key: decided[problem.is_won(start.board)] if problem.is_decided(start.board) else starts[start.key]
        for start in problem.starts
    }
    win = math.fsum(start.chance * chance_of(odds[start.key]) for start in problem.starts)
    loss = math.fsum(start.chance / (1 + odds[start.key]) for start in problem.starts)
    # The smaller of the two has full precision.
    return {"value": win if win < loss else 1 - loss, "loss_probability": min(loss, 1.0) if win > loss else 1 - win}


def starts_of(saved: Any) -> dict[int, float]:
    """Return the values of start boards by key, as the journal holds them; raise ValueError if one is impossible."""
    starts = {int(key): float(value) for key, value in saved.items()}
    if not all(value >= 0 for value in starts.values()):
        raise ValueError("a value is not a number")
    return starts
