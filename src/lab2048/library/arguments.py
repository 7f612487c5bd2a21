"""Arguments that several functions of the library take: boards, rules and players."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from lab2048.errors import UsageError
from lab2048.players import Player
from lab2048.players.registry import autonomous_spec, name_of, spec_of, spec_with
from lab2048.rules import Board, Rules
from lab2048.rules.board import BoardSource

RulesLike = str | Rules | Board
PlayerLike = Any  # a spec such as "ntuple:depth=3", a ReadyPlayer, or a Player of your own


def read_board(board: "Board | BoardSource") -> Board:
    """Return a board, made from whatever `lab2048.Board` takes."""
    return board if isinstance(board, Board) else Board(board)


def read_rules(
    rules: RulesLike,
    goal: int | None = None,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
) -> Rules:
    """Return the rules: a text such as "4x4", a board to start from, or Rules, which exclude the other options."""
    given = {"goal": goal, "spawn": spawn, "start": start, "spawner": spawner}
    chosen = {name: value for name, value in given.items() if value is not None}
    if isinstance(rules, Rules):
        if chosen:
            raise UsageError(f"Rules have their own {', '.join(chosen)}: expected only one of them", field="rules")
        return rules
    text = rules.to_text() if isinstance(rules, Board) else rules
    return Rules.from_text(text, **chosen)  # type: ignore[arg-type]


def rules_for(board: Board, goal: int | None = None, spawn: str | None = None) -> Rules:
    """Return rules for a position: those of its empty shape, which all positions share, if they can lead to it."""
    chosen = {name: value for name, value in (("goal", goal), ("spawn", spawn)) if value is not None}
    plain = _plain_rules(board.shape, tuple(sorted(chosen.items())))
    if max(board.ranks) <= plain.max_rank:
        return plain
    return Rules.from_text(board.to_text(), start=0, **chosen)  # type: ignore[arg-type]


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
        made = player() if is_class else player
        spec = spec_of(name_of(type(made)), made)
    return autonomous_spec(spec_with(spec, **options) if options else spec)


def read_specs(players: "PlayerLike | Sequence[PlayerLike]") -> list[str]:
    """Return the specs of one or several players."""
    if isinstance(players, str) or not isinstance(players, Sequence):
        players = [players]
    return [read_spec(player) for player in players]
