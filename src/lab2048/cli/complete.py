"""What could come next on the command line: commands, options, and values by what they stand for.

The metavar of an option or argument says what it takes: PLAYER, BOARD, ID, FILE.
Whatever is slow or broken here must not bother anyone who only pressed Tab.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lab2048.cli.command_tree import Command, children

FILES, FOLDERS = ":files", ":folders"  # the shell is to complete paths by itself
N_GAMES = 50  # the newest, as many as one may want to read


class Candidate(NamedTuple):
    """A word that could stand here, and what it means."""

    text: str
    doc: str = ""


def complete(root: Command, words: list[str]) -> list[Candidate]:
    """The words that could stand where the last of `words` is being typed."""
    *before, typed = words or [""]
    command, options = root, True
    arguments: list[str] = []
    pending: Any = None  # an option that waits for its value
    for word in before:
        if pending is not None:
            pending = None
        elif options and word == "--":
            options = False
        elif options and word.startswith("-") and len(word) > 1:
            option = _option(command, word.partition("=")[0])
            pending = option if option is not None and not option.is_flag and "=" not in word else None
        elif word in getattr(command, "commands", {}):
            command, arguments = command.commands[word], []
        else:
            arguments.append(word)
    if pending is not None:
        return _values(pending, typed, root)
    if options and typed.startswith("--") and "=" in typed:
        name, _, value = typed.partition("=")
        option = _option(command, name)
        return [one._replace(text=f"{name}={one.text}") for one in _values(option, value, root)] if option else []
    if options and typed.startswith("-"):
        return _starting(_options(command), typed)
    if children(command) and not arguments:
        found = [Candidate(name, _first(child)) for name, child in children(command).items()]
        if command.name == "players":
            found += _players("")
        return _starting(found, typed)
    takers = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    if not takers:
        return []
    taker = takers[min(len(arguments), len(takers) - 1)]
    return [] if len(arguments) >= len(takers) and taker.nargs != -1 else _values(taker, typed, root)


def _option(command: Command, name: str) -> Any:
    for parameter in command.params:
        if parameter.param_type_name == "option" and name in (*parameter.opts, *parameter.secondary_opts):
            return parameter
    return None


def _options(command: Command) -> list[Candidate]:
    found = []
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            names = [name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")]
            found += [Candidate(name, parameter.help or "") for name in names]
    return [*found, Candidate("--help", "Show this message and exit.")]


def _first(command: Command) -> str:
    text: str = command.short_help or command.help or ""
    return text.partition("\n")[0]


def _starting(candidates: Iterable[Candidate], typed: str) -> list[Candidate]:
    return [one for one in candidates if one.text.startswith(typed)]


def _values(parameter: Any, typed: str, root: Command) -> list[Candidate]:
    """Values of one option or argument, by its metavar."""
    name = (parameter.metavar or "").strip("[].")
    if name in ("FILE", "DIR"):
        return [Candidate(FILES if name == "FILE" else FOLDERS)]
    found: list[Candidate] = []
    with contextlib.suppress(Exception):  # a damaged store or player file is told of elsewhere
        if name == "KEY":
            found = _keys(typed, root)
        else:
            found = _KINDS[name](typed) if name in _KINDS else _words_of_help(parameter)
    return _starting(found, typed)


def _words_of_help(parameter: Any) -> list[Candidate]:
    """Where the help names all values, `sqlite, parquet or csv`, they are the candidates."""
    text = (parameter.help or "").rpartition(":")[2].rstrip(".")
    words = text.replace(" or ", ", ").split(", ")
    fits = " or " in text and all(word.strip().replace("-", "").isalnum() for word in words)
    return [Candidate(word.strip()) for word in words] if fits else []


def _players(typed: str) -> list[Candidate]:
    """Players by name; after `name:` their options, and after `option=` its values if they are few."""
    from lab2048.players.registry import names, options

    name, colon, rest = typed.partition(":")
    if not colon:
        return [Candidate(each) for each in names()]
    done, comma, last = rest.rpartition(",")
    key, equals, _ = last.partition("=")
    before = f"{name}:{done}{comma}"
    if equals:
        return [Candidate(f"{before}{key}={value}") for value in _option_values(key, options(name)[key])]
    given = {part.partition("=")[0] for part in done.split(",")}
    return [
        Candidate(f"{before}{key}=", field.metadata.get("doc", ""))
        for key, field in options(name).items()
        if key not in given
    ]


def _option_values(key: str, field: Any) -> list[str]:
    if key == "eval":
        return [one.text for one in _evaluators("")]
    if field.type in ("bool", bool):
        return ["true", "false"]
    choices = field.metadata.get("choices", ())
    return [str(choice) for choice in choices or ([] if field.default is None else [field.default])]


def _evaluators(typed: str) -> list[Candidate]:  # noqa: ARG001
    import tomllib
    from pathlib import Path

    import lab2048.players as players

    data = tomllib.loads((Path(players.__file__).parent / "evaluators.toml").read_text())
    return [Candidate(name, str(entry.get("doc", ""))) for name, entry in data.items()]


def _boards(typed: str) -> list[Candidate]:  # noqa: ARG001
    squares = [Candidate(f"{n}x{n}") for n in range(2, 9)]
    oblongs = [Candidate(text) for text in ("2x3", "2x4", "3x4", "3x5", "4x5")]
    hexagons = [Candidate(f"hex{radius}", "a hexagon") for radius in range(1, 5)]
    return [*squares, *oblongs, *hexagons, Candidate("####|#xx#|#xx#|####", "a map: x is a brick")]


def _games(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.records.store import Store

    with Store.open(None, timeout=0.2, create=False) as store:
        return [
            Candidate(str(game.id), f"{game.player} on {game.board}, score {game.score}, {game.created[:10]}")
            for game in store.entries(limit=N_GAMES, on_damage=lambda _: None)
        ]


def _tiles(typed: str) -> list[Candidate]:  # noqa: ARG001
    return [Candidate(str(2**rank)) for rank in range(3, 17)]


def _keys(typed: str, root: Command) -> list[Candidate]:
    """Keys of settings, a word at a time: the common ones, commands with a dot behind them, then their options."""
    from lab2048.cli.settings import COMMON, known_keys

    found = dict.fromkeys(["cache", *COMMON])
    before = typed.rpartition(".")[0] + "." if "." in typed else ""
    for key in known_keys(root):
        if "." in key and key.startswith(before):
            word, dot, _ = key.removeprefix(before).partition(".")
            found[f"{before}{word}{dot}"] = None
    return [Candidate(key) for key in found]


def _figures(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.arena.requirement import FIGURES

    return [Candidate(name, doc) for name, doc in FIGURES.items()]  # a shell would take the sign for its own


_KINDS: dict[str, Callable[[str], list[Candidate]]] = {
    "PLAYER": _players,
    "SPEC": _players,
    "EVAL": _evaluators,
    "BOARD": _boards,
    "ID": _games,
    "TILE": _tiles,
    "FIGURE": _figures,
    "SHELL": lambda _: [Candidate("bash"), Candidate("zsh"), Candidate("fish")],
}
