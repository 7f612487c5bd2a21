"""What an option takes, said where it is declared.

So a word that is typed and a setting are judged alike, before a command does anything; and whoever only asks what is
set (`lab2048 config show`, `lab2048 doctor`) hears of what is wrong with it, too.
"""

import functools
import importlib
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.cli.command_tree import Command, annotated, long_name, walk
from lab2048.errors import LabError, UsageError, nearest


class Check(ABC):
    """Stands beside an option in `Annotated[...]`, and refuses what the option does not take."""

    is_late: bool = False  # True: what is typed is judged by the command, which knows more; settings are judged here

    @abstractmethod
    def __call__(self, name: str, value: Any) -> None:
        """Raise an error, which calls the option by its name, if it does not take a value."""


@dataclass(frozen=True)
class Within(Check):
    """A number from a range, both ends included."""

    low: float
    high: float
    is_late: bool = False

    def __call__(self, name: str, value: Any) -> None:
        """Refuse what is below or above."""
        if not self.low <= value <= self.high:
            raise UsageError(
                f"{name} {_number(value)} is out of range: expected {_number(self.low)} to {_number(self.high)}"
            )


@dataclass(frozen=True)
class Above(Check):
    """A number above another one, and at most so large."""

    low: float
    high: float

    def __call__(self, name: str, value: Any) -> None:
        """Refuse what is not above it, or too large."""
        if not self.low < value <= self.high:
            most = f", at most {_number(self.high)}" if self.high < 1e9 else ""
            raise UsageError(f"{name} {_number(value)} is out of range: expected above {_number(self.low)}{most}")


@dataclass(frozen=True)
class AtLeast(Check):
    """A number that may be as large as it likes."""

    low: float

    def __call__(self, name: str, value: Any) -> None:
        """Refuse what is below."""
        if not value >= self.low:
            raise UsageError(f"{name} {_number(value)} is out of range: expected {_number(self.low)} or more")


@dataclass(frozen=True)
class OneOf(Check):
    """One of some words."""

    words: Sequence[str]

    def __call__(self, name: str, value: Any) -> None:
        """Refuse any other."""
        if value not in self.words:
            raise UsageError(f"{name} {value!r} is unknown: {nearest(str(value), self.words)}")


@dataclass(frozen=True)
class Readable(Check):
    """Whatever a function reads without an error: a function, or `module:name` to load only when it is called."""

    read: Callable[[Any], object] | str
    is_late: bool = False

    def __call__(self, name: str, value: Any) -> None:  # noqa: ARG002 - its own error has a name for it
        """Read it, and forget it."""
        read = self.read
        if isinstance(read, str):
            module, _, function = read.partition(":")
            read = getattr(importlib.import_module(module), function)
        read(value)


def checks_of(hint: Any) -> tuple[Check, ...]:
    """The checks that stand in an annotation."""
    return tuple(each for each in annotated(hint)[1] if isinstance(each, Check))


def judge(checks: Iterable[Check], name: str, value: Any) -> None:
    """Raise an error if a value, or one of several, is refused; nothing is always taken."""
    for each in value if isinstance(value, list | tuple) else [value]:
        for check in checks:
            if each is not None:
                check(name, each)


def problem(checks: Iterable[Check], name: str, value: Any) -> str:
    """What is wrong with a value, in one line; empty if nothing is."""
    try:
        judge(checks, name, value)
    except LabError as error:
        return str(error)
    return ""


def check_first(root: Command) -> None:
    """Have every command judge what it was given before it begins."""
    for _, command in walk(root):
        if command.callback is not None:
            command.callback = _checked(command.callback, {each.name: each for each in command.params})


def _checked(run: Callable[..., Any], parameters: dict[str, Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def checked(**given: Any) -> Any:
        hints = typing.get_type_hints(run, include_extras=True)
        for name, value in given.items():
            checks = [check for check in checks_of(hints.get(name)) if not check.is_late]
            if checks and name in parameters:
                judge(checks, long_name(parameters[name]), value)
        return run(**given)

    return checked


def _number(value: float) -> str:
    return (
        str(int(value)) if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e12) else f"{value:g}"
    )
