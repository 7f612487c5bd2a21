"""Help has an example that works; a mistake says what was expected."""

import shlex

import pytest
import typer

import lab2048
from lab2048.cli.app import make_app, run
from lab2048.cli.command import example_of
from lab2048.cli.command_tree import children, walk

ROOT = typer.main.get_command(make_app())
COMMANDS = dict(walk(ROOT))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_the_description_and_then_an_example(
    capsys: pytest.CaptureFixture[str], path: tuple[str, ...]
) -> None:
    assert run([*path, "--help"]) == 0
    usage, _, rest = capsys.readouterr().out.partition("\n\n")
    assert usage.startswith(" ".join(["Usage: lab2048", *path]))
    description, _, rest = rest.partition("\n\n  Example: ")
    assert description.strip()
    assert "Options:" not in description
    assert rest.count("Example") == 0


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_example_is_a_command_that_is_understood(path: tuple[str, ...]) -> None:
    text = example_of(COMMANDS[path]).removeprefix('eval "$(').removesuffix(')"')
    words = shlex.split(text)
    assert words[0] == "lab2048"
    command, rest = ROOT, words[1:]
    while rest and rest[0] in children(command):
        command, rest = children(command)[rest[0]], rest[1:]
    command.make_context("lab2048", rest)  # raises if a word or an option is unknown
    assert words[1 : 1 + len(path)] == list(path) or not path


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_example_can_be_copied_from_a_terminal_of_80_columns(path: tuple[str, ...]) -> None:
    assert len(f"  Example: {example_of(COMMANDS[path])}") <= 78


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("match", "match [OPTIONS] PLAYER..."),
        ("watch", "watch [OPTIONS] [PLAYER]"),
        ("perft", "perft [OPTIONS] BOARD DEPTH"),
        ("games export", "games export [OPTIONS] [ID...]"),
    ],
)
def test_arguments_are_written_as_other_programs_write_them(
    capsys: pytest.CaptureFixture[str], words: str, usage: str
) -> None:
    assert run([*words.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: lab2048 {usage}\n")
    assert "<" not in out.partition("Options:")[0]


def test_the_list_of_commands_shows_what_they_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert out.count("Example") == 1
    for name in children(ROOT):
        assert f"\n  {name} " in out
    sections = [out.index(f"\n{section}:") for section in ("Play", "Compare", "Solve", "Learn", "Data", "System")]
    assert sections == sorted(sections)
    assert "__complete" not in out


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "games", "list"]) == 0
    assert capsys.readouterr().out.startswith("Usage: lab2048 games list")


def test_the_version_is_shown_whatever_else_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--version"], ["version"], ["--version", "extra"], ["--version", "play"]):
        assert run(words) == 0
        captured = capsys.readouterr()
        assert captured.out == f"lab2048 {lab2048.__version__}\n"
        assert captured.err == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plya"], "unknown command 'plya': did you mean play?"),
        (["play", "--sed", "3"], "did you mean --seed?"),
        (["match", "random", "--wokers", "2"], "did you mean --workers?"),
        (["match", "random", "--zzz"], "expected one of --cluster, --color, --colour, "),
        (["games", "lst"], "unknown command 'lst': did you mean list?"),
        (["games"], "lab2048 games needs a command: expected list, show"),
        (["zzzz"], "expected one of bench, "),
        (["extra"], "unknown command 'extra': expected one of bench, "),
        (["config"], "expected show"),
        (["config", "show", "zzz"], "expected one of rules, goal"),
        (["players", "--player-file", "nowhere"], "player file nowhere is not understood"),
        (["players", "show"], "Missing argument 'PLAYER': expected as in lab2048 players show expectimax (try: "),
        (["weights", "prune", "x"], "Missing option '--out'"),
        (["players", "expectimx"], "did you mean expectimax?"),
    ],
)
def test_unknown_words_get_the_nearest(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) in (2, 3)
    captured = capsys.readouterr()
    assert says in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


def test_the_list_of_commands_is_that_of_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    listed = typer.main.get_command(make_app(only_listed=True))
    assert {name: each.short_help for name, each in children(listed).items()} == {
        name: each.short_help for name, each in children(ROOT).items()
    }
    assert run(["--help"]) == 0
    short = capsys.readouterr().out
    assert run(["--color", "auto", "--help"]) == 0  # with all commands
    assert capsys.readouterr().out == short
