"""A terminal of 80 columns: lines are folded between words, and a command to copy stands by itself."""

import io
import sys

import pytest

from lab2048.cli import progress
from lab2048.cli.app import run
from lab2048.cli.options import say
from lab2048.views.wrap import folded


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def narrow(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Have both streams lead to a terminal of 80 columns, without colours."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


@pytest.mark.parametrize(
    "words", [["players"], ["players", "show", "expectimax"], ["doctor"], ["study", "list"], ["match", "nobody"]]
)
def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    terminal = narrow(monkeypatch)
    run(words)
    shown = terminal.getvalue().splitlines()
    assert len(shown) > 1
    assert [line for line in shown if len(line) > 80 and " " in line.strip()] == []


def test_words_stay_whole() -> None:
    text = "one two-three " * 20
    lines = folded(text, 30, "    ").splitlines()
    assert " ".join(" ".join(lines).split()) == text.strip()
    assert all(len(line) <= 30 for line in lines)
    assert {line[:4] for line in lines[1:]} == {"    "}
    assert folded(text, None) == text


def test_a_command_to_copy_is_never_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = narrow(monkeypatch)
    progress.say_how("continue with", "lab2048 match random")
    progress.say_how("continue with", "lab2048 match " + "random " * 20)
    say("a word " * 20)
    first, second, third, *rest = terminal.getvalue().splitlines()
    assert first == "continue with lab2048 match random"
    assert (second, third) == ("continue with", "lab2048 match " + "random " * 20)
    assert all(len(line) <= 80 for line in rest)
