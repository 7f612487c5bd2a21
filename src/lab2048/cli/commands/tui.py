"""`lab2048 tui`: lab2048 in a full-screen terminal."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.option_types import AtLeast
from lab2048.cli.options import (
    PLAYER,
    GoalOption,
    PlayerFileOption,
    RulesOption,
    SeedOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StopOption,
    StoreOption,
    is_set,
    is_typed,
    load_players,
)
from lab2048.cli.rescue import rescue
from lab2048.errors import UsageError
from lab2048.extras import need

if TYPE_CHECKING:
    from lab2048.arena.session import Session

# With one of these options a game starts at once, without the menu.
_OF_RULES = ("rules", "goal", "spawn", "start", "spawner", "stop_at_goal", "seed")
_OF_A_GAME = (*_OF_RULES, "player")


def tui(
    context: typer.Context,
    rules: RulesOption = "4x4",
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    stop_at_goal: StopOption = False,
    seed: SeedOption = None,
    player: Annotated[
        str, typer.Option("--player", "-p", metavar="PLAYER", help="Player that gives hints and takes over."), PLAYER
    ] = "",
    ascii_: Annotated[bool, typer.Option("--ascii", help="Use only ASCII characters.")] = False,
    motion: Annotated[bool, typer.Option(help="Animate slides.")] = True,
    game: Annotated[
        int | None,
        typer.Option("--game", metavar="ID", help="Continue a saved game."),
        AtLeast(1),
    ] = None,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Play, watch, match, train and solve in a full-screen terminal.

    Without options it shows a menu.  --player, --seed or an option of the rules starts a new game, --game continues a
    saved one.  Press ? for the keys of each screen.

    Example: lab2048 tui --rules hex2
    """
    need("app")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise UsageError("tui needs a terminal: use lab2048 play, which also reads lines")
    if game is not None and (typed := [name for name in _OF_RULES if is_typed(context, name)]):
        option = typed[0].replace("_", "-")
        raise UsageError(f"--game and --{option}: a saved game has its own {option}; expected only one of them")

    import random

    from lab2048.players.player_file import load_players_folder
    from lab2048.records.store import Store
    from lab2048.records.store_file import VIEW_SECONDS
    from lab2048.rules import Rules
    from lab2048.rules.dice import MAX_SEED

    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner, stop_at_goal=stop_at_goal)
    the_seed = random.SystemRandom().randint(0, MAX_SEED) if seed is None else seed
    # Options that were given are the defaults of the forms; a seed is used for one game only.
    said = {name: str(context.params[name]) for name in _OF_A_GAME if name != "seed" and is_set(context, name)}
    if "rules" in said:
        said["board"] = said.pop("rules")
    if said.pop("stop_at_goal", None):
        said["stop"] = "yes" if stop_at_goal else "no"

    from lab2048.arena.session import Session
    from lab2048.views.tui.app import LabApp, check_surroundings

    check_surroundings()
    load_players(player_file)
    load_players_folder()  # its warnings come before the screen is taken
    with Store.open(store, timeout=VIEW_SECONDS) as the_store:
        first = None
        if game is not None:
            from lab2048.views.tui.screens.form import continue_game

            first = continue_game(the_store.get(game).episode, the_store, spec=player)
        elif any(is_typed(context, name) for name in _OF_A_GAME):
            from lab2048.views.tui.screens.form import default_player
            from lab2048.views.tui.screens.play import PlayScreen

            first = PlayScreen(Session(the_rules, the_seed, the_store), default_player(the_rules, player))
        app = LabApp(
            the_store,
            is_ascii=ascii_,
            has_motion=motion and None,
            first=first,
            store_file=store if is_typed(context, "store") else None,  # jobs read other settings themselves
            defaults=said,
        )
        app.run()
        if app.last:
            _tell_last(app.last, ["--store", str(app.store_file)] if app.store_file else [])
    code = rescue(app.unsaved, app.unsaved_reason, the_store.path)
    if app.failure is not None:
        raise app.failure
    raise typer.Exit(code or app.return_code or 0)


def _tell_last(session: "Session", words: list[str]) -> None:
    """Print the last game after the full screen is closed."""
    from lab2048.jobs.command_line import command_line
    from lab2048.views.number import count
    from lab2048.views.tui.widgets.facts import rules_text

    game = session.last_played
    if game is None or not game.turns:
        return
    told = f"2048 on {rules_text(game.rules)}, seed {game.seed}, score {game.score}, {count(len(game.turns), 'move')}"
    further = command_line(["tui", "--game", str(session.last_id), *words])
    print(told if session.last_id is None else f"{told}; continue with {further}")
