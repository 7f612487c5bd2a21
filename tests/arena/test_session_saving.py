"""Saving a session: when, what, after deletion, and what happens if the store fails."""

import math
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import RULES, Clock, kept, make_moves
from store_holder import held

from lab2048.arena.life import Life
from lab2048.arena.session import SAVE_SHARE, Session
from lab2048.errors import SessionEndedError, StoreError
from lab2048.records.entry import StoredGame
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Rules


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


def test_all_sessions_are_saved_when_the_store_can_be_written_again(own_store: Path) -> None:
    saved = threading.Semaphore(0)

    def on_failure(failure: str) -> None:
        if not failure:
            saved.release()

    with Store.open(own_store, timeout=0.01) as store:
        sessions = [Session(RULES, seed, store, on_failure=on_failure) for seed in range(6)]
        with held(own_store):
            for session in sessions:
                make_moves(session, 8)
                session.save()
                assert not session.is_saved
                assert "locked by another program" in session.failure
        for _ in sessions:
            assert saved.acquire(timeout=240)
        assert all(session.is_saved and not session.failure for session in sessions)
        assert [len(episode.moves) for episode in kept(store)] == [8] * 6


def test_a_game_that_cannot_be_saved_does_not_keep_others_from_being_saved(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(stored: StoredGame, episode: Episode) -> StoredGame:
        if episode.seed == 1:
            raise StoreError("too many moves", code="game.too_long")
        return quick_save(stored, episode)

    quick_save = store.save
    monkeypatch.setattr(store, "save", save)
    long, other = Session(RULES, 1, store), Session(RULES, 2, store)
    for session in (long, other):
        make_moves(session, 3)
        session.save()
    assert (long.is_saved, long.failure) == (False, "too many moves")
    assert (other.is_saved, other.failure) == (True, "")
    long.drop()


def test_moves_are_saved_when_they_are_durable(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(RULES, 1, store)
    with monkeypatch.context() as patch:
        patch.setattr(store, "sync", fail)
        make_moves(session, 3)
        session.save()
        assert kept(store) == [session.episode()]
        assert (session.is_saved, session.life, session.failure) == (False, Life.OPEN, "the disk is full")
        assert session.unsaved() == [session.episode()]
    session.save()
    assert (session.is_saved, session.life, session.failure, session.unsaved()) == (True, Life.SAVED, "", [])


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
    assert other.id == 2  # ids are never used again
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
