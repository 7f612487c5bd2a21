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
from lab2048.rules.board import Board, Slide
from lab2048.rules.kind import MAX_SIDE
from lab2048.rules.move import AnyMove
from lab2048.rules.notation import MAX_RANK, MAX_TILE_SUM, is_of_zeros, rank_of, read_map, write_board
from lab2048.rules.reference import Cells
from lab2048.rules.shape import FREE, Shape, Symmetry

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

    `board` is the board before the `n_start` first tiles spawn.  A game ends when no move is left or, with
    `stop_at_goal`, when the goal is on the board.  Rules are checked when they
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
    stop_at_goal: bool = False
    null_moves: bool = False  # not 2048: some moves may change nothing (lab2048.rules.reference.is_null_move)
    goal_cells: Cells = ()  # where the goal tile counts, in ascending order; none = anywhere

    def __post_init__(self) -> None:
        """Raise an error if these rules cannot be played."""
        self.check()

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        goal: int = 2048,
        spawn: str = "2:0.9,4:0.1",
        start: int | None = None,
        spawner: str = "fair",
        stop_at_goal: bool = False,
        null_moves: bool = False,
    ) -> Self:
        """Read rules from text, as on the command line.

        By default two tiles spawn at the start, or none if the map has tiles.  G in a map is a goal cell.  A position,
        which writes empty cells as 0, must have a tile: nothing is added to it.

        >>> Rules.from_text("2 # / # #", spawn="2:1").n_start
        0
        """
        shape, ranks, goal_cells = read_map(text)
        board = Board(shape, ranks)
        if start is None and board.max_rank == 0 and is_of_zeros(text):
            raise BoardError(
                f"the position has no tiles: expected at least one, or {board.to_text()} for a new game",
                code="board.no_move",
            )
        n_start = start if start is not None else 0 if board.max_rank else min(2, board.n_empty)
        table, goal_rank = read_spawn_table(spawn), read_goal(goal)
        how = (table, n_start, goal_rank, read_spawner(spawner), stop_at_goal, null_moves)
        return cls(board, *how, goal_cells)

    @cached_property
    def board_text(self) -> str:
        """Return the text of the board with its goal cells.

        >>> Rules.from_text("A # G / A # #").board_text
        'A#G|A##'
        """
        return write_board(self.shape, self.board.ranks, self.goal_cells)

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON data; `from_json` is the inverse.

        `stop_at_goal` is left out if it is False, so that older records have equal texts.

        >>> rules = Rules.from_text("3x3")
        >>> rules.to_json()["board"], Rules.from_json(rules.to_json()) == rules
        ('3x3', True)
        """
        data = {
            "board": self.board_text,
            "goal": self.goal,
            "spawn": ",".join(f"{2**rank}:{float(p)!r}" for rank, p in self.spawn_table),
            "start": self.n_start,
            "spawner": self.spawner.value,
        }
        flags = {"stop_at_goal": self.stop_at_goal, "null_moves": self.null_moves}
        return data | {name: True for name, is_set in flags.items() if is_set}

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
        kinds |= dict.fromkeys(("stop_at_goal", "null_moves"), bool)
        if not isinstance(data, dict) or {*data, "stop_at_goal", "null_moves"} != set(kinds):
            raise BoardError(
                f"rules {str(data)[:80]!r} are not understood: expected the fields {', '.join(kinds)}",
                code="rules.invalid",
            )
        for name, kind in kinds.items():
            if name in data and type(data[name]) is not kind:
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
        n_cells = self.board.shape.n_cells
        if not _is_int(self.goal_rank, 2, MAX_RANK):
            raise UsageError(f"goal rank {self.goal_rank!r} is out of range: expected 2 to {MAX_RANK}", field="goal")
        if any(not _is_int(cell, 0, n_cells - 1) or self.board.ranks[cell] for cell in self.goal_cells) or list(
            self.goal_cells
        ) != sorted(set(self.goal_cells)):
            expected = f"expected different empty cells from 0 to {n_cells - 1}, in ascending order"
            raise UsageError(f"goal cells {self.goal_cells}: {expected}", field="goal")
        if not isinstance(self.spawner, Spawner):
            raise UsageError(unknown("spawner", self.spawner, otherwise="expected a Spawner"), field="spawner")
        if not isinstance(self.stop_at_goal, bool):
            raise UsageError(f"stop_at_goal is {self.stop_at_goal!r}: expected True or False", field="stop_at_goal")
        if self.stop_at_goal and self.board.max_rank >= self.goal_rank:
            raise BoardError(
                f"the goal {self.goal} is already on {self.board.to_text()}: expected a board below it",
                code="board.goal_reached",
            )
        if self.null_moves and (self.board.shape.has_large):
            raise UsageError(
                "boards with large tiles have no null moves: expected a map without A and F", field="null_moves"
            )
        if self.board.shape.n_free:
            self._check_free()
        n_empty = self.board.n_empty
        if not _is_int(self.n_start, 0, n_empty):
            expected = f"expected 0 to {n_empty}, the number of empty cells"
            raise UsageError(f"start {self.n_start!r} is out of range: {expected}", field="start")
        if self.n_start == 0 and not self.board.legal_moves():
            raise BoardError(
                f"no move is possible on {self.board.to_text()}: expected a board with a legal move",
                code="board.no_move",
            )

    def _check_free(self) -> None:
        """Raise an error unless the rank of free large tiles is theirs alone."""
        largest = 2 ** (FREE - 1)
        if self.goal_rank >= FREE:
            raise UsageError(
                f"goal {self.goal} is too large beside free large tiles: expected at most {largest}", field="goal"
            )
        if self.max_rank >= FREE:
            raise BoardError(
                f"tiles above {largest} could be made beside the free large tiles of {self.board.to_text()}: "
                "expected more of them, or a smaller board"
            )

    @cached_property
    def shape(self) -> Shape:
        return self.board.shape

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return the symmetries of the shape that map goal cells to goal cells, the identity first."""
        cells = set(self.goal_cells)
        return tuple(each for each in self.shape.symmetries if {each.cells[cell] for cell in cells} == cells)

    def is_won(self, board: Board) -> bool:
        """Return True if the goal tile, or a larger one, is on the board, on a goal cell if there are any.

        >>> rules = Rules.from_text("A # G / A # #", goal=8)
        >>> rules.is_won(Board("A # 8 / A # #")), rules.is_won(Board("A 8 # / A # #"))
        (True, False)
        """
        if not self.goal_cells:
            return board.max_rank >= self.goal_rank
        ranks, free = (board.ranks[cell] for cell in self.goal_cells), self.shape.free_rank
        return any(rank >= self.goal_rank and rank != free for rank in ranks)

    @property
    def goal(self) -> int:
        """Return the tile that wins."""
        return 1 << self.goal_rank

    @property
    def max_rank(self) -> int:
        """Return the highest rank that can appear: each cell holds one tile of the chain that builds it.

        >>> 2 ** Rules.from_text("4x4").max_rank
        131072
        >>> Rules.from_text("F F F F / F F F F / # # # # / # # # #").max_rank
        9
        """
        highest = max(self.board.max_rank, max(rank for rank, _ in self.spawn_table))
        return highest + self.shape.n_cells - self.shape.n_free - 1

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return dice.thresholds(tuple(p for _, p in self.spawn_table))

    def slide(self, board: Board, move: int) -> Slide:
        """Slide a board by these rules; raise IllegalMoveError if the move is illegal.

        >>> Rules.from_text("3x3").slide(Board("2 2 4 / # # # / # # #"), 1).reward
        4
        """
        is_null = self.null_moves and reference.is_null_move(board.ranks, self.shape.lines[move])
        return Slide(board, 0) if is_null else board.slide(move)

    def legal_moves(self, board: Board) -> tuple[AnyMove, ...]:
        """Return the moves that are legal by these rules; if there are none, the game is over.

        >>> Rules.from_text("2x2").legal_moves(Board("2 2 / # #"))
        (Move.RIGHT, Move.DOWN, Move.LEFT)
        """
        found = board.legal_moves()
        if not self.null_moves:
            return found
        lines = self.shape.lines
        return tuple(m for m in self.shape.moves if m in found or reference.is_null_move(board.ranks, lines[m]))

    def spawns(self, board: Board) -> list[Spawn]:
        """Return every possible spawn on an afterstate, with its probability; there is one unless the spawner is fair.

        >>> rules = Rules.from_text("2x2")
        >>> len(rules.spawns(Board("2 # / # #")))  # a 2 or a 4 on three cells
        6
        """
        if self.spawner is not Spawner.FAIR:
            return [Spawn(*self.spawn(board, 0), 1.0)] if board.n_empty else []
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
        shape = self.shape
        return reference.worst_spawn(board.ranks, self.spawn_table, shape.lines, shape.holding, shape.free_rank)


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
