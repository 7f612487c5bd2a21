"""`lab2048 bench`: how fast this machine plays."""

import json

import typer

from lab2048.cli.options import JsonOption, say
from lab2048.errors import UsageError

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def bench(context: typer.Context) -> None:
    """Measure the speed of the laboratory on this machine."""
    if context.invoked_subcommand is None:
        raise UsageError("bench needs to know what to measure: expected kernels")


@app.command()
def kernels(as_json: JsonOption = False) -> None:
    """Measure random play and the vector environment, in moves a CPU second on one core.

    Example: lab2048 bench kernels
    """
    from lab2048.arena import benchmark
    from lab2048.arena.ready import prepare
    from lab2048.envs.benchmark import vector_env
    from lab2048.views.number import number

    prepare(say)
    measures = {f"random play, {board}": benchmark.random_play(board) for board in benchmark.BOARDS}
    rates = benchmark.medians(
        {
            **measures,
            "plain Python rules, 4x4": benchmark.reference("4x4"),
            "vector environment, 1024 games": vector_env(),
        }
    )
    if as_json:
        plays = {board: rates[f"random play, {board}"] for board in benchmark.BOARDS}
        *_, plain, vector = rates.values()
        result = {"random_play": plays, "reference": plain, "vector_env": vector}
        print(json.dumps({"schema": "lab2048/bench-kernels-1", "unit": "moves a CPU second", **result}))
        return
    for name, rate in rates.items():
        print(f"{name:<42} {number(rate):>12} moves a CPU second")
