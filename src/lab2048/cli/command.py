"""The classes of all commands and groups: Typer's, with our `--color` and `--debug`, settings, checks and messages."""

import contextlib
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from lab2048.cli.color import color_option
from lab2048.cli.command_tree import children
from lab2048.cli.debug import debug_option
from lab2048.cli.option_types import adapt
from lab2048.cli.settings import attach_variables, causes
from lab2048.errors import LabError, nearest, unknown

_EXAMPLE = re.compile(r"^Example: (.*(?:\n(?!\n).*)*)", re.MULTILINE)


class Command(TyperCommand):
    """A command that names the example if there are too many arguments."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        _adapt(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of this command."""
        ctx.allow_extra_args = True
        attach_variables(ctx)
        with _naming_causes(ctx):
            rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"unexpected {' '.join(rest)!r}{_as_in(self)}")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _naming_causes(ctx):
            return super().invoke(ctx)


class Group(TyperGroup):
    """A group of commands, which suggests the nearest command for an unknown one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _adapt(self)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments up to the name of a command."""
        attach_variables(ctx)
        if ctx.resilient_parsing:
            # All words that are left stay in `ctx.args`, for completion.
            return super(TyperGroup, self).parse_args(ctx, args)
        with _naming_causes(ctx):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and its arguments."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            ctx.fail(unknown("command", args[0], children(self)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands by section."""
        width = max(map(len, children(self)), default=0)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in children(self).items():
            section = command.rich_help_panel or "Commands"
            sections.setdefault(section, []).append((f"{name:<{width}}", command.short_help))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


class Commands(typer.Typer):
    """Declares a group of commands; it needs one of them, unless it gets a callback of its own."""

    def __init__(self, text: str, cls: type[Group] = Group, **settings: Any) -> None:
        super().__init__(
            help=text,
            cls=cls,
            invoke_without_command=True,
            add_completion=False,  # `lab2048 completion` is faster, and completes the options of players
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
            **settings,
        )
        self.callback()(_need_command)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Declare a command."""
        return super().command(name, **({"cls": Command} | settings))


def _need_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        commands = ", ".join(children(context.command))
        context.fail(f"{context.command_path} needs a command: expected {commands}")


def _adapt(command: Any) -> None:
    for parameter in command.params:
        adapt(parameter)
        if parameter.param_type_name == "argument":
            _name_argument(parameter)
    command.params = [*command.params, copy.copy(color_option()), copy.copy(debug_option())]
    command.short_help = command.short_help or (command.help or "").partition("\n\n")[0].replace("\n", " ")


def _name_argument(parameter: Any) -> None:
    """Show an argument in help as other programs do: BOARD, [PLAYER], PLAYER..."""
    parameter.metavar = (parameter.metavar or parameter.name.upper()).strip("[].")
    shown = parameter.metavar + "..." * (parameter.nargs == -1)
    usage = shown if parameter.required else f"[{shown}]"
    parameter.get_usage_pieces = lambda ctx: [usage]  # noqa: ARG005
    parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005


@contextlib.contextmanager
def _naming_causes(context: Any) -> Iterator[None]:
    """Add a note to an error that names the settings that caused it."""
    try:
        yield
    except (LabError, TyperException) as error:
        if getattr(error, "ctx", context) is None:  # what the parser refuses does not say for which command
            error.ctx = context  # type: ignore[union-attr]
        if not hasattr(error, "__notes__") and (told := causes(context, error)):
            error.add_note(f"set by {', '.join(told)}")
        raise


def example_of(command: Any) -> str:
    """Return the example in the help of a command."""
    found = _EXAMPLE.search(command.help or "")
    return found[1] if found else ""


def _as_in(command: Any) -> str:
    example = example_of(command)
    return f": expected as in {example}" if example else ""


def explain(error: TyperException) -> str:
    """Return what is wrong with the command line, and what was expected."""
    context, message = getattr(error, "ctx", None), error.format_message().rstrip(".")
    if context is None:
        return message
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        shown = [parameter for parameter in context.command.params if not getattr(parameter, "hidden", False)]
        names = [name for parameter in shown for name in parameter.opts if name.startswith("--")]
        close = [name for name in names if name.startswith(option)]
        for name, command in children(context.command).items():
            if any(option in (*parameter.opts, *parameter.secondary_opts) for parameter in command.params):
                after = f"expected after a command, as in {context.command_path} {name} {option}"
                return unknown("option", option, otherwise=after)
        expected = f"did you mean {close[0]}?" if len(close) == 1 else nearest(option, names, prefix="--")
        return unknown("option", option, otherwise=expected)
    return f"{message}{_as_in(context.command)}" if hasattr(error, "param_type") else message
