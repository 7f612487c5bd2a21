"""Games that are open for play: kept at every change, and found again as they were left."""

from pathlib import Path

import pytest

from lab2048.arena.open_game import OpenGame
from lab2048.errors import UsageError
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture
def store(own_store: Path):
    with Store.open(own_store) as opened:
        yield opened


def begin(store: Store, board: str = "4x4") -> OpenGame:
    return OpenGame.begin(store, Rules.from_text(board), 7, "human", names=[])


def test_a_game_is_found_again_as_it_was_left(store):
    opened = begin(store)
    opened.play_letters("wa", "human")
    opened.play_letters("sd", "random")
    opened.play_letters("wasd", "human")
    opened.undo(2)
    opened.keep(store)
    again = OpenGame.reopen(store, opened.id)
    assert again.game.board == opened.game.board
    assert again.movers == opened.movers
    assert again.names == opened.names[: len(again.game.turns)]
    assert again.rev > opened.rev - 100  # counts on from the clock
    assert store.get(opened.id).episode == opened.episode()


def test_every_change_counts_and_nothing_else(store):
    opened = begin(store)
    revs = [opened.rev]
    for change in (
        lambda: opened.play_letters("wa", "human"),
        lambda: opened.undo(),
        lambda: opened.redo(),
        lambda: opened.undo(100),
    ):
        change()
        revs.append(opened.rev)
    assert revs == sorted(set(revs))
    opened.undo()
    opened.keep(store)
    with pytest.raises(UsageError, match="expected letters of wdsa"):
        opened.play_letters("wx", "human")
    assert opened.rev == revs[-1]


def test_a_game_that_nobody_began_is_not_listed_and_goes(store):
    unbegun, begun = begin(store), begin(store)
    begun.play_letters("wasd", "human")
    begun.keep(store)
    assert [entry.id for entry in store.entries()] == store.ids() == [begun.id]
    assert store.has(unbegun.id)
    assert store.forget_unbegun("9999") == 1
    assert not store.has(unbegun.id)
    assert store.has(begun.id)


def test_a_store_that_fails_does_not_end_the_game(store, monkeypatch):
    from lab2048.errors import StoreError

    opened = begin(store)

    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(store, "keep", fail)
        opened.play_letters("wa", "human")
        opened.keep(store, say=said.append)
        assert said == ["the disk is full"]
    opened.keep(store, say=said.append)
    assert said[-1] == ""
    assert store.get(opened.id).episode.moves == "wa"[: len(opened.game.turns)]


def test_the_best_score_is_of_people_alone(store):
    rules = Rules.from_text("4x4")
    assert store.best_scores(rules) == (0, 0)
    mine, theirs = begin(store), begin(store)
    mine.play_letters("wasd" * 3, "human")
    theirs.play_letters("wasd" * 10, "random")
    for opened in (mine, theirs):
        opened.keep(store)
    assert store.best_scores(rules) == (mine.game.score, max(mine.game.score, theirs.game.score))
    assert store.best_scores(Rules.from_text("4x4", goal=64)) == (0, 0)
