"""Options shared by several commands, and messages on standard error."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.option_types import Readable, Within
from lab2048.views.wrap import columns_of, folded


def _read_player(spec: str) -> object:
    """Accept a name unlike all known ones, because a player file may define it."""
    from lab2048.errors import UsageError, closest
    from lab2048.players import canonical_spec, names

    name = spec.strip().partition(":")[0]
    try:
        return canonical_spec(spec)
    except UsageError as error:
        if error.code == "player.unknown" and (not name or not closest(name, names())):
            return None
        raise


def _read_requirement(text: str) -> object:
    """Check the syntax only: the number of players is not known yet."""
    from lab2048.arena.requirement import Requirement

    return Requirement.from_text(text, sys.maxsize)


GOAL, SEED = Readable("lab2048.rules.rules:read_goal"), Readable("lab2048.rules.dice:check_seed")
PLAYER = Readable(_read_player, is_late=True)  # a player file may be loaded later
GAMES, MANY_GAMES, WORKERS = Within(1, 1_000_000), Within(1, 10_000_000), Within(0, 256)
RulesOption = Annotated[
    str,
    typer.Option("--rules", "-r", metavar="BOARD", help="4x4, 3x5, hex2, tri3, or a map: ##x|#2#|### (x is a brick)."),
    Readable("lab2048.rules.notation:read_map"),
]
GoalOption = Annotated[
    int,
    typer.Option("--goal", metavar="TILE", help="Tile that wins; the game goes on unless it is told to stop there."),
    GOAL,
]
SpawnOption = Annotated[
    str,
    typer.Option("--spawn", metavar="TABLE", help="New tiles and their probabilities, such as 2:0.9,4:0.1."),
    Readable("lab2048.rules.rules:read_spawn_table"),
]
StartOption = Annotated[
    int | None,
    typer.Option("--start", metavar="N", help="Number of tiles at the start (default: 2, or 0 if the map has tiles)."),
    Within(0, 64, is_late=True),
]
SpawnerOption = Annotated[
    str,
    typer.Option("--spawner", metavar="WHO", help="How new tiles are placed: fair, first or worst."),
    Readable("lab2048.rules.rules:read_spawner", words=("fair", "first", "worst")),
]
StopOption = Annotated[bool, typer.Option("--stop-at-goal", help="End a game when the goal is reached.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", "-s", metavar="N", help="Random seed (default: a new one)."), SEED
]
RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="FIGURE",
        help="Exit with code 4 unless this holds: 'mean>=380000', 'win2048>=90%', '2.median>1000', 'lead-low>0'.",
    ),
    Readable(_read_requirement, is_late=True),
]
PlayerFileOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--player-file", metavar="FILE", help="Python file with your own players or evaluators; can be repeated."
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite files that exist already.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="WHERE", help="Run on a Ray cluster: auto, local, or an address such as 10.0.0.5:6379."
    ),
    Readable("lab2048.cluster.connection:check_where"),
]
StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Store of games (default: in your data folder)."),
]


def load_players(files: "Sequence[Path] | None") -> None:
    """Load the files of `--player-file`; those of the players folder are loaded when they are needed."""
    if files:
        from lab2048.players import load_player_file

        for path in files:
            load_player_file(path)


def say(message: str) -> None:
    """Print a message on standard error, wrapped at words; standard output is for results."""
    print(folded(message, columns_of(sys.stderr)), file=sys.stderr, flush=True)


def is_typed(context: typer.Context, name: str) -> bool:
    """Return True if an option was given on the command line, not by a setting."""
    return _source(context, name) == "COMMANDLINE"


def is_set(context: typer.Context, name: str) -> bool:
    """Return True if an option was given on the command line, by a variable or in a file."""
    return _source(context, name) != "DEFAULT"


def _source(context: typer.Context, name: str) -> str:
    """Compare by name, because Typer does not export the class."""
    source = context.get_parameter_source(name)
    return source.name if source else "DEFAULT"


def read_board(text: str) -> str:
    """Return the typed board; - reads it from standard input."""
    if text != "-":
        return text
    if sys.stdin.isatty():
        say("type or paste a board, then press Enter and Ctrl-D")
    return sys.stdin.read()
