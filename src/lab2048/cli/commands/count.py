"""`lab2048 count`: count reachable boards; `lab2048 perft`: count sequences of turns."""

from typing import Annotated

import typer

from lab2048.cli.commands.solve import BoardArgument, MemoryOption, SolveGoalOption, WorkersOption
from lab2048.cli.option_types import Within
from lab2048.cli.options import JsonOption, SpawnerOption, SpawnOption, StartOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, progress_line, working


def count(
    board: BoardArgument,
    goal: SolveGoalOption = None,
    memory: MemoryOption = "8G",
    workers: WorkersOption = 0,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    layers: Annotated[bool, typer.Option(help="Print one line per layer.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Count the reachable boards per tile sum, with and without symmetry.

    With a goal, games end at the goal.

    Example: lab2048 count 2x3 --goal 64
    """
    from lab2048.kernels.group import SOLVER
    from lab2048.library.solve import read_problem
    from lab2048.solver.count import count_layers
    from lab2048.solver.forward import LayerCount
    from lab2048.solver.workers import Workers

    problem, limits, n_workers = read_problem(board, goal, None, spawn, start, spawner, memory, workers)
    make_ready(SOLVER)
    total, found = LayerCount(), []
    names = ("states", "lost", "afterstates", "won")
    if layers and not as_json:
        print(f"{'sum':>6}" + "".join(f"{name:>14}" for name in names))
    with Workers(n_workers) as pool, progress_line() as show:
        for tile_sum, counted in count_layers(problem, pool, limits):
            total += counted
            found.append({"sum": tile_sum, **counted.to_json()})
            if layers and not as_json:
                print(f"{tile_sum:>6}" + "".join(f"{getattr(counted, name):>14,}" for name in names), flush=True)
            else:
                show(f"tile sum {tile_sum}: {total.states:,} states")
    if as_json:
        result = {"rules": problem.rules.to_json(), "goal": goal, **total.to_json(), "n_layers": len(found)}
        print_json("count-1", result | ({"layers": found} if layers else {}))
        return
    print(f"{'all':>6}" + "".join(f"{getattr(total, name):>14,}" for name in names))
    print(f"{'raw':>6}" + "".join(f"{getattr(total, f'{name}_raw'):>14,}" for name in names))


def perft(
    rules: Annotated[str, typer.Argument(metavar="BOARD", help="Such as 22##|####|####|#### or 3x3.")],
    depth: Annotated[int, typer.Argument(metavar="DEPTH", help="Number of turns."), Within(0, 20)],
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of turns, each a slide and a spawn, from a board.

    If the map has no tiles, the first spawns are part of the sequences.

    Example: lab2048 perft "22##|####|####|####" 2
    """
    from lab2048.arena.perft import check_starts, count_sequences
    from lab2048.kernels.group import COUNT
    from lab2048.rules import Rules

    the_rules = Rules.from_text(rules, spawn=spawn, start=start, spawner=spawner)
    check_starts(the_rules)
    make_ready(COUNT)
    with working("counting"):
        count = count_sequences(the_rules, depth)
    if as_json:
        print_json("perft-1", {"rules": the_rules.to_json(), "depth": depth, "count": count})
    else:
        print(count)
