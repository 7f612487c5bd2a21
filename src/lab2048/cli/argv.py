"""`--color`, which every command takes and which may stand anywhere on the command line."""

import contextlib
import copy
import os
from collections.abc import Iterator
from typing import Any

from lab2048.cli.command_tree import Command, walk
from lab2048.errors import UnknownNameError, UsageError

WHEN = ("auto", "always", "never")
_COLOUR = ("--color", "--colour")


def take_colour(words: list[str]) -> tuple[list[str], str | None]:
    """Return the words without `--color WHEN`, and its last value.

    >>> take_colour(["match", "--color=never", "random"])
    (['match', 'random'], 'never')
    """
    left: list[str] = []
    when: str | None = None
    following = iter(words)
    for word in following:
        name, equals, value = word.partition("=")
        if word == "--":
            left += [word, *following]
        elif name in _COLOUR:
            when = value if equals else next(following, "")
            check_colour(when)
        else:
            left.append(word)
    return left, when


def check_colour(when: str) -> None:
    """Raise UsageError unless `when` is auto, always or never."""
    if when not in WHEN:
        expected = "expected auto, always or never"
        if not when:
            raise UsageError(f"--color needs a value: {expected}", code="color.missing", field="color")
        raise UnknownNameError("color", when, WHEN, expected)


@contextlib.contextmanager
def coloured(when: str | None) -> Iterator[None]:
    """Switch colours on or off, for this process and those that it starts.

    None or auto: FORCE_COLOR decides, then NO_COLOR, then whether the output is a terminal.
    """
    names = ("FORCE_COLOR", "NO_COLOR")
    before = {name: os.environ.get(name) for name in names}
    wants = {"always": True, "never": False}.get(when or "")
    if wants is None and (before["FORCE_COLOR"] or before["NO_COLOR"]):
        wants = bool(before["FORCE_COLOR"])
    # Other libraries read these too, and not all of them ignore an empty value.
    for name, is_set in zip(names, (wants is True, wants is False), strict=True):
        os.environ.pop(name, None)
        if is_set:
            os.environ[name] = before[name] or "1"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def show_colour_everywhere(root: Command) -> None:
    """List `--color` in the help of every command, and complete it there; `take_colour` reads it."""
    shown: Any = copy.copy(next(parameter for parameter in root.params if parameter.name == "color"))
    shown.expose_value = False
    for path, command in walk(root):
        if path and shown.name not in [parameter.name for parameter in command.params]:
            command.params = [*command.params, shown]
