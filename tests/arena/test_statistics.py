"""Intervals against published values."""

import math

import pytest

from lab2048.arena.statistics import Interval, games_to_decide, mean_interval, rate_interval, student


@pytest.mark.parametrize(
    ("degrees", "point"),
    [(1, 12.7062), (4, 2.7764), (9, 2.2622), (10, 2.2281), (15, 2.1314), (30, 2.0423), (100, 1.9840), (10**6, 1.9600)],
)
def test_students_points_are_those_of_the_tables(degrees: int, point: float) -> None:
    assert student(degrees) == pytest.approx(point, abs=6e-5)


def test_mean_interval() -> None:
    mean = mean_interval([1, 2, 3, 4, 5])
    half = 2.7764 * math.sqrt(2.5) / math.sqrt(5)
    assert mean == pytest.approx((3, 3 - half, 3 + half), abs=1e-3)
    assert mean_interval([7]) == (7, -math.inf, math.inf)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (970, 1000, 0.9575, 0.9789)],
)
def test_wilsons_interval(hits: int, n: int, low: float, high: float) -> None:
    assert rate_interval(hits, n) == pytest.approx((hits / n, low, high), abs=1e-4)


def test_games_to_decide() -> None:
    assert games_to_decide(Interval(10, 5, 15), 100) is None
    assert games_to_decide(Interval(10, -10, 30), 100) == 400
    assert games_to_decide(Interval(0, -10, 10), 100) is None
