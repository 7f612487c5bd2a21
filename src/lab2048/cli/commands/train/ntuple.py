"""`lab2048 train`: make a network that plays."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from lab2048.cli.commands.train import deep
from lab2048.cli.commands.train.common import (
    THREADS,
    CheckpointOption,
    ForceOption,
    GamesOption,
    JsonLinesOption,
    MinutesOption,
    MovesOption,
    OutOption,
    ResumeOption,
    check_out,
    check_output,
    check_room,
    check_same_rules,
    count_threads,
    learn,
)
from lab2048.cli.option_types import Readable
from lab2048.cli.options import SEED, GoalOption, JsonOption, RulesOption, SpawnerOption, SpawnOption, StartOption, say
from lab2048.cli.progress import make_ready
from lab2048.errors import UsageError


def _wish(name: str) -> Readable:
    """What the Config of a training says to one of its fields, before the board is known."""

    def read(value: Any) -> None:
        from lab2048.learning.ntuple_config import Config, parse_stages
        from lab2048.rules import Rules

        config = Config(**{name: value})
        if name == "stages":
            parse_stages(config.stages, Rules.from_text("4x4"))

    return Readable(read)


app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
for method in deep.METHODS:
    app.command(method)(deep.make_command(method))


@app.callback()
def train(context: typer.Context) -> None:
    """Make a network that plays, by letting it play.

    Example: lab2048 train ntuple --minutes 10 --out my.safetensors
    """
    if context.invoked_subcommand is None:
        raise UsageError("train what? expected: lab2048 train ntuple, afterstate, c51, dqn, returns or distil")


@app.command("ntuple")
def ntuple(
    context: typer.Context,
    out: OutOption = Path("network.safetensors"),
    network: Annotated[
        str | None,
        typer.Option(
            "--network",
            metavar="CELLS",
            help="best (default), patterns x cells (8x6, 1x8), rows, pairs-triplets-quartets, or hex: 012345,456789.",
        ),
        _wish("network"),
    ] = None,
    minutes: MinutesOption = None,
    moves: MovesOption = None,
    games: GamesOption = None,
    threads: Annotated[
        int,
        typer.Option("--threads", metavar="N", help="Threads that learn at once (0: one a core); 1 can be repeated."),
        THREADS,
    ] = 0,
    method: Annotated[
        str | None, typer.Option("--method", metavar="WHICH", help="tc (default) or td."), _wish("method")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", metavar="WHICH", help="Learn games backward (default) or forward."),
        _wish("order"),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", metavar="N", help="Learning rate (default: 1 for tc, 0.1 for td)."),
        _wish("alpha"),
    ] = None,
    trace: Annotated[
        float | None,
        typer.Option("--lambda", metavar="N", help="How much the return counts, backward (default: 0.5)."),
        _wish("trace"),
    ] = None,
    optimism: Annotated[
        float | None,
        typer.Option("--optimism", metavar="SCORE", help="What an untrained network hopes for (default: 0)."),
        _wish("optimism"),
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
        _wish("guide"),
    ] = None,
    guided: Annotated[
        float | None,
        typer.Option("--guided", metavar="MOVES", help="For how many moves (default: 100 million)."),
        _wish("guided"),
    ] = None,
    stages: Annotated[
        str | None,
        typer.Option(
            "--stages", metavar="TILES", help="Further weights from these highest tiles on, or none (default: 16384)."
        ),
        _wish("stages"),
    ] = None,
    late_after: Annotated[
        float | None,
        typer.Option("--late-after", metavar="MOVES", help="When carousel and stages begin (default: 400 million)."),
        _wish("late_after"),
    ] = None,
    promote: Annotated[
        bool | None,
        typer.Option("--promote/--no-promote", help="Later stages begin as copies of the one before (default: no)."),
    ] = None,
    taught: Annotated[
        float | None,
        typer.Option("--taught", metavar="MOVES", help="So long the stage before plays for later ones (default: 1e8)."),
        _wish("taught"),
    ] = None,
    downgrade: Annotated[
        bool | None,
        typer.Option(
            "--downgrade/--no-downgrade", help="Look tiles from 4096 on up by their order alone (default: no)."
        ),
    ] = None,
    synthetic: Annotated[
        float | None,
        typer.Option("--synthetic", metavar="P", help="Share of moves in games from made-up late boards (default: 0)."),
        _wish("synthetic"),
    ] = None,
    truncate: Annotated[
        int | None,
        typer.Option(
            "--truncate", metavar="N", help="End such games after N new tiles of 4096; 0: never (default: 1)."
        ),
        _wish("truncate"),
    ] = None,
    share: Annotated[
        bool | None, typer.Option("--share/--no-share", help="Turned boards share weights (default: yes).")
    ] = None,
    discount: Annotated[
        float | None,
        typer.Option("--discount", metavar="N", help="What a reward is worth a move later (default: 1)."),
        _wish("discount"),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="P", help="Chance of a move at random (default: 0)."),
        _wish("epsilon"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", metavar="N", help="Seed of the games (default: 1)."), SEED
    ] = None,
    rules: RulesOption = "4x4",
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    every: CheckpointOption = 5,
    resume: ResumeOption = False,
    force: ForceOption = False,
    as_jsonl: JsonLinesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a network of n-tuples by temporal differences; Ctrl-C keeps what it has learnt.

    Example: lab2048 train ntuple --minutes 10 --out my.safetensors
    """
    from lab2048.arena.compile import NETWORK
    from lab2048.learning.ntuple import Training
    from lab2048.learning.ntuple_config import Config
    from lab2048.models.ntuple.file import read_header
    from lab2048.rules import Rules
    from lab2048.rules.dice import check_seed
    from lab2048.views.training import training_lines

    check_output(as_json=as_json, as_jsonl=as_jsonl)
    n_threads = count_threads(threads)
    check_out(out, resume=resume, force=force)
    wishes: dict[str, Any] = {
        "network": network, "method": method, "order": order, "alpha": alpha, "trace": trace, "optimism": optimism,
        "restart": restart, "carousel": carousel, "guide": guide, "guided": guided, "stages": stages,
        "late_after": late_after, "promote": promote, "taught": taught,
        "downgrade": downgrade, "synthetic": synthetic, "truncate": truncate, "share": share,
        "discount": discount, "epsilon": epsilon,
        "seed": None if seed is None else check_seed(seed),
    }  # fmt: skip
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    if resume:
        read_header(out)
        make_ready(NETWORK)
        training = Training.resume(out, n_threads, **given)
        check_same_rules(training.network.design.rules, the_rules, context)
        room = check_room(out, *training.config.sizes(training.network.design.rules, training.n_moves, moves))
    else:
        config = Config.for_board(the_rules, **given)
        room = check_room(out, *config.sizes(the_rules, 0, moves))  # refuse before anything is compiled
        make_ready(NETWORK)
        training = Training.begin(config, the_rules, n_threads)
    say(
        f"{training.config.network}: {training.network.design.n_weights:,} weights, on {n_threads} of {os.cpu_count()} "
        f"cores; kept in {out} every {every:g} minutes, {room}; Ctrl-C keeps it and ends"
    )
    limits = {"seconds": 60 * minutes if minutes else None, "n_moves": moves, "n_games": games}
    code = learn(training, out, limits, 60 * every, training_lines, "train-1", as_jsonl=as_jsonl, as_json=as_json)
    raise typer.Exit(code)
