"""Fixtures for the tests of sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sessions import RULES, Clock

from lab2048.arena.session import Session
from lab2048.records.store import Store


@pytest.fixture
def store(own_store: Path) -> Iterator[Store]:
    with Store.open(own_store) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def session(store: Store, clock: Clock) -> Session:
    return Session(RULES, 3, store, clock=clock)
