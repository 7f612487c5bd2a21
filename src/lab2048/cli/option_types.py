"""Checks of option values, declared in `Annotated[...]`.

Typed values and settings pass the same checks before a command starts.  `lab2048 config show` and
`lab2048 doctor` use them to report invalid settings, and completion offers the words that they list.
"""

import copy
import dataclasses
import functools
import importlib
import re
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lab2048.cli.command_tree import Command, annotated, element_type, long_name
from lab2048.errors import LabError, OutOfRangeError, UnknownNameError, UsageError

_NUMBERS: dict[type, str] = {int: "a whole number", float: "a number"}
_POWER = re.compile(r"[0-9]+(\.[0-9]+)?[eE]\+?[0-9]{1,2}", re.ASCII)


class Check(ABC):
    """A check in the annotation of an option that rejects invalid values."""

    is_late: bool = (
        False  # True: the command checks typed values itself, with more information; only settings are checked here
    )
    words: Sequence[str] = ()  # all accepted values, if they are few

    @abstractmethod
    def __call__(self, name: str, value: Any) -> None:
        """Raise LabError if the value is not valid for the option `name`."""


@dataclass(frozen=True)
class Within(Check):
    """A number from a range, including both ends."""

    low: float
    high: float
    is_late: bool = False

    def __call__(self, name: str, value: Any) -> None:
        """Reject a number outside the range."""
        if not self.low <= value <= self.high:
            raise OutOfRangeError(name, _number(value), f"{_number(self.low)} to {_number(self.high)}")


@dataclass(frozen=True)
class Above(Check):
    """A number above `low`, at most `high`."""

    low: float
    high: float

    def __call__(self, name: str, value: Any) -> None:
        """Reject a number outside the range."""
        if not self.low < value <= self.high:
            most = f", at most {_number(self.high)}" if self.high < 1e9 else ""
            raise OutOfRangeError(name, _number(value), f"above {_number(self.low)}{most}")


@dataclass(frozen=True)
class AtLeast(Check):
    """A number without an upper limit."""

    low: float

    def __call__(self, name: str, value: Any) -> None:
        """Reject a smaller number."""
        if not value >= self.low:
            raise OutOfRangeError(name, _number(value), f"{_number(self.low)} or more")


@dataclass(frozen=True)
class OneOf(Check):
    """One of a few words."""

    words: Sequence[str]

    def __call__(self, name: str, value: Any) -> None:
        """Reject any other word."""
        if value not in self.words:
            raise UnknownNameError(name, value, self.words)


@dataclass(frozen=True)
class Readable(Check):
    """A value that a function parses without an error; `module:name` is imported when called."""

    read: Callable[[Any], object] | str
    is_late: bool = False
    words: Sequence[str] = ()

    def __call__(self, name: str, value: Any) -> None:  # noqa: ARG002 - the parser's error names the option
        """Parse the value and drop the result."""
        read = self.read
        if isinstance(read, str):
            module, _, function = read.partition(":")
            read = getattr(importlib.import_module(module), function)
        read(value)


def checks_of(hint: Any) -> tuple[Check, ...]:
    """Return the checks in an annotation."""
    return tuple(each for each in annotated(hint)[1] if isinstance(each, Check))


def parameter_checks(command: Command, parameter: Any) -> tuple[Check, ...]:
    """Return the checks that are declared beside a parameter."""
    return checks_of(_hints(command.callback).get(parameter.name)) if command.callback else ()


def words_of(command: Command, parameter: Any) -> Sequence[str]:
    """Return all values that a parameter accepts; none if they are not declared."""
    return next((check.words for check in parameter_checks(command, parameter) if check.words), ())


def apply_checks(checks: Iterable[Check], name: str, value: Any) -> None:
    """Raise LabError if a value, or one of several, is rejected; None is always accepted."""
    for each in value if isinstance(value, list | tuple) else [value]:
        for check in checks:
            if each is not None:
                check(name, each)


def problem(checks: Iterable[Check], name: str, value: Any) -> LabError | None:
    """Return the error of an invalid value, or None."""
    try:
        apply_checks(checks, name, value)
    except LabError as error:
        return error
    return None


def adapt(parameter: Any) -> None:
    """Have a parameter of Typer read numbers such as 3e5, and checked as it was declared."""
    parameter.callback = functools.partial(_check, parameter.callback)
    described = parameter.type_descriptor
    kind = element_type(described.annotation)
    if kind in _NUMBERS and described.parameter_info.parser is None:
        info = copy.copy(described.parameter_info)
        info.parser = functools.partial(_read_number, parameter, kind)
        parameter.type_descriptor = dataclasses.replace(described, parameter_info=info)


def whole(text: str) -> str:
    """Return a whole number in digits, any other text unchanged.

    >>> whole("3e5"), whole("1.5e3"), whole("1.25e1"), whole("e5")
    ('300000', '1500', '1.25e1', 'e5')
    """
    if not _POWER.fullmatch(text):
        return text
    number = Decimal(text)
    return str(int(number)) if number == number.to_integral_value() else text


def _check(before: Callable[..., Any] | None, context: Any, parameter: Any, value: Any) -> Any:
    """Check a parsed value, as a callback of Typer; `before` is the parameter's own callback."""
    if not context.resilient_parsing:
        checks = [check for check in parameter_checks(context.command, parameter) if not check.is_late]
        apply_checks(checks, long_name(parameter), value)
    return before(context, parameter, value) if before else value


@functools.cache
def _hints(run: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(run, include_extras=True)


def _read_number(parameter: Any, kind: type, value: Any) -> Any:
    try:
        return kind(whole(str(value)) if kind is int else value)
    except ValueError:
        is_option = parameter.param_type_name == "option"
        shown = f"--{long_name(parameter)}" if is_option else parameter.metavar or parameter.name
        message = f"{shown} {value!r} is not understood: expected {_NUMBERS[kind]}"
        raise UsageError(message, field=long_name(parameter)) from None


def _number(value: float) -> str:
    return (
        str(int(value)) if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e12) else f"{value:g}"
    )
