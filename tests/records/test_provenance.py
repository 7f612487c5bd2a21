"""Provenance names the command that was really run."""

import sys

import pytest

from lab2048.records.provenance import command


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["/usr/bin/lab2048", "match", "a b"], [], "lab2048 match 'a b'"),
        (["C:/bin/lab2048.exe", "play"], [], "lab2048 play"),
        (["/lib/lab2048/__main__.py", "play"], [], "lab2048 play"),
        (["mine.py", "--foo", "bar"], ["/usr/bin/python3", "mine.py", "--foo", "bar"], "python mine.py --foo bar"),
        (["/lib/pytest/__main__.py", "-q"], ["python", "-m", "pytest", "-q"], "python -m pytest -q"),
        ([""], ["python"], "python"),
    ],
)
def test_a_script_is_not_called_lab2048(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], orig_argv: list[str], expected: str
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    assert command() == expected
