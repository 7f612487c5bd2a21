"""`lab2048 games`: what a user types and sees."""

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from played import play, play_many

from lab2048.cli.app import run
from lab2048.records.exchange import write_line
from lab2048.records.store import Store
from lab2048.rules import Rules

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


def test_list_shows_the_newest_first(capsys):
    assert run(["games", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["id", "date", "board", "player", "score", "highest", "tile", "moves", "won"]
    assert [row[0] for row in rows[1:]] == ["4", "3", "2", "1"]
    episode = play("3x3", 2)
    assert rows[2][3:] == ["3x3", "random", str(episode.score), str(episode.max_tile), str(len(episode.moves)), "no"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--limit", "2"], [4, 3]),
        (["--player", "human"], [4]),
        (["--rules", "###|###|###"], [3, 2, 1]),
        (["--rules", "hex2"], []),
        (["--min-score", "1000000"], []),
        (["--player", "random", "--limit", "1"], [3]),
    ],
)
def test_list_filters(capsys, options, ids):
    assert run(["games", "list", "--json", *options]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["schema"] == "lab2048/games-1"
    assert [game["id"] for game in data["games"]] == ids
    assert data["games"] == [] or data["games"][0]["won"] is False
    assert err == ""


def test_list_as_csv(capsys):
    assert run(["games", "list", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["id"] for row in rows] == ["4", "3", "2", "1"]
    assert rows[0]["board"] == "hex1"


def test_list_says_that_there_are_more(capsys):
    assert run(["games", "list", "--limit", "3"]) == 0
    assert "--limit N shows more" in capsys.readouterr().err


def test_asking_does_not_make_a_store(capsys, tmp_path):
    missing = str(tmp_path / "missing.sqlite")
    assert run(["games", "list", "--store", missing]) == 0
    assert run(["games", "list", "--json", "--store", missing]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == []
    for command in (["show", "1"], ["replay", "1"], ["export"]):
        assert run(["games", *command, "--store", missing]) == 3
        assert "there is no store" in capsys.readouterr().err
    assert not Path(missing).exists()


def test_show_tells_the_facts_the_moves_and_the_board(capsys):
    assert run(["games", "show", "2"]) == 0
    out = capsys.readouterr().out
    episode = play("3x3", 1)
    assert f"score  {episode.score}\n" in out
    assert episode.moves[:100] in out
    assert out.splitlines()[-1].split() == [str(tile or ".") for tile in episode.prove().board.tiles[6:]]


def test_show_as_json_can_be_imported(capsys, tmp_path):
    assert run(["games", "show", "2", "--json"]) == 0
    out = capsys.readouterr().out
    data = json.loads(out)
    assert (data["schema"], data["id"], data["run"], data["number"]) == ("lab2048/episode-1", 2, 1, 1)
    (tmp_path / "one.jsonl").write_text(out)
    assert run(["games", "import", str(tmp_path / "one.jsonl"), "--store", str(tmp_path / "other.sqlite")]) == 0


def test_show_and_list_name_all_who_moved(capsys, store):
    with Store.open(store) as kept:
        kept.keep(1, {3: replace(play("3x3", 3), movers=((4, "human"), (9, "random")))})
    assert run(["games", "show", "5"]) == 0
    assert "player  random, then human from move 4, then random from move 9\n" in capsys.readouterr().out
    assert run(["games", "list", "--limit", "1"]) == 0
    assert " random, human " in capsys.readouterr().out
    assert run(["games", "list", "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"][0]["movers"] == [[4, "human"], [9, "random"]]
    assert run(["games", "list", "--limit", "1", "--csv"]) == 0
    [row] = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert json.loads(row["movers"]) == [[4, "human"], [9, "random"]]


def test_replay_proves_move_by_move(capsys):
    assert run(["games", "replay", "1"]) == 0
    out = capsys.readouterr().out.splitlines()
    episode = play("3x3", 0)
    assert len(out) == len(episode.moves) + 2
    assert out[-2].endswith(f" {episode.score} {episode.prove().board.to_text()}")
    assert out[-1] == f"proved: {len(episode.moves)} moves, score {episode.score}, highest tile {episode.max_tile}"


def test_replay_every_tenth_board(capsys):
    assert run(["games", "replay", "1", "--every", "10"]) == 0
    numbers = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()[:-1]]
    n_moves = len(play("3x3", 0).moves)
    assert numbers == sorted({*range(0, n_moves + 1, 10), n_moves})


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"score": 12}, "score is"),
        ({"moves": play("3x3", 0).moves + "w"}, f"move {len(play('3x3', 0).moves) + 1} is illegal"),
        ({"moves": play("3x3", 0).moves[:6] + "?"}, "move 7 is '?'"),
    ],
)
def test_replay_names_the_move_that_is_not_so(capsys, store, wrong, complaint):
    with Store.open(store) as kept:
        kept.keep(1, {0: replace(play("3x3", 0), **wrong)})
    assert run(["games", "replay", "1"]) == 3
    out, err = capsys.readouterr()
    assert complaint in err
    assert "proved" not in out
    assert run(["games", "show", "1"]) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_replay_on_a_terminal_draws_over_itself(store):
    import pty

    ours, theirs = pty.openpty()
    command = [*LAB2048, "games", "replay", "1", "--speed", "1000", "--store", str(store)]
    with subprocess.Popen(command, stdout=theirs, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the other end of a terminal is gone
            pass
        os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[J" in seen
    assert seen.rstrip().splitlines()[-1].startswith(b"proved: ")


def test_export_and_import_are_inverse(capsys, tmp_path, store):
    file, other = tmp_path / "games.jsonl", tmp_path / "other.sqlite"
    assert run(["games", "export", "--out", str(file)]) == 0
    assert file.read_text().splitlines() == lines(store)
    assert run(["games", "import", str(file), "--store", str(other)]) == 0
    assert capsys.readouterr().out == "imported 4, already there 0, refused 0\n"
    assert lines(other) == lines(store)
    assert run(["games", "import", str(file), "--store", str(other)]) == 0
    assert capsys.readouterr().out == "imported 0, already there 4, refused 0\n"


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
    assert out == "imported 3, already there 0, refused 3\n"
    assert [line.split(":")[0] for line in err.splitlines()] == ["line 2", "line 5", "line 7"]
    assert lines(tmp_path / "other.sqlite") == [good[0], good[2], good[3]]


def test_import_from_a_pipe(tmp_path, store):
    command = [*LAB2048, "games", "import", "-", "--store", tmp_path / "other.sqlite"]
    text = "\n".join(lines(store))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "imported 4, already there 0, refused 0\n"


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
    assert out == "imported 0, already there 0, refused 3000\n"
    assert len(err.splitlines()) == 1001
    assert err.splitlines()[-1] == "and 2000 more lines"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["list", "--json", "--csv"], 2),
        (["list", "--limit", "0"], 2),
        (["list", "--rules", "nonsense"], 3),
        ([], 2),
        (["lst"], 2),
        (["show"], 2),
        (["show", "one"], 2),
        (["show", "77"], 3),
        (["show", str(10**30)], 3),
        (["replay", "1", "--speed", "0"], 2),
        (["replay", "1", "--speed", "nan"], 2),
        (["replay", "1", "--every", "0"], 2),
        (["export", "1", "--player", "human"], 2),
        (["import", "/no/such/file"], 3),
        (["import", "/"], 3),
        (["import", "x" * 5000], 3),
        (["list", "--store", "/"], 3),
        (["list", "--store", "x" * 5000], 3),
        (["export", "--out", "x" * 5000], 3),
    ],
)
def test_mistakes_are_one_line_and_a_code(capsys, command, code):
    assert run(["games", *command]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "internal error" not in err


def test_names_from_strangers_cannot_take_over_the_terminal(capsys, store):
    with Store.open(store) as kept:
        name = "\x1b[2J[red]evil"
        kept.keep(kept.begin_run("play", Rules.from_text("2x2"), name, 1), {0: play("2x2", 1, player=name)})
    for command in (["list"], ["show", "5"]):
        assert run(["games", *command]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "?[2J[red]evil" in out
