"""Training options as data: the fields of a Config know their range and what they mean.

The command line, the page, studies and docs are made from them, so an option is declared once.
Nothing here imports numba or torch.
"""

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

from lab2048.errors import FileError, OutOfRangeError, UnknownNameError, UsageError
from lab2048.rules import Rules

MAX_NUMBER = 1e300  # of a whole number: larger ones are no floats
CURVE_GROWTH = 1.02  # a learning curve gets a point each time its games or moves have grown by this factor
_EXPECTED = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Option:
    """One option of a training method."""

    name: str  # in files, studies and the API
    kind: type  # bool, int, float or str
    default: Any
    doc: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    is_fixed: bool = False  # cannot change when a training is resumed
    flag: str = ""  # on the command line, without the dashes
    metavar: str = ""
    before: Any = ...  # its value in checkpoints older than the option; ... = the default
    check: Callable[[Any], object] | str = ""  # raises an error for a bad value; or `module:function`

    def convert(self, value: Any) -> Any:
        """Return `value`, from JSON or TOML, in the option's type; raise UsageError if the option does not take it."""
        if value is None and self.default is None:
            return None
        if self.kind in (bool, str):
            fits = isinstance(value, self.kind)
        else:
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            fits = fits and (isinstance(value, float) or abs(value) < MAX_NUMBER)
            fits = fits and (self.kind is float or float(value).is_integer())
        if not fits:
            raise UsageError(f"{self.flag} {str(value)[:40]!r}: expected {_EXPECTED[self.kind]}", field=self.flag)
        if self.choices and value not in self.choices:
            raise UnknownNameError(self.flag, value, self.choices)
        if self.low is not None and self.high is not None and not self.low <= value <= self.high:
            raise OutOfRangeError(self.flag, f"{value:g}", f"{self.low:g} to {self.high:g}")
        if self.check:
            load(self.check)(value)
        return self.kind(value)


def option(default: Any, doc: str, **more: Any) -> Any:
    """Declare a field of a Config; `more` are fields of Option."""
    return field(default=default, metadata={"doc": doc} | more)


def with_default(config: Any, name: str, default: Any) -> Any:
    """Declare an inherited option again with another default."""
    return field(default=default, metadata=config.__dataclass_fields__[name].metadata)


def load(path: Any) -> Any:
    """Import the object named `module:name`; return anything else unchanged."""
    if not isinstance(path, str):
        return path
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class TrainingConfig:
    """Base class of the Configs of all training methods."""

    head: ClassVar[str] = ""  # what a deep network outputs: lab2048.models.deep.design_options
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        for each in self.options():
            each.convert(getattr(self, each.name))

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return the options in the order of their declaration."""
        found = []
        for each in fields(cls):
            kind: Any = next(iter(get_args(each.type)), each.type)  # float of `float | None`
            more: dict[str, Any] = {"flag": each.name.replace("_", "-")} | dict(each.metadata)
            found.append(Option(each.name, kind, each.default, **more))
        return tuple(found)

    @classmethod
    def parse(cls, given: Mapping[str, Any], preset: str = "") -> dict[str, Any]:
        """Convert options from JSON or TOML, on top of a preset; raise UsageError for one that is unknown or wrong."""
        if preset and preset not in cls.presets:
            raise UnknownNameError(
                "preset", preset, cls.presets, "" if cls.presets else "expected none for this method"
            )
        known_options = {each.name: each for each in cls.options()}
        found = dict(cls.presets[preset]) if preset else {}
        for name, value in given.items():
            if name not in known_options:
                raise UnknownNameError("option", name[:40], known_options)
            found[name] = known_options[name].convert(value)
        return found

    @classmethod
    def for_board(cls, rules: Rules, n_moves: float = math.inf, **given: Any) -> Self:  # noqa: ARG003
        """Make a Config; options that are not given get the defaults that work best on a board.

        They may depend on how many moves one thread makes.
        """
        return cls(**given)

    @classmethod
    def moves_within(cls, limits: Mapping[str, float], n_threads: int) -> float:  # noqa: ARG003
        """Return how many moves a training makes within limits of `seconds`, `n_moves` and `n_games`, roughly."""
        return limits.get("n_moves", math.inf)

    @classmethod
    def from_checkpoint(cls, saved: Mapping[str, Any]) -> Self:
        """Make the Config that a checkpoint holds; options that are newer than the file get their value of before.

        Raises KeyError if the checkpoint has none of the options.
        """
        if not any(each.name in saved for each in cls.options()):
            raise KeyError("config")
        values = {each.name: each.default if each.before is ... else each.before for each in cls.options()}
        return cls(**values | {name: value for name, value in saved.items() if name in values})

    @classmethod
    def read_checkpoint(cls, path: Path) -> tuple[Rules, Self]:
        """Read the rules and the Config of a checkpoint without its weights; raise FileError if it has none."""
        rules, facts = cls._read_header(path)
        try:
            return rules, cls.from_checkpoint(facts["training"]["config"])
        except (KeyError, TypeError, AttributeError, UsageError):
            raise not_resumable(path) from None

    @classmethod
    def _read_header(cls, path: Path) -> tuple[Rules, dict[str, Any]]:
        raise NotImplementedError

    def check_unchanged(self, changes: Mapping[str, Any]) -> None:
        """Raise UsageError if `changes` has another value for an option that is fixed once a training has begun."""
        for each in self.options():
            before = getattr(self, each.name)
            if each.is_fixed and changes.get(each.name, before) != before:
                raise UsageError(
                    f"{each.flag} {changes[each.name]}: the network was trained with {before}; "
                    "omit it, or start a new training",
                    field=each.flag,
                )

    def check(self, rules: Rules) -> None:
        """Raise an error if no network can be trained for these rules; compile nothing."""
        raise NotImplementedError

    def groups(self, rules: Rules) -> tuple[str, ...]:
        """Kernel groups to compile before training (lab2048.kernels.group)."""
        raise NotImplementedError

    def sizes(self, rules: Rules, n_moves: float = 0, limit: float = math.inf) -> tuple[int, int]:
        """Return the most bytes that a checkpoint takes after `n_moves`, and after about `limit` moves."""
        raise NotImplementedError


def not_resumable(path: Path, reason: str = "") -> FileError:
    """Return the error for a file that a training cannot be resumed from."""
    what = f"it is damaged ({reason})" if reason else "expected a checkpoint of lab2048 train"
    return FileError(f"{path} cannot be trained further: {what}", code="file.damaged" if reason else None)
