"""A session: who made each move, undo and redo, revisions, and how it ends."""

import pytest
from sessions import Clock, kept, make_moves

from lab2048.arena.life import Life
from lab2048.arena.session import Session
from lab2048.errors import IllegalMoveError, RevisionError, SessionEndedError, UsageError
from lab2048.records.store import Store
from lab2048.rules import Rules


def test_a_game_that_was_left_can_be_taken_up_until_the_next_has_a_move(
    session: Session, store: Store, clock: Clock
) -> None:
    first = session.game
    clock.seconds = 2.0
    make_moves(session, 5)
    second = session.new_game()
    third = session.new_game()
    clock.seconds = 60.0
    assert session.undo()
    assert session.game is second
    assert session.undo()
    assert session.game is first
    assert len(first.turns) == 5
    assert session.undo()  # a move
    make_moves(session, 2)
    clock.seconds = 61.0
    make_moves(session, 1, by="random")
    assert session.new_game().seed == second.seed
    assert session.new_game().seed == third.seed
    make_moves(session, 1)
    assert session.undo()
    assert not session.undo()  # this game has had a move
    session.redo()
    session.close()
    one, two = kept(store)
    assert (one.seed, one.moves, one.movers) == (3, first.moves_text(), ((7, "random"),))
    assert one.seconds == 3.0  # the time away does not count
    assert (two.seed, len(two.moves)) == (third.seed, 1)


def test_the_record_says_who_made_each_move(session: Session, store: Store) -> None:
    make_moves(session, 2)
    make_moves(session, 3, by="random")
    make_moves(session, 1)
    session.save()
    [episode] = kept(store)
    assert (episode.player, episode.movers) == ("human", ((3, "random"), (6, "human")))
    session.new_game()
    make_moves(session, 1, by="random")
    session.close()
    assert kept(store)[1].player == "random"
    assert store.get(2).run.player == "human"


def test_it_knows_whose_game_it_is_and_where_the_last_one_is_kept(session: Session, store: Store) -> None:
    assert session.is_by_person
    assert session.last_id is None
    session.play(0)
    session.save()
    (first,) = store.entries(alone=True)
    assert (session.is_by_person, session.last_id) == (True, first.id)
    session.new_game()
    assert session.last_id == first.id  # until there is a move
    session.play(0)
    session.play(1, by="random")
    session.save()
    assert not session.is_by_person
    assert session.last_id == store.entries()[0].id != first.id
    assert [entry.id for entry in store.entries(alone=True)] == [first.id]
    session.undo()
    assert session.is_by_person


def test_who_moved_follows_undo_and_redo(session: Session) -> None:
    make_moves(session, 2)
    make_moves(session, 2, by="random")
    session.undo()
    session.undo()
    assert session.episode().movers == ()
    session.redo()
    session.redo()
    assert session.episode().movers == ((3, "random"),)
    for _ in range(4):
        assert session.undo()
    assert not session.undo()
    first = session.game.undone[-1].move
    session.play(first, by="first")  # the same move as before: the rest can still be done again
    while session.redo():
        pass
    assert (session.episode().player, session.episode().movers) == ("first", ((2, "human"), (3, "random")))
    while session.undo():
        pass
    session.play(next(move for move in session.game.board.legal_moves() if move != first))
    assert (session.episode().player, session.episode().movers) == ("human", ())
    assert not session.redo()


def test_a_move_that_changes_nothing_is_no_move(store: Store) -> None:
    session = Session(Rules.from_text("2 # / 4 #"), 1, store)
    with pytest.raises(IllegalMoveError):
        session.play(3)
    session.close()
    assert kept(store) == []


def test_the_time_runs_to_the_last_change(session: Session, store: Store, clock: Clock) -> None:
    clock.seconds = 2.0
    make_moves(session, 1)
    clock.seconds = 9.0
    session.new_game()
    clock.seconds = 12.0
    make_moves(session, 1)
    clock.seconds = 100.0
    session.close()
    assert [episode.seconds for episode in kept(store)] == [2.0, 3.0]


def test_a_session_is_open_then_saved_then_closed(session: Session, store: Store) -> None:
    assert (session.life, session.id) == (Life.OPEN, None)
    make_moves(session, 1)
    assert (session.life, session.id) == (Life.SAVED, 1)
    session.close()
    assert session.life is Life.CLOSED
    for change in (lambda: make_moves(session, 1), session.undo, session.redo, session.new_game, session.delete):
        with pytest.raises(SessionEndedError, match="closed"):
            change()
    assert store.get(1).episode == session.episode()


def test_a_change_to_an_older_revision_is_refused(session: Session) -> None:
    before = session.rev
    with session.at(before):
        make_moves(session, 1)
    assert session.rev > before
    with pytest.raises(RevisionError), session.at(before):
        make_moves(session, 1)
    with session.at(None):
        make_moves(session, 1)
    assert len(session.game.turns) == 2


def test_every_change_counts_and_nothing_else(session: Session) -> None:
    revs = [session.rev]
    for change in (lambda: session.play_letters("wa"), session.undo, session.redo, lambda: session.undo(100)):
        change()
        revs.append(session.rev)
    assert revs == sorted(set(revs))
    session.undo()
    session.save()
    with pytest.raises(UsageError, match="expected letters of wdsa"):
        session.play_letters("wx")
    assert session.rev == revs[-1]


def test_a_game_goes_on_as_it_was_left_or_from_an_earlier_move(session: Session, store: Store) -> None:
    session.play_letters("wa")
    session.play_letters("sd", by="random")
    session.play_letters("wasd")
    session.undo(2)
    session.close()
    again = Session.open(store, 1)
    assert (again.episode(), again.movers, again.id) == (session.episode(), session.movers, 1)
    branch = Session.branch(again.episode(), 3, store)
    assert (branch.id, branch.movers) == (None, session.movers[:2])
    assert branch.assign_id() == 2
    assert branch.game.moves_text() == again.game.moves_text()[:3]
    with pytest.raises(UsageError, match="expected at most"):
        Session.branch(again.episode(), 100)
