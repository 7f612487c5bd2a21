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


def test_games_can_be_deleted_and_all_of_them_must_exist(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "delete", "2", "9"]) == 3
    assert "there is no game 9 in " in capsys.readouterr().err
    assert len(lines(store)) == 4
    assert run(["games", "delete", "2", "3", "2"]) == 0
    assert capsys.readouterr().out == "deleted 2 games\n"
    with Store.open(store) as kept:
        assert kept.ids() == [1, 4]
    assert run(["games", "show", "2"]) == 3


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--limit", "2"], [4, 3]),
        (["--player", "human"], [4]),
        (["--rules", "###|###|###"], [3, 2, 1]),
        (["--rules", "hex2"], []),
        (["--min-score", "1000000"], []),
        (["--player", "random", "--limit", "1"], [3]),
        (["--min-score", "99999999999999999999"], []),
        (["--min-score", "-99999999999999999999"], [4, 3, 2, 1]),
        (["--limit", "99999999999999999999"], [4, 3, 2, 1]),
        (["--kind", "play"], [4]),
        (["--kind", "match"], [3, 2, 1]),
        (["--kind", "import"], []),
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


def test_list_the_best_first(capsys):
    assert run(["games", "list", "--best", "--json"]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert games == sorted(games, key=lambda game: (-game["score"], -game["id"]))
    assert run(["games", "list", "--best", "--limit", "1"]) == 0
    out, err = capsys.readouterr()
    assert str(games[0]["score"]) in out
    assert err == "the best 1; --limit N shows more\n"


def test_list_as_csv(capsys):
    assert run(["games", "list", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["id"] for row in rows] == ["4", "3", "2", "1"]
    assert rows[0]["board"] == "hex1"
    assert [row["won"] for row in rows] == ["false"] * 4


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
    assert f"moves 1-{len(episode.moves)}  {episode.moves}\n" in out
    assert "made by  lab2048 " in out
    assert "command  python" in out  # of the tests
    assert out.splitlines()[-1].split() == [str(tile or ".") for tile in episode.prove().board.tiles[6:]]


def test_show_writes_sixty_moves_a_line(capsys, store):
    game = play("4x4", 1)
    with Store.open(store) as kept:
        kept.keep(kept.begin_run("play", game.rules, "random", 1), {0: game})
    assert run(["games", "show", "5"]) == 0
    out = capsys.readouterr().out
    assert f" moves 1-60  {game.moves[:60]}\n" in out
    assert f" moves 61-120  {game.moves[60:120]}\n" in out


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
    assert out[-2].endswith(f" {episode.score} {episode.prove().board.to_text(spaced=True)}")
    assert out[-1] == f"verified: {len(episode.moves)} moves, score {episode.score}, highest tile {episode.max_tile}"


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
        ({"moves": play("3x3", 0).moves[:6] + "?" + play("3x3", 0).moves[7:]}, "move 7 is '?'"),
    ],
)
def test_replay_names_the_move_that_is_not_so(capsys, store, wrong, complaint):
    with Store.open(store) as kept:
        kept.keep(1, {0: replace(play("3x3", 0), **wrong)})
    assert run(["games", "replay", "1"]) == 3
    out, err = capsys.readouterr()
    assert complaint in err
    assert "verified" not in out
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
    assert seen.rstrip().splitlines()[-1].startswith(b"verified: ")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["list", "--json", "--csv"], 2),
        (["list", "--limit", "0"], 2),
        (["list", "--rules", "nonsense"], 3),
        (["list", "--rules", "\ud800"], 3),
        (["list", "--player", "\ud800"], 2),
        (["list", "--player", "\x1b[2J"], 2),
        (["list", "--kind", "mtch"], 2),
        (["export", "--player", "\ud800"], 2),
        (["import", os.devnull, "--store", "/no/such/folder/games.sqlite"], 3),
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
    evil = "\x1b[2J[red]evil"
    game = replace(play("2x2", 1, player=evil), moves="\x1b[2J")
    with Store.open(store) as kept:
        kept.keep(kept.begin_run(evil, Rules.from_text("2x2"), evil, 1), {0: game})
    database = sqlite3.connect(store)
    database.execute("UPDATE episodes SET created = ? WHERE id = 5", (evil,))
    database.execute("UPDATE runs SET provenance = json_object('command', ?) WHERE id = 3", (evil,))
    database.commit()
    database.close()
    for command, code in ((["list"], 0), (["list", "--csv"], 0), (["list", "--json"], 0), (["show", "5"], 3)):
        assert run(["games", *command]) == code
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        assert "[2J[red]evil" in out


@pytest.mark.parametrize("damage", ["seconds = 9e999", "seconds = 'abc'", "player = x'00'", "score = '\x1b[2J'"])
def test_a_damaged_game_is_named_and_the_others_are_listed_and_exported(capsys, store, damage):
    database = sqlite3.connect(store)
    database.execute(f"UPDATE episodes SET {damage} WHERE id = 2")
    database.commit()
    database.close()
    for command, n_lines in ((["list"], 4), (["list", "--csv"], 4), (["list", "--json"], 1), (["export"], 3)):
        assert run(["games", *command]) == 3
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == n_lines
        assert "game 2 in" in err.splitlines()[0]
        assert err.splitlines()[-1].endswith("damaged 1")
        assert "\x1b" not in err
    for command in (["show", "2"], ["show", "2", "--json"], ["replay", "2"]):
        assert run(["games", *command]) == 3
        out, err = capsys.readouterr()
        assert out == ""
        assert "game 2 in" in err
        assert len(err.splitlines()) == 1


def test_a_replay_says_why_a_shield_moved(capsys, tmp_path):
    store = ["--store", str(tmp_path / "shield.sqlite")]
    assert run(["watch", "shield:warm_up=5", "--rules", "3x3", "--seed", "4", *store]) == 0
    watched = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Safe: ")]
    assert run(["games", "replay", "1", "--explain", *store]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("  Safe: ")] == watched
    assert len(watched) == sum(line.split()[0].isdigit() for line in lines) - 1  # all but the first board
    assert run(["games", "replay", "1", "--explain", "--json", *store]) == 0
    turns = json.loads(capsys.readouterr().out)["turns"]
    assert [f"  {turn['note']['text']}" for turn in turns] == watched
    assert {turn["note"]["made"] for turn in turns} <= {"up", "right", "down", "left"}
    assert run(["games", "replay", "1", *store]) == 0
    assert "Safe: " not in capsys.readouterr().out
