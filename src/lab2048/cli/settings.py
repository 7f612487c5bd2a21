"""Settings: default values of options from environment variables and configuration files.

The command line has the highest precedence, then LAB2048_* variables, then ./lab2048.toml, then the
user's configuration file, then the built-in default.  Every option of every command has a key, such as
`match.games`; some also have a common key for all commands, such as `rules`.  Within one source, the
longer key has precedence.

Typer reads the variables (`attach_variables`), takes the files as its `default_map` (`Settings.defaults`), and
knows the source of each value (`setting_of`).
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab2048.cli.command_tree import Command, Option, long_name, options, walk
from lab2048.cli.option_types import Readable, parameter_checks, problem
from lab2048.errors import FileError, LabError, UsageError, nearest, reason_of, unknown
from lab2048.folders import config_folder
from lab2048.records.input_file import parse_toml, read_text

PREFIX = "LAB2048"
PROJECT_FILE = "lab2048.toml"

# Common keys, and the default of the options that they set.  An option of the same name with another default means
# something else: `--rules` of `games list` is a filter, and `--goal` of `solve` changes the question.
COMMON: dict[str, Any] = {
    "rules": "4x4",
    "goal": 2048,
    "spawn": "2:0.9,4:0.1",
    "start": None,
    "spawner": "fair",
    "store": None,
    "workers": 0,
    "cluster": None,
    "memory": "8G",
    "color": "auto",
    "token": None,
}
_OPTIONS = {"board": "rules"}  # error field to option, where their names differ
_FIRST = "match."  # the command to suggest first if several have an option
# Command line only: what a command creates or replaces, and code that it runs.
_NEVER = {
    "out",
    "force",
    "resume",
    "player-file",
    "debug",
    "json",
    "jsonl",
    "csv",
    "version",
    "help",
    "estimate",
    "yes",
    "all",
}
# A project file cannot set these: a downloaded folder must not decide which code runs or who has access.
_PRIVATE = {"cache", "cluster", "host", "lan", "token", "no-token", "open"}
_SECRET = {"token"}  # never shown
_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    Path: "a path in quotes",
}
_MACHINE = ("cache", "debug", "no-jit", "parent-watch", "studies")  # variables without a key; files may set the cache


@dataclass(frozen=True)
class Setting:
    """A value and its source."""

    key: str
    value: Any
    place: str  # default, user, project or environment
    source: str  # name of the variable or the file

    def __str__(self) -> str:
        """Return the setting as error messages name it, without a secret value."""
        if self.place == "environment" and is_secret(self.key):
            return self.source
        return f"{self.source}={self.value}" if self.place == "environment" else f"{self.source}: {self.key}"


class Defaults(dict[str, Any]):
    """A `default_map` of Typer: values by parameter, or further maps by command; and the setting behind each value."""

    def __init__(self) -> None:
        self.origins: dict[str, Setting] = {}


@dataclass
class Settings:
    """The settings of both files; what is wrong with them is collected in `refused`."""

    known: dict[str, list[Option]]  # options by key; a common key sets several
    found: dict[str, Setting] = field(default_factory=dict)
    files: list[tuple[str, Path, bool]] = field(default_factory=list)  # project and user file, and whether it exists
    refused: list[LabError] = field(default_factory=list)

    @classmethod
    def read(cls, root: Command) -> "Settings":
        """Read the files, and use them for the cache folder."""
        settings = cls(_known(root))
        for place, path in (("user", user_file()), ("project", Path(PROJECT_FILE))):
            is_there = path.is_file()
            settings.files.insert(0, (place, path, is_there))
            if is_there:
                settings._guarded(settings._read_file, place, path)
        settings.export("cache")
        return settings

    def _read_file(self, place: str, path: Path) -> None:
        name = str(path)
        try:
            data = parse_toml(read_text(path))
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{name} cannot be read: {reason_of(error)}", code="file.unreadable") from None
        except ValueError as error:
            raise FileError(f'{name} is invalid: {error}; expected TOML such as rules = "3x3"') from None
        # Common keys first: longer keys of the same file override them.
        for key, value in sorted(_flatten(data), key=lambda item: item[0].count(".")):
            if value == {} and any(known.startswith(f"{key}.") for known in self.known):
                continue
            self._guarded(self._read_key, place, path, key, value)

    def _guarded(self, read: Callable[..., None], *words: Any) -> None:
        try:
            read(*words)
        except (UsageError, FileError) as error:
            self.refused.append(error)

    def _read_key(self, place: str, path: Path, key: str, value: Any) -> None:
        self._check_key(str(path), key, value, is_private=place == "project")
        some = self.known.get(key, [])
        kind, is_many = (some[0].kind, some[0].is_many) if some else (Path, False)
        read = _from_toml(str(path), key, value, kind, path.parent, is_many=is_many)
        for each in (key, *(option.key for option in some)):
            self.found[each] = Setting(key, read, place, str(path))

    def _check_key(self, file: str, key: str, value: Any, *, is_private: bool) -> None:
        last = key.rpartition(".")[2]
        if last in _NEVER and key not in self.known:
            raise UsageError(f"{file}: {key} cannot be set in a file: expected it on the command line")
        if is_private and last in _PRIVATE:
            raise UsageError(f"{file}: {key} cannot be set in a project file: expected it in {user_file()}")
        if key not in self.known and key != "cache":
            if isinstance(value, dict):  # an empty table
                tables = {known.rpartition(".")[0] for known in self.known} - {""}
                raise UsageError(f"{file}: [{key}] is not a command with options: {nearest(key, tables)}")
            keys = [known for known in self.known if known.rpartition(".")[0] == key.rpartition(".")[0]]
            expected = self.of_commands(key) or nearest(key, keys or self.known)
            raise UsageError(f"{file}: {unknown('setting', key, otherwise=expected)}")

    def of_commands(self, name: str, write: Callable[[str], str] = str) -> str:
        """Suggest the keys of an option that has no common key, as the end of an error message; may be empty."""
        keys = [key for key in self.known if "." in key and key.rpartition(".")[2] == name]
        if not keys:
            return ""
        keys.sort(key=lambda key: (key.count("."), not key.startswith(_FIRST)))
        others = [key.rpartition(".")[0].replace(".", " ") for key in keys[1:]]
        also = f" (or that of {', '.join(others[:4])}{' ...' if others[4:] else ''})" if others else ""
        return f"did you mean {write(keys[0])}?{also}"

    def defaults(self) -> Defaults:
        """Return the settings of the files as the `default_map` of Typer."""
        tree = Defaults()
        for option in (option for some in self.known.values() for option in some):
            if setting := self.found.get(option.name if option.name == "color" else option.key):
                at = tree
                for word in option.command:
                    at = at.setdefault(word, Defaults())
                at[option.parameter.name] = setting.value
                at.origins[option.parameter.name] = setting
        return tree

    def export(self, *keys: str) -> None:
        """Set the environment variables of these keys from the files, unless they are set."""
        for key in keys:
            if key in self.found:
                os.environ.setdefault(variable(key), str(self.found[key].value))

    def unknown_variables(self) -> dict[str, str]:
        """Return unknown LAB2048_* variables, each with a suggestion."""
        names = {variable(key) for key in (*self.known, *_MACHINE)}
        otherwise = "lab2048 config show --all lists all settings"
        return {
            name: self.of_commands(name.removeprefix(f"{PREFIX}_").lower().replace("_", "-"), variable)
            or nearest(name, names, otherwise, prefix=f"{PREFIX}_")
            for name in sorted(_variables(os.environ) - names)
        }


def attach_variables(context: Any) -> None:
    """Tell Typer the variables of a command's options: the command's own first, then a common one.

    They are named after the options, and not, as Typer's `auto_envvar_prefix` would, after the function's parameters.
    """
    if context.auto_envvar_prefix is None:
        return
    for parameter in context.command.params:
        if parameter.param_type_name == "option" and not isinstance(parameter.envvar, list):
            name = long_name(parameter)
            own = [] if name in _NEVER or context.parent is None else [f"{context.auto_envvar_prefix}_{_upper(name)}"]
            common = [variable(name)] if _is_common(parameter) else []
            declared = [parameter.envvar] if parameter.envvar else []
            parameter.envvar = [*own, *common, *declared]
            parameter.allow_from_autoenv = False
            parameter.show_envvar = False  # docs/cli.md says how they are named


def setting_of(context: Any, parameter: Any) -> Setting | None:
    """Return the variable or the file that set a parameter; None if the command line or the default did."""
    source = context.get_parameter_source(parameter.name)
    if source is not None and source.name == "ENVIRONMENT":
        name = next(name for name in parameter.envvar if os.environ.get(name))
        key = long_name(parameter)
        if name != variable(key):
            key = ".".join((*path_of(context), key))
        return Setting(key, os.environ[name], "environment", name)
    if source is not None and source.name == "DEFAULT_MAP" and isinstance(context.default_map, Defaults):
        return context.default_map.origins[parameter.name]
    return None


def causes(context: Any, error: Exception) -> list[str]:
    """Return the settings of a command that caused an error."""
    parameter, code = getattr(error, "param", None), getattr(error, "code", None)
    field = long_name(parameter) if parameter else getattr(error, "field", None)
    return [
        str(setting)
        for each in context.command.params
        if (setting := setting_of(context, each))
        and (long_name(each) == _OPTIONS.get(field or "", field) or _is_cause(context, each, setting, field, code))
    ]


def _is_cause(context: Any, parameter: Any, setting: Setting, field: str | None, code: str | None) -> bool:
    """Return True if reading a setting by itself gives the same error."""
    checks = [check for check in parameter_checks(context.command, parameter) if isinstance(check, Readable)]
    found = problem(checks, long_name(parameter), context.params.get(parameter.name, setting.value))
    return found is not None and (found.field, found.code) == (field, code)


def path_of(context: Any) -> tuple[str, ...]:
    """Return the words that lead to the command of a context."""
    return () if context.parent is None else (*path_of(context.parent), context.info_name)


def user_file() -> Path:
    """Return the path of the user's configuration file."""
    return config_folder() / "config.toml"


def variable(key: str) -> str:
    """Return the environment variable of a key.

    >>> variable("games.list.min-score")
    'LAB2048_GAMES_LIST_MIN_SCORE'
    """
    return f"{PREFIX}_{_upper(key)}"


def is_secret(key: str) -> bool:
    """Return True if the value of a key must not be shown."""
    return key.rpartition(".")[2] in _SECRET


def has_files() -> bool:
    """Return True if there is a configuration file."""
    return Path(PROJECT_FILE).exists() or user_file().exists()


def has_others(command: str) -> bool:
    """Return True if there are variables that are neither common nor those of a command: they may be misspelt."""
    own = f"{variable(command)}_"
    names = {variable(key) for key in (*COMMON, *_MACHINE)}
    return any(not name.startswith(own) for name in _variables(os.environ) - names)


def _upper(key: str) -> str:
    return key.upper().replace(".", "_").replace("-", "_")


def _variables(environ: Mapping[str, str]) -> set[str]:
    return {name for name in environ if name.startswith(f"{PREFIX}_")}


def _is_common(parameter: Any) -> bool:
    name = long_name(parameter)
    return name in COMMON and parameter.default == COMMON[name]


def _known(root: Command) -> dict[str, list[Option]]:
    """Return every key with the options that it sets."""
    known: dict[str, list[Option]] = {key: [] for key in COMMON}
    for path, command in walk(root):
        for option in options(path, command) if path else ():
            if option.name not in _NEVER and option.name != "color":
                known[option.key] = [option]
            if _is_common(option.parameter):
                known[option.name].append(option)
    return {key: some for key, some in known.items() if some}


def known_keys(root: Command) -> list[str]:
    """Return all keys, sorted."""
    return sorted(_known(root))


def _flatten(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    """Convert nested tables to dotted keys; empty tables are kept so that their names are checked."""
    flat: list[tuple[str, Any]] = []
    for name, value in data.items():
        key = (*path, name.replace("_", "-"))
        flat += _flatten(value, key) if isinstance(value, dict) and value else [(".".join(key), value)]
    return flat


def _from_toml(file: str, key: str, value: Any, kind: type, folder: Path, *, is_many: bool) -> Any:
    if is_many and isinstance(value, list):
        return [_from_toml(file, key, each, kind, folder, is_many=False) for each in value]
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)  # 3e5
    wanted: tuple[type, ...] = {float: (int, float), Path: (str,)}.get(kind, (kind,))
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        told = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else value
        raise UsageError(f"{file}: {key} = {told}: expected {_KINDS[kind]}")
    if kind is Path:
        return folder / Path(str(value)).expanduser()  # relative to the folder of the file
    return [value] if is_many else value
