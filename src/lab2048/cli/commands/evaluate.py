"""`lab2048 evaluate`: play games with a network."""

from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.commands import match
from lab2048.cli.option_types import Within
from lab2048.cli.options import MANY_GAMES, SEED, WORKERS, JsonOption, RequireOption, StoreOption


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Network file written by lab2048 train.")],
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games to play."), MANY_GAMES] = 1000,
    depth: Annotated[
        int, typer.Option("--depth", "-d", metavar="N", help="Own moves to look ahead."), Within(1, 12)
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", "-s", metavar="N", help="Seed of the games."), SEED] = 2048,
    workers: Annotated[
        int, typer.Option("--workers", "-w", metavar="N", help="Parallel games (0 = one per core)."), WORKERS
    ] = 0,
    as_json: JsonOption = False,
    require: RequireOption = None,
    keep: Annotated[bool, typer.Option(help="Save every game in the store.")] = False,
    store: StoreOption = None,
) -> None:
    """Play games with a network, by the rules it was trained on.

    Example: lab2048 evaluate my.safetensors --games 1000 --depth 1
    """
    from lab2048.library.network import open_network
    from lab2048.players.registry import options

    network = open_network(file)
    chosen = {"depth": depth} if "depth" in options(network.player_name) else {}
    rules = network.rules.to_json()
    match.match(
        [network.player(**chosen).spec],
        rules=rules.pop("board"),
        games=games,
        seed=seed,
        workers=workers,
        as_json=as_json,
        require=require,
        keep=keep,
        store=store,
        **rules,
    )
