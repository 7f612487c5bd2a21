"""`lab2048 solve`: compute exact values of a board, and a table of all its states."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.live_view import begin_line
from lab2048.cli.option_types import OneOf, Readable
from lab2048.cli.options import GOAL, WORKERS, ClusterOption, JsonOption, SpawnerOption, SpawnOption, StartOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import again, progress_line, say_how, working
from lab2048.errors import UsageError

if TYPE_CHECKING:
    from lab2048.library.arguments import RulesLike
    from lab2048.solver.solve import Progress

BoardArgument = Annotated[str, typer.Argument(metavar="BOARD", help="2x4, 3x3, hex1, or a map: #x#|###|#x#.")]
SolveGoalOption = Annotated[
    int | None, typer.Option("--goal", metavar="TILE", help="Tile that wins and ends the game."), GOAL
]
WorkersOption = Annotated[
    int, typer.Option("--workers", "-w", metavar="N", help="Threads (0 = one per core)."), WORKERS
]
MemoryOption = Annotated[
    str,
    typer.Option("--memory", "-m", metavar="SIZE", help="Memory limit, such as 8G or 500M."),
    Readable("lab2048.solver.memory:read_size"),
]


def solve(
    board: BoardArgument,
    goal: SolveGoalOption = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", metavar="WHAT", help="win (reach the goal; default with --goal) or score (expected score)."
        ),
        OneOf(("win", "score")),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Save the table in this folder (default: print the answer only)."
        ),
    ] = None,
    memory: MemoryOption = "8G",
    workers: WorkersOption = 0,
    cluster: ClusterOption = None,
    exact: Annotated[bool, typer.Option("--exact", help="Save 64-bit values instead of 32-bit ones.")] = False,
    tiles: Annotated[
        bool, typer.Option("--tiles", help="Also print the probability that optimal play reaches each tile.")
    ] = False,
    largest: Annotated[
        bool,
        typer.Option("--largest", help="Find the largest tile that can be won for certain, and with any chance."),
    ] = False,
    only_estimate: Annotated[
        bool, typer.Option("--estimate", help="Only predict time, disk space and memory.")
    ] = False,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    as_json: JsonOption = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One JSON line per layer; the last line is the result.")
    ] = False,
) -> None:
    """Solve a board: the probability that optimal play reaches the goal, or its expected score.

    Run the same command again to continue an interrupted solve.

    Example: lab2048 solve 3x3 --goal 256 --out tables/3x3-256
    """
    if largest:
        if goal or objective or out or tiles or only_estimate or as_jsonl:
            raise UsageError("--largest solves for every goal: expected no other option of the solve")
        _find_largest(board, memory, workers, spawn, start, spawner, as_json=as_json)
        return
    options: dict[str, Any] = {
        "goal": goal,
        "objective": objective,
        "out": out,
        "memory": memory,
        "workers": workers,
        "spawn": spawn,
        "start": start,
        "spawner": spawner,
    }
    if only_estimate:
        show_estimate(board, options, as_json=as_json)
    else:
        options["cluster"] = cluster
        solve_and_show(board, options, exact=exact, tiles=tiles, as_json=as_json, as_jsonl=as_jsonl)


def solve_and_show(
    rules: "RulesLike",
    options: dict[str, Any],
    *,
    exact: bool = False,
    tiles: bool = False,
    make_compact: bool = False,
    as_json: bool = False,
    as_jsonl: bool = False,
) -> None:
    """Solve with progress, and print the result; the options are those of `lab2048.solve`.

    With `make_compact`, the table is made compact at the end, if its positions are not too sparse.
    """
    from lab2048.library.solve import progress_share, progress_text
    from lab2048.library.solve import solve as solve_board
    from lab2048.solver.endgame.compact_table import compact, is_compactable
    from lab2048.solver.memory import peak_memory

    out = options["out"]
    cpu_begin = time.process_time()
    with progress_line() as show:
        tell = _teller() if as_jsonl else lambda at: show(progress_text(at), progress_share(at))
        try:
            solution = solve_board(rules, **options, exact=exact, on_progress=tell, progress=True)
        except KeyboardInterrupt:
            begin_line(sys.stderr)
            say_how(
                "the finished layers are saved; continue with"
                if out
                else "nothing is saved without --out DIR; run again with",
                again(),
            )
            raise
        table = solution.table
        result: dict[str, Any] = {
            "rules": solution.rules.to_json(),
            "objective": solution.objective,
            "value": solution.value,
            **({"loss_probability": solution.loss} if solution.loss is not None else {}),
            **table.count.to_json(),
            "layers": len(table.layers),
            "seconds": solution.seconds,
            "cpu_seconds": time.process_time() - cpu_begin,  # of this session, all workers together
            "bytes": table.n_bytes,
            "peak_memory": peak_memory(),
            "table": str(out) if out else None,
        }
        if make_compact and is_compactable(table):
            show("making the table compact")
            begun = time.perf_counter()
            result["bytes"] = compact(table).n_bytes
            result["seconds"] += time.perf_counter() - begun
            result["cpu_seconds"] = time.process_time() - cpu_begin
        if tiles:
            show("following optimal moves")
            solved = time.perf_counter()
            result["tiles"] = {str(tile): chance for tile, chance in solution.tiles().items()}
            result["seconds"] += time.perf_counter() - solved
    show_result(result, as_json=as_json, as_jsonl=as_jsonl)


def show_result(result: dict[str, Any], *, as_json: bool, as_jsonl: bool) -> None:
    """Print what was solved."""
    if as_jsonl:
        print_json("solved-1", {"event": "end"} | result)
    elif as_json:
        print_json("solved-1", result)
    else:
        _show(result)


def _find_largest(
    board: str, memory: str, workers: int, spawn: str, start: int | None, spawner: str, *, as_json: bool
) -> None:
    """Print the chance of every goal as it is found, and the largest ones that can be won."""
    from lab2048.library.arguments import read_rules
    from lab2048.library.solve import GoalChance, goal_chances, progress_share, progress_text

    rules: dict[str, Any] = {"spawn": spawn, "start": start, "spawner": spawner}
    found: list[GoalChance] = []
    with progress_line() as show:
        for each in goal_chances(
            board,
            **rules,
            memory=memory,
            workers=workers,
            on_progress=lambda at: show(progress_text(at), progress_share(at)),
            progress=True,
        ):
            found.append(each)
            if not as_json:
                missed = "certain" if each.loss == 0 else f"{each.value:.12g}, missed with probability {each.loss:.12g}"
                print(f"{each.goal:>6} {missed}", flush=True)
    certain = max((each.goal for each in found if each.loss == 0), default=None)
    possible = max((each.goal for each in found if each.value > 0), default=None)
    if as_json:
        goals = [each.to_json() for each in found]
        data = {"rules": read_rules(board, None, spawn, start, spawner).to_json(), "goals": goals}
        print_json("solve-largest-1", data | {"certain": certain, "possible": possible})
        return
    print(f"largest tile that can be won for certain: {certain or 'none'}")
    print(f"largest tile that can be won with any chance: {possible or 'none'}")


def _teller() -> "Callable[[Progress], None]":
    """Return a function that prints an event per layer, at most 20 per second."""
    from lab2048.library.solve import progress_text

    due = 0.0

    def tell(at: "Progress") -> None:
        nonlocal due
        if time.monotonic() < due and at.n_layers != at.n_all:
            return
        due = time.monotonic() + 0.05
        facts = {"phase": at.phase, "tile_sum": at.tile_sum, "n_layers": at.n_layers, "n_all": at.n_all}
        found = {"states": at.count.states, "afterstates": at.count.afterstates, "valued": at.n_valued}
        event = {
            "event": "progress",
            **facts,
            **found,
            "seconds": at.seconds,
            "bytes": at.n_bytes,
            "line": progress_text(at),
        }
        print_json("solve-progress-1", event)

    return tell


def _show(result: dict[str, Any]) -> None:
    from lab2048.views.number import number

    rules = result["rules"]
    if result["objective"] == "win":
        print(f"{rules['board']}, goal {rules['goal']}: reached with probability {result['value']:.12g}")
        print(f"missed with probability {result['loss_probability']:.12g}")
    else:
        print(f"{rules['board']}: expected score {result['value']:.12g}")
    print(f"{result['states']:,} states, {result['lost']:,} lost, {result['states_raw']:,} without symmetry")
    print(f"{result['afterstates']:,} afterstates, {result['won']:,} won, in {result['layers']} layers")
    for tile, chance in result.get("tiles", {}).items():
        print(f"{tile:>6} {chance:.9f}")
    told = f"{result['seconds']:.1f} s, {number(result['bytes'] / 2**20)} MB"
    print(f"{told}, at most {number(result['peak_memory'] / 2**20)} MB of memory")
    if result["table"]:
        print(f"table in {result['table']}")


def show_estimate(rules: "RulesLike", options: dict[str, Any], *, as_json: bool) -> None:
    """Predict what a solve takes, and print it."""
    from lab2048.library.solve import estimate
    from lab2048.views.number import number

    with working("counting boards of smaller goals"):
        found = estimate(rules, **options, progress=True)
    if as_json:
        print_json("solve-estimate-1", found.to_json())
        return
    about = "" if found.is_exact else "more than " if found.is_least else "about "
    print(f"{about}{number(found.afterstates)} afterstates, {number(found.states)} states")
    print(f"about {number(found.seconds)} s")
    print(f"{about}{number(found.disk / 2**20)} MB of disk space at most, {number(found.free_disk / 2**20)} MB free")
    print(f"best with {number(found.memory / 2**20)} MB of memory, {number(found.free_memory / 2**20)} MB free")
    print("it fits on this machine" if found.fits else "it does not fit on this machine")
    print(f"method: {found.how}")
