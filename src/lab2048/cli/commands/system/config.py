"""`lab2048 config`: the settings, and where each comes from."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from lab2048.cli.color import WHEN
from lab2048.cli.command import Commands, Group, explain
from lab2048.cli.command_tree import Option, children, options
from lab2048.cli.option_types import OneOf, checks_of, problem
from lab2048.cli.options import JsonOption, say
from lab2048.cli.output import print_json
from lab2048.cli.settings import (
    COMMON,
    PREFIX,
    PROJECT_FILE,
    Setting,
    Settings,
    attach_variables,
    is_secret,
    path_of,
    setting_of,
    user_file,
    variable,
)
from lab2048.errors import LabError, UsageError, nearest, unknown
from lab2048.views.wrap import columns_of, folded


class _Config(Group):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; explain where settings are written to those who want to write one."""
        if args[0] in ("set", "edit", "init"):
            raise UsageError(
                f'config {args[0]}: write settings yourself, such as rules = "3x3", into {PROJECT_FILE} here or into '
                f"{user_file()}, or set LAB2048_RULES=3x3; lab2048 config show lists them"
            )
        return super().resolve_command(ctx, args)


app = Commands(
    "Show settings from LAB2048_* variables, ./lab2048.toml and your own file.\n\nExample: lab2048 config show", _Config
)


@dataclass(frozen=True)
class Row:
    """A key with its value, where that comes from, and what is wrong with it."""

    key: str
    setting: Setting  # of the key that was set, which may be a common one
    value: Any
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row as docs/json.md describes it."""
        value = self.value if isinstance(self.value, bool | int | float | list | None) else str(self.value)
        place, source = self.setting.place, self.setting.source or None
        facts = {"key": self.key, "value": value, "place": place, "source": source, "set_as": self.setting.key}
        return facts | {"problem": self.problem}

    def __str__(self) -> str:
        """Return the value and where it comes from."""
        value = "-" if self.value is None else str(self.value).lower() if isinstance(self.value, bool) else self.value
        also = "" if self.setting.key == self.key else f", as {self.setting.key}"
        return f"{value!s:<24}  {self.setting.source or 'default'}{also}"


@app.command()
def show(
    context: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="[KEY]",
            help="Only this setting, such as rules or match.games, or all settings of a command, such as match.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list options that are not set.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every setting and where it comes from.

    The command line takes precedence, then variables such as LAB2048_MATCH_GAMES, then ./lab2048.toml, then your
    own file, then the default.  Wrong settings are marked with !, and the exit code is then 2.

    Example: lab2048 config show match.games
    """
    settings = Settings.read(context.find_root().command)
    rows = survey(context.find_root().command, settings)
    if key is not None:
        rows = _chosen(key.replace("_", "-"), rows, settings)
    unknown = settings.unknown_variables()
    if as_json:
        files = [{"place": place, "path": str(path), "is_there": there} for place, path, there in settings.files]
        told = [row.to_json() for row in rows.values()]
        problems = [str(error) for error in settings.refused]
        facts = {"files": files, "settings": told, "unknown_variables": list(unknown), "problems": problems}
        print_json("config-1", facts)
    else:
        if key is None:
            for place, path, is_there in settings.files:
                print(f"{place:<8} {path}{'' if is_there else ' (does not exist)'}")
            print()
            if not everything:
                rows = {name: row for name, row in rows.items() if _is_basic(row)}
        _print(rows, settings)
        for name, instead in unknown.items():
            say(f"{name} is not a setting of lab2048: {instead}")
        if key is None and not everything:
            say("--all lists every option that can be set")
    if settings.refused or any(row.problem for row in rows.values()):
        raise typer.Exit(UsageError.exit_code)


def survey(root: Any, settings: Settings) -> dict[str, Row]:
    """Return a row for every key, common keys first."""
    import platformdirs

    # As kernels/_jit.py has it, which imports Numba.
    cache = _set_by_common_key("cache", settings)
    rows = {"cache": Row("cache", cache, cache.value or str(platformdirs.user_cache_path("lab2048")))}
    for context in _contexts(root, default_map=settings.defaults(), auto_envvar_prefix=PREFIX):
        attach_variables(context)
        for option in options(path_of(context), context.command) if context.parent else ():
            if option.key in settings.known:
                value, source = option.parameter.consume_value(context, {})
                context.set_parameter_source(option.parameter.name, source)
                setting = setting_of(context, option.parameter) or Setting(option.key, None, "default", "")
                rows[option.key] = _row(option.key, context, option, setting, value)
            if option in settings.known.get(option.name, ()) and option.name not in rows:
                setting = _set_by_common_key(option.name, settings)
                value = option.parameter.default if setting.place == "default" else setting.value
                rows[option.name] = _row(option.name, context, option, setting, value)
    return dict(sorted(rows.items(), key=lambda item: ("." in item[0], item[0])))


def _contexts(command: Any, **extra: Any) -> Iterator[Any]:
    """Yield a context for a command and for each below it, in which nothing is typed."""
    context = command.context_class(command, resilient_parsing=True, **extra)
    yield context
    for name, child in children(command).items():
        yield from _contexts(child, info_name=name, parent=context)


def _set_by_common_key(key: str, settings: Settings) -> Setting:
    if text := os.environ.get(variable(key)):
        return Setting(key, text, "environment", variable(key))
    return settings.found.get(key) or Setting(key, None, "default", "")


def _row(key: str, context: Any, option: Option, setting: Setting, value: Any) -> Row:
    """Return a row with the value as its option reads it, and with what the option's checks find."""
    if setting.place == "default":
        from lab2048.records.database import default_path

        return Row(key, setting, str(default_path()) if option.name == "store" else value)
    try:
        value = option.parameter.process_value(context, value)
    except LabError as error:
        return Row(key, setting, value, str(error))
    except TyperException as error:
        return Row(key, setting, value, explain(error))
    checks = [OneOf(WHEN)] if option.name == "color" else checks_of(option.hint)
    wrong = problem(checks, option.name, value)
    return Row(key, setting, "(hidden)" if is_secret(key) else value, str(wrong) if wrong else None)


def _chosen(key: str, rows: dict[str, Row], settings: Settings) -> dict[str, Row]:
    """Return the row of a key, or the rows of a command."""
    below = {name: row for name, row in rows.items() if name.startswith(f"{key}.")}
    if key not in rows and not below:
        common = f"expected one of {', '.join(COMMON)}, or one that --all lists"
        expected = settings.of_commands(key) or nearest(key, {*rows, *_groups(rows)}, common)
        raise UsageError(unknown("setting", key, otherwise=expected))
    return below or {key: rows[key]}


def _is_basic(row: Row) -> bool:
    """Return True for common keys, and for keys that are set themselves."""
    return row.key in (*COMMON, "cache") or (row.setting.place != "default" and row.setting.key == row.key)


def _print(rows: dict[str, Row], settings: Settings) -> None:
    width, columns = max(map(len, rows)), columns_of(sys.stdout)
    for key, row in rows.items():
        print(f"{key:<{width}}  {row}")
        if row.problem:
            print(folded(f"{'':<{width}}  ! {row.problem}", columns, " " * (width + 4)))
    for error in settings.refused:
        print(folded(f"! {error}", columns, "  "))


def _groups(keys: Iterable[str]) -> set[str]:
    """Return the commands that have settings: train, train.ntuple."""
    words = [key.split(".") for key in keys]
    return {".".join(some[:n]) for some in words for n in range(1, len(some))}
