"""Practice: figures of each formation, and a notebook whose mistakes return."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab2048.records.practice_table import PracticeFigures
from lab2048.records.puzzle_table import NewPuzzle
from lab2048.records.store import Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOON = NOW + timedelta(minutes=2)


def mistake(key: str) -> NewPuzzle:
    return NewPuzzle(key, "{}", "2x2", "practice of t-64", {"values": {"0": 0.9, "1": 0.1}}, 1500.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "games.sqlite") as opened:
        yield opened


def test_figures_and_the_streak_are_kept_for_each_formation(store: Store) -> None:
    assert store.practice_figures(NOW) == {}
    for is_good in (True, True, False, True):
        store.note_practice("t-64", is_good=is_good)
    store.note_practice("t-64", is_good=True, has_won=True)
    store.note_practice("L3-64", is_good=True, has_won=False)
    assert store.practice_figures(NOW) == {
        "t-64": PracticeFigures(n_moves=5, n_good=4, n_ended=1, n_won=1, streak=2, best_streak=2),
        "L3-64": PracticeFigures(n_moves=1, n_good=1, n_ended=1, n_won=0, streak=1, best_streak=1),
    }


def test_a_mistake_is_a_puzzle_that_returns(store: Store) -> None:
    store.note_practice("t-64", is_good=False, mistake=mistake("a"), now=NOW)
    assert store.due_mistake("t-64", NOW) is None
    found = store.due_mistake("t-64", SOON)
    assert found is not None
    assert found.source == "practice of t-64"
    assert store.due_mistake("L3-64", SOON) is None
    assert store.next_puzzle(SOON) == found
    store.try_puzzle(found, 0, is_right=True, now=SOON)
    assert store.due_mistake("t-64", SOON) is None
    assert store.practice_figures(SOON)["t-64"].n_due == 0
    # Made again, it is as new.
    store.note_practice("t-64", is_good=False, mistake=mistake("a"), now=SOON)
    again = store.due_mistake("t-64", SOON + timedelta(minutes=2))
    assert again is not None
    assert (again.id, again.streak) == (found.id, 0)
    assert store.practice_figures(SOON + timedelta(minutes=2))["t-64"][-2:] == (1, 1)
