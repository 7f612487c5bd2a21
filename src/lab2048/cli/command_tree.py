"""The tree of commands and options, for completion, settings and help."""

import functools
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

Command = Any  # Typer does not export its command classes


@dataclass(frozen=True)
class Option:
    """An option of a command, such as --games of match."""

    command: tuple[str, ...]
    name: str  # as typed, without the dashes
    parameter: Any  # of Typer
    kind: type  # bool, int, float, str or Path
    is_many: bool  # may be given several times
    hint: Any = None  # its annotation

    @property
    def key(self) -> str:
        """Return its name in a configuration file: match.games."""
        return ".".join((*self.command, self.name))


def children(command: Command) -> dict[str, Command]:
    """Return the subcommands by name, without hidden ones."""
    found: dict[str, Command] = getattr(command, "commands", {})
    return {name: child for name, child in found.items() if not child.hidden}


def walk(command: Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Yield a command and all its subcommands, each with its path."""
    yield path, command
    for name, child in children(command).items():
        yield from walk(child, (*path, name))


def long_name(parameter: Any) -> str:
    """Return the name of a parameter as it is typed, without dashes."""
    return str(next((name for name in parameter.opts if name.startswith("--")), parameter.opts[0])).lstrip("-")


def options(path: tuple[str, ...], command: Command) -> Iterator[Option]:
    """Yield the options of a command."""
    hints = typing.get_type_hints(command.callback, include_extras=True) if command.callback else {}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            hint = hints.get(parameter.name, str)
            kind, is_many = _kind(annotated(hint)[0])
            yield Option(path, long_name(parameter), parameter, kind, is_many, hint)


def annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type, and the metadata beside it in `Annotated[...]`."""
    if typing.get_origin(hint) is Annotated:
        return hint.__origin__, hint.__metadata__
    return hint, ()


def element_type(hint: Any) -> type:
    """Return the type of one value: `list[Path] | None` gives Path; the default is text."""
    return _kind(hint)[0]


def _kind(hint: Any) -> tuple[type, bool]:
    """Return the type of one value, and whether there may be many: `list[Path] | None` gives (Path, True)."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    if typing.get_origin(hint) in (list, tuple):
        return _kind(typing.get_args(hint)[0])[0], True
    return (hint if hint in (bool, int, float, Path) else str), False


def option_of(function: Callable[..., None]) -> Callable[[], Any]:
    """Make a function with one parameter return that parameter as Typer builds it, to add to other commands."""

    @functools.cache
    def option() -> Any:
        app = typer.Typer(add_completion=False)
        app.command()(function)
        return typer.main.get_command(app).params[0]

    return option
