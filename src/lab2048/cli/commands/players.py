"""`lab2048 players`: the players and their options."""

import sys
from typing import Annotated, Any

import typer

from lab2048.cli.command import Commands, Group
from lab2048.cli.options import JsonOption, PlayerFileOption, load_players, say
from lab2048.cli.output import print_json
from lab2048.errors import UsageError, closest, nearest, unknown
from lab2048.views.wrap import columns_of, folded


class _Players(Group):
    """`lab2048 players first` means `lab2048 players show first`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; any other word is a player, unless a second player follows."""
        from lab2048.players import names

        word, *others = args
        if word not in self.commands:
            has_player = any(not other.startswith("-") and other.partition(":")[0] in names() for other in others)
            if has_player or closest(word, [*names(), *self.commands]) in self.commands:
                raise UsageError(unknown("command", f"players {word}", otherwise=nearest(word, self.commands)))
            args = ["show", *args]
        return super().resolve_command(ctx, args)


app = Commands(
    "List the players; `lab2048 players show PLAYER` shows the options of one.\n\n"
    "Write a player with its options as expectimax:depth=3,eval=snake\n\n"
    "Example: lab2048 players show expectimax",
    _Players,
)


@app.callback()
def players(context: typer.Context, as_json: JsonOption = False, player_file: PlayerFileOption = None) -> None:
    if context.invoked_subcommand is not None:
        load_players(player_file)
        context.obj = as_json
        return
    list_players(context, as_json, player_file)


@app.command("list")
def list_players(context: typer.Context, as_json: JsonOption = False, player_file: PlayerFileOption = None) -> None:
    """List the players, each with its options and their defaults.

    Example: lab2048 players list
    """
    from lab2048.players import names

    load_players(player_file)
    as_json = as_json or bool(context.obj)
    found = [describe(name) for name in names()]
    if as_json:
        print_json("players-1", {"players": found})
        return
    columns, indent = columns_of(sys.stdout), " " * 13
    for player in found:
        print(folded(f"{player['name']:<12} {player['doc']}", columns, indent))
        if player["options"]:
            options = ", ".join(_assigned(option) for option in player["options"])
            print(folded(f"{indent}options: {options}", columns, indent))
    if sys.stdout.isatty():
        say("lab2048 players show PLAYER explains the options of a player")


@app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PLAYER", help="Name, such as expectimax.")],
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Show a player: every option with its default and meaning.

    Example: lab2048 players show expectimax
    """
    load_players(player_file)
    player = describe(name.partition(":")[0])
    if as_json or context.obj:
        print_json("player-1", player)
        return
    print(folded(f"{player['name']}: {player['doc']}", columns_of(sys.stdout)))
    if not player["options"]:
        print("no options")
    rows = [(_assigned(option), "|".join(option["choices"]) or option["type"]) for option in player["options"]]
    width, kinds = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    columns = columns_of(sys.stdout)
    indent = min(width + kinds + 8, (columns or 1000) // 2)
    for (assigned, kind), option in zip(rows, player["options"], strict=True):
        print(folded(f"    {assigned:<{width}}  {kind:<{kinds}}  {option['doc']}", columns, " " * indent))
    if not player["is_interactive"]:
        print(f'try: lab2048 hint "2 4 8 # / # # 2 #" --player {player["name"]}')


def describe(name: str) -> dict[str, Any]:
    """Return a player as data."""
    from lab2048.players.registry import options, player_class, summary

    kind = player_class(name)
    fields = [
        {
            "name": key,
            "type": _type(field.type),
            "default": field.default,
            "doc": field.metadata.get("doc", ""),
            "choices": list(field.metadata.get("choices", ())),
        }
        for key, field in options(name).items()
    ]
    return {
        "name": name,
        "doc": summary(name),
        "measure": kind.measure,
        "is_interactive": kind.is_interactive,
        "options": fields,
    }


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__qualname__", str(annotation))
    words = {"int": "whole number", "float": "number", "bool": "true or false", "str": "text"}
    return words.get(text.removesuffix(" | None"), text)


def _assigned(option: dict[str, Any]) -> str:
    """Write an option with its default; `depth=` if it has none."""
    value = option["default"]
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"{option['name']}={text}"
