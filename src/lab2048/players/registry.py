"""Players by name: turn specs such as `expectimax:depth=3,eval=snake` into players and back.

A name is built in, comes from an installed package (entry points of the group lab2048.players), or was
registered, for example by a player file.
"""

import dataclasses
import importlib
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from lab2048.errors import UnknownNameError, UsageError, closest, nearest, users_code
from lab2048.players.player import Player
from lab2048.players.player_file import is_of_file, load_players_folder, missing_files, named_file, named_modules
from lab2048.rules import Rules

GROUP = "lab2048.players"
EVALUATORS = Path(__file__).with_name("evaluators.toml")
T = TypeVar("T")

# Built-in players; a module is imported when its player is first used.
_OURS = {
    "c51": "lab2048.players.deep:C51Player",
    "expectimax": "lab2048.players.search.expectimax:ExpectimaxPlayer",
    "first": "lab2048.players.first:FirstPlayer",
    "greedy": "lab2048.players.search.greedy:GreedyPlayer",
    "human": "lab2048.players.human:HumanPlayer",
    "lookahead": "lab2048.players.search.lookahead:LookaheadPlayer",
    "mcts": "lab2048.players.mcts:MctsPlayer",
    "montecarlo": "lab2048.players.montecarlo:MonteCarloPlayer",
    "net": "lab2048.players.deep:NetPlayer",
    "ntuple": "lab2048.players.ntuple:NTuplePlayer",
    "optimal": "lab2048.players.optimal:OptimalPlayer",
    "random": "lab2048.players.random:RandomPlayer",
    "shield": "lab2048.players.shield:ShieldPlayer",
}
LineValue = Callable[[tuple[int, ...]], float]


@dataclass(frozen=True, eq=False)
class LineFunction:
    """A user's function that values a line of ranks; it makes an evaluator (lab2048.players.evaluator)."""

    name: str
    value: LineValue
    lost: float | None
    margin: float | None
    tables: dict[int, Any] = dataclasses.field(default_factory=dict, repr=False)  # values of all lines, by length

    @property
    def doc(self) -> str:
        return (self.value.__doc__ or "").strip().partition("\n")[0]


_registered: dict[str, type[Player]] = {}
_line_functions: dict[str, LineFunction] = {}
_n_registered = 0


def register(name: str, player: type[Player]) -> None:
    """Add a player under a new name, as a player file does; a second class of that name replaces the first.

    >>> import lab2048 as lab
    >>> class Downward(lab.Player):
    ...     def choose(self, board):
    ...         return lab.Decision(max(board.legal_moves()), {})
    >>> lab.register("downward", Downward)
    >>> lab.player("downward").ask("2 # / 2 #").move
    Move.DOWN
    """
    load_players_folder()
    _check_name("player", name, _OURS)
    if not (isinstance(player, type) and issubclass(player, Player)):
        raise UsageError(f"player {name} is {player!r}: expected a subclass of lab2048.players.Player", field="player")
    for field in dataclasses.fields(player):
        if field.init and field.default is dataclasses.MISSING:
            raise UsageError(
                f"player {name}: option {field.name} has no default: expected option(default, doc)", field="player"
            )
    _add(_registered, name, player)


def register_evaluator(
    name: str, line_value: LineValue, *, lost: float | None = None, margin: float | None = None
) -> None:
    """Add an evaluator: a function that returns the value of one line, a tuple of ranks (0 is an empty cell).

    The value of a board is the sum over its lines: each row from left to right, each column from top to bottom, and
    so on along every axis.  The function is called once for every possible line, before the first game; searches then
    look values up.  `lost` is the value of a board without moves (default: the sum of its lines, as of any board).
    With `margin`, `expectimax` does not search a move whose afterstate is worse than the best one by more than this.

    >>> import lab2048 as lab
    >>> lab.register_evaluator("room", lambda line: line.count(0), lost=-10)
    >>> lab.player("lookahead", eval="room").ask("2 2 4 / # # #").values[lab.Move.LEFT]
    8.0
    """
    load_players_folder()
    _check_name("evaluator", name, built_in_evaluators())
    if not callable(line_value):
        raise UsageError(f"evaluator {name} is {line_value!r}: expected a function of a line", field="evaluator")
    _add(_line_functions, name, LineFunction(name, line_value, lost, margin))


def line_function(name: str) -> LineFunction | None:
    """Return the function of a registered evaluator; None if there is none of this name."""
    load_players_folder()
    return _line_functions.get(name)


def evaluator_docs() -> dict[str, str]:
    """Return the names of all evaluators with a line about each, the built-in ones first."""
    load_players_folder()
    return built_in_evaluators() | {name: function.doc for name, function in _line_functions.items()}


@cache
def built_in_evaluators() -> dict[str, str]:
    """Return the names of the built-in evaluators with a line about each, without compiling anything."""
    data = tomllib.loads(EVALUATORS.read_text(encoding="utf-8"))
    return {name: str(table.get("doc", "")) for name, table in data.items()}


def n_registered() -> int:
    """Return how often something was registered: players made before that may be outdated."""
    return _n_registered


def _add(registered: dict[str, T], name: str, what: T) -> None:
    global _n_registered
    _n_registered += 1
    registered[name] = what


def _check_name(kind: str, name: str, built_in: Iterable[str]) -> None:
    if name in built_in:
        raise UsageError(f"{kind} name {name!r} is taken: expected a name that is not built in", field=kind)
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise UsageError(f"{kind} name {name!r} is not understood: expected small letters, digits, - and _", field=kind)


def name_of(player: type[Player]) -> str:
    """Return the name of a class of players; one that has none yet is registered under the name of its class."""
    for name, path in _OURS.items():
        if path == f"{player.__module__}:{player.__qualname__}":
            return name
    for name, registered in _registered.items():
        if registered is player:
            return name
    name = _default_name(player)
    register(name, player)
    return name


def _default_name(player: type[Player]) -> str:
    """Return the name of a class as a name of players: LastMovePlayer becomes last-move."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", player.__name__).lower().strip("_")
    return words.removesuffix("-player") if words != "-player" else words


def is_only_here(spec: str) -> bool:
    """Return True if a player, or one that it asks, is known to this process alone, so that no other can play it."""
    return any(not is_of_file(module) for module in _modules_of(spec))


def files_of(specs: Iterable[str]) -> list[Path]:
    """Return the player files that another process must load by name, to know these players and their evaluators."""
    found = (named_file(module) for spec in specs for module in _modules_of(spec))
    return list(dict.fromkeys(path for path in found if path is not None))


def _modules_of(spec: str) -> Iterator[str]:
    """Yield the modules that registered what a spec names: the player, its evaluator, and players that it asks."""
    name, given = split_spec(spec)
    if name in _registered and name not in _installed():
        yield _registered[name].__module__
    for key, value in given:
        if key == "inner":
            yield from _modules_of(value.strip("()"))
        elif key == "eval" and value in _line_functions:
            yield str(_line_functions[value].value.__module__)


@cache
def _installed() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def names() -> list[str]:
    load_players_folder()
    return sorted({*_OURS, *_installed(), *_registered})


def registered_names() -> list[str]:
    """Return the names of players that were registered: those of the user, and not ours."""
    load_players_folder()
    return sorted(_registered)


def player_class(name: str) -> type[Player]:
    """Return the class of a player by name."""
    if name not in _OURS:
        load_players_folder()
    if name in _registered:
        return _registered[name]
    if name in _OURS:
        module, _, attribute = _OURS[name].partition(":")
        found: type[Player] = getattr(importlib.import_module(module), attribute)
        return found
    if name in _installed():
        try:
            register(name, _installed()[name].load())
        except Exception as error:
            raise UsageError(f"player {name} of an installed package does not load: {error}", field="player") from error
        return _registered[name]
    hint = missing_files() or _not_registered(name) or None
    raise UnknownNameError("player", name, (), _expected(name), hint=hint)


def _not_registered(name: str) -> str:
    """Return which class of a player file may be meant by an unknown name, and how to register it; may be empty."""
    for module, path in named_modules():
        for each in vars(sys.modules[module]).values():
            is_own = isinstance(each, type) and issubclass(each, Player) and each.__module__ == module
            if not is_own or each in _registered.values():
                continue
            if closest(name, [_default_name(each)]):
                how = f"lab2048.register(NAME, {each.__name__})"
                return f"{path.name} defines {each.__name__} without registering it: end it with {how}"
    return ""


def _expected(name: str) -> str:
    """Return what was expected instead of an unknown name."""
    if "," in name and all(part.strip() in names() for part in name.split(",")):
        return "expected a space between players, and no comma"
    if "=" in name or "(" in name:
        return "expected name:option=value, as in expectimax:depth=3,eval=snake"
    return nearest(name, names())


def summary(name: str) -> str:
    """Return the first line of a player's docstring."""
    return (player_class(name).__doc__ or "").strip().partition("\n")[0]


def options(name: str) -> dict[str, dataclasses.Field[Any]]:
    """Return the options of a player: dataclass fields with type, default and doc."""
    return {field.name: field for field in dataclasses.fields(player_class(name)) if field.init}


def default_spec(rules: Rules) -> str:
    """Return the default player: the shipped network for the rules it was trained on, else expectimax.

    >>> default_spec(Rules.from_text("4x4")), default_spec(Rules.from_text("3x3"))
    ('ntuple', 'expectimax')
    """
    classic = Rules.from_text("4x4")
    return "ntuple" if (rules.shape, rules.spawn_table) == (classic.shape, classic.spawn_table) else "expectimax"


def make_player(spec: str) -> Player:
    """Return the player of a spec.

    >>> make_player("first:order=sda")
    FirstPlayer(order='sda')
    """
    if not spec.isprintable():
        raise UsageError(f"player {spec!r} is not understood: expected printable letters", field="player")
    name, _, rest = spec.strip().partition(":")
    known = options(name)
    chosen: dict[str, Any] = {}
    for part in _split(rest):
        key, equals, value = part.partition("=")
        key = key.strip()
        if key not in known:
            raise UsageError(f"player {name} has no option {key!r}: {nearest(key, known)}", field="player")
        if not equals or key in chosen:
            raise UsageError(
                f"player {name}: option {part!r} is not understood: expected {key}=value, once", field="player"
            )
        chosen[key] = _convert(name, key, value.strip(), known[key])
    with users_code(f"player {name} cannot be made"):
        return player_class(name)(**chosen)


def fit_player(spec: str, rules: Rules) -> Player:
    """Return the player of a spec, after its own check that it can play by these rules; compiles nothing.

    >>> fit_player("greedy:eval=snake", Rules.from_text("3x3"))
    GreedyPlayer(eval='snake')
    """
    player = make_player(spec)
    if rules.null_moves and not player.knows_null_moves:
        raise UsageError(
            f"player {spec} cannot play with null moves: expected greedy or lookahead, or the rules of 2048",
            field="player",
        )
    with users_code(f"player {spec} cannot play"):
        player.check(rules)
    return player


def canonical_spec(spec: str) -> str:
    """Return the canonical form of a spec: options in declared order, defaults left out.

    >>> canonical_spec(" first:order=  ")
    'first'
    """
    return spec_of(spec.strip().partition(":")[0], make_player(spec))


def autonomous_spec(spec: str) -> str:
    """Return the canonical spec; raise UsageError if the player leaves its moves to a person.

    >>> autonomous_spec("greedy:eval=snake")
    'greedy'
    """
    canonical = canonical_spec(spec)
    if player_class(canonical.partition(":")[0]).is_interactive:
        raise UsageError(f"player {canonical} is a person: expected a player that chooses by itself", field="player")
    return canonical


def spec_with(spec: str, **changes: Any) -> str:
    """Return the canonical spec with some options changed.

    >>> spec_with("lookahead:depth=3", eval="snake")
    'lookahead:depth=3,eval=snake'
    """
    name = spec.strip().partition(":")[0]
    for key in changes:
        if key not in options(name):
            raise UsageError(f"player {name} has no option {key!r}: {nearest(key, options(name))}", field="player")
    return spec_of(name, dataclasses.replace(make_player(spec), **changes))


def spec_of(name: str, player: Player) -> str:
    """Return the canonical spec of a player that was made by this name."""
    parts = [
        f"{key}={_write(getattr(player, key))}"
        for key, field in options(name).items()
        if getattr(player, key) != field.default
    ]
    return name + (":" + ",".join(parts) if parts else "")


def _write(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"({text})" if "," in text or text.startswith("(") else text


def split_spec(spec: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the name in a spec, and its options as written, without making the player.

    >>> split_spec("shield:inner=(greedy:eval=snake),depth=2")
    ('shield', [('inner', '(greedy:eval=snake)'), ('depth', '2')])
    """
    name, _, rest = spec.strip().partition(":")
    pairs = [part.partition("=") for part in _split(rest)]
    return name, [(key.strip(), value.strip()) for key, _, value in pairs]


def _split(text: str) -> list[str]:
    """Split at commas, but not inside parentheses: inner=(greedy:eval=snake,depth=2) is one part."""
    parts, depth = [""], 0
    for letter in text.strip():
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise UsageError(
            f"player options {text!r} have unbalanced parentheses: expected as many ( as )", field="player"
        )
    return [part.strip() for part in parts] if text.strip() else []


def _convert(name: str, key: str, value: str, field: dataclasses.Field[Any]) -> Any:
    # `float | None` takes a number; annotations may be strings.
    annotation = field.type if isinstance(field.type, str) else getattr(field.type, "__qualname__", str(field.type))
    kind = annotation.removesuffix(" | None")
    if value.startswith("(") and value.endswith(")"):
        value = value[1:-1]
    try:
        if kind == "bool":
            return {"true": True, "false": False, "1": True, "0": False}[value.lower()]
        number = {"int": int, "float": float}.get(kind, str)(value)
        if number != number or number in (math.inf, -math.inf):
            raise ValueError
        return number
    except (KeyError, ValueError):
        word = {"bool": "true or false", "int": "a whole number", "float": "a number"}[kind]
        raise UsageError(f"player {name}: {key}={value} is not understood: expected {word}", field="player") from None
