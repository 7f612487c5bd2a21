"""Rules: the start board, how tiles spawn, and the goal."""

import json
import math
import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, Self

from lab2048.errors import BoardError, UnknownNameError, UsageError, unknown
from lab2048.rules import dice, reference
from lab2048.rules.board import Board
from lab2048.rules.kind import MAX_SIDE
from lab2048.rules.notation import MAX_RANK, MAX_TILE_SUM, rank_of
from lab2048.rules.shape import Shape

MAX_SPAWN_TILES = 16
MAX_CELLS = MAX_SIDE**2
_SPAWN_ENTRY = re.compile(r"([0-9]{1,19})\s*:\s*(\S+)", re.ASCII)


class Spawner(Enum):
    """How new tiles are placed."""

    FAIR = "fair"  # by the dice, as in the original game
    FIRST = "first"  # always the first tile of the table on the first empty cell
    WORST = "worst"  # an adversary that looks one move ahead


class Spawn(NamedTuple):
    """A new tile and its probability."""

    cell: int
    rank: int
    probability: float


@dataclass(frozen=True)
class Rules:
    """Everything that determines a game except the seed and the player.

    `board` is the board before the `n_start` first tiles spawn.  Rules are checked when they
    are made, and kernels rely on that.

    >>> rules = Rules.from_text("3x3", goal=256)
    >>> rules.goal, rules.n_start, rules.spawns(rules.board)[0].probability
    (256, 2, 0.1)
    """

    board: Board
    spawn_table: tuple[tuple[int, float], ...] = ((1, 0.9), (2, 0.1))
    n_start: int = 2
    goal_rank: int = 11
    spawner: Spawner = Spawner.FAIR

    def __post_init__(self) -> None:
        """Raise an error if these rules cannot be played."""
        self.check()

    @classmethod
    def from_text(
        cls, text: str, *, goal: int = 2048, spawn: str = "2:0.9,4:0.1", start: int | None = None, spawner: str = "fair"
    ) -> Self:
        """Read rules from text, as on the command line.

        By default two tiles spawn at the start, or none if the map has tiles.

        >>> Rules.from_text("2 # / # #", spawn="2:1").n_start
        0
        """
        board = Board.from_text(text)
        n_start = start if start is not None else 0 if any(board.ranks) else min(2, board.n_empty)
        return cls(board, read_spawn_table(spawn), n_start, read_goal(goal), read_spawner(spawner))

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON data; `from_json` is the inverse.

        >>> rules = Rules.from_text("3x3")
        >>> rules.to_json()["board"], Rules.from_json(rules.to_json()) == rules
        ('3x3', True)
        """
        return {
            "board": self.board.to_text(),
            "goal": self.goal,
            "spawn": ",".join(f"{2**rank}:{float(p)!r}" for rank, p in self.spawn_table),
            "start": self.n_start,
            "spawner": self.spawner.value,
        }

    @cached_property
    def json_text(self) -> str:
        """Return the rules as canonical JSON text: equal rules have equal texts."""
        return json.dumps(self.to_json(), sort_keys=True)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read the data of `to_json`; raise an error for anything else.

        >>> rules = Rules.from_text("3x3", goal=512)
        >>> Rules.from_json(rules.to_json()) == rules
        True
        """
        kinds = {"board": str, "goal": int, "spawn": str, "start": int, "spawner": str}
        if not isinstance(data, dict) or set(data) != set(kinds):
            raise BoardError(
                f"rules {str(data)[:80]!r} are not understood: expected the fields {', '.join(kinds)}",
                code="rules.invalid",
            )
        for name, kind in kinds.items():
            if type(data[name]) is not kind:
                raise BoardError(
                    f"rules: {name} is {str(data[name])[:40]!r}: expected {kind.__name__}", code="rules.invalid"
                )
        fields = dict(data)
        return cls.from_text(fields.pop("board"), **fields)

    def check(self) -> None:
        """Raise an error if no game can be played by these rules.

        >>> import dataclasses
        >>> Rules.from_text("3x3").check()
        >>> dataclasses.replace(Rules.from_text("3x3"), n_start=10).check()
        Traceback (most recent call last):
        lab2048.errors.UsageError: start 10 is out of range: expected 0 to 9, the number of empty cells
        """
        _check_board(self.board)
        _check_spawn_table(self.spawn_table)
        if not _is_int(self.goal_rank, 2, MAX_RANK):
            raise UsageError(f"goal rank {self.goal_rank!r} is out of range: expected 2 to {MAX_RANK}", field="goal")
        if not isinstance(self.spawner, Spawner):
            raise UsageError(unknown("spawner", self.spawner, otherwise="expected a Spawner"), field="spawner")
        n_empty = self.board.n_empty
        if not _is_int(self.n_start, 0, n_empty):
            expected = f"expected 0 to {n_empty}, the number of empty cells"
            raise UsageError(f"start {self.n_start!r} is out of range: {expected}", field="start")
        if self.n_start == 0 and not self.board.legal_moves():
            raise BoardError(
                f"no move is possible on {self.board.to_text()}: expected a board with a legal move",
                code="board.no_move",
            )

    @cached_property
    def shape(self) -> Shape:
        return self.board.shape

    @property
    def goal(self) -> int:
        """Return the tile that wins."""
        return 1 << self.goal_rank

    @property
    def max_rank(self) -> int:
        """Return the highest rank that can appear: each cell holds one tile of the chain that builds it.

        >>> 2 ** Rules.from_text("4x4").max_rank
        131072
        """
        highest = max(max(self.board.ranks), max(rank for rank, _ in self.spawn_table))
        return highest + self.shape.n_cells - 1

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return dice.thresholds(tuple(p for _, p in self.spawn_table))

    def spawns(self, board: Board) -> list[Spawn]:
        """Return every possible spawn on an afterstate, with its probability for the fair spawner.

        >>> rules = Rules.from_text("2x2")
        >>> len(rules.spawns(Board("2 # / # #")))  # a 2 or a 4 on three cells
        6
        """
        return [Spawn(*spawn) for spawn in reference.spawns(board.ranks, self.spawn_table)]

    def spawn(self, board: Board, word: int) -> tuple[int, int]:
        """Return the spawn (cell, rank) on an afterstate for a random word.

        >>> Rules.from_text("2x2", spawner="first").spawn(Board("2 # / # #"), 0)
        (1, 1)
        """
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
    for entry in map(str.strip, text.split(",")):
        found = _SPAWN_ENTRY.fullmatch(entry)
        try:
            if not (found and found[2].isascii()):  # Python reads the digits of all scripts
                raise ValueError
            p = float(found[2])
        except ValueError:
            raise UsageError(
                f"spawn {entry!r} is not understood: expected tile:probability, as in 2:0.9,4:0.1", field="spawn"
            ) from None
        try:
            rank = rank_of(found[1], f"spawn {entry!r}: ")
        except BoardError as error:
            raise UsageError(error.message, field="spawn") from None
        if not 0 < p <= 1:
            raise UsageError(f"spawn {entry!r}: expected a probability above 0 and at most 1", field="spawn")
        table.append((rank, p))
    _check_spawn_table(tuple(table))
    return tuple(table)


def _check_spawn_table(table: tuple[tuple[int, float], ...]) -> None:
    ranks = [rank for rank, _ in table]
    if not 1 <= len(set(ranks)) == len(ranks) <= MAX_SPAWN_TILES:
        raise UsageError(
            f"spawn table of {len(table)} tiles: expected 1 to {MAX_SPAWN_TILES}, each named once", field="spawn"
        )
    for rank, p in table:
        if not (_is_int(rank, 1, MAX_RANK) and isinstance(p, float | int) and 0 < p <= 1):
            expected = f"expected ranks from 1 to {MAX_RANK}, probabilities above 0 and at most 1"
            raise UsageError(f"spawn of rank {rank!r} with probability {p!r}: {expected}", field="spawn")
    total = math.fsum(p for _, p in table)
    if abs(total - 1) > 1e-9:
        raise UsageError(f"spawn probabilities sum to {total:.10g}: expected 1", field="spawn")


def _check_board(board: Board) -> None:
    n_cells = board.shape.n_cells
    if len(board.ranks) != n_cells or n_cells > MAX_CELLS:
        raise BoardError(
            f"the board has {len(board.ranks)} ranks on {n_cells} cells: expected as many, at most {MAX_CELLS}"
        )
    highest = MAX_TILE_SUM.bit_length() - 1
    for rank in board.ranks:
        if not _is_int(rank, 0, highest):
            raise BoardError(f"rank {rank!r} on the board is out of range: expected 0 to {highest}")
    if (total := board.tile_sum) > MAX_TILE_SUM:
        raise BoardError(
            f"the tiles of the board sum to {total}: expected at most {MAX_TILE_SUM}", code="board.too_large"
        )


def _is_int(number: object, low: int, high: int) -> bool:
    return isinstance(number, int) and low <= number <= high


def read_spawner(word: str) -> Spawner:
    """Return the spawner of this name."""
    try:
        return Spawner(word)
    except ValueError:
        raise UnknownNameError("spawner", word, [s.value for s in Spawner]) from None


def read_goal(goal: int) -> int:
    """Return the rank of the goal tile."""
    if goal < 4 or goal & (goal - 1) or goal > 2**MAX_RANK:
        raise UsageError(f"goal {goal} is not a tile: expected a power of two from 4 to {2**MAX_RANK}", field="goal")
    return goal.bit_length() - 1
