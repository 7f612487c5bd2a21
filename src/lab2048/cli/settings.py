"""Settings: default values of options from environment variables and configuration files.

The command line has the highest precedence, then LAB2048_* variables, then ./lab2048.toml, then the
user's configuration file, then the built-in default.  Every option of every command has a key, such as
`match.games`; some also have a common key for all commands, such as `rules`.  Within one source, the
longer key has precedence.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab2048.cli.argv import WHEN
from lab2048.cli.command_tree import Command, Option, options, walk
from lab2048.cli.option_types import OneOf, checks_of, problem, whole
from lab2048.errors import LabError, UsageError, nearest

PREFIX = "LAB2048_"
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
    "memory": "8G",
    "color": "auto",
}
_OPTIONS = {"board": "rules"}  # error field to option, where their names differ
_FIRST = "match."  # the command to suggest first if several have an option
# Command line only: what a command creates or replaces, and code that it runs.
_NEVER = {"out", "force", "resume", "player-file", "json", "jsonl", "csv", "version", "help", "estimate", "yes", "all"}
# Not in a project file: the current folder must not decide which code is loaded or who has access.
_PRIVATE = {"cache", "host", "lan", "token", "open"}
_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    Path: "a path in quotes",
}
# Variables without an option.
_MACHINE = {"cache": Path, "debug": str, "no-jit": str, "parent-watch": str, "studies": str}


def _raise(error: UsageError) -> None:
    raise error


@dataclass(frozen=True)
class Setting:
    """A value and its source."""

    key: str
    value: Any
    place: str  # default, user, project or environment
    source: str  # name of the variable or the file

    def __str__(self) -> str:
        """Return the setting as error messages name it."""
        return f"{self.source}={self.value}" if self.place == "environment" else f"{self.source}: {self.key}"


@dataclass
class Settings:
    """All settings from files and variables, and which of them were used."""

    known: dict[str, list[Option]]  # options by key; a common key sets several
    found: dict[str, Setting] = field(default_factory=dict)
    files: list[tuple[str, Path, bool]] = field(default_factory=list)  # project and user file, and whether it exists
    used: list[Setting] = field(default_factory=list)
    refuse: Callable[[UsageError], None] = field(default=_raise, repr=False)

    @classmethod
    def of(
        cls,
        root: Command,
        *,
        environ: Mapping[str, str] | None = None,
        refuse: Callable[[UsageError], None] | None = None,
    ) -> "Settings":
        """Read files and variables; invalid settings raise UsageError, or are passed to `refuse` and skipped."""
        environ = os.environ if environ is None else environ
        settings = cls(_known(root), refuse=refuse or _raise)
        for place, path in (("user", user_file()), ("project", Path(PROJECT_FILE))):
            is_there = path.is_file()
            settings.files.insert(0, (place, path, is_there))
            if is_there:
                settings._guarded(settings._read_file, place, path)
        settings._read_environment(environ)
        return settings

    def _read_file(self, place: str, path: Path) -> None:
        import tomllib

        name = str(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{name} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f'{name} is invalid: {error}; expected TOML such as rules = "3x3"') from None
        # Common keys first: longer keys of the same file override them.
        for key, value in sorted(_flatten(data), key=lambda item: item[0].count(".")):
            if value == {} and any(known.startswith(f"{key}.") for known in self.known):
                continue
            self._guarded(self._read_key, place, path, key, value)

    def _read_key(self, place: str, path: Path, key: str, value: Any) -> None:
        self._check_key(str(path), key, value, is_private=place == "project")
        kind, is_many = self._kind(key)
        read = _from_toml(str(path), key, value, kind, path.parent, is_many=is_many)
        self._put(Setting(key, read, place, str(path)))

    def _guarded(self, read: Callable[..., None], *words: Any) -> None:
        """Call `read`, and pass a UsageError to `refuse`."""
        try:
            read(*words)
        except UsageError as error:
            self.refuse(error)

    def _read_environment(self, environ: Mapping[str, str]) -> None:
        for key in sorted([*self.known, *_MACHINE], key=lambda key: key.count(".")):
            if text := environ.get(variable(key), ""):
                self._guarded(self._read_variable, key, text)

    def _read_variable(self, key: str, text: str) -> None:
        kind, is_many = self._kind(key)
        value = _from_text(variable(key), text, kind)
        self._put(Setting(key, [value] if is_many else value, "environment", variable(key)))

    def _put(self, setting: Setting) -> None:
        """Store a setting; a common key overrides earlier settings of all its options."""
        self.found[setting.key] = setting
        for option in self.known.get(setting.key, ()):
            if option.key != setting.key:
                self.found[option.key] = setting

    def _kind(self, key: str) -> tuple[type, bool]:
        if key in _MACHINE:
            return _MACHINE[key], False
        option = self.known[key][0]
        return option.kind, option.is_many

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
            raise UsageError(f"{file}: {key} is unknown: {self.of_commands(key) or nearest(key, keys or self.known)}")

    def of_commands(self, name: str, write: Callable[[str], str] = str) -> str:
        """Suggest the keys of an option that has no common key, as the end of an error message; may be empty."""
        keys = [key for key in self.known if "." in key and key.rpartition(".")[2] == name]
        if not keys:
            return ""
        keys.sort(key=lambda key: (key.count("."), not key.startswith(_FIRST)))
        others = [key.rpartition(".")[0].replace(".", " ") for key in keys[1:]]
        also = f" (or the one of {', '.join(others[:4])}{' ...' if others[4:] else ''})" if others else ""
        return f"did you mean {write(keys[0])}?{also}"

    def problem(self, setting: Setting) -> LabError | None:
        """Return the error that the checks of its option find in a setting, if any."""
        if setting.key == "color":
            return problem([OneOf(WHEN)], "color", setting.value)
        options = self.known.get(setting.key, ())
        found = (problem(checks_of(option.hint), option.name, setting.value) for option in options)
        return next((error for error in found if error), None)

    def problems(self) -> list[tuple[Setting, LabError]]:
        """Return every setting that its option rejects, and why."""
        return [(setting, error) for setting in _once(self.found.values()) if (error := self.problem(setting))]

    def defaults(self) -> dict[str, Any]:
        """Return the settings as the `default_map` of Typer: a tree by command and parameter."""
        tree: dict[str, Any] = {}
        for option in {option.key: option for some in self.known.values() for option in some}.values():
            if option.key in self.found:
                at = tree
                for word in option.command:
                    at = at.setdefault(word, {})
                at[option.parameter] = self.found[option.key].value
        return tree

    def value(self, key: str) -> Any:
        """Return the value of a setting and mark it as used; None if it is not set."""
        setting = self.found.get(key)
        if setting is None:
            return None
        self.used.append(setting)
        return setting.value

    def export(self, *keys: str) -> None:
        """Set the environment variables of the cache and of `keys` from the files, unless they are set."""
        for key in ("cache", *keys):
            if key in self.found:
                os.environ.setdefault(variable(key), str(self.found[key].value))

    def note_used(self, context: Any) -> None:
        """Mark the settings that a command received as used, according to its Typer context."""
        path, at = list[str](), context
        while at.parent is not None:
            path.insert(0, at.info_name)
            at = at.parent
        for option in options(tuple(path), context.command):
            source = context.get_parameter_source(option.parameter)
            if source is not None and source.name in ("DEFAULT_MAP", "ENVIRONMENT") and option.key in self.found:
                self.used.append(self.found[option.key])

    def blame(self, field: str | None, code: str | None = None) -> str:
        """Return the settings that caused an error, as the end of its message; may be empty."""
        name = _OPTIONS.get(field or "", field)
        told = [
            str(setting)
            for setting in _once(self.used)
            if setting.key.rpartition(".")[2] == name
            or ((found := self.problem(setting)) and (found.field, found.code) == (field, code))
        ]
        return f" (set by {', '.join(told)})" if told else ""


def user_file() -> Path:
    """Return the path of the user's configuration file."""
    folder = os.environ.get("XDG_CONFIG_HOME")
    if folder:
        return Path(folder) / "lab2048" / "config.toml"
    import platformdirs

    return platformdirs.user_config_path("lab2048", appauthor=False) / "config.toml"


def variable(key: str) -> str:
    """Return the environment variable of a key.

    >>> variable("games.list.min-score")
    'LAB2048_GAMES_LIST_MIN_SCORE'
    """
    return PREFIX + key.upper().replace(".", "_").replace("-", "_")


def unknown_variables(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return unknown LAB2048_* variables, each with a suggestion."""
    names = {variable(key) for key in (*settings.known, *_MACHINE)}
    found = sorted(name for name in environ if name.startswith(PREFIX) and name not in names)
    otherwise = "lab2048 config show --all lists all settings"
    return {
        name: settings.of_commands(name.removeprefix(PREFIX).lower().replace("_", "-"), variable)
        or nearest(name, names, otherwise, prefix=PREFIX)
        for name in found
    }


def is_needed(environ: Mapping[str, str]) -> bool:
    """Return True if there is a configuration file or a variable; without any, the program starts faster."""
    names = {name for name in environ if name.startswith(PREFIX)} - {variable(key) for key in _MACHINE}
    return bool(names) or Path(PROJECT_FILE).exists() or user_file().exists()


def _once(settings: Iterable[Setting]) -> list[Setting]:
    """Remove duplicates: a common key is stored once per option."""
    return list({(setting.key, setting.source): setting for setting in settings}.values())


def _known(root: Command) -> dict[str, list[Option]]:
    """Return every key with the options that it sets."""
    known: dict[str, list[Option]] = {key: [] for key in COMMON}
    for path, command in walk(root):
        for option in options(path, command) if path else ():
            if option.name in _NEVER:
                continue
            known[option.key] = [option]
            if option.name in COMMON and option.default == COMMON[option.name]:
                known[option.name].append(option)
    known["color"] = [Option((), "color", "color", str, False, "auto")]  # a global option, not one of a command
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


def _from_text(name: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        return kind(whole(text) if kind is int else text)
    except (KeyError, ValueError):
        raise UsageError(f"{name}={text}: expected {_KINDS[kind]}") from None
