"""`--debug`: an option of every command and group, which shows where an error comes from."""

import os
from typing import Annotated

import typer

from lab2048.cli.command_tree import option_of

VARIABLE = "LAB2048_DEBUG"  # the same for this process and those that it starts


def is_debugging() -> bool:
    return bool(os.environ.get(VARIABLE))


def _choose(context: typer.Context, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        os.environ[VARIABLE] = "1"


@option_of
def debug_option(
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Show the traceback of an error in your own player.",
            callback=_choose,
            is_eager=True,
            expose_value=False,
        ),
    ] = False,
) -> None:
    """Return `--debug` as a parameter of Typer."""
