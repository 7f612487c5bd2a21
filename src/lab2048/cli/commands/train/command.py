"""`lab2048 train METHOD`: one command per training method, made from lab2048.learning.registry."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from lab2048.cli.command import Commands
from lab2048.cli.commands.train.session import train
from lab2048.cli.option_types import Above, OneOf, Readable, Within
from lab2048.cli.options import (
    ClusterOption,
    GoalOption,
    JsonOption,
    RulesOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    StopOption,
)
from lab2048.learning.config import Option
from lab2048.learning.registry import EXCHANGE_SECONDS, METHODS, Method

app = Commands("Train a network by letting it play.\n\nExample: lab2048 train ntuple --minutes 10 --out my.safetensors")


def make_command(method: Method) -> Callable[..., None]:
    """Return the command of a method: the options that all methods share, and those of its Config."""
    shared = _shared(method)
    own = {each.name: (_option_type(each), None) for each in method.config.options()}

    def command(**given: Any) -> None:
        values = {name: given[name] for name in own if given[name] is not None}
        train(method, values, **{name: given[name] for name in shared})

    keyword = inspect.Parameter.KEYWORD_ONLY
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, keyword, default=default, annotation=kind)
            for name, (kind, default) in (shared | own).items()
        ]
    )
    command.__annotations__ = {name: kind for name, (kind, _) in (shared | own).items()}
    command.__doc__ = (
        f"{method.doc}; Ctrl-C saves it.\n\nExample: lab2048 train {method.name} {method.example} --out my.safetensors"
    )
    return command


def _shared(method: Method) -> dict[str, tuple[Any, Any]]:
    """Return the type and the default of each parameter that all methods share."""
    same = "the result is the same for any number" if method.is_deep else "only one thread is repeatable"
    presets = {"preset": (_preset_type(method), None)} if method.config.presets else {}
    return {
        "context": (typer.Context, inspect.Parameter.empty),
        "out": (
            Annotated[
                Path, typer.Option("--out", "-o", metavar="FILE", help="Output file, rewritten at every checkpoint.")
            ],
            Path("network.safetensors"),
        ),
        "minutes": (_limit("--minutes", text="Stop after N minutes of training, all sessions together."), None),
        "moves": (_limit("--moves", text="Stop after N moves, all sessions together."), None),
        "games": (
            _limit(
                "--games", "--episodes", "-n", text="Stop after N games, all sessions together; restarts do not count."
            ),
            None,
        ),
        "threads": (
            Annotated[
                int,
                typer.Option("--threads", metavar="N", help=f"Threads (0 = one per core); {same}."),
                Within(0, 256),
            ],
            0,
        ),
        "cluster": (ClusterOption, None),
        "exchange": (
            Annotated[
                float,
                typer.Option("--exchange", metavar="SECONDS", help="On a cluster: time between two exchanges."),
                Within(0.1, 600),
            ],
            EXCHANGE_SECONDS,
        ),
        **presets,
        "rules": (RulesOption, "4x4"),
        "goal": (GoalOption, 2048),
        "spawn": (SpawnOption, "2:0.9,4:0.1"),
        "start": (StartOption, None),
        "spawner": (SpawnerOption, "fair"),
        "stop_at_goal": (StopOption, False),
        "every": (
            Annotated[
                float,
                typer.Option("--checkpoint", metavar="MINUTES", help="Minutes between checkpoints."),
                Above(0, 1e15),
            ],
            5,
        ),
        "resume": (Annotated[bool, typer.Option("--resume", help="Continue the training in FILE.")], False),
        "force": (Annotated[bool, typer.Option("--force", help="Replace FILE.")], False),
        "as_jsonl": (
            Annotated[bool, typer.Option("--jsonl", help="One JSON object per second on standard output.")],
            False,
        ),
        "as_json": (JsonOption, False),
    }


def _limit(*flags: str, text: str) -> Any:
    return Annotated[float | None, typer.Option(*flags, metavar="N", help=text), Above(0, 1e15)]


def _preset_type(method: Method) -> Any:
    known = tuple(method.config.presets)
    text = f"Published options for all that are not given: {', '.join(known)}."
    return Annotated[str | None, typer.Option("--preset", metavar="NAME", help=text), OneOf(known)]


def _option_type(option: Option) -> Any:
    """Return an option of a Config as Typer takes it; None stands for not given."""
    if option.kind is bool:
        flags = [f"--{option.flag}/--no-{option.flag}"]
        metavar = None
    else:
        flags = [f"--{option.flag}", *(["-s"] if option.name == "seed" else [])]
        metavar = option.metavar or ("NAME" if option.kind is str else "N")
    kind: Any = option.kind
    return Annotated[kind | None, typer.Option(*flags, metavar=metavar, help=_help(option)), Readable(option.convert)]


def _help(option: Option) -> str:
    """Return the doc of an option with its choices and its default."""
    notes = [" | ".join(option.choices)] if option.choices else []
    if option.kind is bool:
        notes.append(f"default: {'yes' if option.default else 'no'}")
    elif option.default is not None:
        notes.append(f"default: {option.default if option.kind is str else format(option.default, 'g')}")
    return f"{option.doc} ({'; '.join(notes)})." if notes else f"{option.doc}."


for each in METHODS.values():
    app.command(each.name)(make_command(each))
