"""`lab2048 match`: compare players on the same seeds."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from lab2048.cli.option_types import AtLeast
from lab2048.cli.options import (
    MANY_GAMES,
    SEED,
    WORKERS,
    ClusterOption,
    GoalOption,
    JsonOption,
    PlayerFileOption,
    RequireOption,
    RulesOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StopOption,
    StoreOption,
    load_players,
    say,
)
from lab2048.cli.output import make_console, print_json, to_json
from lab2048.cli.progress import again, bar, say_how
from lab2048.errors import RequirementError, UsageError
from lab2048.views.number import count
from lab2048.views.text import fit
from lab2048.views.wrap import columns_of

if TYPE_CHECKING:
    from lab2048.arena.match import Match
    from lab2048.arena.requirement import Requirement

Live = contextlib.AbstractContextManager[Callable[[], None]]
LATEST_SHARE = 1000  # an event of --jsonl comes after this share of the time so far, so that days make few megabytes


def match(
    players: Annotated[
        list[str],
        typer.Argument(metavar="PLAYER", help="Such as random or first:order=as; `lab2048 players` lists them."),
    ],
    rules: RulesOption = "4x4",
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games per player."), MANY_GAMES] = 100,
    seed: Annotated[
        int,
        typer.Option("--seed", "-s", metavar="N", help="Seed of the match; all players play the same games."),
        SEED,
    ] = 1,
    workers: Annotated[
        int, typer.Option("--workers", "-w", metavar="N", help="Parallel games (0 = one per core)."), WORKERS
    ] = 0,
    cluster: ClusterOption = None,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    stop_at_goal: StopOption = False,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, one line per player.")] = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Progress as JSON lines; the last line is the result.")
    ] = False,
    n_told: Annotated[
        int,
        typer.Option(
            "--jsonl-games", metavar="N", help="With --jsonl: report at most N games per player one by one (0 = all)."
        ),
        AtLeast(0),
    ] = 0,
    require: RequireOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted match.")] = False,
    luck: Annotated[
        bool, typer.Option("--luck", help="Also give the mean score without luck, which has a smaller interval.")
    ] = False,
    keep: Annotated[bool, typer.Option(help="Save every game in the store.")] = True,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Compare players on the same seeds.

    All players play the same seeds, so differences show with fewer games.

    Example: lab2048 match random first --games 1000 --seed 7
    """
    from lab2048.arena.match import Match
    from lab2048.arena.requirement import Requirement
    from lab2048.library.arguments import read_rules, read_specs
    from lab2048.library.match import MatchRunner

    if as_json + as_csv + as_jsonl > 1:
        raise UsageError("--json, --jsonl and --csv: expected only one of them")
    if resume and not keep:
        raise UsageError("--resume needs the store: expected no --no-keep")
    load_players(player_file)
    the_rules = read_rules(rules, goal, spawn, start, spawner, stop_at_goal)
    the_match = Match(the_rules, read_specs(players), seed, games)
    required = [Requirement.from_text(text, len(players)) for text in require or ()]
    results = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # the output of a player is not a result
        runner = MatchRunner(
            the_match,
            workers,
            (store or True) if keep else False,
            cluster=cluster,
            resume=resume,
            luck=luck,
            on_found=lambda player, n_found: say(f"{player}: {count(n_found, 'game')} found"),
            on_games=partial(_tell_games, the_match, results, n_told, Counter()) if as_jsonl else lambda *_: None,
            on_stop=lambda: say(
                "\nstopping: finished games count, unfinished ones are dropped; press Ctrl-C again to stop at once"
            ),
            progress=True,
        )
        with runner, _events(the_match, results, required) if as_jsonl else _live(the_match) as show:
            is_interrupted = runner.play(show).is_interrupted
    if not as_jsonl:
        _report(the_match, required, as_json=as_json, as_csv=as_csv)
    if is_interrupted:
        sys.stdout.flush()
        if keep:
            say_how("the finished games are saved; continue with", again("--resume"))
        else:
            say_how("the finished games are not saved; run again with", again())
        raise typer.Exit(130)
    missed = [
        required_result for each in required for required_result in each.check(the_match) if not required_result.is_met
    ]
    if missed:
        raise RequirementError("; ".join(map(str, missed)))


def _facts(match: "Match", required: "list[Requirement]") -> dict[str, Any]:
    """Return the results of a match, and of its requirements if there are any."""
    required_results = [required_result.to_json() for each in required for required_result in each.check(match)]
    return match.to_json() | ({"requirements": required_results} if required else {})


def _tell_games(
    match: "Match",
    results: TextIO,
    n_most: int,
    n_told: Counter[str],
    player: str,
    numbers: Iterable[int],
    cpu_seconds: float,
) -> None:
    """Print the event of games that have ended, up to `n_most` games per player; docs/json.md describes it."""
    chosen = islice(numbers, max(0, n_most - n_told[player]) if n_most else None)
    games = [list(match.results[player].games[number]) for number in chosen]
    n_told[player] += len(games)
    if not games:
        return
    event = {"event": "games", "player": player, "cpu_seconds": cpu_seconds, "games": games}
    print(to_json("match-games-1", event), file=results, flush=True)


@contextlib.contextmanager
def _events(match: "Match", results: TextIO, required: "list[Requirement]") -> Iterator[Callable[[], None]]:
    """Print an event every half second, more rarely in long matches, and one at the end."""
    due, start = 0.0, time.monotonic()

    def tell(event: str = "progress") -> None:
        nonlocal due
        if event == "end" or time.monotonic() > due:
            begin = time.monotonic()
            n_done = sum(len(player_result.games) for player_result in match.results.values())
            counts = {"event": event, "n_done": n_done, "n_all": match.n_games * len(match.players)}
            facts = _facts(match, required) if event == "end" else match.to_json()
            print(to_json("match-1", counts | facts), file=results, flush=True)
            now = time.monotonic()
            due = now + max(0.5, 10 * (now - begin), (now - start) / LATEST_SHARE)

    tell()
    try:
        yield tell
    finally:
        tell("end")


@contextlib.contextmanager
def _live(match: "Match") -> Iterator[Callable[[], None]]:
    """Show a live table on a terminal; elsewhere print a line every ten seconds."""
    n_all = match.n_games * len(match.players)
    due = time.monotonic() + (0 if sys.stderr.isatty() else 10)

    def n_played() -> int:
        return sum(len(player_result.games) for player_result in match.results.values())

    begin, n_found = time.monotonic(), n_played()

    def progress() -> str:
        n, spent = n_played(), time.monotonic() - begin
        rate = f", {(n - n_found) / spent:,.3g} per second" if n > n_found else ""
        # Games found in the store took no time.
        seconds = spent * n / max(1, n - n_found)
        each = f" ({match.n_games:,} per player)" if len(match.players) > 1 else ""
        meter, games = bar(n / n_all, seconds) if n > n_found else "", f"{n:,} of {count(n_all, 'game')}"
        forms = (f"{games}{each}{rate}", f"{games}{rate}", games)
        return fit(columns_of(sys.stderr), *(f"{meter}  {form}".strip() for form in forms))

    if not sys.stderr.isatty():

        def line() -> None:
            nonlocal due
            if time.monotonic() > due:
                due = time.monotonic() + 10
                say(progress())

        yield line
        return
    from rich.live import Live

    from lab2048.views.match_table import match_table

    console = make_console(sys.stderr)
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def table() -> None:
            nonlocal due
            drawn = time.monotonic()
            if drawn > due:
                live.update(match_table(match, title=progress(), width=console.width), refresh=True)
                # Summaries of many games are slow: spend at most a tenth of the time on them.
                due = time.monotonic() + max(0.2, 10 * (time.monotonic() - drawn))

        yield table


def _report(match: "Match", required: "list[Requirement]", *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json("match-1", _facts(match, required))
        return
    from lab2048.views.match_table import match_csv, match_table

    if as_csv:
        print(match_csv(match), end="")
        return
    console = make_console()
    title = f"{match.rules.board.to_text()}, goal {match.rules.goal}, seed {match.seed}"
    console.print(match_table(match, title=title, width=console.width, is_over=True))
