"""Words that hold for every command: `--color` wherever it stands, and whole numbers as people write them."""

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from lab2048.cli.app import make_app, run
from lab2048.cli.color import colored
from lab2048.cli.command_tree import children
from lab2048.cli.complete import complete
from lab2048.views.text import wants_codes, wants_colour

ROOT = typer.main.get_command(make_app())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# --- colours -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "is_colored"),
    [
        ("play", False),
        ("--color always play", True),
        ("play --color=always", True),
        ("play --colour always", True),
        ("play --color never --color always", True),
        ("--color always play --color never", False),
        ("--color never play --color always", True),
        ("--color always play --color auto", False),
    ],
)
def test_color_may_stand_anywhere_and_the_last_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, is_colored: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a\n"))
    assert run([*words.split(), "--seed", "3"]) == 0
    assert ("\x1b[48;5;" in capsys.readouterr().out) is is_colored
    assert "FORCE_COLOR" not in os.environ


def test_a_group_takes_it_too_and_words_after_two_dashes_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "--color", "never", "list"]) == 0
    assert run(["match", "--", "--color"]) == 2
    assert "unknown player '--color'" in capsys.readouterr().err


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("when", "force", "no", "expected"),
    [
        ("always", "", "1", True),
        ("always", "", "", True),
        ("never", "1", "", False),
        ("never", "", "", False),
        ("auto", "1", "1", True),  # forcing is stronger
        (None, "1", "", True),
        (None, "", "1", False),
        ("auto", "", "", None),  # as the terminal is
    ],
)
def test_who_decides(
    monkeypatch: pytest.MonkeyPatch, when: str | None, force: str, no: str, expected: bool | None, is_terminal: bool
) -> None:
    from lab2048.cli.output import make_console

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", force)
    monkeypatch.setenv("NO_COLOR", no)
    stream = Terminal() if is_terminal else io.StringIO()
    wanted = is_terminal if expected is None else expected
    with colored(when):
        assert wants_colour(stream) is wants_codes(stream) is wanted
        make_console(stream).print("text", style="bold red")
    assert ("\x1b[" in stream.getvalue()) is wanted
    assert (os.environ["FORCE_COLOR"], os.environ["NO_COLOR"]) == (force, no)


@pytest.mark.parametrize(("force", "takes_codes"), [("", False), ("1", True)])
def test_a_console_of_windows_has_colours_by_rich_alone(
    monkeypatch: pytest.MonkeyPatch, force: str, takes_codes: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("FORCE_COLOR", force)
    monkeypatch.setattr("lab2048.views.text.sys", SimpleNamespace(platform="win32"))
    assert wants_colour(Terminal())
    assert wants_codes(Terminal()) is takes_codes


def test_a_setting_says_it_too_and_gives_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAB2048_COLOR", "always")
    for further, is_coloured in (([], True), (["--color", "never"], False)):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a\n"))
        assert run(["play", "--seed", "3", *further]) == 0
        assert ("\x1b[48;5;" in capsys.readouterr().out) is is_coloured
    monkeypatch.setenv("LAB2048_COLOR", "sometimes")
    assert run(["play"]) == 2
    assert "expected one of always, auto, never (set by LAB2048_COLOR=sometimes)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["play", "--color", "nevr"], "unknown color 'nevr': did you mean never?"),
        (["--color=blue", "play"], "unknown color 'blue': expected one of always, auto, never"),
        (["play", "--color"], "Option '--color' requires an argument (try: lab2048 play --help)"),
    ],
)
def test_another_word_is_refused(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert run(words) == 2
    assert says in capsys.readouterr().err


def test_every_command_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["match", "--help"], ["games", "list", "--help"]):
        assert run(words) == 0
        assert "--color" in capsys.readouterr().out
    assert [one.value for one in complete(ROOT, ["games", "list", "--colo"])] == ["--color", "--colour"]
    assert [one.value for one in complete(ROOT, ["match", "--color", "a"])] == ["auto", "always"]
    assert [one.value for one in complete(ROOT, ["--color", "ne"])] == ["never"]


# --- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("match random --games 3e5", {"games": 300_000}),
        ("match random --games=1.5e3", {"games": 1500}),
        ("match random -n 2E2", {"games": 200}),
        ("match random -n1e1", {"games": 10}),
        ("match 3e5 --store 3e5 --rules 4x4", {"players": ["3e5"], "store": Path("3e5")}),
        ("match random --seed 1e3", {"seed": 1000}),
        ("match --keep --games 1e1 random", {"games": 10}),
        ("match -- 3e5", {"players": ["3e5"]}),
    ],
)
def test_whole_numbers_may_have_an_exponent(words: str, expected: dict[str, object]) -> None:
    root = typer.main.get_command(make_app(["match"]))
    name, *rest = words.split()
    found = children(root)[name].make_context(name, rest).params
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("games", "says"),
    [
        ("1e12", "games 1000000000000 is out of range: expected 1 to 10000000"),
        ("2.5", "--games '2.5' is not understood: expected a whole number"),
        ("1.25e1", "--games '1.25e1' is not understood: expected a whole number"),
    ],
)
def test_what_is_wrong_with_a_number_is_said(capsys: pytest.CaptureFixture[str], games: str, says: str) -> None:
    assert run(["match", "random", "--games", games]) == 2
    assert says in capsys.readouterr().err
