"""`lab2048 config`: what options are where none is typed, and who says so."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lab2048.cli.options import JsonOption, say
from lab2048.cli.output import print_json
from lab2048.cli.settings import COMMON, PROJECT_FILE, Setting, Settings, unknown_variables, user_file
from lab2048.errors import LabError, UsageError, nearest
from lab2048.views.wrap import columns_of, folded


class _Config(TyperGroup):
    """Whoever wants to set something is told where."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that a word names."""
        if args[0] in ("set", "edit", "init"):
            raise UsageError(
                f'config {args[0]}: settings are yours to write: rules = "3x3" into {PROJECT_FILE} here or into '
                f"{user_file()}, or LAB2048_RULES=3x3; lab2048 config show lists them"
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Config, invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def config(context: typer.Context) -> None:
    """Show settings from LAB2048_* variables, ./lab2048.toml and your own file.

    Example: lab2048 config show
    """
    if context.invoked_subcommand is None:
        raise UsageError("config needs to know what to do: expected show")


@app.command()
def show(
    context: typer.Context,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="[KEY]", help="Only this setting, such as rules or match.games; match for all of match."
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
    refused: list[UsageError] = []
    settings = Settings.of(context.find_root().command, refuse=refused.append)
    settings.export()
    found = _settings(settings)
    if key is not None:
        key = key.replace("_", "-")
        below = {name: one for name, one in found.items() if name.startswith(f"{key}.")}
        if key not in found and not below:
            known = f"known: {', '.join(COMMON)}, and those that --all lists"
            known = settings.of_commands(key) or nearest(key, {*found, *_groups(found)}, known)
            raise UsageError(f"setting {key!r} is unknown: {known}")
        found = below or {key: found[key]}
    if as_json:
        files = [{"place": place, "path": str(path), "is_there": there} for place, path, there in settings.files]
        unknown = list(unknown_variables(settings, os.environ))
        told = [_plain(key, setting, settings.problem(setting)) for key, setting in found.items()]
        problems = [str(error) for error in refused]
        print_json("config-1", {"files": files, "settings": told, "unknown_variables": unknown, "problems": problems})
        raise typer.Exit(_code(refused, [setting["problem"] for setting in told]))
    if key is None:
        for place, path, is_there in settings.files:
            print(f"{place:<8} {path}{'' if is_there else ' (not there)'}")
        if not everything:
            common = (*COMMON, "cache")  # what they stand for follows from them
            found = {
                key: one for key, one in found.items() if key in common or (one.place != "default" and one.key == key)
            }
        print()
    width, problems = max(len(key) for key in found), list[str]()
    for key, setting in found.items():
        where = {"default": "default", "environment": setting.source}.get(setting.place, f"{setting.source}")
        also = "" if setting.place == "default" or setting.key == key else f", as {setting.key}"
        print(f"{key:<{width}}  {_text(setting.value):<24}  {where}{also}")
        if wrong := settings.problem(setting):
            problems.append(str(wrong))
            print(folded(f"{'':<{width}}  ! {wrong}", columns_of(sys.stdout), " " * (width + 4)))
    for error in refused:
        print(folded(f"! {error}", columns_of(sys.stdout), "  "))
    if len(found) > 1:
        for name, instead in unknown_variables(settings, os.environ).items():
            say(f"{name} means nothing to lab2048: {instead}")
        if not everything:
            say("--all shows every option that can be set")
    raise typer.Exit(_code(refused, problems))


def _settings(settings: Settings) -> dict[str, Setting]:
    """Every key, set or not, the common ones first."""
    import platformdirs

    from lab2048.records.database import default_path

    # As kernels/_jit.py has it, which takes Numba to ask.
    defaults = {"cache": str(platformdirs.user_cache_path("lab2048")), "store": str(default_path())}
    found = {}
    for key in ("cache", *sorted(settings.known, key=lambda key: ("." in key, key))):
        some = settings.known.get(key)
        default = defaults.get(key.rpartition(".")[2], some[0].default if some else None)
        found[key] = settings.found.get(key) or Setting(key, default, "default", "")
    return found


def _groups(keys: Iterable[str]) -> set[str]:
    """Commands that have settings: train, train.ntuple."""
    words = [key.split(".") for key in keys]
    return {".".join(some[:n]) for some in words for n in range(1, len(some))}


def _code(refused: list[UsageError], problems: Sequence[str | None]) -> int:
    """Nothing is wrong, or something is."""
    return UsageError.exit_code if refused or any(problems) else 0


def _plain(key: str, setting: Setting, problem: LabError | None) -> dict[str, Any]:
    value = setting.value if isinstance(setting.value, bool | int | float | list | None) else str(setting.value)
    source = setting.source or None
    facts = {"key": key, "value": value, "place": setting.place, "source": source, "set_as": setting.key}
    return facts | {"problem": str(problem) if problem else None}


def _text(value: Any) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
