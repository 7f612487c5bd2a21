"""Arguments that several functions of the library take: numbers, boards, rules and players."""

import math
import operator
from collections.abc import Sequence
from functools import cache
from typing import Any

from lab2048.errors import BoardError, OutOfRangeError, UsageError
from lab2048.players import Player
from lab2048.players.registry import autonomous_spec, name_of, spec_of, spec_with
from lab2048.rules import Board, Rules
from lab2048.rules.board import BoardSource

RulesLike = str | Rules | Board
PlayerLike = Any  # a spec such as "ntuple:depth=3", a ReadyPlayer, or a Player of your own


def read_whole(name: str, value: Any, least: int | None = None) -> int:
    """Return a whole number, which may be NumPy's or a float such as 1e5."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise UsageError(f"{name} {value!r} is not understood: expected a whole number", field=name) from None
    if least is not None and number < least:
        raise OutOfRangeError(name, value, f"{least} or more")
    return number


def read_limit(name: str, value: Any) -> float | None:
    """Return how long something may go on, a number above 0; None is no limit."""
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise UsageError(f"{name} {value!r} is not understood: expected a number", field=name)
    if number <= 0:
        raise OutOfRangeError(name, value, "more than 0")
    return number


def read_board(board: "Board | BoardSource") -> Board:
    """Return a board, made from whatever `lab2048.Board` takes."""
    return board if isinstance(board, Board) else Board(board)


def read_rules(
    rules: RulesLike,
    goal: int | None = None,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    stop_at_goal: bool = False,
) -> Rules:
    """Return the rules: a text such as "4x4", a board to start from, or Rules, which exclude the other options."""
    given = {"goal": goal, "spawn": spawn, "start": start, "spawner": spawner, "stop_at_goal": stop_at_goal or None}
    chosen = {name: value for name, value in given.items() if value is not None}
    if isinstance(rules, Rules):
        if chosen:
            raise UsageError(
                f"{', '.join(chosen)} cannot be combined with Rules: expected one or the other", field="rules"
            )
        return rules
    text = rules.to_text() if isinstance(rules, Board) else rules
    if not isinstance(text, str):
        raise BoardError(f"rules {rules!r} are not understood: expected text such as '4x4', a Board or Rules")
    return Rules.from_text(text, **_checked(chosen))


def rules_for(board: Board, goal: int | None = None, spawn: str | None = None, spawner: str | None = None) -> Rules:
    """Return rules for a position: those of its empty shape, which all positions share, if they can lead to it."""
    given = {"goal": goal, "spawn": spawn, "spawner": spawner}
    chosen = _checked({name: value for name, value in given.items() if value is not None})
    plain = _plain_rules(board.shape, tuple(sorted(chosen.items())))
    if board.max_rank <= plain.max_rank:
        return plain
    return Rules.from_text(board.to_text(), start=0, **chosen)


def _checked(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return options of rules with the right types; what they say is checked where the rules are made."""
    for name in ("spawn", "spawner"):
        if not isinstance(chosen.get(name, ""), str):
            raise UsageError(f"{name} {chosen[name]!r} is not understood: expected text", field=name)
    return chosen | {name: read_whole(name, chosen[name]) for name in ("goal", "start") if name in chosen}


@cache
def _plain_rules(shape: Any, chosen: tuple[tuple[str, Any], ...]) -> Rules:
    return Rules.from_text(Board(shape).to_text(), **dict(chosen))


def read_spec(player: PlayerLike, options: dict[str, Any] | None = None) -> str:
    """Return the canonical spec of a player that chooses by itself.

    An object of a class that has no name yet is registered under the name of its class.
    """
    if isinstance(player, str):
        spec = player
    elif hasattr(player, "spec"):
        spec = str(player.spec)
    else:
        is_class = isinstance(player, type) and issubclass(player, Player)
        if not is_class and not isinstance(player, Player):
            raise UsageError(
                f"player {player!r}: expected a name such as 'expectimax:depth=3', or a Player", field="player"
            )
        try:
            made = player() if is_class else player
        except TypeError as error:
            raise UsageError(f"player {player.__name__} cannot be created: {error}", field="player") from error
        spec = spec_of(name_of(type(made)), made)
    return autonomous_spec(spec_with(spec, **options) if options else spec)


def read_specs(players: "PlayerLike | Sequence[PlayerLike]") -> list[str]:
    """Return the specs of one or several players."""
    if isinstance(players, str) or not isinstance(players, Sequence):
        players = [players]
    if not players:
        raise UsageError("there are no players: expected at least one", field="players")
    return [read_spec(player) for player in players]
