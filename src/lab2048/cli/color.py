"""`--color`: an option of every command and group, so that it may stand anywhere on the command line."""

import contextlib
import os
from collections.abc import Iterator
from typing import Annotated

import typer

from lab2048.cli.command_tree import option_of
from lab2048.errors import UnknownNameError

WHEN = ("auto", "always", "never")
_CHOSEN = "lab2048.color"  # in the meta data of a context: what restores the environment


@contextlib.contextmanager
def colored(when: str | None) -> Iterator[None]:
    """Switch colors on or off, for this process and those that it starts.

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


def _choose(context: typer.Context, when: str) -> str:
    """Apply the rightmost `--color` of the command line; a command applies its setting if there is none."""
    source = context.get_parameter_source("color")
    is_typed = source is not None and source.name == "COMMANDLINE"
    stack: contextlib.ExitStack | None = context.meta.get(_CHOSEN)
    is_setting = stack is None and context.parent is not None and context.auto_envvar_prefix is not None
    if context.resilient_parsing or not (is_typed or is_setting):
        return when
    if when not in WHEN:
        raise UnknownNameError("color", when, WHEN)
    if stack:
        stack.close()
    context.meta[_CHOSEN] = stack = context.with_resource(contextlib.ExitStack())
    stack.enter_context(colored(when))
    return when


@option_of
def color_option(
    color: Annotated[
        str,
        typer.Option(
            "--color",
            "--colour",
            metavar="WHEN",
            envvar=["LAB2048_COLOR"],
            allow_from_autoenv=False,
            show_envvar=False,
            help="Colors: auto, always or never.",
            callback=_choose,
            is_eager=True,
            expose_value=False,
        ),
    ] = "auto",
) -> None:
    """Return `--color` as a parameter of Typer."""
