"""Positions with a goal, to measure how often a player reaches it.

`positions.txt` beside this file holds them, in the style of an EPD suite: a name, a board, a goal, and, if
known, a probability that is possible.  Several are rotations or reflections of others: a player that knows
the symmetries of the board does equally well on all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from lab2048.arena.executor.executor import Executor
from lab2048.arena.match import Match
from lab2048.arena.statistics import Interval, rate_interval
from lab2048.errors import FileError, LabError, reason_of
from lab2048.records.input_file import read_text
from lab2048.rules import Rules

FIELDS = {"id", "board", "goal", "bound"}


@dataclass(frozen=True)
class Position:
    """A board and the goal to reach from it."""

    name: str
    rules: Rules
    bound: float | None = None  # a probability that is known to be possible


@dataclass(frozen=True)
class Result:
    """How often a player reached the goal of a position."""

    position: Position
    n_won: int
    n_games: int
    cpu_seconds: float

    @property
    def rate(self) -> Interval:
        return rate_interval(self.n_won, self.n_games)

    def to_json(self) -> dict[str, Any]:
        rate, position = self.rate, self.position
        return {
            "position": position.name,
            "board": position.rules.board.to_text(),
            "goal": position.rules.goal,
            "bound": position.bound,
            "won": self.n_won,
            "games": self.n_games,
            "rate": rate.value,
            "rate_ci95": [rate.low, rate.high],
            "cpu_seconds": self.cpu_seconds,
        }


def load_positions(path: Path | None = None) -> list[Position]:
    """Read a suite from a file; default: the built-in suite."""
    if path is None:
        return read_positions(files(__package__).joinpath("positions.txt").read_text(encoding="utf-8"))
    try:
        return read_positions(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"positions cannot be read from {path}: {reason_of(error)}") from None


def read_positions(text: str) -> list[Position]:
    r"""Read a suite from text.

    >>> read_positions("id two\nboard 2 2 / . .\ngoal 4\n")[0].rules.goal
    4
    """
    positions: list[Position] = []
    fields: dict[str, str] = {}
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        words = line.split(maxsplit=1)
        if words and words[0].startswith("#"):
            continue
        if words:
            if len(words) < 2 or words[0] not in FIELDS or words[0] in fields:
                raise FileError(f"line {number} of the positions is not understood: expected one of {sorted(FIELDS)}")
            fields[words[0]] = words[1].strip()
        elif fields:
            positions.append(_position(fields, number))
            fields = {}
    if not positions:
        raise FileError("there are no positions: expected id, board and goal of at least one")
    return positions


def _position(fields: dict[str, str], number: int) -> Position:
    try:
        rules = Rules.from_text(fields["board"], goal=int(fields["goal"]), start=0)
        bound = float(fields["bound"]) if "bound" in fields else None
        if bound is not None and not 0 <= bound <= 1:
            raise ValueError("bound")
        return Position(fields["id"], rules, bound)
    except LabError as error:
        raise FileError(f"the position that ends at line {number}: {error}") from None
    except (KeyError, ValueError):
        raise FileError(f"the position that ends at line {number} needs id, board and goal") from None


def play_positions(
    positions: list[Position], player: str, pool: Executor, *, n_games: int = 100, seed: int = 1
) -> Iterator[Result]:
    """Play games from each position to the goal or to the end."""
    for position in positions:
        match = Match(replace(position.rules, stop_at_goal=True), [player], seed, n_games)
        for _ in match.play(pool):
            pass
        player_result = match.results[player]
        if player_result.games:
            yield Result(position, player_result.n_won, len(player_result.games), player_result.cpu_seconds)
