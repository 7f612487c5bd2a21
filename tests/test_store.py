"""The store: what is kept comes back, and no mishap loses what was kept before."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played import BOARDS, play, play_many

from lab2048.errors import StoreError
from lab2048.records.database import APPLICATION_ID, VERSION, default_path
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


def fill(path: Path, n: int = 5, board: str = "3x3") -> int:
    """Make a store with one run of n games."""
    with Store.open(path) as store:
        run = store.begin_run("match", Rules.from_text(board), "random", 7)
        store.keep(run, play_many(n, board))
        return run


def child(script: str, *arguments: object) -> list[str]:
    """The command that runs a script in a Python of its own, with the tests' helpers at hand."""
    prelude = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return [sys.executable, "-c", prelude + textwrap.dedent(script), *map(str, arguments)]


# --- what is kept comes back ---------------------------------------------------------


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
        run = store.begin_run("play", episode.rules, player, seed)
        store.keep(run, {0: episode})
        [entry] = store.list()
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
            assert [entry.id for entry in store.list()] == [1]
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


def test_list_is_newest_first_and_filters(path):
    with Store.open(path) as store:
        for board, player in (("3x3", "random"), ("hex1", "random"), ("3x3", "first")):
            run = store.begin_run("match", Rules.from_text(board), player, 7)
            store.keep(run, play_many(2, board, player=player))
        assert [entry.id for entry in store.list()] == [6, 5, 4, 3, 2, 1]
        assert [entry.id for entry in store.list(limit=2, offset=1)] == [5, 4]
        assert [entry.id for entry in store.list(rules="3x3")] == [6, 5, 2, 1]
        assert [entry.id for entry in store.list(rules="3x3", player="random")] == [2, 1]
        best = max(entry.score for entry in store.list())
        assert {entry.score for entry in store.list(min_score=best)} == {best}
        assert store.list(player="nobody") == []
        assert store.ids(player="random") == [1, 2, 3, 4]


def test_a_run_says_where_it_comes_from(path):
    fill(path)
    with Store.open(path) as store:
        kept = store.get(1)
        assert (kept.run.kind, kept.run.seed, kept.run.player) == ("match", 7, "random")
        assert kept.provenance["program"].startswith("lab2048 ")
        assert kept.created == kept.provenance["created"]


def test_adopted_games_keep_their_origin_and_are_kept_once(path):
    games = list(play_many(3).values())
    ours, theirs = {"program": "lab2048 0"}, {"program": "another 1"}
    with Store.open(path) as store:
        assert store.adopt([(games[0], ours), (games[1], theirs), (games[0], theirs)]) == 2
        assert store.adopt([(games[2], ours), (games[1], theirs)]) == 1
        kept = [store.get(entry.id) for entry in store.list()]
        assert [game.episode for game in kept] == [games[2], games[1], games[0]]
        assert [(game.run.id, game.number, game.run.kind) for game in kept] == [
            (1, 1, "import"),
            (2, 0, "import"),
            (1, 0, "import"),
        ]
        assert kept[1].provenance == theirs


def test_a_game_of_another_run_is_not_kept(path):
    run = fill(path, 1)
    with Store.open(path) as store:
        for stranger in (play("3x3", player="first"), play("4x4")):
            with pytest.raises(ValueError, match="run 1"):
                store.keep(run, {0: play("3x3", 5), 1: stranger})
        assert len(store.list()) == 1


@pytest.mark.parametrize("id_", [0, -1, 99, 2**63, 10**30])
def test_an_unknown_game_is_refused(path, id_):
    fill(path, 1)
    with Store.open(path) as store, pytest.raises(StoreError, match="there is no game"):
        store.get(id_)


def test_an_unknown_run_is_refused(path):
    with Store.open(path) as store, pytest.raises(StoreError, match="there is no run 5"):
        store.keep(5, {0: play()})


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


# --- what can go wrong ---------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"a letter to a friend\n" * 50, b"SQLite", b"SQLite format 3\0" + bytes(500), b"\0" * 5000]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(StoreError, match="left as it is"):
        Store.open(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_database_of_another_program_is_refused_and_left_alone(path):
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE runs (id INTEGER)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="of another program"):
        Store.open(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_store_of_a_newer_program_is_refused(path):
    fill(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer lab2048"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_newer_version_that_is_still_in_the_log_is_seen(path):
    fill(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer lab2048"):
        Store.open(path)
    database.close()


@pytest.mark.parametrize("part", [0.001, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_store_is_refused_and_left_alone(path, part):
    fill(path, 300)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged"):
        Store.open(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store_unless_a_log_tells_of_games(path):
    path.touch()
    Store.open(path).close()
    path.write_bytes(b"")
    log = path.with_name("games.sqlite-wal")
    log.write_bytes(b"precious")
    with pytest.raises(StoreError, match="its log"):
        Store.open(path)
    assert log.read_bytes() == b"precious"


def test_damage_in_the_middle_of_the_file_is_one_line(path):
    fill(path, 300)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"), Store.open(path) as store:
        store.list()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        "moves = x'00'",
        "moves = x'789c03'",
        "n_moves = n_moves + 1",
        "n_moves = 9223372036854775807",
        "n_moves = 'many'",
        "score = score + 4",
        "max_tile = NULL OR max_tile * 2",
        "moves_to_goal = 5",
        "seed = seed + 1",
        "checksum = '0123456789abcdef'",
        "moves = (SELECT moves FROM episodes WHERE id = 3)",
    ],
)
def test_a_damaged_game_is_named_and_the_others_are_not_harmed(path, damage):
    fill(path, 3)
    database = sqlite3.connect(path)
    database.execute(f"UPDATE episodes SET {damage} WHERE id = 2")
    database.commit()
    database.close()
    with Store.open(path) as store:
        with pytest.raises(StoreError, match=r"game 2 .* is damaged"):
            store.get(2)
        assert store.get(1).episode == play("3x3", 0)


def test_a_damaged_run_is_named(path):
    fill(path, 1)
    database = sqlite3.connect(path)
    database.execute("UPDATE runs SET rules = '{}'")
    database.commit()
    database.close()
    with Store.open(path) as store, pytest.raises(StoreError, match=r"run 1 .* is damaged"):
        store.get(1)


def test_check_finds_a_damaged_structure(path):
    fill(path, 300)
    with Store.open(path) as store:
        store.check()
    content = bytearray(path.read_bytes())
    content[-4096:] = bytes(4096)
    path.write_bytes(content)
    with Store.open(path) as store, pytest.raises(StoreError, match="damaged"):
        store.check()


def test_a_locked_store_is_one_line_and_works_again_later(path):
    run = fill(path, 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with Store.open(path, timeout=0.01) as store:
        assert len(store.list()) == 1  # readers do not wait
        with pytest.raises(StoreError, match="locked by another program: close it, or use --store FILE"):
            store.keep(run, {1: play("3x3", 1)})
        with pytest.raises(StoreError, match="locked"):
            store.begin_run("play", Rules.from_text("4x4"), "human", 1)
        other.execute("ROLLBACK")
        store.keep(run, {1: play("3x3", 1)})
        assert len(store.list()) == 2
    other.close()


def test_a_store_that_is_being_made_is_locked(path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked"):
        Store.open(path, timeout=0.01)
    other.close()


def test_places_where_no_store_can_be(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path, tmp_path / "file" / "games.sqlite", Path(os.devnull)):
        with pytest.raises(StoreError, match="--store FILE"):
            Store.open(path)
    with pytest.raises(StoreError, match="there is no store"):
        Store.open(tmp_path / "games.sqlite", create=False)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreError, match=r"cannot be (written|used)"):
        Store.open(folder / "games.sqlite")


def test_folders_are_made_on_the_way(tmp_path):
    with Store.open(tmp_path / "a" / "b" / "games.sqlite") as store:
        assert store.list() == []


def test_a_failing_batch_is_rolled_back_whole(path):
    run = fill(path, 1)
    games = play_many(3)
    games[2] = replace(games[2], score=10**30)  # no column can hold it
    with Store.open(path) as store:
        with pytest.raises(OverflowError):
            store.keep(run, games)
        assert [game.number for game in store.summaries_of(run)] == [0]
        store.keep(run, {1: games[1]})


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_is_one_line_and_loses_nothing(path):
    run = fill(path, 50)
    script = """
        import resource
        from pathlib import Path
        from played import play_many
        from lab2048.errors import StoreError
        from lab2048.records.store import Store

        games = play_many(2000, "1x2", player="random")
        with Store.open(Path(sys.argv[1])) as store:
            games = {i + 1000: game for i, game in games.items()}
            run = store.begin_run("match", games[1000].rules, "random", 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            try:
                store.keep(run, games)
            except StoreError as error:
                print(error)
            print(len(store.summaries_of(run)), len(store.list()))
    """
    done = subprocess.run(child(script, path), capture_output=True, text=True, check=True)
    complaint, counts = done.stdout.splitlines()
    assert "full" in complaint
    assert "kept before are safe" in complaint
    assert counts == "0 50"
    with Store.open(path) as store:
        store.check()
        assert store.episodes_of(run) == play_many(50)
        store.keep(run, {50: play("3x3", 50)})


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("n_lines", [1, 3, 20])
def test_a_killed_program_loses_only_the_batch_under_way(path, n_lines):
    script = """
        from pathlib import Path
        from played import play_many
        from lab2048.records.store import Store

        games = list(play_many(20).values())
        with Store.open(Path(sys.argv[1])) as store:
            run = store.begin_run("match", games[0].rules, "random", 7)
            number = 0
            while True:
                store.keep(run, {number + i: game for i, game in enumerate(games)})
                number += len(games)
                print(number, flush=True)
    """
    with subprocess.Popen(child(script, path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        told = [int(process.stdout.readline()) for _ in range(n_lines)][-1]
        process.send_signal(signal.SIGKILL)
    with Store.open(path) as store:
        store.check()
        found = store.summaries_of(1)
        assert len(found) >= told
        assert len(found) % 20 == 0
        assert [game.number for game in found] == list(range(len(found)))
        games = play_many(20)
        for number, episode in store.episodes_of(1).items():
            assert episode == games[number % 20]


def test_several_programs_write_at_once(path):
    script = """
        from pathlib import Path
        from played import play_many
        from lab2048.records.store import Store

        games = play_many(5)
        with Store.open(Path(sys.argv[1]), timeout=60) as store:
            run = store.begin_run("match", games[0].rules, "random", int(sys.argv[2]))
            for number in range(40):
                store.keep(run, {number: games[number % 5]})
    """
    processes = [subprocess.Popen(child(script, path, seed)) for seed in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    with Store.open(path) as store:
        store.check()
        assert [len(store.summaries_of(run)) for run in (1, 2, 3, 4)] == [40] * 4
