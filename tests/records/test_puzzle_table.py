"""Puzzles: a rating, and a queue that returns what you got wrong."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab2048.errors import StoreNotFoundError
from lab2048.records.puzzle_table import FIRST_RATING, NewPuzzle
from lab2048.records.store import Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def puzzle(key: str, rating: float = 1500.0) -> NewPuzzle:
    return NewPuzzle(key, "{}", "2x2", "game 1", {"values": {"0": 2.0, "1": 1.0}}, rating)


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "games.sqlite") as opened:
        yield opened


def test_a_puzzle_is_added_once(store: Store) -> None:
    assert store.add_puzzles([puzzle("a"), puzzle("b"), puzzle("a")]) == 2
    assert store.add_puzzles([puzzle("b")]) == 0
    assert store.puzzle_progress(NOW) == (FIRST_RATING, 0, 0, 0, 2)
    with pytest.raises(StoreNotFoundError, match="no puzzle 9"):
        store.puzzle(9)


def test_new_puzzles_are_near_your_rating(store: Store) -> None:
    store.add_puzzles([puzzle("a", 1000), puzzle("b", 1480), puzzle("c", 2000)])
    found = store.next_puzzle(NOW)
    assert found is not None
    assert found.rating == 1480


def test_what_was_wrong_returns_and_what_was_right_returns_later(store: Store) -> None:
    store.add_puzzles([puzzle("a")])
    first = store.next_puzzle(NOW)
    assert first is not None
    wrong = store.try_puzzle(first, 1, is_right=False, now=NOW)
    assert wrong.rating < FIRST_RATING
    assert store.next_puzzle(NOW) is None
    again = store.next_puzzle(NOW + timedelta(minutes=2))
    assert again is not None
    assert (again.id, again.streak) == (first.id, 0)
    assert again.rating > first.rating
    days = NOW
    for streak, wait in enumerate((1, 3, 7, 21, 21), 1):
        days += timedelta(minutes=2) if streak == 1 else timedelta(0)
        now = store.next_puzzle(days)
        assert now is not None
        progress = store.try_puzzle(now, 0, is_right=True, now=days)
        assert store.puzzle(first.id).streak == streak
        assert store.next_puzzle(days + timedelta(days=wait, minutes=-1)) is None
        days += timedelta(days=wait)
    assert (progress.n_attempts, progress.n_right) == (6, 5)


def test_beating_a_harder_puzzle_gains_more(store: Store) -> None:
    store.add_puzzles([puzzle("a", 1900), puzzle("b", 1100)])
    hard, easy = store.puzzle(1), store.puzzle(2)
    gained = store.try_puzzle(hard, 0, is_right=True, now=NOW).rating - FIRST_RATING
    before = store.puzzle_progress(NOW).rating
    assert gained > store.try_puzzle(easy, 0, is_right=True, now=NOW).rating - before > 0
