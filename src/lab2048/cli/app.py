"""`lab2048`: the commands, and how every error ends in one line and an exit code."""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

import lab2048
from lab2048.cli.argv import check_colour, coloured, show_colour_everywhere, take_colour
from lab2048.cli.command_tree import long_name
from lab2048.cli.help import lead_with_examples, name_arguments, plainly
from lab2048.cli.hints import with_option
from lab2048.cli.live_view import begin_line, ending_when_terminated, interrupted_code, no_interrupt_lost
from lab2048.cli.option_types import CONTEXT, check_parameters
from lab2048.cli.progress import remember
from lab2048.cli.settings import Settings, is_needed, unknown_variables
from lab2048.errors import FileError, LabError, UsageError
from lab2048.views.wrap import columns_of, folded

UNSETTLED = {"config", "doctor", "completion", "__complete", "--help", "-h", "--version"}  # run without any settings

INTERRUPTED = 130
WITHOUT_A_WORD = "serve"

# Where each command stands: a file of the folder commands and a name in it; `app` is a group of commands.
COMMANDS = {
    "serve": "serve.serve",
    "play": "play.play",
    "tui": "tui.tui",
    "watch": "watch.watch",
    "match": "match.match",
    "hint": "hint.hint",
    "tune": "tune.tune",
    "evaluate": "evaluate.evaluate",
    "perft": "count.perft",
    "solve": "solve.solve",
    "probe": "table.probe",
    "count": "count.count",
    "regret": "regret.regret",
    "export-table": "table.export_table",
    "doctor": "doctor.doctor",
    "completion": "completion.completion",
    "players": "players.app",
    "games": "games.app",
    "bench": "bench.app",
    "study": "study.app",
    "table": "table.app",
    "train": "train.command.app",
    "weights": "weights.app",
    "config": "config.app",
}


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """These commands, by themselves all; each is imported only here, because all of them take a while."""
    app = typer.Typer(
        help="A laboratory for the game 2048: play, watch, solve, search, learn and compare, on any board.",
        epilog="Example: lab2048 play --rules 4x4",
        no_args_is_help=False,
        add_completion=False,  # `lab2048 completion` knows the players, too
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for name in names:
        file, _, what = COMMANDS[name].rpartition(".")
        found = getattr(importlib.import_module(f"lab2048.cli.commands.{file}"), what)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def _show_version(is_asked: bool) -> None:
    """Before any other word is looked at, as other programs have it."""
    if is_asked:
        print(f"lab2048 {lab2048.__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    color: Annotated[str, typer.Option("--color", metavar="WHEN", help="Colours: auto, always or never.")] = "auto",
) -> None:
    """A laboratory for the game 2048: play, watch, solve, search, learn and compare, on any board."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    _open_streams()
    words, when = list(arguments), None
    settings: Settings | None = None
    try:
        if words[:1] == ["__complete"]:  # by itself, because taking a command apart costs more than answering
            from lab2048.cli.commands.completion import print_candidates

            print_candidates(_command_of([]), words[1:])
            return 0
        remember(words)
        words, when = take_colour(words)
        words = words or [WITHOUT_A_WORD]
        command = _command_of(words)
        if words[:1] == ["help"]:  # as other programs have it
            words = [*words[1:], "--help"]
        elif words == ["version"]:
            words = ["--version"]
        # Those who ask what is wrong with the settings must get an answer in spite of it.
        if is_needed(os.environ) and words[0] not in UNSETTLED:
            wants_help = not {"--help", "-h"}.isdisjoint(words)
            with contextlib.suppress(*[UsageError] * wants_help):
                settings = Settings.of(command)
                settings.export()
                when = when or settings.value("color")
                check_colour(when or "auto")
                if not wants_help:
                    _warn_of(unknown_variables(settings, os.environ))
        with no_interrupt_lost(), coloured(when), ending_when_terminated():
            code = _invoke(command, words, settings)
        sys.stdout.flush()
        return interrupted_code() if code == INTERRUPTED else code  # it has said how it stands
    except LabError as error:
        blamed = settings.blame(error.field, error.code) if settings else ""
        is_setting = blamed and not isinstance(error, FileError)
        return _say(f"{with_option(error)}{blamed}", UsageError.exit_code if is_setting else error.exit_code)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "lab2048"
        parameter = getattr(error, "param", None)
        blamed = settings.blame(long_name(parameter)) if settings and parameter else ""
        return _say(f"{plainly(error)}{blamed} (try: {path} --help)", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = interrupted_code()
        begin_line(sys.stderr)
        return _say("interrupted" if code == INTERRUPTED else "asked to end, and ended", code)
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
            import traceback

            traceback.print_exc()
        return _say(f"internal error: {type(error).__name__}: {error} (LAB2048_DEBUG=1 shows where)", 1)


def _command_of(words: list[str]) -> Any:
    """The command that is meant, or all of them where it takes all to answer: settings are those of any command."""
    is_one = words and words[0] in COMMANDS and words[0] not in UNSETTLED and not is_needed(os.environ)
    command = typer.main.get_command(make_app(words[:1] if is_one else COMMANDS))
    lead_with_examples(command)
    name_arguments(command)
    check_parameters(command)
    show_colour_everywhere(command)
    return command


def _invoke(command: Any, arguments: list[str], settings: Settings | None) -> int:
    """Not by the command's own `main`, which would answer a closed pipe with exit code 1."""
    try:
        defaults = settings.defaults() if settings else None
        with command.make_context("lab2048", arguments, default_map=defaults) as context:
            try:
                command.invoke(context)
            except (LabError, TyperException):
                if settings:
                    settings.note_used(context.meta[CONTEXT])
                raise
    except typer.Exit as end:
        return end.exit_code
    return 0


def _open_streams() -> None:
    """A stream that was closed leads nowhere; a letter that a stream cannot show becomes a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it lives as long as the program
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _warn_of(unknown: dict[str, str]) -> None:
    """A variable that is misspelt would be missed by nobody else."""
    for name, instead in unknown.items():
        _say(f"{name} means nothing to lab2048: {instead}", 0)


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    line = "lab2048: " + "".join(letter if letter.isprintable() else "?" for letter in line)
    print(folded(line, columns_of(sys.stderr), "    "), file=sys.stderr)
    return code
