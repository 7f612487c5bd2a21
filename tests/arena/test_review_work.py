"""Reviews of stored games are kept, continued where they stopped, and dropped when the game changes."""

import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_network import random_network

from arena.test_ledger import played
from lab2048.arena.review import work
from lab2048.arena.review.grade import LIMITS, Grade, share_of
from lab2048.arena.review.kept import digest, from_bytes, to_bytes
from lab2048.arena.review.review import review_game
from lab2048.arena.review.reviewer import Reviewer, Valuation, make_reviewer
from lab2048.arena.review.totals import Totals, total_up
from lab2048.arena.review.work import find_review, review_stored
from lab2048.errors import FileError
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture(scope="module")
def reviewer(tmp_path_factory: pytest.TempPathFactory) -> Reviewer:
    path, rules = tmp_path_factory.mktemp("network") / "network", Rules.from_text("3x3")
    save_network(path, random_network(Design.from_text(rules, "rows"), 1))
    return make_reviewer(f"ntuple:weights={path},depth=1,trust=0", rules)


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "games.sqlite") as opened:
        yield opened


def kept(store: Store, seed: int = 1) -> Episode:
    episode = Episode.from_game(played("3x3", seed), "random", 0.0)
    store.adopt([(episode, {})])
    return episode


class StopError(Exception):
    pass


def test_a_review_that_is_stopped_is_continued(
    store: Store, reviewer: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "PART", 8)
    episode = kept(store, next(seed for seed in range(50) if len(played("3x3", seed).turns) > 40))
    game = episode.prove()

    def stop(done: int) -> None:
        if done >= 16:
            raise StopError

    with pytest.raises(StopError):
        review_stored(store, 1, episode, game, reviewer, stop)
    assert find_review(store, 1, episode, game, reviewer.spec) is None
    seen: list[int] = []
    found = review_stored(store, 1, episode, game, reviewer, seen.append)
    assert seen[0] == 16
    plain = review_game(game, reviewer)
    assert found.to_json() == plain.to_json()
    again = find_review(store, 1, episode, game, reviewer.spec)
    assert again is not None
    assert again.to_json() == plain.to_json()
    assert store.forget_reviews(1) == 1
    assert find_review(store, 1, episode, game, reviewer.spec) is None


def test_a_review_belongs_to_its_moves(store: Store, reviewer: Reviewer) -> None:
    episode = kept(store)
    review_stored(store, 1, episode, episode.prove(), reviewer)
    other = Episode.from_game(played("3x3", 2), "random", 0.0)
    assert find_review(store, 1, other, other.prove(), reviewer.spec) is None
    assert review_stored(store, 1, other, other.prove(), reviewer).game.seed == 2
    store.remove(1)
    assert store.reviews_of(1) == []


def test_damaged_reviews_are_made_again(store: Store, reviewer: Reviewer) -> None:
    episode = kept(store)
    game = episode.prove()
    expected = review_stored(store, 1, episode, game, reviewer).to_json()
    [found] = store.reviews_of(1)
    for data in (b"", b"x", found.data[:-3], zlib.compress(b"1234")):
        store.keep_review(1, found._replace(data=data))
        assert review_stored(store, 1, episode, game, reviewer).to_json() == expected


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.booleans()), max_size=20))
def test_valuations_round_trip(rows: list[tuple[float, float, bool]]) -> None:
    valuations = [Valuation({0: a, 3: b}, a + b, b if has else None) for a, b, has in rows]
    assert from_bytes(to_bytes(valuations, 4), len(valuations), 4) == valuations
    with pytest.raises(FileError):
        from_bytes(to_bytes(valuations, 4), len(valuations) + 1, 4)


def test_a_digest_depends_on_the_moves_before_it() -> None:
    one, other = (Episode.from_game(played("3x3", 1, n_moves=n), "x", 0.0) for n in (10, 20))
    assert digest(one, 10) == digest(other, 10) != digest(other, 11)


@pytest.mark.parametrize("seed", range(5))
def test_totals_are_those_of_the_ledger(reviewer: Reviewer, seed: int) -> None:
    game = played("3x3", seed)
    quick = total_up(Episode.from_game(game, "x", 0.0), reviewer)
    slow = Totals.of(review_game(game, reviewer).ledger)
    for name in Totals.__slots__:
        assert getattr(quick, name) == pytest.approx(getattr(slow, name), rel=1e-9, abs=1e-6), name
    total = quick.initial_value + quick.luck + quick.skill + quick.drift
    assert total == pytest.approx(quick.final_value, rel=1e-6)


def test_what_the_second_look_does_not_confirm_is_unclear(reviewer: Reviewer) -> None:
    entries = [entry for seed in range(10) for entry in review_game(played("3x3", seed), reviewer).ledger.entries]
    unclear = [entry for entry in entries if entry.grade is Grade.UNCLEAR]
    assert unclear
    assert all(entry.share <= LIMITS[Grade.GOOD] for entry in unclear)
    good = [entry for entry in entries if entry.grade is Grade.GOOD]
    assert all(share_of(entry.loss, entry.value) <= LIMITS[Grade.GOOD] for entry in good)
    assert all(entry.sure_loss <= entry.loss for entry in entries)
    assert np.mean([entry.accuracy for entry in unclear]) == pytest.approx(100, abs=0.1)
