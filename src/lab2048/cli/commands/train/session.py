"""Run a training at the command line: check the output file, show progress, save checkpoints, stop at Ctrl-C."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lab2048.cli.live_view import live
from lab2048.cli.options import is_typed, say
from lab2048.cli.output import print_json
from lab2048.cli.progress import again, bar, say_how
from lab2048.errors import UsageError
from lab2048.learning.registry import Method, Training

if TYPE_CHECKING:
    from lab2048.rules import Rules


def train(
    method: Method,
    given: dict[str, Any],
    *,
    context: typer.Context,
    out: Path,
    minutes: float | None,
    moves: float | None,
    games: float | None,
    threads: int,
    rules: str,
    goal: int,
    spawn: str,
    start: int | None,
    spawner: str,
    stop_at_goal: bool,
    every: float,
    resume: bool,
    force: bool,
    as_jsonl: bool,
    as_json: bool,
    cluster: str | None,
    exchange: float,
    preset: str | None = None,
) -> None:
    """Train by a method with the options that were given; everything is checked before kernels are compiled."""
    from lab2048.library.train import begin_training, chosen_limits, only_writer, training_nodes
    from lab2048.rules import Rules
    from lab2048.views.training import deep_lines, training_lines

    if as_json and as_jsonl:
        raise UsageError("--json and --jsonl: expected only one of them")
    room = ""

    def check_room(now: float, later: float) -> None:
        nonlocal room
        room = _check_room(out, now, later)

    limits = chosen_limits(minutes, moves, games)
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner, stop_at_goal=stop_at_goal)
    with only_writer(out, resume=resume, force=force), training_nodes(method, cluster, threads) as nodes:
        training = begin_training(
            method,
            the_rules,
            method.config.parse(given, preset or ""),
            threads,
            resume_from=out if resume else None,
            check_rules=lambda trained: _check_same_rules(trained, the_rules, context),
            check_room=check_room,
            limits=limits,
            progress=True,
            nodes=nodes,
            exchange=exchange,
        )
        say(f"{training.describe()}; saved to {out} every {every:g} minutes, {room}; Ctrl-C saves it and stops")
        lines, schema = (deep_lines, "train-deep-1") if method.is_deep else (training_lines, "train-1")
        raise typer.Exit(_learn(training, out, limits, 60 * every, lines, schema, as_jsonl=as_jsonl, as_json=as_json))


def _check_room(out: Path, now: float, later: float) -> str:
    """Return the size of a checkpoint in words, now and when it has grown; raise FileError if the disk is too full."""
    from lab2048.views.disk_space import need_room
    from lab2048.views.number import size

    need_room(out, max(now, later), advice="free some space, or choose another disk with --out FILE")
    grown = f", later {size(later)}" if later > now else ""
    return f"at most {size(now)} on disk{grown}, and as much again while it is being written"


def _check_same_rules(trained: "Rules", given: "Rules", context: typer.Context) -> None:
    """Raise UsageError if rules on the command line differ from those that a training began with."""
    before, now = trained.to_json(), given.to_json()
    for name in ("rules", "goal", "spawn", "start", "spawner", "stop_at_goal"):
        field = "board" if name == "rules" else name
        if is_typed(context, name) and now.get(field) != before.get(field):
            raise UsageError(
                f"{name} {now[field]}: the network was trained with {before.get(field, False)}; "
                "omit it, or start a new training"
            )


def _learn(
    training: Training,
    out: Path,
    limits: dict[str, float],
    every: float,
    lines: Callable[[Any], Iterable[str]],
    schema: str,
    *,
    as_jsonl: bool,
    as_json: bool,
) -> int:
    """Train with a live view and save checkpoints; return the exit code, 130 if it was interrupted."""
    from lab2048.library.train import learn

    tell_at = 0.0
    with live() as show:

        def note(progress: Any) -> None:
            nonlocal tell_at
            show(lambda: "\n".join([*_meter(progress, limits), *lines(progress)]))
            if as_jsonl and time.monotonic() >= tell_at:
                tell_at = time.monotonic() + 1
                _tell(schema, "progress", progress, out)

        learn(
            training,
            limits,
            out,
            every,
            note,
            on_checkpoint=lambda progress: _tell(schema, "checkpoint", progress, out) if as_jsonl else None,
            on_stop=lambda: say("\nsaving the network; press Ctrl-C again to stop at once, with the last checkpoint"),
        )
    if as_jsonl or as_json:
        _tell(schema, "end", training.progress(), out)
    else:
        for line in lines(training.progress()):
            print(line)
        print(f"{out} is written; evaluate it with lab2048 evaluate {out}")
    if not training.is_ending:
        return 0
    say_how("continue with", again("--resume", without=("--force",)))
    return 130


def _meter(progress: Any, limits: dict[str, float]) -> list[str]:
    """Return a progress bar by the limit that comes first; none without a limit."""
    shares = [getattr(progress, name) / limit for name, limit in limits.items()]
    return [bar(min(1.0, max(shares)), progress.seconds)] if shares else []


def _tell(schema: str, event: str, progress: Any, out: Path) -> None:
    print_json(schema, {"event": event, "file": str(out)} | progress.to_json())
