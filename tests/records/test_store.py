"""The store: what is kept comes back."""

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played import BOARDS, fill, play, play_many

from lab2048.errors import StoreError
from lab2048.records.database import default_path
from lab2048.records.schema import APPLICATION_ID, VERSION
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(BOARDS),
    st.integers(0, 2**53 - 1),
    st.integers(0, 200),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_episode_round_trips(tmp_path_factory, board, seed, max_moves, player):
    episode = play(board, seed, player=player, max_moves=max_moves)
    with Store.open(tmp_path_factory.mktemp("store") / "games.sqlite") as store:
        run = store.begin_run("match", episode.rules, player, seed)
        store.keep(run, {0: episode})
        [entry] = store.entries()
        assert store.get(entry.id).episode == episode
        assert store.episodes_of(run) == {0: episode}
        assert (entry.board, entry.player, entry.seed) == (episode.rules.board.to_text(), player, seed)
        assert (entry.score, entry.max_tile, entry.n_moves) == (episode.score, episode.max_tile, len(episode.moves))


def test_a_long_game_round_trips(path):
    # Not a game that replays: the store keeps what it is given, proofs are made by readers.
    episode = replace(play(), moves="wdsa" * 20_000)
    with Store.open(path) as store:
        run = store.begin_run("play", episode.rules, "random", 1)
        store.keep(run, {3: episode})
        assert store.episodes_of(run) == {3: episode}


def test_summaries_come_in_the_order_of_their_numbers(path):
    games = play_many(4)
    with Store.open(path) as store:
        run = store.begin_run("match", games[0].rules, "random", 7)
        store.keep(run, {2: games[2], 0: games[0]})
        store.keep(run, {3: games[3], 1: games[1]})
        expected = [(i, e.score, len(e.moves), e.max_tile, e.moves_to_goal, e.seconds) for i, e in games.items()]
        assert store.summaries_of(run) == expected


def test_keeping_a_number_again_replaces_the_game_and_not_its_id(path):
    with Store.open(path) as store:
        for max_moves in (3, 5, 8):
            episode = play(max_moves=max_moves)
            run = store.find_run(episode.rules, "random", 1) or store.begin_run("match", episode.rules, "random", 1)
            store.keep(run, {0: episode})
            assert [entry.id for entry in store.entries()] == [1]
            assert store.get(1).episode == episode


def test_find_run_is_the_newest_match_with_the_same_key(path):
    rules = Rules.from_text("4x4")
    with Store.open(path) as store:
        store.begin_run("match", rules, "random", 1)
        newest = store.begin_run("match", rules, "random", 1)
        store.begin_run("play", rules, "random", 1)
        assert store.find_run(rules, "random", 1) == newest
        assert store.find_run(rules, "random", 2) is None
        assert store.find_run(rules, "first", 1) is None
        assert store.find_run(Rules.from_text("4x4", goal=64), "random", 1) is None


def test_entries_are_newest_first_and_filters(path):
    with Store.open(path) as store:
        for board, player in (("3x3", "random"), ("hex1", "random"), ("3x3", "first")):
            run = store.begin_run("match", Rules.from_text(board), player, 7)
            store.keep(run, play_many(2, board, player=player))
        assert [entry.id for entry in store.entries()] == [6, 5, 4, 3, 2, 1]
        assert [entry.id for entry in store.entries(limit=2, offset=1)] == [5, 4]
        assert [entry.id for entry in store.entries(board="3x3")] == [6, 5, 2, 1]
        assert [entry.id for entry in store.entries(board="3x3", player="random")] == [2, 1]
        best = max(entry.score for entry in store.entries())
        assert {entry.score for entry in store.entries(min_score=best)} == {best}
        assert store.entries(player="nobody") == []
        assert store.ids(player="random") == [1, 2, 3, 4]


def test_a_match_of_another_version_is_not_gone_on_with(path, monkeypatch):
    rules = Rules.from_text("4x4")
    with Store.open(path) as store:
        ours = store.begin_run("match", rules, "random", 1)
        monkeypatch.setattr("lab2048.__version__", "99.0")
        assert store.find_run(rules, "random", 1) is None
        theirs = store.begin_run("match", rules, "random", 1)
        assert store.find_run(rules, "random", 1) == theirs
        monkeypatch.undo()
        assert store.find_run(rules, "random", 1) == ours


def test_games_of_one_run_have_players_of_their_own(path):
    taken_over = replace(play("3x3", 1, player="human"), movers=((3, "random"), (7, "human")))
    games = {0: play("3x3", 0), 1: taken_over}
    with Store.open(path) as store:
        run = store.begin_run("play", taken_over.rules, "human", 1)
        store.keep(run, games)
        assert store.episodes_of(run) == games
        newest, oldest = store.entries()
        assert (newest.player, newest.movers) == ("human", taken_over.movers)
        assert (oldest.player, oldest.movers) == ("random", ())
        assert store.ids(player="human") == [2]


def test_every_game_has_its_own_date_that_of_the_first_time(path, monkeypatch):
    with Store.open(path) as store:
        run = store.begin_run("play", play().rules, "random", 1)
        for number, day in ((0, "2030-01-01"), (1, "2030-01-02"), (0, "2030-01-03")):
            monkeypatch.setattr("lab2048.records.store.now", lambda day=day: day)
            store.keep(run, {number: play(seed=number)})
        assert [entry.created for entry in store.entries()] == ["2030-01-02", "2030-01-01"]
        assert store.get(1).created == "2030-01-01"


def test_several_threads_use_one_store(path):
    games = play_many(5)

    def use(store: Store, seed: int) -> None:
        run = store.begin_run("play", games[0].rules, "random", seed)
        for number in range(40):
            store.keep(run, {number: games[number % 5]})
            assert store.get(store.entries(limit=1)[0].id).episode in games.values()
            assert len(store.summaries_of(run)) == number + 1

    with Store.open(path) as store, ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(use, store, seed) for seed in range(8)]:
            done.result()
        assert len(store.entries()) == 320
        store.check()


def test_a_run_says_where_it_comes_from(path):
    fill(path)
    with Store.open(path) as store:
        kept = store.get(1)
        assert (kept.run.kind, kept.run.seed, kept.run.player) == ("match", 7, "random")
        assert kept.provenance["program"].startswith("lab2048 ")
        assert kept.run.created == kept.provenance["created"]


def test_adopted_games_keep_their_origin_and_are_kept_once(path):
    games = list(play_many(3).values())
    ours, theirs = {"program": "lab2048 0"}, {"program": "another 1"}
    with Store.open(path) as store:
        assert store.adopt([(games[0], ours), (games[1], theirs), (games[0], theirs)]) == 2
        assert store.adopt([(games[2], ours), (games[1], theirs)]) == 1
        kept = [store.get(entry.id) for entry in store.entries()]
        assert [game.episode for game in kept] == [games[2], games[1], games[0]]
        assert [(game.run.id, game.number, game.run.kind) for game in kept] == [
            (1, 1, "import"),
            (2, 0, "import"),
            (1, 0, "import"),
        ]
        assert kept[1].provenance == theirs


def test_a_game_with_other_rules_than_its_run_is_not_kept(path):
    run = fill(path, 1)
    with Store.open(path) as store:
        with pytest.raises(ValueError, match="run 1"):
            store.keep(run, {0: play("3x3", 5), 1: play("4x4")})
        assert len(store.entries()) == 1


@pytest.mark.parametrize("id_", [0, -1, 99, 2**63, 10**30])
def test_an_unknown_game_is_refused(path, id_):
    fill(path, 1)
    with Store.open(path) as store, pytest.raises(StoreError, match="there is no game"):
        store.get(id_)


def test_an_unknown_run_is_refused(path):
    with Store.open(path) as store, pytest.raises(StoreError, match="there is no run 5"):
        store.keep(5, {0: play()})


def test_an_id_is_never_given_twice(path):
    with Store.open(path) as store:
        run = store.begin_run("play", Rules.from_text("3x3"), "human", 1)
        ids = [store.add(run, play("3x3", seed)).id for seed in range(3)]
        removed = store.remove(ids[1]), store.remove(ids[2])
    with Store.open(path) as store:
        ids.append(store.add(run, play("3x3", 3)).id)
        store.keep(run, {9: play("3x3", 4)})
        store.adopt([(play("3x3", 5), {})])
        ids += store.ids()[-2:]
        assert ids == [1, 2, 3, 4, 5, 6]
        assert [store.put_back(game) for game in removed] == [2, 3]


def test_the_default_store(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB2048_STORE", str(tmp_path / "mine.sqlite"))
    with Store.open() as store:
        assert store.path == tmp_path / "mine.sqlite"
    monkeypatch.delenv("LAB2048_STORE")
    assert default_path().name == "games.sqlite"


def test_the_file_says_what_it_is(path):
    fill(path)
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_the_questions_of_the_docs_can_be_asked(path):
    fill(path)
    text = (Path(__file__).parents[2] / "docs" / "records.md").read_text()
    database = sqlite3.connect(path)
    questions = [part for part in re.findall(r"```sql\n(.*?)```", text, re.DOTALL)[0].split(";") if part.strip()]
    answers = [database.execute(question).fetchall() for question in questions]
    assert any(answers)
    database.close()
