"""A problem to solve: rules and an objective."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np

from lab2048.errors import BoardError, FileError, LabError, UnknownNameError, UsageError
from lab2048.kernels.board.block import SCATTER, Words
from lab2048.kernels.board.packed import canonical
from lab2048.kernels.solve.backup import ODDS, TOTAL
from lab2048.rules import Board, Rules, Shape, Spawner
from lab2048.rules.board import PACKED_CELLS, PACKED_RANK
from lab2048.rules.plan import Plan, make_plan

MAX_STARTS = 1_000_000


class Objective(Enum):
    """What the player maximizes."""

    WIN = "win"  # the probability of reaching the goal, which ends the game
    SCORE = "score"  # the expected score until no move is left; the goal is ignored


@dataclass(frozen=True)
class Start:
    """A start board up to symmetry, and its probability."""

    key: int
    board: Board
    chance: float


@dataclass(frozen=True)
class Problem:
    """Rules that can be solved, and the objective."""

    rules: Rules
    objective: Objective

    def __post_init__(self) -> None:
        """Raise LabError for rules that cannot be solved."""
        rules = self.rules
        if rules.spawner is not Spawner.FAIR:
            raise UsageError(
                f"boards with the spawner {rules.spawner.value} cannot be solved: expected fair", field="spawner"
            )
        if rules.shape.n_cells > PACKED_CELLS:
            raise BoardError(
                f"{rules.shape.n_cells} cells are too many to solve: expected at most {PACKED_CELLS}",
                code="board.too_large",
            )
        top = min(rules.max_rank, rules.goal_rank) if self.objective is Objective.WIN else rules.max_rank
        if max(top, *rules.board.ranks, *(rank + 1 for rank, _ in rules.spawn_table)) > PACKED_RANK:
            why = f"tiles above {2**PACKED_RANK} could appear"
            if self.objective is Objective.SCORE:
                expected = f"expected a goal of at most {2**PACKED_RANK}, or fewer cells"
                raise UsageError(
                    f"without a goal {why} on {rules.board.to_text()}: {expected}", code="goal.missing", field="goal"
                )
            raise UsageError(f"{why}: expected a goal of at most that, or fewer cells", field="goal")

    @classmethod
    def of(cls, rules: Rules, objective: str) -> Self:
        """Make a problem from the name of its objective."""
        try:
            return cls(rules, Objective(objective))
        except ValueError:
            raise UnknownNameError("objective", objective, [each.value for each in Objective]) from None

    @property
    def plan(self) -> Plan:
        return make_plan(self.rules)

    @property
    def goal_rank(self) -> int:
        """Return the rank that ends the game; 0 if none does."""
        return self.rules.goal_rank if self.objective is Objective.WIN else 0

    @property
    def measure(self) -> int:
        """Return the kind of value in backward induction (see lab2048.kernels.solve.backup)."""
        return ODDS if self.objective is Objective.WIN else TOTAL

    @property
    def spawned_potential(self) -> float:
        """Return the mean potential of a spawned tile."""
        return float(sum(p * ((rank - 1) << rank) for rank, p in self.rules.spawn_table))

    def is_won(self, board: Board) -> bool:
        return 0 < self.goal_rank <= max(board.ranks)

    @cached_property
    def starts(self) -> tuple[Start, ...]:
        """Return the start boards up to symmetry, sorted by key."""
        chances: dict[Board, float] = {self.rules.board.canonical(): 1.0}
        for _ in range(self.rules.n_start):
            following: dict[Board, float] = {}
            for board, chance in chances.items():
                for spawn in self.rules.spawns(board):
                    state = board.put(spawn.cell, spawn.rank).canonical()
                    following[state] = following.get(state, 0.0) + chance * spawn.probability
                if len(following) > MAX_STARTS:
                    raise UsageError(
                        f"start {self.rules.n_start} gives too many start boards: expected fewer tiles", field="start"
                    )
            chances = following
        found = [Start(key_of(board), board, chance) for board, chance in chances.items()]
        return tuple(sorted(found, key=lambda start: start.key))

    def start_keys(self, tile_sum: int) -> Words:
        """Return the sorted keys of start boards with this tile sum that are not already won."""
        return np.array(self._keys_by_sum.get(tile_sum, []), np.uint64)

    @cached_property
    def _keys_by_sum(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for start in self.starts:
            if not self.is_won(start.board):
                found.setdefault(start.board.tile_sum, []).append(start.key)
        return found

    @cached_property
    def open_starts(self) -> Words:
        """Return the sorted keys of all start boards that are not already won."""
        return np.array([start.key for start in self.starts if not self.is_won(start.board)], np.uint64)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; `from_json` is the inverse."""
        rules = self.rules.to_json()
        return {"rules": rules, "objective": self.objective.value}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse the data that `to_json` returns."""
        try:
            return cls(Rules.from_json(data["rules"]), Objective(data["objective"]))
        except (KeyError, TypeError, ValueError, LabError) as error:
            raise FileError(f"the problem of the table is not understood: {error}") from None


def key_of(board: Board) -> int:
    """Return the key of a board, which is the same for all symmetric copies."""
    return canonical_word(board) * int(SCATTER) % 2**64


def canonical_word(board: Board) -> int:
    """Return the canonical form of a board, packed."""
    return int(canonical(_plan_of(board.shape), np.uint64(board.to_packed())))


@lru_cache(maxsize=16)
def _plan_of(shape: Shape) -> Plan:
    """Return a plan for the symmetries of a shape, which do not depend on the spawn table."""
    return make_plan(Rules(Board(shape, (0,) * shape.n_cells), n_start=1))
