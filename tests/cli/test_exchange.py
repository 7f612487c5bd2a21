"""`lab2048 games export` and `import`: what a user types and sees."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from played import play, play_many
from records.replay_writer import write_league, write_tablebase

from lab2048.cli.app import run
from lab2048.records.exchange import write_line
from lab2048.records.store import Store
from lab2048.rules import Game, Rules

LAB2048 = [sys.executable, "-c", "from lab2048.cli import main; main()"]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with three games of random on 3x3 and one of human on hex1."""
    path = tmp_path / "games.sqlite"
    monkeypatch.setenv("LAB2048_STORE", str(path))
    with Store.open(path) as kept:
        kept.keep(kept.begin_run("match", Rules.from_text("3x3"), "random", 7), play_many(3))
        kept.keep(kept.begin_run("play", Rules.from_text("hex1"), "human", 1), {0: play("hex1", 1, player="human")})
    return path


def lines(path: Path) -> list[str]:
    with Store.open(path) as kept:
        return [write_line(kept.get(id_)) for id_ in kept.ids()]


def test_export_and_import_are_inverse(capsys, tmp_path, store):
    file, other = tmp_path / "games.jsonl", tmp_path / "other.sqlite"
    assert run(["games", "export", "--out", str(file)]) == 0
    assert file.read_text().splitlines() == lines(store)
    assert run(["games", "import", str(file), "--store", str(other)]) == 0
    assert capsys.readouterr().out == "imported 4, already present 0, rejected 0\n"
    assert lines(other) == lines(store)
    assert run(["games", "import", str(file), "--store", str(other)]) == 0
    assert capsys.readouterr().out == "imported 0, already present 4, rejected 0\n"


def test_export_of_some_games(capsys, store):
    all_lines = lines(store)
    assert run(["games", "export", "3", "1", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == [all_lines[2], all_lines[0]]
    assert run(["games", "export", "--player", "human"]) == 0
    assert capsys.readouterr().out.splitlines() == [all_lines[3]]
    assert run(["games", "export", "--rules", "3x3", "--out", "-"]) == 0
    assert capsys.readouterr().out.splitlines() == all_lines[:3]


def test_export_does_not_overwrite_without_force(capsys, tmp_path, store):
    file = tmp_path / "games.jsonl"
    file.write_text("precious\n")
    assert run(["games", "export", "--out", str(file)]) == 3
    assert "--force" in capsys.readouterr().err
    assert run(["games", "export", "99", "--force", "--out", str(file)]) == 3
    assert "there is no game 99" in capsys.readouterr().err
    assert file.read_text() == "precious\n"
    assert run(["games", "export", "--force", "--out", str(file)]) == 0
    assert file.read_text().splitlines() == lines(store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "games.sqlite"]


def test_export_to_a_place_that_cannot_be(capsys, tmp_path):
    for place in (tmp_path, tmp_path / "no folder" / "x", os.devnull):
        assert run(["games", "export", "--force", "--out", str(place)]) == 3
        assert str(place) in capsys.readouterr().err


def test_export_leaves_out_a_damaged_game_and_says_so(capsys, store):
    database = sqlite3.connect(store)
    database.execute("UPDATE episodes SET moves = x'00' WHERE id = 2")
    database.commit()
    database.close()
    assert run(["games", "export"]) == 3
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "game 2" in err
    assert "exported 3, damaged 1" in err


def test_import_refuses_bad_lines_by_number_and_keeps_the_rest(capsys, tmp_path, store):
    good = lines(store)
    file = tmp_path / "mixed.jsonl"
    file.write_bytes("\n".join([good[0], good[1][:-9], "", good[2], "[" * 9999, good[3]]).encode() + b"\n\x80\n")
    assert run(["games", "import", str(file), "--store", str(tmp_path / "other.sqlite")]) == 3
    out, err = capsys.readouterr()
    assert out == "imported 3, already present 0, rejected 3\n"
    assert [line.split(":")[0] for line in err.splitlines()] == ["line 2", "line 5", "line 7"]
    assert lines(tmp_path / "other.sqlite") == [good[0], good[2], good[3]]


def test_import_from_a_pipe(tmp_path, store):
    command = [*LAB2048, "games", "import", "-", "--store", tmp_path / "other.sqlite"]
    text = "\n".join(lines(store))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "imported 4, already present 0, rejected 0\n"


def test_import_into_a_locked_store_says_how_far_it_came(capsys, tmp_path, store, monkeypatch):
    monkeypatch.setattr(Store.open.__func__, "__kwdefaults__", {"timeout": 0.01, "create": True})
    (tmp_path / "games.jsonl").write_text("\n".join(lines(store)))
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert run(["games", "import", str(tmp_path / "games.jsonl")]) == 3
    assert "stopped: imported 0" in (err := capsys.readouterr().err)
    assert "locked by another program" in err
    other.close()


def test_import_of_a_binary_file_is_brief(capsys, tmp_path):
    file = tmp_path / "noise.bin"
    file.write_bytes(b"\x00\xff\n" * 3000)
    assert run(["games", "import", str(file)]) == 3
    out, err = capsys.readouterr()
    assert out == "imported 0, already present 0, rejected 1\n"
    [told] = err.splitlines()
    assert told.startswith(f"{file}: not JSON lines; not a replay: expected one of 2048verse")
    file.write_text("A letter to all readers of this.\nIt has two long lines of prose.\n")
    assert run(["games", "import", str(file)]) == 3
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(f"{file}: not JSON lines; not a replay: expected one of 2048verse")


def test_what_is_certainly_a_replay_is_not_called_bad_json(capsys, tmp_path):
    game = Game(Rules.from_text("4x4"), 1)
    for _ in range(30):
        game.play(game.board.legal_moves()[0])
    league, tablebase = tmp_path / "league.txt", tmp_path / "game.rpl"
    league.write_bytes(write_league(game) + write_league(game)[-1:] * 40)
    tablebase.write_bytes(write_tablebase(game)[:-3])
    for file, why in ((league, "as a replay of 2048league: move"), (tablebase, "the replay is cut off")):
        assert run(["games", "import", str(file)]) == 3
        [told] = capsys.readouterr().err.splitlines()
        assert told.startswith(f"{file}: {why}")


def test_many_bad_lines_are_brief(capsys, tmp_path):
    file = tmp_path / "games.jsonl"
    file.write_bytes(b"{\n" + b"\x00\xff\n" * 2999)
    assert run(["games", "import", str(file)]) == 3
    out, err = capsys.readouterr()
    assert out == "imported 0, already present 0, rejected 3000\n"
    assert len(err.splitlines()) == 21
    assert err.splitlines()[-1] == "and 2980 more lines"


def test_a_game_of_a_damaged_run_does_not_stop_an_export(capsys, store):
    database = sqlite3.connect(store)
    database.execute("UPDATE runs SET provenance = '[]' WHERE id = 2")
    database.commit()
    database.close()
    assert run(["games", "export"]) == 3
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "game 4 in" in err
    assert run(["games", "show", "4", "--json"]) == 3
