"""`lab2048 players`: who can play, and what can be said to them."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from lab2048.cli.options import JsonOption


def players(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only this player.")] = None,
    as_json: JsonOption = False,
    player_file: Annotated[
        list[Path] | None, typer.Option("--player-file", metavar="FILE", help="A Python file with players of your own.")
    ] = None,
) -> None:
    """List the players with their options.

    Example: lab2048 players first
    """
    from lab2048.players import load_player_file, names

    for path in player_file or ():
        load_player_file(path)
    found = [_describe(each) for each in ([name] if name else names())]
    if as_json:
        print(json.dumps({"schema": "lab2048/players-1", "players": found}))
        return
    for player in found:
        print(f"{player['name']:<12} {player['doc']}")
        for option in player["options"]:
            print(f"    {option['name']}={option['default']!s:<12} {option['doc']}")


def _describe(name: str) -> dict[str, Any]:
    from lab2048.players.registry import options, player_class

    doc = (player_class(name).__doc__ or "").strip().splitlines() or [""]
    fields = [
        {"name": key, "default": field.default, "doc": field.metadata.get("doc", "")}
        for key, field in options(name).items()
    ]
    return {"name": name, "doc": doc[0], "options": fields}
