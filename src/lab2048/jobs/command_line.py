"""Command lines: the one home of `lab2048 ...` as a user would type it."""

import shlex
from collections.abc import Iterable

from lab2048.players.registry import files_of
from lab2048.rules import Rules


def command_line(words: Iterable[str]) -> str:
    """Return a command as a user would type it.

    >>> command_line(["hint", "2 2 / . ."])
    "lab2048 hint '2 2 / . .'"
    """
    return shlex.join(["lab2048", *words])


def rules_options(
    rules: Rules,
    *,
    has_board: bool = True,
    has_goal: bool = True,
    has_start: bool = True,
    has_classic: bool = True,
    has_stop: bool = True,
) -> list[str]:
    """Return the options for rules; defaults are left out, and without `has_classic` the classic board, too.

    >>> rules_options(Rules.from_text("3x3", goal=512))
    ['--rules', '3x3', '--goal', '512']
    """
    board = rules.board_text
    data, default = rules.to_json(), Rules.from_text(board).to_json()
    words = ["--rules", board] if has_board else []
    taken = {"goal": has_goal, "spawn": True, "start": has_start, "spawner": True}
    for name, is_taken in taken.items():
        if is_taken and data[name] != default[name]:
            words += [f"--{name}", str(data[name])]
    words += ["--stop-at-goal"] if rules.stop_at_goal and has_stop else []
    return [] if words == ["--rules", "4x4"] and not has_classic else words


def file_options(specs: Iterable[str]) -> list[str]:
    """Return the options that load the player files of these players, as far as they are not loaded anyway."""
    return [word for path in files_of(specs) for word in ("--player-file", str(path))]


def exact(value: float) -> str:
    """Return a number for a command line, as short as it can be without being rounded.

    >>> exact(1e8), exact(123456789.0), exact(0.1234567), exact(0.5)
    ('1e+08', '123456789', '0.1234567', '0.5')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")
