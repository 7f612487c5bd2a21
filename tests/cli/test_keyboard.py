"""Keys in what a terminal sends."""

import pytest

from lab2048.cli.keyboard import split_keys


@pytest.mark.parametrize(
    ("sent", "keys", "unfinished"),
    [
        ("wasd", "wasd", ""),
        ("w a\ts\n", "was", ""),
        ("\x1b[A\x1b[B\x1b[C\x1b[D", "↑↓→←", ""),  # arrows
        ("\x1bOA\x1bOB\x1bOC\x1bOD", "↑↓→←", ""),  # arrows in the other mode
        ("\x1b[1;5A\x1b[1;2Dd", "↑←d", ""),  # Ctrl-Up, Shift-Left
        ("\x1b[3~a", "a", ""),  # Delete
        ("\x1b[15~a\x1b[[Ea\x1bOPa", "aaa", ""),  # F5, F5 of a Linux console, F1
        ("\x1b[200~a\x1b[<0;3;4M", "a", ""),
        ("\x1bas", "as", ""),  # Esc, or Alt-a
        ("\x1b\x1b[A", "↑", ""),
        ("a\x1b", "a", "\x1b"),
        ("a\x1b[", "a", "\x1b["),
        ("a\x1b[1;5", "a", "\x1b[1;5"),
        ("a\x1b[[", "a", "\x1b[["),
        ("a\x1bO", "a", "\x1bO"),
    ],
)
def test_keys(sent: str, keys: str, unfinished: str) -> None:
    assert split_keys(sent) == (keys, unfinished)


@pytest.mark.parametrize("sent", ["\x1b[A", "a\x1b[1;5Bd", "\x1bOC", "\x1b[15~s", "\x1b[[Ad"])
def test_a_sequence_may_come_in_pieces(sent: str) -> None:
    whole, _ = split_keys(sent)
    found, tail = "", ""
    for letter in sent:
        keys, tail = split_keys(tail + letter)
        found += keys
    assert (found, tail) == (whole, "")
