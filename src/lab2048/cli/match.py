"""`lab2048 match`: players meet the same seeds."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.options import (
    GoalOption,
    JsonOption,
    RulesOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StoreOption,
    say,
)
from lab2048.errors import UsageError

if TYPE_CHECKING:
    from lab2048.arena.batch import Played
    from lab2048.arena.match import Match
    from lab2048.arena.pool import Pool
    from lab2048.records.store import Store

MAX_GAMES = 10_000_000
MAX_WORKERS = 256
KEEP_SECONDS = 0.5


def match(
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Such as: random first:order=as")],
    rules: RulesOption = "4x4",
    games: Annotated[int, typer.Option("--games", "-n", help="Games for each player.")] = 100,
    seed: Annotated[int, typer.Option("--seed", "-s", help="Seed of the match; game i has the same dice for all.")] = 1,
    workers: Annotated[int, typer.Option("--workers", "-w", help="How many games at once (0: one a core).")] = 0,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="A line for each player, comma-separated.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this match where it was left.")] = False,
    keep: Annotated[bool, typer.Option(help="Keep every game in the store.")] = True,
    store: StoreOption = None,
    player_file: Annotated[
        list[Path] | None, typer.Option("--player-file", metavar="FILE", help="A Python file with players of your own.")
    ] = None,
) -> None:
    """Let players meet the same seeds and compare them.

    Example: lab2048 match random first --games 1000 --seed 7
    """
    from lab2048.arena.match import Match
    from lab2048.arena.pool import Pool
    from lab2048.arena.ready import prepare
    from lab2048.players import canonical_spec, load_player_file
    from lab2048.players.registry import make_player
    from lab2048.records.store import Store
    from lab2048.rules import Rules
    from lab2048.rules.dice import check_seed

    if as_json and as_csv:
        raise UsageError("--json and --csv: expected only one of them")
    if resume and not keep:
        raise UsageError("--resume needs the store: expected no --no-keep")
    if not 1 <= games <= MAX_GAMES:
        raise UsageError(f"games {games} is out of range: expected 1 to {MAX_GAMES}")
    if not 0 <= workers <= MAX_WORKERS:
        raise UsageError(f"workers {workers} is out of range: expected 0 to {MAX_WORKERS}")
    files = tuple(player_file or ())
    for path in files:
        load_player_file(path)
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    specs = [canonical_spec(player) for player in players]
    for spec in specs:
        if make_player(spec).is_interactive:
            raise UsageError(f"player {spec} cannot play a match: expected a player that chooses by itself")
    the_match = Match(the_rules, specs, check_seed(seed), games)
    prepare(say)
    with contextlib.ExitStack() as stack:
        keeper = Keeper(stack.enter_context(Store.open(store)), the_match, resume=resume) if keep else None
        code = _play(the_match, stack.enter_context(Pool(workers or os.cpu_count() or 1, files)), keeper)
        _report(the_match, as_json=as_json, as_csv=as_csv)
        if code and keep:
            say("interrupted; the games played are kept: the same command with --resume goes on")
    raise typer.Exit(code)


class Keeper:
    """Keeps the games of a match, a transaction every half second."""

    def __init__(self, store: "Store", match: "Match", *, resume: bool) -> None:
        """Open a run for each player, or find the one to go on with."""
        self._store = store
        self._runs: dict[str, int] = {}
        self._fresh: list[Played] = []
        self._kept_at = time.monotonic()
        for player, standing in match.standings.items():
            run = store.find_run(match.rules, player, match.seed) if resume else None
            if run is None:
                run = store.begin_run("match", match.rules, player, match.seed)
            else:
                found = [game for game in store.summaries_of(run) if game.number < match.n_games]
                standing.games.update({game.number: game for game in found})
                say(f"{player}: {len(found)} games found")
            self._runs[player] = run

    def keep(self, played: "Played", *, at_once: bool = False) -> None:
        """Keep finished games, at the latest half a second later."""
        self._fresh.append(played)
        if at_once or time.monotonic() - self._kept_at > KEEP_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not written yet."""
        for played in self._fresh:
            self._store.keep(self._runs[played.player], played.episodes)
        self._fresh.clear()
        self._kept_at = time.monotonic()


def _play(match: "Match", pool: "Pool", keeper: Keeper | None) -> int:
    """Play the match with a live table; return 130 if it was interrupted."""
    code = 0
    with _live(match) as show:
        try:
            for played in match.play(pool):
                if keeper:
                    keeper.keep(played)
                show()
        except KeyboardInterrupt:
            code = 130
            for played in pool.drain(2.0):
                match.count(played)
                if keeper:
                    keeper.keep(played)
        if keeper:
            keeper.flush()
    return code


@contextlib.contextmanager
def _live(match: "Match") -> Iterator[Callable[[], None]]:
    """A table that follows the match, on a terminal; elsewhere a line every ten seconds."""
    n_all = match.n_games * len(match.players)

    def progress() -> str:
        return f"{sum(len(standing.games) for standing in match.standings.values())} of {n_all} games"

    if not sys.stderr.isatty():
        said = time.monotonic()

        def line() -> None:
            nonlocal said
            if time.monotonic() - said > 10:
                said = time.monotonic()
                say(progress())

        yield line
        return
    from rich.console import Console
    from rich.live import Live

    from lab2048.views.table import match_table

    shown = 0.0
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:

        def table() -> None:
            nonlocal shown
            if time.monotonic() - shown > 0.2:
                live.update(match_table(match, title=progress()), refresh=True)
                shown = time.monotonic()

        yield table


def _report(match: "Match", *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print(json.dumps(match.to_json()))
        return
    from lab2048.views.table import match_csv, match_table

    if as_csv:
        print(match_csv(match), end="")
        return
    from rich.console import Console

    # A table wider than a pipe's 80 columns is not worth folding.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    title = f"{match.rules.board.to_text()}, goal {match.rules.goal}, seed {match.seed}"
    console.print(match_table(match, title=title))
