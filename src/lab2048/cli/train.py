"""`lab2048 train`: make a network that plays."""

import json
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.live import live, on_interrupt
from lab2048.cli.options import GoalOption, RulesOption, SpawnerOption, SpawnOption, StartOption, say
from lab2048.errors import FileError, UsageError

if TYPE_CHECKING:
    from lab2048.learning.ntuple import Progress, Training
    from lab2048.rules import Rules

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
MAX_THREADS = 256


@app.callback()
def train(context: typer.Context) -> None:
    """Make a network that plays, by letting it play.

    Example: lab2048 train ntuple --network 4x6 --minutes 10 --out my.safetensors
    """
    if context.invoked_subcommand is None:
        raise UsageError("train what? expected: lab2048 train ntuple")


@app.command("ntuple")
def ntuple(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the network is kept, again and again.")
    ] = Path("network.safetensors"),
    network: Annotated[
        str | None,
        typer.Option(
            "--network",
            metavar="CELLS",
            help="best (default), patterns x cells (8x6, 1x8), rows, pairs-triplets-quartets, or hex: 012345,456789.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="N", help="Stop when it has learnt so long, all sessions together."),
    ] = None,
    moves: Annotated[
        float | None, typer.Option("--moves", metavar="N", help="Stop after so many moves, all sessions together.")
    ] = None,
    games: Annotated[
        float | None, typer.Option("--games", "-n", metavar="N", help="Stop after so many games from the start.")
    ] = None,
    threads: Annotated[
        int,
        typer.Option("--threads", metavar="N", help="Threads that learn at once (0: one a core); 1 can be repeated."),
    ] = 0,
    method: Annotated[str | None, typer.Option("--method", metavar="WHICH", help="tc (default) or td.")] = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="WHICH", help="Learn games backward (default) or forward.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", metavar="N", help="Learning rate (default: 1 for tc, 0.1 for td).")
    ] = None,
    trace: Annotated[
        float | None, typer.Option("--lambda", metavar="N", help="How much the return counts, backward (default: 0.5).")
    ] = None,
    optimism: Annotated[
        float | None,
        typer.Option("--optimism", metavar="SCORE", help="What an untrained network hopes for (default: 0)."),
    ] = None,
    restart: Annotated[
        bool | None, typer.Option("--restart/--no-restart", help="Begin again half-way through games (default: yes).")
    ] = None,
    carousel: Annotated[
        bool | None,
        typer.Option("--carousel/--no-carousel", help="Begin in turn at boards of all tile sums (default: yes)."),
    ] = None,
    guide: Annotated[
        float | None,
        typer.Option(
            "--guide",
            metavar="N",
            help="At first, moves that keep the highest tile in a corner seem better by N times it (default: 1).",
        ),
    ] = None,
    guided: Annotated[
        float | None, typer.Option("--guided", metavar="MOVES", help="For how many moves (default: 100 million).")
    ] = None,
    stages: Annotated[
        str | None,
        typer.Option(
            "--stages", metavar="TILES", help="Further weights from these highest tiles on, or none (default: 16384)."
        ),
    ] = None,
    late_after: Annotated[
        float | None,
        typer.Option("--late-after", metavar="MOVES", help="When carousel and stages begin (default: 400 million)."),
    ] = None,
    promote: Annotated[
        bool | None,
        typer.Option("--promote/--no-promote", help="Later stages begin as copies of the one before (default: no)."),
    ] = None,
    taught: Annotated[
        float | None,
        typer.Option("--taught", metavar="MOVES", help="So long the stage before plays for later ones (default: 1e8)."),
    ] = None,
    share: Annotated[
        bool | None, typer.Option("--share/--no-share", help="Turned boards share weights (default: yes).")
    ] = None,
    discount: Annotated[
        float | None, typer.Option("--discount", metavar="N", help="What a reward is worth a move later (default: 1).")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", metavar="P", help="Chance of a move at random (default: 0).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", metavar="N", help="Seed of the games (default: 1).")
    ] = None,
    rules: RulesOption = "4x4",
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    every: Annotated[
        float, typer.Option("--checkpoint", metavar="MINUTES", help="How often the network is written meanwhile.")
    ] = 5,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with FILE where it was left.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="A JSON object a second on standard output.")] = False,
) -> None:
    """Train a network of n-tuples by temporal differences; Ctrl-C keeps what it has learnt.

    Example: lab2048 train ntuple --network 4x6 --minutes 10 --out my.safetensors
    """
    from lab2048.arena.ready import NETWORK, prepare
    from lab2048.learning.ntuple import Training
    from lab2048.learning.ntuple_config import Config
    from lab2048.rules import Rules
    from lab2048.rules.dice import check_seed

    for name, number in (("minutes", minutes), ("moves", moves), ("games", games), ("checkpoint", every)):
        if number is not None and not 0 < number <= 1e15:
            raise UsageError(f"{name} {number:g} is out of range: expected above 0")
    if not 0 <= threads <= MAX_THREADS:
        raise UsageError(f"threads {threads} is out of range: expected 0 to {MAX_THREADS}")
    _check_out(out, resume=resume, force=force)
    wishes: dict[str, Any] = {
        "network": network, "method": method, "order": order, "alpha": alpha, "trace": trace, "optimism": optimism,
        "restart": restart, "carousel": carousel, "guide": guide, "guided": guided, "stages": stages,
        "late_after": late_after, "promote": promote, "taught": taught,
        "share": share,
        "discount": discount, "epsilon": epsilon,
        "seed": None if seed is None else check_seed(seed),
    }  # fmt: skip
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    n_threads = threads or os.cpu_count() or 1
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    if resume:
        names = ("rules", "goal", "spawn", "start", "spawner")
        said = {name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"}
        prepare(say, NETWORK)
        training = Training.resume(out, n_threads, **given)
        _check_same(training, the_rules, said)
    else:
        config = Config.for_board(the_rules, **given)
        config.design(the_rules)  # refuse before anything is compiled
        prepare(say, NETWORK)
        training = Training.begin(config, the_rules, n_threads)
    code = _learn(training, out, 60 * minutes if minutes else None, moves, games, 60 * every, as_jsonl=as_jsonl)
    raise typer.Exit(code)


def _check_out(out: Path, *, resume: bool, force: bool) -> None:
    """Before hours of training, not after them."""
    if not out.parent.is_dir():
        raise FileError(f"there is no folder {out.parent}: make it, or name another with --out FILE")
    if out.is_dir():
        raise FileError(f"{out} is a folder: expected the name of a file")
    if resume and not out.exists():
        raise FileError(f"there is no file {out} to go on with: expected one, or no --resume")
    if out.exists() and not resume and not force:
        raise FileError(f"{out} is there already: --resume goes on with it, --force replaces it")
    if not os.access(out.parent, os.W_OK):
        raise FileError(f"{out.parent} cannot be written: name another folder with --out FILE")


def _check_same(training: "Training", rules: "Rules", said: set[str]) -> None:
    """A training goes on with the rules it began with; of those that are said, another one is a mistake."""
    trained, wished = training.network.design.rules.to_json(), rules.to_json()
    for name in said:
        field = "board" if name == "rules" else name
        if (wish := wished[field]) != (before := trained[field]):
            raise UsageError(f"{name} {wish}: the network was trained with {before}; leave it out, or begin another")


def _learn(
    training: "Training",
    out: Path,
    seconds: float | None,
    moves: float | None,
    games: float | None,
    every: float,
    *,
    as_jsonl: bool,
) -> int:
    """Train with a live view, and keep the network now and then; return 130 if it was interrupted."""
    from lab2048.records.whole import sweep
    from lab2048.views.training import training_lines

    limits = {"seconds": seconds, "n_moves": moves, "n_games": games}
    design = training.network.design
    say(
        f"{training.config.network}: {design.n_weights:,} weights, on {training.n_threads} of {os.cpu_count()} cores; "
        f"kept in {out} every {every / 60:g} minutes; Ctrl-C keeps it and ends"
    )
    sweep(out)
    save_at, tell_at = time.monotonic() + every, 0.0
    with live() as show, on_interrupt(partial(_end, training)):
        for progress in training.run(**{name: limit for name, limit in limits.items() if limit is not None}):
            show(lambda progress=progress: "\n".join(training_lines(progress)))  # type: ignore[misc]
            if as_jsonl and time.monotonic() >= tell_at:
                tell_at = time.monotonic() + 1
                _tell("progress", progress, out)
            if time.monotonic() >= save_at:
                training.save(out)
                save_at = time.monotonic() + every
                if as_jsonl:
                    _tell("checkpoint", progress, out)
        training.save(out)
    if as_jsonl:
        _tell("end", training.progress(), out)
    else:
        for line in training_lines(training.progress()):
            print(line)
        print(f"{out} is written; how it plays: lab2048 evaluate {out}")
    return 130 if training.is_ending else 0


def _tell(event: str, progress: "Progress", out: Path) -> None:
    print(json.dumps({"event": event, "file": str(out)} | progress.to_json()), flush=True)


def _end(training: "Training") -> None:
    """The first Ctrl-C ends the training and keeps the network; the second one does not wait."""
    if training.is_ending:
        raise KeyboardInterrupt
    training.end()
    say("\nkeeping the network; Ctrl-C again leaves at once, with the last checkpoint")
