"""`lab2048 perft`: count the ways that a board can go on."""

from typing import Annotated

import typer

from lab2048.cli.check import Within
from lab2048.cli.options import JsonOption, SpawnOption, StartOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, working


def perft(
    rules: Annotated[str, typer.Argument(metavar="BOARD", help="Such as 22##|####|####|#### or 3x3.")],
    depth: Annotated[int, typer.Argument(metavar="DEPTH", help="How many turns."), Within(0, 20)],
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of turns, each a slide and a spawn, from a board.

    Without tiles on the map, the first tiles are part of the sequences.

    Example: lab2048 perft "22##|####|####|####" 2
    """
    from lab2048.arena.perft import check_starts, count_sequences
    from lab2048.rules import Rules

    the_rules = Rules.from_text(rules, spawn=spawn, start=start)
    check_starts(the_rules)
    make_ready()
    with working("counting"):
        count = count_sequences(the_rules, depth)
    if as_json:
        print_json("perft-1", {"rules": the_rules.to_json(), "depth": depth, "count": count})
    else:
        print(count)
