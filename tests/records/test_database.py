"""The file under the store: no mishap loses what was kept before, and no file of another is harmed."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from child_process import child
from played import fill, play, play_many
from store_holder import held

from lab2048.errors import StoreError
from lab2048.records.store import Store
from lab2048.rules import Rules


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_to_a_store_is_that_store(path, tmp_path, exists):
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    if exists:
        Store.open(path).close()
    fill(link, 3)
    with Store.open(path, create=False) as store:
        assert len(store.ids()) == 3
    assert list(link.parent.iterdir()) == [link]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_only_its_owner_can_look_into_a_new_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("LAB2048_STORE", raising=False)
    monkeypatch.setattr("lab2048.records.database.data_folder", lambda: tmp_path / "share" / "lab2048")
    with Store.open() as store:
        assert store.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "content", [b"a letter to a friend\n" * 50, b"SQLite", b"SQLite format 3\0" + bytes(500), b"\0" * 5000]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(StoreError, match="left unchanged"):
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs users")
@pytest.mark.parametrize("has_log", [False, True])
def test_a_store_on_a_disk_that_cannot_be_written_is_listed_and_exported(has_log):
    """In a folder of another user: SQLite cannot make its files there, as on a read-only disk."""
    reading = """
        import os, sys
        from pathlib import Path
        from lab2048.errors import StoreError
        from lab2048.records.exchange import write_line
        from lab2048.records.store import Store
        if os.geteuid() == 0:
            os.setuid(65534)
        with Store.open(Path(sys.argv[1]), create=False) as store:
            print(len(store.entries()), len([write_line(store.get(id_)) for id_ in store.ids()]))
            try:
                store.remove(1)
            except StoreError as error:
                print(error.code)
    """
    leaving = """
        import os
        from pathlib import Path
        from played import play_many
        from lab2048.records.store import Store
        store = Store.open(Path(sys.argv[1]))
        store.keep(1, {number + 5: game for number, game in play_many(3).items()})
        os._exit(0)
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.sqlite"
        fill(path, 5)
        if has_log:
            subprocess.run(child(leaving, path), check=True)
            path.with_name("games.sqlite-shm").unlink()
        before = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        Path(folder).chmod(0o555)
        done = subprocess.run(child(reading, path), capture_output=True, text=True, check=True)
        n_games = "8" if has_log else "5"
        assert done.stdout.split() == [n_games, n_games, "store.unwritable"]
        assert {file.name: file.read_bytes() for file in Path(folder).iterdir()} == before
        Path(folder).chmod(0o755)


def test_readers_do_not_wait_for_a_writer(path):
    run = fill(path, 5)
    with held(path), Store.open(path, timeout=1e6) as store:
        assert len(store.entries()) == 5
        assert store.get(1).episode == play_many(5)[0]
        assert not store.is_writable()
    with Store.open(path, timeout=1e6) as store:
        answers = []
        with store._change() as database:
            database.execute("DELETE FROM episodes")
            reader = threading.Thread(target=lambda: answers.append(len(store.summaries_of(run))))
            reader.start()
            reader.join()
            assert store.summaries_of(run) == []  # a thread sees its own changes
        assert answers == [5]
        assert store.summaries_of(run) == []


def test_a_commit_is_durable_only_after_a_sync_that_worked(path, monkeypatch):
    """After an fsync that failed the system may hold the log for clean: the database itself is synced then."""
    synced: list[int] = []

    def fsync(handle: int) -> None:
        synced.append(handle)
        if len(synced) == 1:
            raise OSError(5, "Input/output error")

    run = fill(path, 5)
    with Store.open(path) as store:
        monkeypatch.setattr("lab2048.records.log_sync.sync_data", fsync)
        stored = store.add(run, play("3x3", 9))
        with pytest.raises(StoreError, match="Input/output error"):
            store.sync()
        store.sync()
        assert len(synced) == 1
        content = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)  # without the log
        assert content.execute("SELECT count(*) FROM episodes WHERE id = ?", (stored.id,)).fetchone() == (1,)
        content.close()
        store.remove(stored.id)
        assert len(synced) == 2


def test_a_deletion_or_restoration_that_is_not_durable_changes_nothing(path, monkeypatch):
    is_broken = False

    def fsync(_: int) -> None:
        if is_broken:
            raise OSError(5, "Input/output error")

    fill(path, 5)
    with Store.open(path) as store:
        monkeypatch.setattr("lab2048.records.log_sync.sync_data", fsync)
        before, is_broken = store.get(3), True
        with pytest.raises(StoreError, match="Input/output error"):
            store.remove(3)
        assert store.get(3) == before
        is_broken = False
        removed, is_broken = store.remove(3), True
        with pytest.raises(StoreError, match="Input/output error"):
            store.put_back(removed)
        assert not store.has(3)
        is_broken = False
        assert store.put_back(removed) == 3


def test_threads_that_wait_at_once_share_a_sync(path, monkeypatch):
    n_threads, all_wait, synced = 8, threading.Event(), []

    def fsync(_: int) -> None:
        synced.append(1)
        assert all_wait.wait(240)

    run = fill(path, 1)
    with Store.open(path) as store:
        monkeypatch.setattr("lab2048.records.log_sync.sync_data", fsync)
        committed = threading.Barrier(n_threads)

        def save(seed: int) -> None:
            store.add(run, play("3x3", seed))
            if committed.wait(240) == 0:
                all_wait.set()
            store.sync()

        threads = [threading.Thread(target=save, args=(seed,)) for seed in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(synced) == 1


def test_another_version_that_is_still_in_the_log_is_seen(path):
    fill(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="another version of lab2048"):
        Store.open(path)
    database.close()


def test_an_empty_file_becomes_a_store_unless_a_log_tells_of_games(path):
    path.touch()
    Store.open(path).close()
    path.write_bytes(b"")
    log = path.with_name("games.sqlite-wal")
    log.write_bytes(b"precious")
    with pytest.raises(StoreError, match="its log"):
        Store.open(path)
    assert log.read_bytes() == b"precious"


def test_a_locked_store_is_one_line_and_works_again_later(path):
    run = fill(path, 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with Store.open(path, timeout=0.01) as store:
        assert len(store.entries()) == 1  # readers do not wait
        with pytest.raises(StoreError, match="locked by another program; close it, or use another store"):
            store.keep(run, {1: play("3x3", 1)})
        with pytest.raises(StoreError, match="locked"):
            store.begin_run("play", Rules.from_text("4x4"), "human", 1)
        other.execute("ROLLBACK")
        store.keep(run, {1: play("3x3", 1)})
        assert len(store.entries()) == 2
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
        with pytest.raises(StoreError, match="use another store"):
            Store.open(path)
    with pytest.raises(StoreError, match="there is no store"):
        Store.open(tmp_path / "games.sqlite", create=False)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_folder_that_cannot_be_written():
    """In a process of its own that is not root: root may write anywhere."""
    script = """
        import os, sys
        from pathlib import Path
        from lab2048.errors import StoreError
        from lab2048.records.store import Store
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            Store.open(Path(sys.argv[1]) / "games.sqlite")
        except StoreError as error:
            print(error)
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        done = subprocess.run(child(script, folder), capture_output=True, text=True, check=True)
        Path(folder).chmod(0o755)
    assert re.search(r"cannot be (written|used)", done.stdout)


def test_folders_are_made_only_for_the_default_store(tmp_path, monkeypatch):
    monkeypatch.delenv("LAB2048_STORE")
    monkeypatch.setattr("lab2048.records.database.data_folder", lambda: tmp_path / "share" / "lab2048")
    Store.open().close()
    assert (tmp_path / "share" / "lab2048" / "games.sqlite").exists()
    with pytest.raises(StoreError, match=r"there is no folder .*b; create it, or use another store"):
        Store.open(tmp_path / "a" / "b" / "games.sqlite")
    assert not (tmp_path / "a").exists()


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
            print(len(store.summaries_of(run)), len(store.entries()))
    """
    done = subprocess.run(child(script, path), capture_output=True, text=True, check=True)
    complaint, counts = done.stdout.splitlines()
    assert "full" in complaint
    assert "aved games are safe" in complaint
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


def test_opening_a_store_again_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    writing = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('CREATE TABLE more (x)'); db.close()"
    with Store.open(path) as store:
        store.entries()
        Store.open(path).close()
        subprocess.run([sys.executable, "-c", writing, path], check=True)
        # A program that holds itself for the last user of the store deletes the log.
        assert path.with_name("games.sqlite-wal").exists()
        assert store.entries() == []
    assert not path.with_name("games.sqlite-wal").exists()
