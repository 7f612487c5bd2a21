"""`--debug`: an option of every command and group, which shows where an error comes from."""

import functools
import os
from typing import Annotated, Any

import typer

VARIABLE = "LAB2048_DEBUG"  # the same for this process and those that it starts


def is_debugging() -> bool:
    return bool(os.environ.get(VARIABLE))


def _choose(context: typer.Context, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        os.environ[VARIABLE] = "1"


@functools.cache
def debug_option() -> Any:
    """Return `--debug` as a parameter of Typer."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def command(
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
        pass

    return typer.main.get_command(app).params[0]
