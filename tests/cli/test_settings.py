"""Settings from files and variables: who counts, who is named, and what a mistake says."""

import contextlib
import json
import os
from pathlib import Path

import pytest
import typer

from lab2048.cli.app import make_app, run
from lab2048.cli.command_tree import children
from lab2048.cli.option_types import checks_of, problem
from lab2048.cli.options import is_set, is_typed
from lab2048.cli.settings import COMMON, Settings, user_file
from lab2048.errors import UsageError

ROOT = typer.main.get_command(make_app())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of one's own, with a place for the user's file."""
    place = tmp_path / "project"
    place.mkdir()
    user_file().parent.mkdir(parents=True)
    monkeypatch.chdir(place)
    return place


def project(text: str) -> None:
    Path("lab2048.toml").write_text(text)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, tuple[object, str]]:
    assert run(["config", "show", "--json", *words]) == 0
    data = json.loads(capsys.readouterr().out)
    return {setting["key"]: (setting["value"], setting["place"]) for setting in data["settings"]}


def test_the_nearer_place_counts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(capsys)["match.games"] == (100, "default")
    user_file().write_text("[match]\ngames = 2\n")
    assert shown(capsys)["match.games"] == (2, "user")
    project("match.games = 3\n")
    assert shown(capsys)["match.games"] == (3, "project")
    monkeypatch.setenv("LAB2048_MATCH_GAMES", "4")
    assert shown(capsys)["match.games"] == (4, "environment")
    assert run(["match", "random", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["players"][0]["games"] == 4
    assert run(["match", "random", "--json", "--games", "5"]) == 0
    assert json.loads(capsys.readouterr().out)["players"][0]["games"] == 5


def test_a_common_key_holds_for_all_and_gives_way_to_a_longer_one(capsys: pytest.CaptureFixture[str]) -> None:
    project('rules = "3x3"\n[play]\nrules = "2x3"\n')
    found = shown(capsys)
    assert found["match.rules"] == ("3x3", "project")
    assert found["play.rules"] == ("2x3", "project")
    assert found["games.list.rules"] == (None, "default")  # it chooses among games, and is no board to play on


def test_a_nearer_common_key_counts_more_than_a_longer_one_far_away(capsys: pytest.CaptureFixture[str]) -> None:
    user_file().write_text('[match]\nrules = "2x3"\n')
    project('rules = "3x3"\n')
    assert shown(capsys)["match.rules"] == ("3x3", "project")


def test_paths_are_of_the_folder_that_the_file_is_in(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file().write_text('store = "mine.sqlite"\n')
    monkeypatch.delenv("LAB2048_STORE")
    assert shown(capsys)["store"] == (str(user_file().parent / "mine.sqlite"), "user")


def test_doctor_and_completion_look_into_the_store_that_is_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.delenv("LAB2048_STORE")
    project('store = "here.sqlite"\n')
    assert run(["match", "random", "--games", "2", "--rules", "2x2"]) == 0
    assert (folder / "here.sqlite").exists()
    capsys.readouterr()
    assert run(["__complete", "--", "games", "show", ""]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["2", "1"]
    assert run(["doctor"]) == 0
    assert "here.sqlite" in capsys.readouterr().out


def test_show_says_where_each_value_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project('rules = "3x3"\ncolor = "never"\n')
    monkeypatch.setenv("LAB2048_GOAL", "512")
    monkeypatch.setenv("LAB2048_GAOL", "512")
    assert run(["config", "show"]) == 0
    captured = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in captured.out.splitlines() if line}
    assert rows["rules"] == ["3x3", "lab2048.toml"]
    assert rows["color"] == ["never", "lab2048.toml"]
    assert rows["goal"] == ["512", "LAB2048_GOAL"]
    assert rows["spawner"] == ["fair", "default"]
    assert "LAB2048_GAOL is not a setting of lab2048: did you mean LAB2048_GOAL?" in captured.err
    for words in (["rules"], ["--all"]):
        assert run(["config", "show", *words]) == 0
        assert "LAB2048_GAOL is not a setting" in capsys.readouterr().err
    assert run(["config", "show", "match.goal"]) == 0
    assert "LAB2048_GOAL, as goal" in capsys.readouterr().out
    assert run(["config", "show", "gaol"]) == 2
    assert "did you mean goal?" in capsys.readouterr().err
    assert run(["config", "show", "zzzz"]) == 2
    assert "unknown setting 'zzzz': expected one of rules, goal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[match]\ngames = "many"', 'lab2048.toml: match.games = "many": expected a whole number'),
        ("[match]\ngames = true", "lab2048.toml: match.games = true: expected a whole number"),
        ("[match]\nkeep = 1", "lab2048.toml: match.keep = 1: expected true or false"),
        ("rules = 44", "lab2048.toml: rules = 44: expected text in quotes"),
        ("ruels = '4x4'", "lab2048.toml: unknown setting 'ruels': did you mean rules?"),
        ("[match]\ngamse = 3", "lab2048.toml: unknown setting 'match.gamse': did you mean match.games?"),
        ("[mach]", "lab2048.toml: [mach] is not a command with options: did you mean match?"),
        ("[match]\nforce = true", "match.force cannot be set in a file"),
        ('[match]\nplayer-file = "evil.py"', "match.player-file cannot be set in a file"),
        ('cache = "here"', "cache cannot be set in a project file"),
        ("games = 100", "lab2048.toml: unknown setting 'games': did you mean match.games? (or that of watch, "),
        # What only the command itself can judge names the setting at its end.
        ("[match]\ngames = 0", "expected 1 to 10000000 (set by lab2048.toml: match.games)"),
        ('rules = "9x9"', "(set by lab2048.toml: rules)"),
        ('rules = "3xx3"', "board '3xx3' is not understood: did you mean 3x3? (set by lab2048.toml: rules)"),
        (
            'rules = "24|42"',
            "no move is possible on 24|42: expected a board with a legal move (set by lab2048.toml: rules)",
        ),
        ('spawn = "2:1,4:1"', "spawn probabilities sum to 2: expected 1 (set by lab2048.toml: spawn)"),
        ("[match]\nseed = -1", "(set by lab2048.toml: match.seed)"),
        ('[match]\nrequire = ["maen>1"]', "(set by lab2048.toml: match.require)"),
    ],
)
def test_a_mistake_names_file_key_and_what_was_expected(
    capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    project(text)
    assert run(["match", "random"]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


@pytest.mark.parametrize("text", ["rules = ", "a = inf", "a = " + "[" * 3000, "a = " + "9" * 5000])
def test_a_file_that_is_not_toml_is_a_bad_file(capsys: pytest.CaptureFixture[str], text: str) -> None:
    project(text)
    assert run(["match", "random"]) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("lab2048: lab2048.toml is invalid: ")


def test_what_a_variable_says_of_the_rules_is_blamed_on_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB2048_RULES", "3xx3")
    assert run(["match", "random"]) == 2
    assert capsys.readouterr().err == (
        "lab2048: board '3xx3' is not understood: did you mean 3x3? (set by LAB2048_RULES=3xx3)\n"
    )


def test_what_is_wrong_is_marked_by_those_who_are_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project('rules = "3xx3"\ngoal = "big"\n[match]\ngames = 0\ngamse = 3\n[hint]\nplayer = "expctimax"\n')
    monkeypatch.setenv("LAB2048_WORKERS", "two")
    wrong = {
        "rules": "board '3xx3' is not understood: did you mean 3x3?",
        "match.games": "games 0 is out of range: expected 1 to 10000000",
        "hint.player": "unknown player 'expctimax': did you mean expectimax?",
        "workers": "--workers 'two' is not understood: expected a whole number",
    }
    refused = [
        'lab2048.toml: goal = "big": expected a whole number',
        "lab2048.toml: unknown setting 'match.gamse': did you mean match.games?",
    ]
    assert run(["config", "show"]) == 2
    out = capsys.readouterr().out.splitlines()
    for key, told in wrong.items():
        line = next(i for i, line in enumerate(out) if line.startswith(f"{key} "))
        assert out[line + 1].strip() == f"! {told}"
    assert out[-2:] == [f"! {told}" for told in refused]
    assert run(["config", "show", "--json"]) == 2
    data = json.loads(capsys.readouterr().out)
    found = {setting["key"]: setting["problem"] for setting in data["settings"] if setting["key"] == setting["set_as"]}
    assert {key: told for key, told in found.items() if told} == wrong
    assert data["problems"] == refused
    assert run(["config", "show", "match.games"]) == 2
    capsys.readouterr()
    assert run(["doctor", "--json"]) == 1
    finding = json.loads(capsys.readouterr().out)["findings"][0]
    assert finding["state"] == "problem"
    for told in (
        "lab2048.toml: rules: board '3xx3'",
        "lab2048.toml: match.games: games 0",
        "LAB2048_WORKERS=two",
        *refused,
    ):
        assert told in finding["found"]


# Whatever is typed there can be meant: players of a file, files, texts that are compared, what depends on the board.
FREE = {"min-score", "player", "players", "reviewer", "teacher", "terms", "row", "network", "init"}


def test_what_makes_no_sense_is_wrong_wherever_it_is_set() -> None:
    nonsense = {int: -12345, float: -1e300, str: "no such thing?"}
    for key, (option, *_) in Settings.read(ROOT).known.items():
        if option.kind in nonsense and option.name not in {*FREE, "color"}:
            assert problem(checks_of(option.hint), option.name, nonsense[option.kind]), key
        assert not problem(checks_of(option.hint), option.name, option.parameter.default), key


def test_a_command_stands_for_all_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(shown(capsys, "table")) == {"table.export.to", "table.verify.sample"}
    assert run(["config", "show", "games"]) == 0
    assert "games.list.limit" in capsys.readouterr().out
    for word, instead in (("matc", "match"), ("seed", "match.seed")):
        assert run(["config", "show", word]) == 2
        assert f"did you mean {instead}?" in capsys.readouterr().err


def test_a_variable_that_is_wrong_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB2048_WORKERS", "two")
    assert run(["match", "random"]) == 2
    assert capsys.readouterr().err == (
        "lab2048: --workers 'two' is not understood: expected a whole number (set by LAB2048_WORKERS=two)\n"
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("LAB2048_RULSE", "lab2048: LAB2048_RULSE is not a setting of lab2048: did you mean LAB2048_RULES?"),
        ("LAB2048_GAMES", "did you mean LAB2048_MATCH_GAMES? (or that of watch, regret, review, tune ...)"),
        ("LAB2048_MIN_SCORE", "did you mean LAB2048_GAMES_LIST_MIN_SCORE?"),
        ("LAB2048_MATCH_GMAES", "did you mean LAB2048_MATCH_GAMES?"),
        ("LAB2048_ZZZ", "lab2048: LAB2048_ZZZ is not a setting of lab2048: lab2048 config show --all lists all set"),
    ],
)
def test_a_variable_that_is_misspelt_is_told_of_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.setenv(name, "3x3")
    assert run(["games", "list"]) == 0
    [line] = [line for line in capsys.readouterr().err.splitlines() if name in line]
    assert says in line
    assert run(["games", "list", "--help"]) == 0
    assert capsys.readouterr().err == ""


def test_variables_that_only_some_read_are_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB2048_STUDIES", str(tmp_path))
    assert run(["study", "list"]) == 0
    assert "is not a setting" not in capsys.readouterr().err


def test_whole_numbers_may_have_an_exponent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project("[match]\ngames = 3e2\n")
    assert shown(capsys)["match.games"] == (300, "project")
    monkeypatch.setenv("LAB2048_MATCH_GAMES", "3e3")
    assert shown(capsys)["match.games"] == (3000, "environment")


def test_a_word_that_is_typed_is_not_blamed_on_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    project('rules = "3x3"\n')
    assert run(["match", "random", "--rules", "9x9"]) == 3
    assert "set by" not in capsys.readouterr().err


def test_bad_settings_do_not_keep_anyone_from_help_and_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    project("rules = 44")
    assert run(["--help"]) == 0
    assert run(["match", "--help"]) == 0
    assert run(["completion", "bash"]) == 0
    capsys.readouterr()
    assert run(["doctor"]) == 1
    assert "! settings" in capsys.readouterr().out
    assert run(["config", "show"]) == 2


def test_help_shows_what_is_set(capsys: pytest.CaptureFixture[str]) -> None:
    project("[match]\ngames = 77\n")
    assert run(["match", "--help"]) == 0
    assert "[default: 77]" in capsys.readouterr().out


def test_the_first_word_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    project("[serve]\nport = 2077\n")
    started = []
    monkeypatch.setattr("lab2048.cli.commands.serve._listen", lambda port, **_: contextlib.nullcontext(port))
    monkeypatch.setattr("lab2048.cli.commands.serve._run", lambda listener, *_, **__: started.append(listener))
    assert run([]) == 0
    assert len(started) == 1


def test_who_says_what_an_option_is() -> None:
    context = children(ROOT)["tui"].make_context("tui", ["--goal", "2048"], default_map={"rules": "3x3"})
    said = {name: (is_typed(context, name), is_set(context, name)) for name in ("goal", "rules", "spawn")}
    assert said == {"goal": (True, True), "rules": (False, True), "spawn": (False, False)}


def test_every_common_key_stands_for_an_option() -> None:
    known = Settings.read(ROOT).known
    assert set(COMMON) <= set(known)
    assert all(known[key] for key in COMMON)
    kinds = {key: {option.kind for option in known[key]} for key in COMMON}
    assert all(len(some) == 1 for some in kinds.values()), kinds


def test_code_and_files_are_never_chosen_by_a_file() -> None:
    known = Settings.read(ROOT).known
    assert not [key for key in known if key.rpartition(".")[2] in ("player-file", "out", "force", "cache")]


def test_the_cache_is_where_kernels_look_for_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab2048.kernels._jit import cache_root

    monkeypatch.delenv("LAB2048_CACHE", raising=False)
    assert shown(capsys)["cache"] == (str(cache_root()), "default")


def test_all_settings_are_known_without_any(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("LAB2048_")]:
        monkeypatch.delenv(name)
    assert shown(capsys, "match.games") == {"match.games": (100, "default")}


def test_blame_follows_the_field_of_an_error_and_not_its_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UsageError("goal 2048 and rules 3x3 and games 7: words that mean nothing", field="spawner")

    project('rules = "3x3"\nspawner = "first"\n[match]\ngames = 7\n')
    monkeypatch.setattr("lab2048.arena.match.Match.__init__", fail)
    assert run(["match", "random"]) == 2
    assert capsys.readouterr().err.endswith("mean nothing (set by lab2048.toml: spawner)\n")
    assert run(["match", "random", "--spawner", "fair"]) == 2
    assert "set by" not in capsys.readouterr().err


def test_a_setting_is_blamed_for_what_it_says_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB2048_WORKERS", "1")
    assert run(["match", "random", "--games", "2", "--rules", "2x2", "--seed", "100", "--require", "mean>=1001"]) == 4
    assert "set by" not in capsys.readouterr().err
