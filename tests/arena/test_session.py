"""A session: who made each move, when it is saved, how it ends, and what happens if the store fails."""

import math
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab2048.arena.session import SAVE_SHARE, Life, Session
from lab2048.errors import IllegalMoveError, RevisionError, SessionEndedError, StoreError, UsageError
from lab2048.records.entry import StoredGame
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
def session(store: Store, clock: Clock) -> Session:
    return Session(RULES, 3, store, clock=clock)


def make_moves(session: Session, n: int, by: str = "human") -> None:
    for _ in range(n):
        session.play(session.game.board.legal_moves()[0], by=by)


def kept(store: Store) -> list[Episode]:
    return [store.get(id_).episode for id_ in store.ids()]


def test_nothing_is_kept_before_the_first_move(session: Session, store: Store) -> None:
    session.new_game()
    session.close()
    assert (kept(store), session.unsaved(), session.last_played) == ([], [], None)


def test_each_game_is_kept_once_and_as_it_was_left(session: Session, store: Store) -> None:
    first = session.game
    make_moves(session, 5)
    session.new_game()
    session.new_game()  # the one between had no move
    make_moves(session, 3)
    session.close()
    one, two = kept(store)
    assert (one.seed, one.moves) == (3, first.moves_text())
    assert (two.seed, two.moves) == (session.game.seed, session.game.moves_text())
    assert len(store.summaries_of(1)) == 2


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


def test_fast_moves_are_saved_in_a_share_of_the_time_and_in_a_pause(
    session: Session, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def n_kept() -> int:
        return store.entries()[0].n_moves

    def slow_save(stored: StoredGame, episode: Episode) -> StoredGame:
        clock.seconds += 0.1
        return quick_save(stored, episode)

    quick_save = store.save
    monkeypatch.setattr(store, "save", slow_save)
    make_moves(session, 2)
    assert n_kept() == 2
    make_moves(session, 10)
    session.save(at_once=False)
    assert n_kept() == 2
    clock.seconds += 0.1 * SAVE_SHARE
    session.save(at_once=False)
    assert n_kept() == 12
    session.undo()
    session.close()
    assert n_kept() == 11


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


def fail(*_: object) -> NoReturn:
    raise StoreError("the disk is full")


def test_a_store_that_fails_does_not_end_the_game(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    session = Session(RULES, 3, store, on_failure=said.append)
    make_moves(session, 2)
    session.new_game()
    with monkeypatch.context() as patch:
        patch.setattr(store, "add", fail)
        make_moves(session, 4)
        session.new_game()
        assert [len(episode.moves) for episode in session.unsaved()] == [4]
        session.undo()
        session.new_game()
        make_moves(session, 1)
        session.save()
        assert said == ["the disk is full"] == [session.failure]
        assert [len(episode.moves) for episode in session.unsaved()] == [4, 1]
        assert [len(episode.moves) for episode in kept(store)] == [2]
        for episode in session.unsaved():
            episode.prove()
    session.close()
    assert said == ["the disk is full", ""]
    assert (session.unsaved(), [len(episode.moves) for episode in kept(store)]) == ([], [2, 4, 1])


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


def test_a_session_without_a_store_is_played_and_not_saved() -> None:
    with Session(RULES, 3) as session:
        make_moves(session, 3)
        assert (session.undo(), len(session.redo()), session.life) == (1, 1, Life.OPEN)
        assert len(session.unsaved()) == 1
        with pytest.raises(StoreError, match="no store"):
            session.assign_id()


def test_nothing_saves_a_deleted_game(session: Session, store: Store) -> None:
    make_moves(session, 3)
    removed = session.delete()
    assert session.life is Life.DELETED
    for change in (lambda: make_moves(session, 1), session.undo, session.redo, session.delete):
        with pytest.raises(SessionEndedError, match="game 1 was deleted"):
            change()
    session.save()
    session.new_game()  # the session goes on with another game
    make_moves(session, 1)
    session.close()
    assert [len(episode.moves) for episode in kept(store)] == [1]
    store.put_back(removed)
    assert removed.episode in kept(store)


def test_a_game_that_another_program_deletes_stays_deleted(session: Session, store: Store) -> None:
    make_moves(session, 3)
    store.remove(1)
    other = Session(RULES, 8, store)
    make_moves(other, 2)
    other.save()
    assert other.id == 1  # the id is used again, for another game
    make_moves(session, 1)
    session.save()
    assert session.life is Life.DELETED
    session.close()
    assert (kept(store), session.unsaved(), session.failure) == ([other.episode()], [], "")


def test_a_game_that_another_program_changes_is_saved_as_another(session: Session, store: Store) -> None:
    make_moves(session, 3)
    with Session.open(store, 1) as other:
        make_moves(other, 2, by="random")
    make_moves(session, 1)
    assert (session.life, session.id) == (Life.SAVED, 2)
    assert kept(store) == [other.episode(), session.episode()]


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
    with pytest.raises(UsageError, match="expected at most that"):
        Session.branch(again.episode(), 100)


def test_a_game_without_a_move_is_not_listed_and_is_cleared_away(store: Store) -> None:
    unplayed, played = Session(RULES, 7, store), Session(RULES, 7, store)
    unplayed.assign_id()
    played.assign_id()
    played.play_letters("wasd")
    played.save()
    assert [entry.id for entry in store.entries()] == store.ids() == [played.id]
    assert store.forget_unbegun("9999") == 1
    assert not store.has(1)
    assert store.has(2)


def test_the_best_score_is_of_people_alone(store: Store) -> None:
    assert store.best_scores(RULES) == (0, 0)
    mine, theirs = Session(RULES, 7, store), Session(RULES, 7, store)
    mine.play_letters("wasd" * 3)
    theirs.play_letters("wasd" * 10, by="random")
    for session in (mine, theirs):
        session.close()
    assert store.best_scores(RULES) == (mine.game.score, max(mine.game.score, theirs.game.score))
    assert store.best_scores(Rules.from_text("4x4", goal=64)) == (0, 0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.text("wasd", min_size=1, max_size=30), st.sampled_from(["human", "random"])),
        st.tuples(st.sampled_from(["undo", "redo"]), st.integers(1, 25)),
        st.tuples(st.sampled_from(["save", "reopen", "compact"])),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(STEPS)
def test_appending_saves_the_same_as_saving_the_whole(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    """Whatever is played, undone, redone, taken over and opened again."""
    with Store.open(tmp_path_factory.mktemp("append") / "games.sqlite") as store:
        session = Session(RULES, 3, store)
        session.assign_id()
        session._save_due = math.inf  # only when a step says so
        for step in steps:
            match step:
                case ("play", text, name):
                    session.play_letters(text, by=name)
                case ("undo", n):
                    session.undo(n)
                case ("redo", n):
                    session.redo(n)
                case ("save",):
                    session.save()
                case (how,):
                    if how == "compact":
                        session.close()
                    session.save()
                    session = Session.open(store, 1)
            session._save_due = math.inf
        session.save()
        saved = store.get(1).episode
        assert saved == session.episode()
        store.keep(store.begin_run("play", RULES, "human", 3), {0: saved})
        assert store.get(2).episode == saved
        assert saved.prove().moves_text() == session.game.moves_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_program_loses_only_the_move_that_it_has_not_told(own_store: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from lab2048.arena.session import Session
        from lab2048.records.store import Store
        from lab2048.rules import Rules

        session = Session(Rules.from_text("8x8"), 3, Store.open(Path(sys.argv[1])))
        while True:
            session.play(session.game.board.legal_moves()[0])
            session.save()
            print(len(session.game.turns), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(own_store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        told = [int(process.stdout.readline()) for _ in range(200)][-1]
        process.kill()
        told = max([told, *(int(line) for line in process.stdout if line.endswith("\n"))])
    with Store.open(own_store) as store:
        store.check()
        assert told <= len(Session.open(store, 1).game.turns) <= told + 1
