"""`lab2048 bench`: measure speed and strength on this machine."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.command import Commands
from lab2048.cli.options import GAMES, SEED, WORKERS, JsonOption, PlayerFileOption, load_players, say
from lab2048.cli.output import print_json
from lab2048.cli.progress import make_ready, working
from lab2048.errors import UsageError
from lab2048.library.interrupt import stopping
from lab2048.views.number import number

if TYPE_CHECKING:
    from lab2048.arena.benchmark.measurement import Measurements

app = Commands("Measure how fast lab2048 is on this machine.\n\nExample: lab2048 bench kernels")


def _print_rate(measured: "Measurements", name: str, unit: str) -> None:
    ratios = measured.ratios(name)
    rate = f"{name:<46} {number(measured.rate(name)):>12} {unit} per CPU second"
    print(f"{rate:<82} {number(1000 * ratios.compute):>8} {number(1000 * ratios.memory):>8}")


def _print_loops(measured: "Measurements") -> None:
    compute, memory = (f"{number(rate / 1e6)} million" for rate in (measured.loops.compute, measured.loops.memory))
    print(f"Last two columns: per 1,000 computations and per 1,000 random reads of the reference loops ({compute} and")
    print(f"{memory} per CPU second, measured between the figures).  Compare these between machines and versions.")


@app.command()
def kernels(as_json: JsonOption = False) -> None:
    """Measure random play and the environments, in moves per CPU second on one core.

    Example: lab2048 bench kernels
    """
    from lab2048.arena.benchmark import rules as benchmark
    from lab2048.arena.benchmark.measurement import Measurements
    from lab2048.envs.benchmark import single_env, vector_env
    from lab2048.kernels.group import BENCHMARK, ENVIRONMENTS, GAMES

    make_ready(GAMES, ENVIRONMENTS, BENCHMARK)
    plays = {f"random play, {board}": benchmark.random_play(board) for board in benchmark.BOARDS}
    plain, single, vector = "plain Python rules, 4x4", "single environment", "vector environment, 1024 games"
    with working("measuring random play and environments"):
        measured = Measurements()
        measured.take_turns({**plays, plain: benchmark.reference("4x4"), single: single_env(), vector: vector_env()})
    if as_json:
        result = {
            "random_play": {board: measured.rate(name) for board, name in zip(benchmark.BOARDS, plays, strict=True)},
            "reference": measured.rate(plain),
            "single_env": measured.rate(single),
            "vector_env": measured.rate(vector),
            "reference_loop": measured.to_json(),
        }
        print_json("bench-kernels-1", {"unit": "moves per CPU second", **result})
        return
    for name in (*plays, plain, single, vector):
        _print_rate(measured, name, "moves")
    _print_loops(measured)


@app.command()
def search(as_json: JsonOption = False) -> None:
    """Measure searches: slides and rollouts per CPU second, speedup by a second thread, accuracy of time limits.

    Example: lab2048 bench search
    """
    from lab2048.arena.benchmark import rules as benchmark
    from lab2048.arena.benchmark import search as searches
    from lab2048.arena.benchmark.measurement import Measurements
    from lab2048.kernels.group import BENCHMARK, CLASSIC, ROLLOUT, SEARCH, THREADS, TIMED, TREE

    make_ready(SEARCH, CLASSIC, TIMED, THREADS, ROLLOUT, TREE, BENCHMARK)
    specs, rollouts = ("expectimax:depth=5", "expectimax:depth=7", searches.LIMITS), "rollouts, 4x4"
    with working("measuring slides and rollouts") as tell:
        measured = Measurements()
        slides = {spec: searches.slides(spec) for spec in specs}
        measured.take_turns({**slides, rollouts: benchmark.rollout_speed("4x4")}, n_rounds=5)
        tell("measuring two threads against one")
        gain, rate = searches.thread_gain(searches.LIMITS, 2)
        used: dict[tuple[str, float], tuple[float, float]] = {}
        for name in searches.CLOCKED:
            tell(f"measuring the time limit of {name}")
            used |= {(name, ms): searches.time_used(name, ms) for ms in searches.CLOCKS}
    if as_json:
        result = {
            "slides": {spec: measured.rate(spec) for spec in specs},
            "rollout_moves": measured.rate(rollouts),
            "threads": {"2": {"speed": gain, "slides": rate}},
            "time_used": {f"{name}:ms={ms:g}": {"median": a, "p99": b} for (name, ms), (a, b) in used.items()},
            "reference_loop": measured.to_json(),
        }
        print_json("bench-search-1", {"unit": "per CPU second", **result})
        return
    for spec in specs:
        _print_rate(measured, spec, "slides")
    _print_rate(measured, rollouts, "moves")
    print(f"{'two threads, the last player above':<46} {gain:>12.2f} times as fast, {rate:.2f} times as many slides")
    for (name, ms), (median, p99) in used.items():
        print(f"{f'time used by {name}:ms={ms:g}':<46} {median:>12.3f} median, {p99:.3f} 99th percentile")
    _print_loops(measured)


@app.command()
def ntuple(as_json: JsonOption = False) -> None:
    """Measure how fast a 4x6 network trains and plays, compared with the memory speed.

    Example: lab2048 bench ntuple
    """
    from lab2048.arena.benchmark.measurement import Measurements
    from lab2048.kernels.group import BENCHMARK, GAMES, NETWORK, NETWORK_GAMES, SEARCH, SEARCH_GAMES, TRAINING
    from lab2048.learning import benchmark

    make_ready(GAMES, SEARCH, SEARCH_GAMES, NETWORK, NETWORK_GAMES, TRAINING, BENCHMARK)
    plays = {"play at depth 1": (1, 2_000_000), "play at depth 2": (2, 200_000), "play at depth 3": (3, 10_000)}
    with working("measuring memory") as tell:
        measured = Measurements()
        gathers = benchmark.gather_speed()
        tell("measuring training")
        td, tc = (
            measured.run(name, partial(benchmark.learn, method), lambda learning: learning.moves)
            for name, method in (("TD(0), 4x6, first 25,000 games", "td"), ("TC, 4x6, first 25,000 games", "tc"))
        )
        both = benchmark.learn("td", 2)
        tell("measuring play")
        for name, (depth, n) in plays.items():
            measured.run(name, partial(benchmark.play_speed, tc.network, depth, n), float)
    if as_json:
        result = {
            "td": td.moves,
            "tc": tc.moves,
            "threads": {"2": both.pace / td.pace},
            "play": {str(depth): measured.rate(name) for name, (depth, _) in plays.items()},
            "gathers": gathers,
            "td_lookups_to_gathers": td.lookups / gathers,
            "reference_loop": measured.to_json(),
        }
        print_json("bench-ntuple-1", {"unit": "moves per CPU second", **result})
        return
    for name in measured.names:
        _print_rate(measured, name, "moves")
    print(f"{'TD(0) on two threads':<46} {both.pace / td.pace:>12.2f} times as fast, wall-clock time")
    print(f"{'random 4-byte reads, table of the same size':<46} {number(gathers):>12} per CPU second")
    print(f"{'lookups of TD(0), as a fraction of that':<46} {td.lookups / gathers:>12.2f}")
    _print_loops(measured)


@app.command()
def deep(as_json: JsonOption = False) -> None:
    """Measure how fast deep networks play and train on one thread.

    Example: lab2048 bench deep
    """
    from lab2048.arena.benchmark.measurement import Measurements
    from lab2048.kernels.group import BENCHMARK, ENVIRONMENTS
    from lab2048.learning.deep import benchmark

    make_ready(ENVIRONMENTS, BENCHMARK)
    methods = {method: f"train {method}" for method in ("afterstate", "c51")}
    games = f"{benchmark.N_BOARDS} parallel games, no network"
    batches = {n: f"boards evaluated, batches of {n}" for n in (1, benchmark.N_BOARDS)}
    with working("measuring deep networks"):
        measured = Measurements()
        paces = {
            method: measured.run(name, partial(benchmark.train_speed, method), lambda pace: pace.moves)
            for method, name in methods.items()
        }
        measured.run(games, benchmark.vector_games_speed, float)
        for n, name in batches.items():
            measured.run(name, partial(benchmark.evaluation_speed, n), float)
    if as_json:
        result = {
            "train": {method: {"moves": pace.moves, "gradients": pace.gradients} for method, pace in paces.items()},
            "crowd": measured.rate(games),
            "boards": {str(n): measured.rate(name) for n, name in batches.items()},
            "reference_loop": measured.to_json(),
        }
        print_json("bench-deep-1", {"unit": "per CPU second", **result})
        return
    for method, name in methods.items():
        _print_rate(measured, name, "moves")
        print(f"{'':<46} {paces[method].gradients:>12.0f} gradient steps per CPU second")
    _print_rate(measured, games, "moves")
    for name in batches.values():
        _print_rate(measured, name, "boards")
    _print_loops(measured)


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
    from lab2048.arena.executor.local import Pool
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
    make_ready(*{group for rules in {each.rules for each in chosen} for group in groups_of([spec], rules)})
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
