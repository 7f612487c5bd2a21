"""`lab2048`: the commands; every error becomes one line and an exit code."""

import contextlib
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

import lab2048
from lab2048.cli.color import colored
from lab2048.cli.command import Commands, Group, explain
from lab2048.cli.debug import is_debugging
from lab2048.cli.hints import with_option
from lab2048.cli.live_view import begin_line, ending_when_terminated, interrupted_code
from lab2048.cli.options import say
from lab2048.cli.progress import remember
from lab2048.cli.settings import PREFIX, Settings, has_files, has_others
from lab2048.cli.summary import SUMMARIES
from lab2048.errors import FileError, LabError, PlayerFileWarning, StoppedError, UsageError, reason_of
from lab2048.library.interrupt import interruptible
from lab2048.views.wrap import columns_of, folded

# These run without settings: if the settings are wrong, they must still answer.
UNSETTLED = {"config", "doctor", "completion", "__complete", "--help", "-h", "--version"}
INTERRUPTED = 130
DEFAULT_COMMAND = "serve"

# Where each command is, by section of the help: a file of the folder commands and a name in it; `app` is a group.
SECTIONS = {
    "Play": {
        "serve": "serve.serve",
        "play": "play.play",
        "tui": "tui.tui",
        "widget": "widget.widget",
        "watch": "watch.watch",
        "hint": "hint.hint",
        "players": "players.app",
    },
    "Compare": {"match": "match.match", "regret": "regret.regret", "review": "review.review", "study": "study.app"},
    "Solve": {
        "solve": "solve.solve",
        "probe": "table.probe",
        "table": "table.app",
        "endgame": "endgame.app",
        "count": "count.count",
        "perft": "count.perft",
    },
    "Learn": {
        "train": "train.command.app",
        "tune": "tune.tune",
        "evaluate": "evaluate.evaluate",
        "weights": "weights.app",
    },
    "Data": {"games": "games.app"},
    "System": {
        "config": "system.config.app",
        "doctor": "system.doctor.doctor",
        "prepare": "system.prepare.prepare",
        "bench": "system.bench.app",
        "cluster": "system.cluster.app",
        "completion": "system.completion.completion",
    },
}
RENAMED = {"export-table": "table export"}  # old names still work
COMMANDS = {name: (section, place) for section, some in SECTIONS.items() for name, place in some.items()}


class _Root(Group):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and its arguments; a renamed command says its new name."""
        name, *rest = args
        if new := RENAMED.get(name):
            if not ctx.resilient_parsing:
                say(f"lab2048 {name} is now lab2048 {new}")
            args = [*new.split(), *rest]
        return super().resolve_command(ctx, args)


def make_app(names: Iterable[str] = COMMANDS, *, only_listed: bool = False) -> typer.Typer:
    """Return the program with these commands; importing all of them takes a while, unless they are `only_listed`."""
    app = Commands(
        "A laboratory for the game 2048: play, watch, solve, search, learn and compare, on any board.\n\n"
        "Example: lab2048 play --rules 4x4",
        _Root,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    for name in names:
        section, place = COMMANDS[name]
        if only_listed:
            app.command(name, rich_help_panel=section, help=SUMMARIES[name])(lambda: None)
            continue
        file, _, what = place.rpartition(".")
        found = getattr(importlib.import_module(f"lab2048.cli.commands.{file}"), what)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name, rich_help_panel=section)
        else:
            app.command(name, rich_help_panel=section)(found)
    return app


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"lab2048 {lab2048.__version__}")
        raise typer.Exit


def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:  # only options, such as --color
        command: Any = context.command
        serve = command.commands[DEFAULT_COMMAND]
        with serve.make_context(DEFAULT_COMMAND, [], parent=context) as inner:
            serve.invoke(inner)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    _open_streams()
    words = list(arguments)
    try:
        if words[:1] == ["__complete"]:  # by itself, because parsing a command costs more than the answer
            from lab2048.cli.commands.system.completion import print_candidates

            with warnings.catch_warnings(action="ignore"):  # who presses Tab asks for nothing else
                print_candidates(command_of([]), words[1:])
            return 0
        remember(words)
        words = words or [DEFAULT_COMMAND]
        if words[:1] == ["help"]:  # as in other programs
            words = [*words[1:], "--help"]
        elif words == ["version"]:
            words = ["--version"]
        with interruptible(), colored(None), ending_when_terminated(), _telling_warnings():
            code = _invoke(words)
        sys.stdout.flush()
        return interrupted_code() if code == INTERRUPTED else code  # the command has printed its state
    except (KeyboardInterrupt, StoppedError, typer.Abort):
        code = interrupted_code()
        begin_line(sys.stderr)
        return _say("interrupted" if code == INTERRUPTED else "terminated", code)
    except LabError as error:
        if is_debugging() and error.trace:
            print(error.trace, end="", file=sys.stderr)
        causes = _causes(error)
        is_setting = causes and not isinstance(error, FileError)
        return _say(f"{with_option(error)}{causes}", UsageError.exit_code if is_setting else error.exit_code)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "lab2048"
        return _say(f"{explain(error)}{_causes(error)} (try: {path} --help)", error.exit_code)
    except BrokenPipeError:
        # The reader closed the pipe, which is no error.  Keep Python from reporting it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # such as a full disk when standard output is a file
        return _say(f"{f'{error.filename}: ' if error.filename else ''}{reason_of(error)}", 1)
    except MemoryError:
        return _say("out of memory: try a smaller task", 1)
    except Exception as error:
        if is_debugging():
            import traceback

            traceback.print_exc()
        return _say(f"internal error: {type(error).__name__}: {error} (--debug shows where)", 1)


def command_of(words: list[str]) -> Any:
    """Return the program with the commands that it takes to run these words: checking settings takes all of them."""
    is_one = words and words[0] in COMMANDS and words[0] not in UNSETTLED and not _needs_check(words[0])
    names = words[:1] if is_one else [] if words == ["--version"] else COMMANDS
    command: Any = typer.main.get_command(make_app(names, only_listed=words in (["--help"], ["-h"])))
    command.commands = {name: command.commands[name] for name in COMMANDS if name in command.commands}  # in our order
    return command


def _needs_check(command: str) -> bool:
    return has_files() or has_others(command)


def _invoke(words: list[str]) -> int:
    """Run a command; Typer's own `main` is not used, because it turns a closed pipe into exit code 1."""
    command, extra = command_of(words), dict[str, Any]()
    if words[0] not in UNSETTLED:
        extra["auto_envvar_prefix"] = PREFIX
        if _needs_check(words[0]):
            settings = Settings.read(command)
            if {"--help", "-h"}.isdisjoint(words):
                for error in settings.refused:
                    raise error
                for name, instead in settings.unknown_variables().items():
                    _say(f"{name} is not a setting of lab2048: {instead}", 0)
            extra["default_map"] = settings.defaults()
    try:
        with command.make_context("lab2048", words, **extra) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _open_streams() -> None:
    """Open closed streams on nothing; a character that a stream cannot show becomes a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the program ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@contextlib.contextmanager
def _telling_warnings() -> Iterator[None]:
    """Tell of player files that do not load in one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PlayerFileWarning)
        show = warnings.showwarning

        def tell(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, PlayerFileWarning):
                _say(str(message), 0)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = tell
        yield


def _causes(error: BaseException) -> str:
    """Return the settings that caused an error, as the end of its message."""
    return "".join(f" ({note})" for note in getattr(error, "__notes__", ()))


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    line = "lab2048: " + "".join(letter if letter.isprintable() else "?" for letter in line)
    print(folded(line, columns_of(sys.stderr), "    "), file=sys.stderr)
    return code
