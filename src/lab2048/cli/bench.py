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
        raise UsageError("bench needs to know what to measure: expected kernels or search")


@app.command()
def kernels(as_json: JsonOption = False) -> None:
    """Measure random play and the vector environment, in moves a CPU second on one core.

    Example: lab2048 bench kernels
    """
    from lab2048.arena import benchmark
    from lab2048.arena.ready import ENVIRONMENTS, PLAY, prepare
    from lab2048.envs.benchmark import vector_env
    from lab2048.views.number import number

    prepare(say, PLAY, ENVIRONMENTS)
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


@app.command()
def search(as_json: JsonOption = False) -> None:
    """Measure the players that search: slides and rollouts a CPU second, the gain of a thread, the truth of a clock.

    Example: lab2048 bench search
    """
    from lab2048.arena import benchmark
    from lab2048.arena import search_benchmark as measured
    from lab2048.arena.ready import prepare
    from lab2048.views.number import number

    prepare(say)
    names = {"depth 5": "expectimax:depth=5", "depth 7": "expectimax:depth=7", "limits": measured.LIMITS}
    measures = {name: measured.slides(spec) for name, spec in names.items()}
    rates = benchmark.medians({**measures, "rollouts": benchmark.rollout_speed("4x4")}, n_rounds=5)
    gain, rate = measured.thread_gain(measured.LIMITS, 2)
    used = {(name, ms): measured.time_used(name, ms) for name in measured.CLOCKED for ms in measured.CLOCKS}
    if as_json:
        result = {
            "slides": {spec: rates[name] for name, spec in names.items()},
            "rollout_moves": rates["rollouts"],
            "threads": {"2": {"speed": gain, "slides": rate}},
            "time_used": {f"{name}:ms={ms:g}": {"median": a, "p99": b} for (name, ms), (a, b) in used.items()},
        }
        print(json.dumps({"schema": "lab2048/bench-search-1", "unit": "a CPU second", **result}))
        return
    for name, spec in names.items():
        print(f"{spec:<46} {number(rates[name]):>12} slides a CPU second")
    print(f"{'rollouts, 4x4':<46} {number(rates['rollouts']):>12} moves a CPU second")
    print(f"{'threads=2 at the last of these limits':<46} {gain:>12.2f} times as fast, {rate:.2f} times the slides")
    for (name, ms), (median, p99) in used.items():
        print(f"{f'time used by {name}:ms={ms:g}':<46} {median:>12.3f} median, {p99:.3f} 99th percentile")
