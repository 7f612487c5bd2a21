"""The tables of a store: those of earlier versions are upgraded, and nothing is lost."""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from child_process import child
from played import fill, play, play_many

from lab2048.arena.session import Session
from lab2048.errors import StoreError
from lab2048.records.schema import VERSION
from lab2048.records.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite"


@pytest.mark.parametrize("version", [0, 1, 99])
def test_a_store_of_another_version_is_refused(path, version):
    fill(path)
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=rf"another version of lab2048 \(format {version}, this one reads {VERSION}\)"):
        Store.open(path)
    assert path.read_bytes() == before


DATA = Path(__file__).parents[1] / "data"
OLD = DATA / "store_v2.sqlite"
# The store of format 3 has moves that were appended, and its last game was deleted.
EARLIER = [
    (OLD, [(1, "human"), (21, "random")], 40),
    (DATA / "store_v3.sqlite", [(1, "human"), (21, "random"), (41, "human")], 44),
    (DATA / "store_v4.sqlite", [(1, "human"), (21, "random"), (41, "human")], 44),
    (DATA / "store_v5.sqlite", [(1, "human"), (21, "random"), (41, "human")], 44),
]


@pytest.mark.parametrize(("old", "movers", "n_moves"), EARLIER)
def test_a_store_of_an_earlier_version_is_upgraded_and_loses_nothing(path, old, movers, n_moves):
    shutil.copy(old, path)
    with Store.open(path) as store:
        assert store.episodes_of(1) == play_many(5)
        session = Session.open(store, 6)
        assert (len(session.game.turns), session.movers) == (n_moves, movers)
        session.play_letters("wasd")
        session.undo(7)
        session.save()
        assert store.get(6).episode == session.episode()
        assert store.adopt([(play("3x3", 3), {})]) == 0  # it is there
        store.remove(6)
        assert store.add(1, play("3x3", 9)).id == 7
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA user_version").fetchone() == (VERSION,)
    tables = set(database.execute("SELECT type, name, sql FROM sqlite_master WHERE type <> 'index'"))
    database.close()
    fresh = path.with_name("fresh.sqlite")
    Store.open(fresh).close()
    database = sqlite3.connect(fresh)
    assert set(database.execute("SELECT type, name, sql FROM sqlite_master WHERE type <> 'index'")) == tables
    database.close()


def test_a_damaged_store_of_the_version_before_is_left_alone(path):
    content = bytearray(OLD.read_bytes())
    content[-4096:] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        Store.open(path)
    assert path.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="needs users")
@pytest.mark.parametrize(("old", "movers", "n_moves"), EARLIER)
def test_a_store_of_an_earlier_version_can_be_read_where_it_cannot_be_written(old, movers, n_moves):
    """In a process of its own that is not root: root may write anything."""
    script = """
        import os, sys
        from pathlib import Path
        from lab2048.records.store import Store
        if os.geteuid() == 0:
            os.setuid(65534)
        with Store.open(Path(sys.argv[1]), create=False) as store:
            print(len(store.get(6).episode.moves), len(store.entries()), len(store.get(6).episode.movers))
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        path = Path(folder) / "games.sqlite"
        shutil.copy(old, path)
        path.chmod(0o444)
        done = subprocess.run(child(script, path), capture_output=True, text=True, check=True)
        assert done.stdout.split() == [str(n_moves), "6", str(len(movers) - 1)]
        assert path.read_bytes() == old.read_bytes()
