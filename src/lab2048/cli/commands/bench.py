"""`lab2048 bench`: measure speed and strength on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lab2048.cli.command import Commands
from lab2048.cli.options import GAMES, SEED, WORKERS, JsonOption, PlayerFileOption, load_players, say
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, working
from lab2048.errors import UsageError
from lab2048.library.interrupt import stopping

app = Commands("Measure how fast lab2048 is on this machine.\n\nExample: lab2048 bench kernels")


@app.command()
def kernels(as_json: JsonOption = False) -> None:
    """Measure random play and the vector environment, in moves per CPU second on one core.

    Example: lab2048 bench kernels
    """
    from lab2048.arena.benchmark import rules as benchmark
    from lab2048.arena.compile import ENVIRONMENTS, PLAY
    from lab2048.envs.benchmark import vector_env
    from lab2048.views.number import number

    make_ready(PLAY, ENVIRONMENTS)
    measures = {f"random play, {board}": benchmark.random_play(board) for board in benchmark.BOARDS}
    measures["plain Python rules, 4x4"] = benchmark.reference("4x4")
    with working("measuring random play and environments"):
        rates = benchmark.medians({**measures, "vector environment, 1024 games": vector_env()})
    if as_json:
        plays = {board: rates[f"random play, {board}"] for board in benchmark.BOARDS}
        *_, plain, vector = rates.values()
        result = {"random_play": plays, "reference": plain, "vector_env": vector}
        print_json("bench-kernels-1", {"unit": "moves per CPU second", **result})
        return
    for name, rate in rates.items():
        print(f"{name:<42} {number(rate):>12} moves per CPU second")


@app.command()
def search(as_json: JsonOption = False) -> None:
    """Measure searches: slides and rollouts per CPU second, speedup by a second thread, accuracy of time limits.

    Example: lab2048 bench search
    """
    from lab2048.arena.benchmark import rules as benchmark
    from lab2048.arena.benchmark import search as measured
    from lab2048.views.number import number

    make_ready()
    names = {"depth 5": "expectimax:depth=5", "depth 7": "expectimax:depth=7", "limits": measured.LIMITS}
    with working("measuring slides and rollouts") as tell:
        measures = {name: measured.slides(spec) for name, spec in names.items()}
        rates = benchmark.medians({**measures, "rollouts": benchmark.rollout_speed("4x4")}, n_rounds=5)
        tell("measuring two threads against one")
        gain, rate = measured.thread_gain(measured.LIMITS, 2)
        used: dict[tuple[str, float], tuple[float, float]] = {}
        for name in measured.CLOCKED:
            tell(f"measuring the time limit of {name}")
            used |= {(name, ms): measured.time_used(name, ms) for ms in measured.CLOCKS}
    if as_json:
        result = {
            "slides": {spec: rates[name] for name, spec in names.items()},
            "rollout_moves": rates["rollouts"],
            "threads": {"2": {"speed": gain, "slides": rate}},
            "time_used": {f"{name}:ms={ms:g}": {"median": a, "p99": b} for (name, ms), (a, b) in used.items()},
        }
        print_json("bench-search-1", {"unit": "per CPU second", **result})
        return
    for name, spec in names.items():
        print(f"{spec:<46} {number(rates[name]):>12} slides per CPU second")
    print(f"{'rollouts, 4x4':<46} {number(rates['rollouts']):>12} moves per CPU second")
    print(f"{'two threads, the last player above':<46} {gain:>12.2f} times as fast, {rate:.2f} times as many slides")
    for (name, ms), (median, p99) in used.items():
        print(f"{f'time used by {name}:ms={ms:g}':<46} {median:>12.3f} median, {p99:.3f} 99th percentile")


@app.command()
def ntuple(as_json: JsonOption = False) -> None:
    """Measure how fast a 4x6 network trains and plays, compared with the memory speed.

    Example: lab2048 bench ntuple
    """
    from lab2048.arena.compile import NETWORK, PLAY
    from lab2048.learning import benchmark as measured
    from lab2048.views.number import number

    make_ready(PLAY, NETWORK)
    plays = ((1, 2_000_000), (2, 200_000), (3, 10_000))
    with working("measuring memory") as tell:
        gathers = measured.gather_speed()
        tell("measuring training")
        td, tc = measured.learn("td"), measured.learn("tc")
        both = measured.learn("td", 2)
        tell("measuring play")
        speeds = {depth: measured.play_speed(tc.network, depth, n) for depth, n in plays}
    if as_json:
        result = {
            "td": td.moves,
            "tc": tc.moves,
            "threads": {"2": both.pace / td.pace},
            "play": {str(depth): speed for depth, speed in speeds.items()},
            "gathers": gathers,
            "td_lookups_to_gathers": td.lookups / gathers,
        }
        print_json("bench-ntuple-1", {"unit": "moves per CPU second", **result})
        return
    print(f"{'TD(0), 4x6, first 25,000 games':<46} {number(td.moves):>12} moves per CPU second")
    print(f"{'the same on two threads':<46} {both.pace / td.pace:>12.2f} times as fast, wall-clock time")
    print(f"{'TC, 4x6, first 25,000 games':<46} {number(tc.moves):>12} moves per CPU second")
    for depth, speed in speeds.items():
        print(f"{f'play at depth {depth}':<46} {number(speed):>12} moves per CPU second")
    print(f"{'random 4-byte reads, table of the same size':<46} {number(gathers):>12} per CPU second")
    print(f"{'lookups of TD(0), as a fraction of that':<46} {td.lookups / gathers:>12.2f}")


@app.command()
def deep(as_json: JsonOption = False) -> None:
    """Measure how fast deep networks play and train on one thread.

    Example: lab2048 bench deep
    """
    from lab2048.arena.compile import ENVIRONMENTS
    from lab2048.learning.deep import benchmark as measured
    from lab2048.views.number import number

    make_ready(ENVIRONMENTS)
    paces = {method: measured.train_speed(method) for method in ("afterstate", "c51")}
    games, evaluated = measured.vector_games_speed(), {n: measured.evaluation_speed(n) for n in (1, measured.N_BOARDS)}
    if as_json:
        trained = {method: {"moves": pace.moves, "gradients": pace.gradients} for method, pace in paces.items()}
        result = {"train": trained, "crowd": games, "boards": {str(n): rate for n, rate in evaluated.items()}}
        print_json("bench-deep-1", {"unit": "per CPU second", **result})
        return
    for method, pace in paces.items():
        gradients = f"{pace.gradients:.0f} gradient steps"
        print(f"{f'train {method}':<46} {number(pace.moves):>12} moves and {gradients} per CPU second")
    print(f"{f'{measured.N_BOARDS} parallel games, no network':<46} {number(games):>12} moves per CPU second")
    for n, rate in evaluated.items():
        print(f"{f'boards evaluated, batches of {n}':<46} {number(rate):>12} per CPU second")


@app.command()
def positions(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="POSITION", help="Only positions whose names begin with this (default: all)."),
    ] = None,
    player: Annotated[str, typer.Option("--player", "-p", metavar="PLAYER", help="Who plays.")] = "ntuple",
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games from each position."), GAMES] = 100,
    seed: Annotated[int, typer.Option("--seed", "-s", metavar="N", help="Seed of the games."), SEED] = 1,
    workers: Annotated[
        int, typer.Option("--workers", "-w", metavar="N", help="Parallel games (0 = one per core)."), WORKERS
    ] = 0,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="File with your own positions instead of the built-in suite."),
    ] = None,
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Measure how often a player reaches the goal from difficult late positions.

    Example: lab2048 bench positions --player ntuple:depth=2 --games 200
    """
    from lab2048.arena.benchmark.positions import load_positions, play_positions
    from lab2048.arena.compile import groups_of
    from lab2048.arena.executor import Pool
    from lab2048.arena.statistics import rate_interval
    from lab2048.players import canonical_spec, fit_player

    load_players(player_file)
    spec = canonical_spec(player)
    suite = load_positions(file)
    chosen = [each for each in suite if not names or each.name.startswith(tuple(names))]
    if not chosen:
        raise UsageError(f"no position begins with {' or '.join(names or ())}: expected one such as {suite[0].name}")
    for rules in {each.rules for each in chosen}:
        fit_player(spec, rules)
    make_ready(*groups_of([spec]))
    results = []
    with Pool(workers or os.cpu_count() or 1) as pool, stopping(pool.stop):
        for result in play_positions(chosen, spec, pool, n_games=games, seed=seed):
            results.append(result)
            if not as_json:
                rate, bound = result.rate, result.position.bound
                known = "" if bound is None else f"   {100 * rate.value / bound:4.0f}% of the known {100 * bound:.1f}%"
                interval = f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
                print(f"{result.position.name:<26} {100 * rate.value:5.1f}% {interval:<14}{known}", flush=True)
    n_won, n_games = sum(each.n_won for each in results), sum(each.n_games for each in results)
    if not results:
        raise typer.Exit(130)
    total = rate_interval(n_won, n_games)
    if as_json:
        rows = [each.to_json() for each in results]
        facts = {"rate": total.value, "rate_ci95": [total.low, total.high], "won": n_won, "games": n_games}
        print_json("bench-positions-1", {"player": spec, "seed": seed, "positions": rows, "total": facts})
    else:
        interval = f"[{100 * total.low:.1f}, {100 * total.high:.1f}]"
        print(f"{'all':<26} {100 * total.value:5.1f}% {interval:<14}   {n_games:,} games of {spec}")
    if len(results) < len(chosen):
        say("interrupted: only some positions were played to the end")
        raise typer.Exit(130)
