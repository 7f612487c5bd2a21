"""Shell completion: the words that could be typed next.

The metavar of an option or argument says what it takes (PLAYER, BOARD, ID, FILE), or a check beside it lists the
words (`OneOf`).  Nothing slow and no error may bother a user who pressed Tab.  Typer's own completion takes half as
long again for Bash and twice as long for the others, because it imports pydantic and Rich.
"""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lab2048.cli.color import WHEN
from lab2048.cli.command_tree import Command, children, walk
from lab2048.cli.option_types import words_of

FILES, FOLDERS = ":files", ":folders"  # the shell completes paths itself
N_GAMES = 50  # the newest ones


class Candidate(NamedTuple):
    """A word that could be typed here, and what it means."""

    value: str
    help: str | None = None


_HELP = Candidate("--help", "Show this message and exit.")


def complete(root: Command, words: list[str]) -> list[Candidate]:
    """Return the words that could stand where the last of `words` is being typed."""
    *before, typed = words or [""]
    context = _context(root, before)
    command = context.command
    if context.args and children(command):  # a command that does not exist
        return []
    with_value = {
        name: parameter
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.is_flag
        for name in parameter.opts
    }
    name, equals, value = typed.partition("=")
    if "--" not in before:
        if equals and name in with_value:
            return [Candidate(f"{name}={one.value}", one.help) for one in _values(with_value[name], context, value)]
        if before and before[-1] in with_value:
            return _values(with_value[before[-1]], context, typed)
        if typed.startswith("-"):
            found = command.shell_complete(context, typed)
            return [*(Candidate(each.value, each.help) for each in found), *_starting([_HELP], typed)]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            source = context.get_parameter_source(parameter.name)
            if parameter.nargs == -1 or source is None or source.name != "COMMANDLINE":
                return _values(parameter, context, typed)
    found = [Candidate(each.value, each.help) for each in command.shell_complete(context, typed)]
    if command.name == "players" and children(command):  # `lab2048 players NAME` is short for `players show NAME`
        found += _starting(_players(""), typed)
    return found


def _context(root: Command, words: list[str]) -> Any:
    """Return the context of the command that these words lead to; words that are left are in its `args`."""
    for _, command in walk(root):
        command.add_help_option = False  # it would load pydantic, to read a flag
        for parameter in command.params:
            parameter.process_value = lambda _, value: value  # the values before it need not be valid
    context = root.make_context("lab2048", list(words), resilient_parsing=True)
    while children(context.command) and context.args:
        name, command, rest = context.command.resolve_command(context, context.args)
        if command is None:
            break
        context = command.make_context(name, rest, parent=context, resilient_parsing=True)
    return context


def _starting(candidates: Iterable[Candidate], typed: str) -> list[Candidate]:
    return [one for one in candidates if one.value.startswith(typed)]


def _values(parameter: Any, context: Any, typed: str) -> list[Candidate]:
    """Return values of one option or argument."""
    name = (parameter.metavar or "").strip("[].")
    if name in ("FILE", "DIR"):
        return [Candidate(FILES if name == "FILE" else FOLDERS)]
    found: list[Candidate] = []
    with contextlib.suppress(Exception):  # a damaged store or player file is reported elsewhere
        if name == "KEY":
            found = _keys(typed, context.find_root().command)
        elif name in _KINDS:
            found = _KINDS[name](typed)
        else:
            found = [Candidate(word) for word in words_of(context.command, parameter)]
    return _starting(found, typed)


def _players(typed: str) -> list[Candidate]:
    """Return players by name; after `name:` their options, and after `option=` its values if they are few."""
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
        return [one.value for one in _evaluators("")]
    if field.type in ("bool", bool):
        return ["true", "false"]
    choices = field.metadata.get("choices", ())
    return [str(choice) for choice in choices or ([] if field.default is None else [field.default])]


def _evaluators(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.players.registry import evaluator_docs

    return [Candidate(name, doc) for name, doc in evaluator_docs().items()]


def _boards(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.rules.kind import KINDS

    squares = [Candidate(f"{n}x{n}") for n in range(2, 9)]
    oblongs = [Candidate(text) for text in ("2x3", "2x4", "3x4", "3x5", "4x5")]
    named = [
        Candidate(kind.name(size), kind.cells)
        for kind in KINDS
        if kind.prefix
        for size in range(kind.parameters[0].smallest, kind.parameters[0].largest + 1)
    ]
    return [*squares, *oblongs, *named, Candidate("####|#xx#|#xx#|####", "a map: x is a brick")]


def _games(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.records.store import Store

    with Store.open(None, timeout=0.2, create=False) as store:
        return [
            Candidate(str(game.id), f"{game.player} on {game.board}, score {game.score}, {game.created[:10]}")
            for game in store.entries(limit=N_GAMES, on_damage=lambda _: None)
        ]


def _tiles(typed: str) -> list[Candidate]:  # noqa: ARG001
    return [Candidate(str(2**rank)) for rank in range(3, 17)]


def _formations(typed: str) -> list[Candidate]:  # noqa: ARG001
    from lab2048.solver.endgame.formation import formation_names

    return [Candidate(name) for name in formation_names()]


def _keys(typed: str, root: Command) -> list[Candidate]:
    """Return keys of settings, a word at a time: the common ones, commands with a dot, then their options."""
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

    return [Candidate(name, doc) for name, doc in FIGURES.items()]  # without >=, which a shell would interpret


_KINDS: dict[str, Callable[[str], list[Candidate]]] = {
    "PLAYER": _players,
    "SPEC": _players,
    "EVAL": _evaluators,
    "BOARD": _boards,
    "ID": _games,
    "TILE": _tiles,
    "FORMATION": _formations,
    "FIGURE": _figures,
    "WHEN": lambda _: [Candidate(word) for word in WHEN],
}
