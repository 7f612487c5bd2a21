"""A sitting: who made each move, when it is kept, and what becomes of a store that fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab2048.arena.sitting import KEEP_SECONDS, Sitting
from lab2048.errors import IllegalMoveError, StoreError
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Rules

RULES = Rules.from_text("4x4")


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def store(own_store: Path) -> Iterator[Store]:
    with Store.open(own_store) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sitting(store: Store, clock: Clock) -> Sitting:
    return Sitting(RULES, 3, store, clock=clock)


def make_moves(sitting: Sitting, n: int, by: str = "human") -> None:
    for _ in range(n):
        sitting.play(sitting.game.board.legal_moves()[0], by=by)


def kept(store: Store) -> list[Episode]:
    return [store.get(id_).episode for id_ in store.ids()]


def test_nothing_is_kept_before_the_first_move(sitting: Sitting, store: Store) -> None:
    sitting.begin_again()
    sitting.close()
    assert (kept(store), sitting.unkept(), sitting.last_played) == ([], [], None)


def test_each_game_is_kept_once_and_as_it_was_left(sitting: Sitting, store: Store) -> None:
    first = sitting.game
    make_moves(sitting, 5)
    sitting.begin_again()
    sitting.begin_again()  # the one between had no move
    make_moves(sitting, 3)
    sitting.close()
    one, two = kept(store)
    assert (one.seed, one.moves) == (3, first.moves_text())
    assert (two.seed, two.moves) == (sitting.game.seed, sitting.game.moves_text())
    assert len(store.summaries_of(1)) == 2


def test_a_game_that_was_left_can_be_taken_up_until_the_next_has_a_move(
    sitting: Sitting, store: Store, clock: Clock
) -> None:
    first = sitting.game
    clock.seconds = 2.0
    make_moves(sitting, 5)
    second = sitting.begin_again()
    third = sitting.begin_again()
    clock.seconds = 60.0
    assert sitting.undo()
    assert sitting.game is second
    assert sitting.undo()
    assert sitting.game is first
    assert len(first.turns) == 5
    assert sitting.undo()  # a move
    make_moves(sitting, 2)
    clock.seconds = 61.0
    make_moves(sitting, 1, by="random")
    assert sitting.begin_again().seed == second.seed
    assert sitting.begin_again().seed == third.seed
    make_moves(sitting, 1)
    assert sitting.undo()
    assert not sitting.undo()  # this game has had a move
    sitting.redo()
    sitting.close()
    one, two = kept(store)
    assert (one.seed, one.moves, one.movers) == (3, first.moves_text(), ((7, "random"),))
    assert one.seconds == 3.0  # the time away does not count
    assert (two.seed, len(two.moves)) == (third.seed, 1)


def test_the_record_says_who_made_each_move(sitting: Sitting, store: Store) -> None:
    make_moves(sitting, 2)
    make_moves(sitting, 3, by="random")
    make_moves(sitting, 1)
    sitting.close()
    [episode] = kept(store)
    assert (episode.player, episode.movers) == ("human", ((3, "random"), (6, "human")))
    sitting.begin_again()
    make_moves(sitting, 1, by="random")
    sitting.close()
    assert kept(store)[1].player == "random"
    assert store.get(2).run.player == "human"


def test_it_knows_whose_game_it_is_and_where_the_last_one_is_kept(sitting: Sitting, store: Store) -> None:
    assert sitting.is_by_person
    assert sitting.last_id is None
    sitting.play(0)
    sitting.close()
    (first,) = store.entries(alone=True)
    assert (sitting.is_by_person, sitting.last_id) == (True, first.id)
    sitting.begin_again()
    assert sitting.last_id == first.id  # until there is a move
    sitting.play(0)
    sitting.play(1, by="random")
    sitting.close()
    assert not sitting.is_by_person
    assert sitting.last_id == store.entries()[0].id != first.id
    assert [entry.id for entry in store.entries(alone=True)] == [first.id]
    sitting.undo()
    assert sitting.is_by_person


def test_who_moved_follows_undo_and_redo(sitting: Sitting) -> None:
    make_moves(sitting, 2)
    make_moves(sitting, 2, by="random")
    sitting.undo()
    sitting.undo()
    assert sitting.episode().movers == ()
    sitting.redo()
    sitting.redo()
    assert sitting.episode().movers == ((3, "random"),)
    for _ in range(4):
        assert sitting.undo()
    assert not sitting.undo()
    first = sitting.game.undone[-1].move
    sitting.play(first, by="first")  # the same move as before: the rest can still be done again
    while sitting.redo():
        pass
    assert (sitting.episode().player, sitting.episode().movers) == ("first", ((2, "human"), (3, "random")))
    while sitting.undo():
        pass
    sitting.play(next(move for move in sitting.game.board.legal_moves() if move != first))
    assert (sitting.episode().player, sitting.episode().movers) == ("human", ())
    assert not sitting.redo()


def test_fast_moves_are_kept_every_half_second_and_in_a_pause(sitting: Sitting, store: Store, clock: Clock) -> None:
    def n_kept() -> int:
        return store.entries()[0].n_moves

    make_moves(sitting, 1)
    assert n_kept() == 1
    make_moves(sitting, 10)
    assert n_kept() == 1
    clock.seconds += KEEP_SECONDS
    sitting.keep()
    assert n_kept() == 11
    clock.seconds += KEEP_SECONDS
    make_moves(sitting, 1)
    assert n_kept() == 12
    sitting.undo()
    sitting.close()
    assert n_kept() == 11


def test_a_move_that_changes_nothing_is_no_move(store: Store) -> None:
    sitting = Sitting(Rules.from_text("2 # / 4 #"), 1, store)
    with pytest.raises(IllegalMoveError):
        sitting.play(3)
    sitting.close()
    assert kept(store) == []


def test_the_time_runs_to_the_last_change(sitting: Sitting, store: Store, clock: Clock) -> None:
    clock.seconds = 2.0
    make_moves(sitting, 1)
    clock.seconds = 9.0
    sitting.begin_again()
    clock.seconds = 12.0
    make_moves(sitting, 1)
    clock.seconds = 100.0
    sitting.close()
    assert [episode.seconds for episode in kept(store)] == [2.0, 3.0]


def test_a_store_that_fails_does_not_end_the_game(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    sitting = Sitting(RULES, 3, store, on_failure=said.append, clock=clock)
    make_moves(sitting, 2)
    sitting.begin_again()

    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "keep", fail)
    make_moves(sitting, 2)
    clock.seconds += KEEP_SECONDS
    make_moves(sitting, 2)
    sitting.begin_again()
    assert [len(episode.moves) for episode in sitting.unkept()] == [4]
    sitting.undo()
    assert [len(episode.moves) for episode in sitting.unkept()] == [4]
    sitting.begin_again()
    make_moves(sitting, 1)
    sitting.close()
    assert said == ["the disk is full"] == [sitting.failure]
    assert [len(episode.moves) for episode in sitting.unkept()] == [4, 1]
    assert [len(episode.moves) for episode in kept(store)] == [2]
    for episode in sitting.unkept():
        episode.prove()
