"""The command line that does the same as a panel of the page."""

import shlex
from collections.abc import Iterable

from lab2048.rules import Rules


def rules_options(rules: Rules, *, has_goal: bool = True) -> list[str]:
    """The words for some rules; what is usual is left out.

    >>> rules_options(Rules.from_text("3x3", goal=512))
    ['--rules', '3x3', '--goal', '512']
    """
    return ["--rules", rules.board.to_text(), *more_options(rules, has_goal=has_goal)]


def more_options(rules: Rules, *, has_goal: bool = True) -> list[str]:
    """The same without the board."""
    data, usual = rules.to_json(), Rules.from_text(rules.board.to_text()).to_json()
    words = []
    for name in ("goal", "spawn", "start", "spawner"):
        if data[name] != usual[name] and (name != "goal" or has_goal):
            words += [f"--{name}", str(data[name])]
    return words


def line(words: Iterable[str]) -> str:
    """A command as a person would type it."""
    return shlex.join(["lab2048", *words])


def exact(value: float) -> str:
    """A number in words of a command, short where that says all of it.

    >>> exact(1e8), exact(123456789.0), exact(0.1234567), exact(0.5)
    ('1e+08', '123456789', '0.1234567', '0.5')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")
