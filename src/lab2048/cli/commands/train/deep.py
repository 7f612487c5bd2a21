"""`lab2048 train afterstate`, `c51`, `dqn`, `returns` and `distil`: make a deep network that plays.

The options of a method are the fields of its Config: an option is written once, with its range and what it means.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

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
from lab2048.cli.option_types import OneOf, Readable
from lab2048.cli.options import GoalOption, JsonOption, RulesOption, SpawnerOption, SpawnOption, StartOption, say
from lab2048.cli.progress import make_ready
from lab2048.errors import UsageError
from lab2048.learning.deep.config import (
    PRESET_003,
    ActionConfig,
    AfterstateConfig,
    DeepConfig,
    DistilConfig,
    ReturnsConfig,
)
from lab2048.learning.option import check_wish

PRESETS = {"003": PRESET_003}
ThreadsOption = Annotated[
    int,
    typer.Option("--threads", metavar="N", help="Threads (0: one a core); the network is the same for any number."),
    THREADS,
]
PresetOption = Annotated[
    str | None,
    typer.Option("--preset", metavar="DOCUMENT", help="Options as document 003 has them, unless given."),
    OneOf(("003",)),
]
# What a command takes besides the fields of its Config: a type and a default for each.
SHARED: dict[str, tuple[Any, Any]] = {
    "context": (typer.Context, inspect.Parameter.empty),
    "out": (OutOption, Path("network.safetensors")),
    "minutes": (MinutesOption, None),
    "moves": (MovesOption, None),
    "games": (GamesOption, None),
    "threads": (ThreadsOption, 0),
    "preset": (PresetOption, None),
    "rules": (RulesOption, "4x4"),
    "goal": (GoalOption, 2048),
    "spawn": (SpawnOption, "2:0.9,4:0.1"),
    "start": (StartOption, None),
    "spawner": (SpawnerOption, "fair"),
    "every": (CheckpointOption, 5),
    "resume": (ResumeOption, False),
    "force": (ForceOption, False),
    "as_jsonl": (JsonLinesOption, False),
    "as_json": (JsonOption, False),
}
METHODS: dict[str, tuple[str, type[DeepConfig], str]] = {
    "afterstate": (
        "lab2048.learning.deep.afterstate_values:AfterstateTraining",
        AfterstateConfig,
        "Train a deep network that values afterstates, by temporal differences; Ctrl-C keeps what it has learnt.\n\n"
        "Example: lab2048 train afterstate --minutes 60 --out my.safetensors",
    ),
    "c51": (
        "lab2048.learning.deep.action_values:C51Training",
        ActionConfig,
        "Train a deep network that gives each move a distribution over returns (C51); Ctrl-C keeps it.\n\n"
        "Example: lab2048 train c51 --episodes 1000 --out my.safetensors",
    ),
    "dqn": (
        "lab2048.learning.deep.action_values:DqnTraining",
        ActionConfig,
        "Train a deep network that values moves (double DQN); Ctrl-C keeps what it has learnt.\n\n"
        "Example: lab2048 train dqn --episodes 1000 --out my.safetensors",
    ),
    "returns": (
        "lab2048.learning.deep.returns:ReturnsTraining",
        ReturnsConfig,
        "Train a deep network that values moves by what whole games came to; Ctrl-C keeps what it has learnt.\n\n"
        "Example: lab2048 train returns --episodes 10000 --out my.safetensors",
    ),
    "distil": (
        "lab2048.learning.deep.distil:DistilTraining",
        DistilConfig,
        "Train a deep network to do what another player does, shield and all; Ctrl-C keeps what it has learnt.\n\n"
        "Example: lab2048 train distil --teacher greedy --out my.safetensors",
    ),
}


def method_class(method: str) -> Any:
    """The training of a method; it needs torch."""
    module, _, name = METHODS[method][0].partition(":")
    return getattr(importlib.import_module(module), name)


def make_command(method: str) -> Callable[..., None]:
    """The command that trains by a method."""
    _, config, doc = METHODS[method]

    def command(**given: Any) -> None:
        shared = {name: given.pop(name) for name in SHARED}
        _train(method, config, {name: wish for name, wish in given.items() if wish is not None}, **shared)

    types = {name: kind for name, (kind, _) in SHARED.items()}
    defaults = {name: default for name, (_, default) in SHARED.items()}
    for field in fields(config):
        types[field.name], defaults[field.name] = _option(field), None
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword, default=defaults[name], annotation=types[name]) for name in types]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = types
    command.__doc__ = doc
    return command


def _option(field: Any) -> Any:
    """A field of a Config as an option; it is left open unless it is given."""
    about, dashed = field.metadata, field.name.replace("_", "-")
    first, rest = about["doc"][0].upper(), about["doc"][1:]
    if field.type is bool:
        default = "yes" if field.default else "no"
        return Annotated[
            bool | None, typer.Option(f"--{dashed}/--no-{dashed}", help=f"{first}{rest} (default: {default}).")
        ]
    meaning = f"{first}{rest}: {', '.join(about['known'])}" if about["known"] else f"{first}{rest}"
    help_text = (
        f"{meaning} (default: {field.default if isinstance(field.default, str) else format(field.default, 'g')})."
    )
    check = Readable(lambda value: _read(field, value))
    names = [f"--{dashed}", *(["-s"] if field.name == "seed" else [])]
    return Annotated[
        field.type | None,
        typer.Option(*names, metavar="N" if field.type is not str else "WHICH", help=help_text),
        check,
    ]


def _read(field: Any, value: Any) -> None:
    """Refuse what a field of a Config does not take, as far as it can be told of the field alone."""
    check_wish(field, value)
    if field.name == "widths":
        DeepConfig(widths=value).widths_read()
    elif field.name == "sides":
        from lab2048.players.strategy import read_strategy

        read_strategy(value)


def _train(
    name: str,
    config_class: type[DeepConfig],
    given: dict[str, Any],
    *,
    context: typer.Context,
    out: Path,
    minutes: float | None,
    moves: float | None,
    games: float | None,
    threads: int,
    preset: str | None,
    rules: str,
    goal: int,
    spawn: str,
    start: int | None,
    spawner: str,
    every: float,
    resume: bool,
    force: bool,
    as_jsonl: bool,
    as_json: bool,
) -> None:
    from lab2048.models.deep.header import read_deep_header
    from lab2048.rules import Rules
    from lab2048.views.training import deep_lines

    check_output(as_json=as_json, as_jsonl=as_jsonl)
    n_threads = count_threads(threads)
    check_out(out, resume=resume, force=force)
    if preset is not None:
        if preset not in PRESETS or config_class is not ActionConfig:
            raise UsageError(f"preset {preset} is unknown here: expected 003, for c51 or dqn")
        given = PRESETS[preset] | given
    config = config_class(**given)
    the_rules = Rules.from_text(rules, goal=goal, spawn=spawn, start=start, spawner=spawner)
    method = method_class(name)
    # Refuse before anything is compiled.
    if resume:
        read_deep_header(out)
    else:
        method.check(config, the_rules)
    make_ready(*method.groups(config))
    if resume:
        training = method.resume(out, n_threads, **given)
        check_same_rules(training.rules, the_rules, context)
    else:
        training = method(config, the_rules, n_threads)
    kept = (training.adam.to_arrays(), training.games.to_arrays(), training.more_arrays())
    n_bytes = 4 * len(training.adam.flat) + sum(array.nbytes for arrays in kept for array in arrays.values())
    room = check_room(out, n_bytes)
    say(
        f"{training.config.network} {training.config.widths}: {len(training.adam.flat):,} weights, "
        f"{training.config.crowd} games at once; kept in {out} every {every:g} minutes, {room}; "
        "Ctrl-C keeps it and ends"
    )
    limits = {"seconds": 60 * minutes if minutes else None, "n_moves": moves, "n_games": games}
    code = learn(training, out, limits, 60 * every, deep_lines, "train-deep-1", as_jsonl=as_jsonl, as_json=as_json)
    raise typer.Exit(code)
