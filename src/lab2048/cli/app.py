"""`lab2048`: the commands, and how every error ends in one line and an exit code."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

import lab2048
from lab2048.cli import (
    bench,
    count,
    evaluate,
    games,
    hint,
    match,
    perft,
    play,
    players,
    regret,
    serve,
    solve,
    table,
    train,
    tune,
    weights,
)
from lab2048.errors import LabError

app = typer.Typer(
    help="A laboratory for the game 2048: play it, watch it played, compare its players, on any board.",
    epilog="Example: lab2048 play --rules 4x4",
    no_args_is_help=False,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("serve")(serve.serve)
app.command("play")(play.play)
app.command("match")(match.match)
app.command("hint")(hint.hint)
app.command("players")(players.players)
app.command("tune")(tune.tune)
app.command("evaluate")(evaluate.evaluate)
app.command("perft")(perft.perft)
app.command("solve")(solve.solve)
app.command("probe")(table.probe)
app.command("count")(count.count)
app.command("regret")(regret.regret)
app.command("export-table")(table.export_table)
app.add_typer(games.app, name="games")
app.add_typer(bench.app, name="bench")
app.add_typer(table.app, name="table")
app.add_typer(train.app, name="train")
app.add_typer(weights.app, name="weights")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """A laboratory for the game 2048: play it, watch it played, compare its players, on any board."""
    if version:
        print(f"lab2048 {lab2048.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        serve.serve()


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    _open_streams()
    try:
        code = app(list(arguments), prog_name="lab2048", standalone_mode=False)
        sys.stdout.flush()
        return _say("interrupted", 130) if code == 130 else code if isinstance(code, int) else 0
    except LabError as error:
        return _say(str(error), error.exit_code)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "lab2048"
        return _say(f"{error.format_message()} (try: {command} --help)", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", 130)
    except BrokenPipeError:
        # The reader has left; nothing is wrong.  Keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # such as a full disk behind standard output
        return _say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        return _say("out of memory: expected something smaller", 1)
    except Exception as error:
        if os.environ.get("LAB2048_DEBUG"):
            traceback.print_exc()
        return _say(f"internal error: {type(error).__name__}: {error} (LAB2048_DEBUG=1 shows where)", 1)


def _open_streams() -> None:
    """A stream that was closed leads nowhere; a letter that a stream cannot show becomes a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it lives as long as the program
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    print("lab2048:", "".join(letter if letter.isprintable() else "?" for letter in line), file=sys.stderr)
    return code
