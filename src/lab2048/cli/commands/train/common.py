"""What all trainings have in common at the command line: files, limits, the live view, Ctrl-C."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from lab2048.cli.live_view import live, on_interrupt
from lab2048.cli.option_types import Above, Within
from lab2048.cli.options import is_typed, say
from lab2048.cli.output import print_json
from lab2048.cli.progress import again, bar, say_how
from lab2048.errors import FileError, UsageError

if TYPE_CHECKING:
    from lab2048.rules import Rules

THREADS = Within(0, 256)
OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="Where the network is kept, again and again.")
]
MinutesOption = Annotated[
    float | None,
    typer.Option("--minutes", metavar="N", help="Stop when it has learnt so long, all sessions together."),
    Above(0, 1e15),
]
MovesOption = Annotated[
    float | None,
    typer.Option("--moves", metavar="N", help="Stop after so many moves, all sessions together."),
    Above(0, 1e15),
]
GamesOption = Annotated[
    float | None,
    typer.Option("--games", "--episodes", "-n", metavar="N", help="Stop after so many games from the start."),
    Above(0, 1e15),
]
CheckpointOption = Annotated[
    float,
    typer.Option("--checkpoint", metavar="MINUTES", help="How often the network is written meanwhile."),
    Above(0, 1e15),
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on with FILE where it was left.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace FILE.")]
JsonLinesOption = Annotated[bool, typer.Option("--jsonl", help="A JSON object a second on standard output.")]


class Standing(Protocol):
    """How a training stands."""

    def to_json(self) -> dict[str, Any]:
        """As a line of the log."""
        ...


class Trainer(Protocol):
    """A training, whatever it trains."""

    is_ending: bool

    def run(self, *, seconds: float = ..., n_moves: float = ..., n_games: float = ...) -> Iterator[Any]:
        """Learn, and say how it stands now and then."""
        ...

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        ...

    def end(self) -> None:
        """End soon."""
        ...

    def progress(self) -> Any:
        """How it stands."""
        ...


def check_output(*, as_json: bool, as_jsonl: bool) -> None:
    """One form at a time."""
    if as_json and as_jsonl:
        raise UsageError("--json and --jsonl: expected only one of them")


def count_threads(threads: int) -> int:
    """How many threads that is: 0 stands for one a core."""
    return threads or os.cpu_count() or 1


def check_out(out: Path, *, resume: bool, force: bool) -> None:
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


def check_room(out: Path, now: float, later: float = 0.0) -> str:
    """How much room a network takes on disk, in words; refuse it if there is too little.

    `later` is what it takes when it has grown.
    """
    from lab2048.views.disk_space import need_room
    from lab2048.views.number import size

    need_room(out, max(now, later), advice="make room, or name another disk with --out FILE")
    grown = f", later {size(later)}" if later > now else ""
    return f"it takes {size(now)} on disk{grown}, and as much again while it is written"


def check_same_rules(trained: "Rules", wished: "Rules", context: typer.Context) -> None:
    """A training goes on with the rules it began with; of those that are said, another one is a mistake."""
    before, now = trained.to_json(), wished.to_json()
    for name in ("rules", "goal", "spawn", "start", "spawner"):
        field = "board" if name == "rules" else name
        if is_typed(context, name) and now[field] != before[field]:
            raise UsageError(
                f"{name} {now[field]}: the network was trained with {before[field]}; leave it out, or begin another"
            )


def learn(
    training: Trainer,
    out: Path,
    limits: dict[str, float | None],
    every: float,
    lines: Callable[[Any], Iterable[str]],
    schema: str,
    *,
    as_jsonl: bool,
    as_json: bool,
) -> int:
    """Train with a live view, and keep the network now and then; return 130 if it was interrupted."""
    from lab2048.records.atomic_file import sweep

    given = {name: limit for name, limit in limits.items() if limit is not None}
    sweep(out)
    save_at, tell_at = time.monotonic() + every, 0.0
    with live() as show, on_interrupt(partial(_end, training)):
        for progress in training.run(**given):
            show(lambda progress=progress: "\n".join([*_meter(progress, given), *lines(progress)]))  # type: ignore[misc]
            if as_jsonl and time.monotonic() >= tell_at:
                tell_at = time.monotonic() + 1
                _tell(schema, "progress", progress, out)
            if time.monotonic() >= save_at:
                training.save(out)
                save_at = time.monotonic() + every
                if as_jsonl:
                    _tell(schema, "checkpoint", progress, out)
        training.save(out)
    if as_jsonl or as_json:
        _tell(schema, "end", training.progress(), out)
    else:
        for line in lines(training.progress()):
            print(line)
        print(f"{out} is written; how it plays: lab2048 evaluate {out}")
    if not training.is_ending:
        return 0
    say_how("go on with", again("--resume", without=("--force",)))
    return 130


def _meter(progress: Any, limits: dict[str, float]) -> list[str]:
    """How much of the training is done, by the limit that comes first; without a limit nobody knows."""
    shares = [getattr(progress, name) / limit for name, limit in limits.items()]
    return [bar(min(1.0, max(shares)), progress.seconds)] if shares else []


def _tell(schema: str, event: str, progress: Standing, out: Path) -> None:
    print_json(schema, {"event": event, "file": str(out)} | progress.to_json())


def _end(training: Trainer) -> None:
    """The first Ctrl-C ends the training and keeps the network; the second one does not wait."""
    if training.is_ending:
        raise KeyboardInterrupt
    training.end()
    say("\nkeeping the network; Ctrl-C again leaves at once, with the last checkpoint")
