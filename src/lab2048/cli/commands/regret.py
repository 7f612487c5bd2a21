"""`lab2048 regret`: measure the loss of players against optimal play."""

from typing import Annotated

import typer

from lab2048.cli.commands.table import FolderArgument
from lab2048.cli.options import (
    GAMES,
    PLAYER,
    SEED,
    ClusterOption,
    JsonOption,
    PlayerFileOption,
    is_typed,
    load_players,
    say,
)
from lab2048.cli.output import print_json
from lab2048.errors import UsageError


def regret(
    context: typer.Context,
    folder: FolderArgument,
    players: Annotated[
        list[str] | None,
        typer.Argument(metavar="PLAYER", help="Players to grade; `lab2048 players` lists them."),
        PLAYER,
    ] = None,
    old_players: Annotated[
        list[str] | None,
        typer.Option("--players", "-p", metavar="PLAYER", help="Old form of PLAYER.", hidden=True),
        PLAYER,
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games per player."), GAMES] = 100,
    seed: Annotated[
        int, typer.Option("--seed", "-s", metavar="N", help="Seed; all players play the same games."), SEED
    ] = 1,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Grade players on a solved board: their loss per move against optimal play, and their worst mistakes.

    Example: lab2048 regret tables/2x3 random expectimax --games 100
    """
    from lab2048.library.regret import regret as grade
    from lab2048.library.solution import open_solution
    from lab2048.views.number import count, number, percent

    load_players(player_file)
    solution = open_solution(folder)
    if is_typed(context, "old_players"):
        say("--players is no longer needed: lab2048 regret DIR PLAYER...")
        players = [*(players or ()), *(old_players or ())]
    specs = [spec for player in players or old_players or () for spec in player.split()]
    if not specs:
        raise UsageError(
            "no player is given: expected as in lab2048 regret tables/2x3 random expectimax", field="player"
        )
    if solution.table.manifest["dtype"] == "<f4" and solution.objective == "score":
        say("the table has 32-bit values: moves equal in seven digits count as equal (solve --exact saves 64 bits)")
    result = grade(solution, specs, games=games, seed=seed, cluster=cluster, progress=True)
    if as_json:
        print_json("regret-1", result.to_dict())
        return
    unit = "win probability" if solution.objective == "win" else "score"
    print(f"{solution.rules.board.to_text()}: optimal play is worth {solution.value:.9g} ({unit})")
    for each in result.players.values():
        loss = each.per_game
        best = percent(each.n_best / each.n_moves) if each.n_moves else "-"
        print(
            f"{each.player}: loses {number(each.per_move)} per move, {number(loss.value)} per game "
            f"[{number(loss.low)}, {number(loss.high)}]; "
            f"{best} of {number(each.n_moves)} moves are optimal ({count(games, 'game')})"
        )
        for mistake in each.worst[:3]:
            board, loss_text = mistake.board.to_text(), number(mistake.loss)
            print(f"    {board}: played {mistake.move}, best {mistake.best}, loss {loss_text}")
