"""`lab2048 prepare`: compile kernels and unpack the network ahead of time."""

from typing import Annotated

import typer

from lab2048.cli.progress import make_ready


def prepare(
    everything: Annotated[bool, typer.Option("--all", help="Compile the kernels of all commands.")] = False,
) -> None:
    """Compile kernels and unpack the network now, so that later commands start at once.

    Without --all, prepare what the default player needs. Commands compile whatever else they need.

    Example: lab2048 prepare
    """
    from lab2048.arena.compile import usual_groups
    from lab2048.kernels.group import GROUPS

    make_ready(*(GROUPS if everything else ()), *usual_groups())
