"""The words of a command line, before a command understands them.

`--color` holds for every command and may stand anywhere; whole numbers may be written as people
write large ones, 3e5.
"""

import contextlib
import copy
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from lab2048.cli.command_tree import Command, children, kinds, walk
from lab2048.errors import UsageError, nearest

WHEN = ("auto", "always", "never")
_COLOUR = ("--color", "--colour")
_POWER = re.compile(r"[0-9]+(\.[0-9]+)?[eE]\+?[0-9]{1,2}", re.ASCII)


def take_colour(words: list[str]) -> tuple[list[str], str | None]:
    """The words without `--color WHEN`, and when that is; the last one counts.

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
    """Refuse any word but the three."""
    if when not in WHEN:
        expected = nearest(when, WHEN, "expected auto, always or never")
        raise UsageError(f"color {when!r} is unknown: {expected}" if when else f"--color needs a word: {expected}")


@contextlib.contextmanager
def coloured(when: str | None) -> Iterator[None]:
    """Have colours always or never, here and in all that is started from here.

    Nothing said, or auto: FORCE_COLOR decides, then NO_COLOR, then whether there is a terminal.
    """
    names = ("FORCE_COLOR", "NO_COLOR")
    before = {name: os.environ.get(name) for name in names}
    wants = {"always": True, "never": False}.get(when or "")
    if wants is None and (before["FORCE_COLOR"] or before["NO_COLOR"]):
        wants = bool(before["FORCE_COLOR"])
    # Other libraries look there too, and not all of them know that an empty one says nothing.
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
    """List `--color` in the help of every command, and let the shell complete it there; `take_colour` takes it."""
    shown: Any = copy.copy(next(parameter for parameter in root.params if parameter.name == "color"))
    shown.expose_value = False
    for path, command in walk(root):
        if path and shown.name not in [parameter.name for parameter in command.params]:
            command.params = [*command.params, shown]


def spell_out_numbers(root: Command, words: list[str]) -> list[str]:
    """`--games 3e5` becomes `--games 300000`, wherever a whole number is expected."""
    if not any(_POWER.search(word) for word in words):
        return words
    command, takes, spelt = root, kinds(root), list[str]()
    pending: type | None = None  # of the option that waits for its value
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if pending is not None:
            spelt.append(whole(word) if pending is int else word)
            pending = None
        elif word == "--":
            return [*spelt, *words[i:]]
        elif word in takes and takes[word] is not bool:
            spelt.append(word)
            pending = takes[word]
        elif equals and takes.get(name) is int:
            spelt.append(f"{name}={whole(value)}")
        elif word[:1] == "-" and word[1:2] != "-" and takes.get(word[:2]) is int:
            spelt.append(word[:2] + whole(word[2:]))
        else:
            spelt.append(word)
            if word in children(command):
                command = children(command)[word]
                takes = kinds(command)
    return spelt


def whole(text: str) -> str:
    """A whole number in digits; any other text as it is.

    >>> whole("3e5"), whole("1.5e3"), whole("1.25e1"), whole("e5")
    ('300000', '1500', '1.25e1', 'e5')
    """
    if not _POWER.fullmatch(text):
        return text
    number = Decimal(text)
    return str(int(number)) if number == number.to_integral_value() else text
