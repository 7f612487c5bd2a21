"""The command line as users type it: results, one clear line for every mistake, exit codes."""

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

from lab2048.cli.app import run

NEW_GAME = "2048 on 4x4, seed 3"
SECOND_SEED = "1129857146550036"  # of the game that follows


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keys: str, *words: str) -> str:
    type_in(monkeypatch, keys)
    assert run(["play", "--seed", "3", *words]) == 0
    return capsys.readouterr().out


def last_board(text: str) -> list[str]:
    """The last board that was shown."""
    lines = text.splitlines()
    end = max(i for i, line in enumerate(lines) if line.startswith("score "))
    return lines[end - 4 : end]


# --- play ----------------------------------------------------------------------------


def test_a_script_can_play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "asdw\nasdw\n")
    assert out.startswith(NEW_GAME)
    assert "\x1b" not in out
    assert out.splitlines()[-1].startswith("seed 3, score")


def test_the_same_keys_give_the_same_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    once = play(monkeypatch, capsys, "asdwasdw\n" * 20)
    again = play(monkeypatch, capsys, "asdwasdw\n" * 20)
    assert once == again


def test_undo_and_the_same_move_give_the_same_tile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    straight = play(monkeypatch, capsys, "asd\n")
    around = play(monkeypatch, capsys, "asduuusasd\nuuuuuuuuu\nasd\n")
    assert last_board(straight) == last_board(around)
    redone = play(monkeypatch, capsys, "asduurr\n")
    assert last_board(straight) == last_board(redone)


def test_restart_keeps_the_old_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "asdw\nx\nasdw\nq\n")
    assert "new game, seed" in out
    assert run(["games", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["games"]) == 2


def test_a_new_game_can_be_taken_back_until_its_first_move(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = play(monkeypatch, capsys, "asdw\nx\nu\nasd\n")
    straight = play(monkeypatch, capsys, "asdw\nasd\n")
    assert last_board(out) == last_board(straight)
    assert out.splitlines()[-1] == straight.splitlines()[-1]
    assert "back to the game with seed 3" in out
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("2048 on")] == ["3", SECOND_SEED, "3"]


@pytest.mark.parametrize(
    ("keys", "seed", "n_moves"),
    [
        ("asdw x q", "3", 4),  # nothing was played in the new game: about the last that was
        ("asdw x x q", "3", 4),
        ("asdw x u q", "3", 4),
        ("asdw x as q", SECOND_SEED, 2),
        ("asdw x as uu q", SECOND_SEED, 0),
        ("asdw x as", SECOND_SEED, 2),
    ],
)
def test_the_last_line_is_about_the_game_that_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keys: str, seed: str, n_moves: int
) -> None:
    last = play(monkeypatch, capsys, keys.replace(" ", "\n")).splitlines()[-1]
    assert last.startswith(f"seed {seed}, ")
    assert last.endswith(f" {n_moves} moves")


@pytest.mark.parametrize("key", ["?", "h"])
def test_the_keys_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str) -> None:
    assert play(monkeypatch, capsys, key).count("? keys, q quit") == 2
    assert play(monkeypatch, capsys, key, "--rules", "hex1").count("? keys, Q quit") == 2
    assert run(["play", "--help"]) == 0
    assert "on hexagons q w e a s d move, and Q quits" in " ".join(capsys.readouterr().out.split())


def test_what_is_wrong_with_a_key_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "z\nu\nr\n")
    assert "unknown key 'z': w a s d move" in out
    assert "nothing to undo" in out
    assert "nothing to redo" in out
    board = "2 # # # / 4 # # # / 2 # # # / 4 # # #"
    assert "left changes nothing" in play(monkeypatch, capsys, "a\n", "--rules", board)


def test_playing_past_the_goal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "a\nd\n", "--rules", "1024 1024 # # / # # # #")
    assert "2048! You reached the goal; you can continue" in out
    assert "moves 2" in out


def test_the_end_is_said_and_can_be_undone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "d\na\nu\n", "--rules", "2 4 / 8 # ", "--spawner", "worst")
    said = [line for line in out.splitlines() if "over" in line]
    assert [line.split(";")[0] for line in said] == ["game over", "the game is over"]


def test_hexagons_have_six_keys(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    out = play(monkeypatch, capsys, "qweasdqweasd\nQ\n", "--rules", "hex2")
    assert "Q quit" in out
    assert int(out.rsplit("tile", 1)[1].split(",")[1].split()[0]) > 5  # moves


@pytest.mark.parametrize(
    "board", ["####|####|####|####", "1x2", "8x8", "hex1", "hex4", "xx#xx|x###x|#####|x###x|xx#xx"]
)
def test_any_board_plays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], board: str) -> None:
    assert "highest" in play(monkeypatch, capsys, "wasd\n", "--rules", board)


def test_one_move_is_one_move(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(monkeypatch, capsys, "a\n").splitlines()[-1].endswith(" 1 move")


@pytest.mark.parametrize(("name", "coloured"), [("NO_COLOR", False), ("FORCE_COLOR", True)])
def test_colour(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, coloured: bool) -> None:
    monkeypatch.setenv(name, "1")
    assert ("\x1b[48;5;" in play(monkeypatch, capsys, "a\n")) is coloured


def test_a_hint_has_colours_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", "22##|####", "--player", "first", "--color", "always"]) == 0
    assert "\x1b[48;5;" in capsys.readouterr().out
    assert run(["hint", "22##|####", "--player", "first"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_board_is_shown_for_each_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(monkeypatch, capsys, "asdw\n").count("score ") == 3  # at first, after the line, and at the end
    assert play(monkeypatch, capsys, "a\ns\nd\nw\n").count("score ") == 6


def test_without_a_word_it_is_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr("lab2048.cli.commands.serve._listen", lambda port, **_: contextlib.nullcontext(port))
    monkeypatch.setattr("lab2048.cli.commands.serve._run", lambda listener, *_, **__: started.append(listener))
    assert run([]) == 0
    assert len(started) == 1


# --- match and perft -----------------------------------------------------------------


def test_match_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "random", "first", "--games", "10", "--json", "--workers", "2"]) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert captured.out.count("\n") == 1
    assert [player["player"] for player in data["players"]] == ["random", "first"]


def test_match_table_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "random", "first", "--games", "10"]) == 0
    out = capsys.readouterr().out
    assert "4x4, goal 2048, seed 1" in out
    assert "random - first:" in out
    assert run(["match", "random", "--games", "10", "--csv"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.startswith("player,games,mean_score")
    assert row.startswith("random,10,")


def test_match_with_a_player_file(capsys: pytest.CaptureFixture[str], hug: Path) -> None:
    words = ["match", "hug:room=20", "random", "--player-file", str(hug), "--rules", "3x3", "--games", "4", "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["players"][0]["player"] == "hug:room=20.0"


def test_match_resumes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "random", "--games", "10", "--json"]) == 0
    capsys.readouterr()
    assert run(["match", "random", "--games", "25", "--json", "--resume"]) == 0
    resumed = capsys.readouterr()
    assert "random: 10 games found" in resumed.err
    assert run(["match", "random", "--games", "25", "--json", "--no-keep"]) == 0
    whole = json.loads(capsys.readouterr().out)
    for data in (whole, found := json.loads(resumed.out)):
        for player in data["players"]:
            for name in [name for name in player if "second" in name]:
                del player[name]
    assert found == whole
    assert run(["games", "list", "--json", "--limit", "100"]) == 0
    assert len(json.loads(capsys.readouterr().out)["games"]) == 25


def test_perft(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "22##|####|####|####", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["count"] == 8876
    assert run(["perft", "22##|####|####|####", "1"]) == 0
    assert capsys.readouterr().out == "88\n"


@pytest.mark.parametrize(
    "board", ["2 4 8 16 / # # 2 # / # # # # / # # # 2", "1234001000000001", "2 4 8 16\n. . 2 .\n. . . .\n. . . 2"]
)
def test_hint(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, board: str) -> None:
    type_in(monkeypatch, board)
    assert run(["hint", "-", "--player", "lookahead:depth=2,eval=rows", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["board"] == "2 4 8 16 / # # 2 # / # # # # / # # # 2"
    assert data["best"] == max(data["values"], key=data["values"].get)
    assert set(data["values"]) == {"up", "right", "down", "left"}
    assert data["depth"] == 2
    assert data["nodes"] > 0
    assert run(["hint", board, "--player", "greedy"]) == 0
    assert "by greedy: depth 1" in capsys.readouterr().out


def test_a_hint_takes_a_goal_and_a_board_as_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    values = {}
    for goal in ("16", "2048"):
        assert run(["hint", "[[8, 8], [4, 0]]", "--player", "optimal:objective=win", "--goal", goal, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["board"] == "88|4#"
        values[goal] = data["values"]["left"]
    assert values == {"16": 1.0, "2048": 0.0}


def test_moves_that_differ_are_shown_apart(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["hint", "2 4 / 8 #", "--player", "optimal"]
    assert run([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"].values()
    assert run(words) == 0
    shown = [
        line[2:].split()[1] for line in capsys.readouterr().out.splitlines() if line[2:].startswith(("right", "down"))
    ]
    assert len(set(shown)) == len(set(values))


def test_hint_says_how_sure_an_estimate_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", "22##|####", "--player", "montecarlo:rollouts=8", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data["errors"]) == set(data["values"])
    assert run(["hint", "22##|####", "--player", "montecarlo:rollouts=8"]) == 0
    assert capsys.readouterr().out.count(" ± ") == len(data["errors"])


def test_players_are_listed_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["players"]) == 0
    out = capsys.readouterr().out
    assert "random" in out
    assert "order=" in out
    assert run(["players", "first", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"][0]["name"] == "order"
    assert run(["players", "frist"]) == 2
    for words in (["shwo", "expectimax"], ["shwo"], ["shwo", "--json", "first"]):
        capsys.readouterr()
        assert run(["players", *words]) == 2
        assert capsys.readouterr().err == "lab2048: unknown command 'players shwo': did you mean show?\n"


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("lab2048 ")
    for words in ([], ["play"], ["match"], ["perft"], ["games"], ["games", "list"], ["bench"], ["bench", "kernels"]):
        assert run([*words, "--help"]) == 0
        assert "Example" in capsys.readouterr().out or words in (["games"], ["bench"])


# --- mistakes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["play", "--rules", ""], 3, "the board is empty"),
        (["play", "--rules", "####|###"], 3, "row 2 of the board has 3 cells: expected 4"),
        (["play", "--rules", "##?#"], 3, "unknown tile '?'"),
        (["play", "--rules", "2 6 # #"], 3, "6 is not a tile"),
        (["play", "--rules", "24|42"], 3, "no move is possible"),
        (["play", "--rules", "9x9"], 3, "expected 1x2 to 8x8"),
        (["play", "--rules", "10000x10000"], 3, "expected 1x2 to 8x8"),
        (["play", "--rules", "hex7"], 3, "expected hex1 to hex4"),
        (["play", "--spawn", "2:0.5,4:0.4"], 2, "sum to 0.9: expected 1"),
        (["play", "--goal", "1000"], 2, "goal 1000 is not a tile"),
        (["play", "--goal", "big"], 2, "--goal 'big' is not understood: expected a whole number"),
        (["play", "--start", "99"], 2, "start 99 is out of range"),
        (["play", "--spawner", "evil"], 2, "unknown spawner 'evil'"),
        (["play", "--seed", "-1"], 2, "seed -1 is out of range"),
        (["play", "--sed", "1"], 2, "unknown option '--sed': did you mean --seed?"),
        (["match"], 2, "Missing argument"),
        (["match", "randm"], 2, "did you mean random?"),
        (["match", "random,first"], 2, "expected a space between players, and no comma"),
        (["match", "expectimax", "depth=3"], 2, "expected name:option=value, as in expectimax:depth=3"),
        (["play", "extra"], 2, "unexpected 'extra': expected as in lab2048 play "),
        (["play", "--seed=abc"], 2, "--seed 'abc' is not understood: expected a whole number"),
        (["match", "random", "-nabc"], 2, "--games 'abc' is not understood: expected a whole number"),
        (["config", "set", "rules", "3x3"], 2, "write settings yourself"),
        (["match", "human"], 2, "expected a player that chooses by itself"),
        (["match", "random", "--games", "0"], 2, "expected 1 to"),
        (["match", "random", "--games", "1000000000000"], 2, "expected 1 to"),
        (["match", "random", "--workers", "-1"], 2, "expected 0 to"),
        (["match", "random", "--json", "--csv"], 2, "only one of them"),
        (["match", "random", "random"], 2, "each player once"),
        (["match", "random", "--rules", "x"], 3, "no two cells"),
        (["match", "random", "--player-file", "nowhere.py"], 3, "nowhere.py cannot be read"),
        (["perft", "4x4", "-1"], 2, ""),
        (["perft", "4x4", "99"], 2, "expected 0 to 20"),
        (["perft", "oops", "1"], 3, "board 'oops' is not understood: expected a size such as 4x4, hex2 or tri3"),
        (["plya"], 2, "plya"),
        (["hint", "24|42"], 3, "no move is possible"),
        (["hint", "4x4"], 3, "4x4 has no tiles yet: expected a board in play, such as"),
        (["hint", "22##", "--player", "human"], 2, "player human is a person"),
        (["hint", "22##", "--player", "lookahead:depth=99"], 2, "expected 1 to 12"),
        (["hint", "22##", "--player", "greedy:eval=snaek"], 2, "did you mean snake?"),
        (["hint", "22##", "--player", "greedy:eval=none.toml"], 3, "cannot be read"),
        (["hint", "22##", "--player", "expectimax:ms=0"], 2, "expected above 0"),
        (["bench", "kernel"], 2, "kernel"),
        (["bench"], 2, "expected kernels"),
        (["match", "first:order=\x1b[31m"], 2, "expected printable letters"),
        (["match", "first:order=\udcff"], 2, "expected printable letters"),
        (["perft", "8x8", "1", "--start", "6"], 2, "too many first boards"),
    ],
)
def test_a_mistake_is_one_line_and_a_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, says: str
) -> None:
    type_in(monkeypatch, "")
    assert run(words) == code
    captured = capsys.readouterr()
    assert says in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("lab2048: ")
    assert captured.out == ""


def test_a_fault_of_ours_is_one_line_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("lab2048.rules.rules.read_spawn_table", fail)
    assert run(["play"]) == 1
    assert capsys.readouterr().err.startswith("lab2048: internal error: ZeroDivisionError: nobody thought of this")


def test_a_store_that_cannot_be_opened_ends_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "text.sqlite"
    path.write_text("this is no store, but someone's notes\n" * 100)
    for words in (["play"], ["match", "random", "--games", "3"], ["games", "list"]):
        type_in(monkeypatch, "asdw\n")
        assert run([*words, "--store", str(path)]) == 3
        captured = capsys.readouterr()
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
    assert path.read_text().startswith("this is no store")
