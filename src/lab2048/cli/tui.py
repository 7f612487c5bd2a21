"""`lab2048 tui`: the laboratory on a full screen of the terminal."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.options import GoalOption, RulesOption, SeedOption, StoreOption, give_out
from lab2048.errors import UsageError


def tui(
    rules: RulesOption = "",
    goal: GoalOption = 2048,
    seed: SeedOption = None,
    player: Annotated[
        str, typer.Option("--player", "-p", metavar="PLAYER", help="Who gives hints and takes over.")
    ] = "",
    ascii_: Annotated[bool, typer.Option("--ascii", help="Nothing but ASCII letters.")] = False,
    motion: Annotated[bool, typer.Option(help="Show the slide before the new tile.")] = True,
    store: StoreOption = None,
    player_file: Annotated[
        list[Path] | None, typer.Option("--player-file", metavar="FILE", help="A Python file with players of your own.")
    ] = None,
) -> None:
    """Play, watch, match, train and solve on a full screen.

    Without options it begins with a menu; with --rules, --seed or --player with a game.
    ? shows the keys of each screen.

    Example: lab2048 tui --rules hex2
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UsageError("tui needs a terminal: expected one, or use lab2048 play, which also reads lines")

    import random

    from lab2048.records.store import Store
    from lab2048.rules import Rules
    from lab2048.rules.dice import MAX_SEED, check_seed

    wants_game = bool(rules or player or seed is not None)
    the_rules = Rules.from_text(rules or "4x4", goal=goal)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else check_seed(seed)

    from lab2048.arena.sitting import Sitting
    from lab2048.views.tui.app import LabApp, check_surroundings

    check_surroundings()
    files = player_file or []
    if files:
        from lab2048.players import load_player_file

        for path in files:
            load_player_file(path)
    with Store.open(store) as the_store:
        first = None
        if wants_game:
            from lab2048.views.tui.form import default_player
            from lab2048.views.tui.play import PlayScreen

            first = PlayScreen(Sitting(the_rules, the_seed, the_store), default_player(the_rules, player))
        app = LabApp(the_store, is_ascii=ascii_, has_motion=motion and None, first=first, player_files=files)
        app.run()
    give_out(app.unkept)
    if app.failure is not None:
        raise app.failure
    raise typer.Exit(app.return_code or 0)
