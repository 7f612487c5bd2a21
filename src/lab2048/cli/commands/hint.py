"""`lab2048 hint`: the value of every legal move of a board."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.options import (
    PLAYER,
    SEED,
    GoalOption,
    JsonOption,
    PlayerFileOption,
    SpawnerOption,
    SpawnOption,
    load_players,
    read_board,
)
from lab2048.cli.output import print_json
from lab2048.errors import UsageError

if TYPE_CHECKING:
    from lab2048.players.evaluator import Evaluator
    from lab2048.rules import Board, Rules


def hint(
    board: Annotated[
        str,
        typer.Argument(
            metavar="BOARD",
            help="A map, a JSON list of rows, 16 ranks such as edc1ba9187611110, or - for standard input.",
        ),
    ],
    player: Annotated[
        str | None,
        typer.Option(
            "--player", "-p", metavar="PLAYER", help="Player to ask (default: ntuple on 4x4, else expectimax)."
        ),
        PLAYER,
    ] = None,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    spawner: SpawnerOption = "fair",
    seed: Annotated[
        int, typer.Option("--seed", "-s", metavar="N", help="Seed of players that use randomness."), SEED
    ] = 1,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also show the value of the board term by term; needs a player with eval=."),
    ] = False,
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Show the best move of a board, and the value of every legal move.

    Example: lab2048 hint "2 4 8 # / # # 2 # / # # # 2" -p expectimax:ms=20
    """
    from lab2048.library.arguments import rules_for
    from lab2048.library.player import check_in_play
    from lab2048.library.player import player as make_player
    from lab2048.rules import Board
    from lab2048.rules.move import move_name
    from lab2048.views.number import apart, count
    from lab2048.views.text import render, wants_codes

    load_players(player_file)
    the_board = check_in_play(Board.from_text(read_board(board)))
    rules = rules_for(the_board, goal, spawn, spawner)
    asked = make_player(player or "", seed=seed)
    spec = asked.prepare(rules, progress=True).spec
    evaluator = _evaluator_of(spec) if explain else None
    begin = time.perf_counter()
    decision = asked.ask(the_board, rules=rules, progress=True)
    seconds = time.perf_counter() - begin
    names = {move: move_name(the_board.shape.moves[move]) for move in decision.values}
    if as_json:
        result = {
            "board": the_board.to_text(),
            "player": spec,
            "best": names[decision.move],
            "overridden": None if decision.overridden is None else names[decision.overridden],
            "values": {names[move]: value for move, value in decision.values.items()},
            "errors": {names[move]: error for move, error in decision.errors.items()},
            "depth": decision.depth,
            "nodes": decision.nodes,
            "confidence": decision.confidence,
            "is_guess": decision.is_guess,
            "endgame": decision.endgame.to_json() if decision.endgame else None,
            "seconds": seconds,
        }
        if evaluator:
            result["explanation"] = _explanation(evaluator, the_board, rules)
        print_json("hint-1", result)
        return
    print(render(the_board, colour=wants_codes(sys.stdout)))
    shown = dict(zip(decision.values, apart(decision.values.values(), least=2), strict=True))
    for move in sorted(decision.values, key=lambda move: -decision.values[move]):
        error = f" ± {decision.errors[move]:,.2f}" if move in decision.errors else ""
        print(f"{'*' if move == decision.move else ' '} {names[move]:<11} {shown[move]:>16}{error}")
    if decision.overridden is not None:
        print(f"{names[decision.move]} overrides {names[decision.overridden]}")
    if decision.endgame is not None:
        print(f"{names[decision.move]}: {decision.endgame.text}")
    if decision.is_guess:
        print(f"low confidence: {decision.confidence:.0%} of the weights for this board were trained; asked expectimax")
    if evaluator:
        _show_terms(evaluator, the_board, rules)
    print(f"by {spec}: depth {decision.depth}, {count(decision.nodes, 'node')}, {seconds * 1000:.3g} ms")


def _evaluator_of(spec: str) -> "Evaluator":
    """Return the evaluator of a player; raise UsageError if it has none."""
    from lab2048.players import make_player
    from lab2048.players.evaluator import make_evaluator

    name = getattr(make_player(spec), "eval", None)
    if name is None:
        raise UsageError(f"player {spec} has no evaluator to explain: expected greedy, lookahead or expectimax")
    return make_evaluator(name)


def _explanation(evaluator: "Evaluator", board: "Board", rules: "Rules") -> dict[str, Any]:
    terms = evaluator.explain(board, rules)
    return {
        "evaluator": evaluator.name,
        "value": sum(each.value for each in terms),
        "terms": [each._asdict() | {"value": each.value} for each in terms],
        "cells": evaluator.cell_values(board) if evaluator.matrix or evaluator.path else [],
    }


def _show_terms(evaluator: "Evaluator", board: "Board", rules: "Rules") -> None:
    """Print the value of the board itself, not of its moves, term by term."""
    found = _explanation(evaluator, board, rules)
    print(f"the board itself, by {evaluator.name}:")
    for each in found["terms"]:
        print(f"  {each['term']:<11} {each['value']:>16,.9g} = {each['weight']:,.9g} x {each['amount']:,.9g}")
    print(f"  {'value':<11} {found['value']:>16,.9g}")
    if cells := found["cells"]:
        print("  tile x weight of each cell:")
        width = max(len(f"{value:,.6g}") for value in cells) + 2
        for row in board.shape.rows:
            print("  " + "".join(f"{cells[cell]:>{width},.6g}" if cell >= 0 else " " * width for cell in row))
