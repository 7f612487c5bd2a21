"""`lab2048 regret`: measure the loss of players against optimal play."""

from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.commands.table import FolderArgument
from lab2048.cli.options import GAMES, PLAYER, SEED, JsonOption, is_typed, say
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, progress_line
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
    as_json: JsonOption = False,
    player_file: Annotated[
        list[Path] | None, typer.Option("--player-file", metavar="FILE", help="Python file with your own players.")
    ] = None,
) -> None:
    """Grade players on a solved board: their loss per move against optimal play, and their worst mistakes.

    Example: lab2048 regret tables/2x3 random expectimax --games 100
    """
    from lab2048.arena.compile import SOLVER, groups_of
    from lab2048.arena.regret import measure_regret
    from lab2048.players import canonical_spec, fit_player, load_player_file
    from lab2048.solver.table import Table
    from lab2048.views.number import count, number, percent

    for path in player_file or ():
        load_player_file(path)
    table = Table.open(folder)
    if is_typed(context, "old_players"):
        say("--players is no longer needed: lab2048 regret DIR PLAYER...")
        players = [*(players or ()), *(old_players or ())]
    specs = [canonical_spec(each) for player in players or old_players or () for each in player.split()]
    if not specs:
        raise UsageError(
            "no player is given: expected as in lab2048 regret tables/2x3 random expectimax", field="player"
        )
    for spec in specs:
        if fit_player(spec, table.problem.rules).is_interactive:
            raise UsageError(
                f"player {spec} cannot be graded: expected a player that is not interactive", field="player"
            )
    make_ready(SOLVER, *groups_of(specs))
    if table.manifest["dtype"] == "<f4" and table.problem.goal_rank == 0:
        say("the table has 32-bit values: moves equal in seven digits count as equal (solve --exact saves 64 bits)")
    found = []
    with progress_line() as show:
        for i, spec in enumerate(specs):

            def told(n: int, spec: str = spec, i: int = i) -> None:
                show(f"{spec}: game {n} of {games}", (i + n / games) / len(specs))

            found.append(measure_regret(table, spec, seed=seed, n_games=games, progress=told))
    has_goal = table.problem.goal_rank > 0
    if as_json:
        result = {
            "table": str(folder),
            "rules": table.problem.rules.to_json(),
            "objective": table.problem.objective.value,
            "optimum": table.manifest["value"],
            "seed": seed,
            "players": [each.to_json(has_goal=has_goal) for each in found],
        }
        print_json("regret-1", result)
        return
    unit = "chance to win" if has_goal else "score"
    print(f"{table.problem.rules.board.to_text()}: optimal play is worth {table.manifest['value']:.9g} ({unit})")
    for each in found:
        loss = each.per_game
        best = percent(each.n_best / each.n_moves) if each.n_moves else "-"
        print(
            f"{each.player}: loses {number(each.per_move)} per move, {number(loss.value)} per game "
            f"[{number(loss.low)}, {number(loss.high)}]; "
            f"{best} of {number(each.n_moves)} moves are optimal ({count(games, 'game')})"
        )
        for mistake in each.worst[:3]:
            print(f"    {mistake.board.to_text()}: {mistake.move}, not {mistake.best}, loses {number(mistake.loss)}")
