"""Rules: a shape, what is on it at first, how tiles spawn, and what counts as winning."""

import json
import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, Self

from lab2048.errors import BoardError, LabError, UsageError, nearest
from lab2048.rules import dice, reference
from lab2048.rules.board import Board
from lab2048.rules.notation import MAX_RANK, rank_of
from lab2048.rules.shape import Shape

MAX_SPAWN_TILES = 16


class Spawner(Enum):
    """Who places the new tiles."""

    FAIR = "fair"  # by the dice, as in the original game
    FIRST = "first"  # always the first tile of the table on the first empty cell
    WORST = "worst"  # an adversary that looks one move ahead


class Spawn(NamedTuple):
    """A tile that appears, and how likely it is."""

    cell: int
    rank: int
    probability: float


@dataclass(frozen=True)
class Rules:
    """Everything that decides a game but the dice and the player.

    `board` is what stands there before the `n_start` first tiles spawn.
    """

    board: Board
    spawn_table: tuple[tuple[int, float], ...] = ((1, 0.9), (2, 0.1))
    n_start: int = 2
    goal_rank: int = 11
    spawner: Spawner = Spawner.FAIR

    @classmethod
    def from_text(
        cls, text: str, *, goal: int = 2048, spawn: str = "2:0.9,4:0.1", start: int | None = None, spawner: str = "fair"
    ) -> Self:
        """Read rules as the command line takes them.

        Without `start`, two tiles spawn first, or none if the map brings its own.
        """
        board = Board.from_text(text)
        n_start = start if start is not None else 0 if any(board.ranks) else min(2, board.n_empty)
        try:
            kind = Spawner(spawner)
        except ValueError:
            raise UsageError(
                f"spawner {spawner!r} is unknown: {nearest(spawner, [s.value for s in Spawner])}"
            ) from None
        rules = cls(board, read_spawn_table(spawn), n_start, _goal_rank(goal), kind)
        rules.check()
        return rules

    def to_json(self) -> dict[str, Any]:
        """The rules as plain data; `from_json` is the inverse."""
        return {
            "board": self.board.to_text(),
            "goal": self.goal,
            "spawn": ",".join(f"{2**rank}:{p!r}" for rank, p in self.spawn_table),
            "start": self.n_start,
            "spawner": self.spawner.value,
        }

    @cached_property
    def json_text(self) -> str:
        """The one text of these rules: equal rules have equal texts, so that they can be found by it."""
        return json.dumps(self.to_json(), sort_keys=True)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote; anything else is refused."""
        kinds = {"board": str, "goal": int, "spawn": str, "start": int, "spawner": str}
        if not isinstance(data, dict) or set(data) != set(kinds):
            raise BoardError(f"rules {str(data)[:80]!r} are not understood: expected the fields {', '.join(kinds)}")
        for name, kind in kinds.items():
            if type(data[name]) is not kind:
                raise BoardError(f"rules: {name} is {str(data[name])[:40]!r}: expected {kind.__name__}")
        fields = dict(data)
        return cls.from_text(fields.pop("board"), **fields)

    def check(self) -> None:
        """Raise an error if no game could be played by these rules."""
        if not 0 <= self.n_start <= self.board.n_empty:
            raise UsageError(f"start {self.n_start} is out of range: the board has {self.board.n_empty} empty cells")
        if self.n_start == 0 and not self.board.legal_moves():
            raise BoardError(f"no move is possible on {self.board.to_text()}: expected a board with a legal move")

    @property
    def shape(self) -> Shape:
        return self.board.shape

    @property
    def goal(self) -> int:
        """The tile that wins."""
        return 1 << self.goal_rank

    @property
    def max_rank(self) -> int:
        """No tile of a higher rank can ever appear: each cell holds one tile of the chain that builds it."""
        highest = max(max(self.board.ranks), max(rank for rank, _ in self.spawn_table))
        return highest + self.shape.n_cells - 1

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return dice.thresholds(tuple(p for _, p in self.spawn_table))

    def spawns(self, board: Board) -> list[Spawn]:
        """Every spawn that can follow an afterstate, whoever the spawner is, with its fair probability."""
        return [Spawn(*spawn) for spawn in reference.spawns(board.ranks, self.spawn_table)]

    def spawn(self, board: Board, word: int) -> tuple[int, int]:
        """The spawn on an afterstate, as (cell, rank), given a word of the dice."""
        if self.spawner is Spawner.FAIR:
            return dice.fair_spawn(word, board.ranks, tuple(rank for rank, _ in self.spawn_table), self._ends)
        if self.spawner is Spawner.FIRST:
            return board.ranks.index(0), self.spawn_table[0][0]
        return reference.worst_spawn(board.ranks, self.spawn_table, self.shape.lines)


def read_spawn_table(text: str) -> tuple[tuple[int, float], ...]:
    """Read tiles and their probabilities.

    >>> read_spawn_table("2:0.9,4:0.1")
    ((1, 0.9), (2, 0.1))
    """
    table = []
    for entry in text.split(","):
        tile, colon, probability = entry.strip().partition(":")
        try:
            rank, p = rank_of(tile.strip()), float(probability)
        except (LabError, ValueError):
            raise UsageError(
                f"spawn {entry.strip()!r} is not understood: expected tile:probability, as in 2:0.9,4:0.1"
            ) from None
        if not colon or not 0 < p <= 1:
            raise UsageError(f"spawn {entry.strip()!r}: expected a probability above 0 and at most 1")
        table.append((rank, p))
    if len({rank for rank, _ in table}) != len(table) or len(table) > MAX_SPAWN_TILES:
        raise UsageError(f"spawn {text!r}: expected at most {MAX_SPAWN_TILES} tiles, each named once")
    total = math.fsum(p for _, p in table)
    if abs(total - 1) > 1e-9:
        raise UsageError(f"spawn probabilities sum to {total:.10g}: expected 1")
    return tuple(table)


def _goal_rank(goal: int) -> int:
    if goal < 4 or goal & (goal - 1) or goal > 2**MAX_RANK:
        raise UsageError(f"goal {goal} is no tile: expected a power of two from 4 to {2**MAX_RANK}")
    return goal.bit_length() - 1
