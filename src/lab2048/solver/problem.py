"""A problem to solve: rules and an objective."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, FileError, LabError, UnknownNameError, UsageError
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.block import SCATTER, Words
from lab2048.kernels.board.packed import canonical
from lab2048.kernels.solve.backup import ODDS, TOTAL
from lab2048.kernels.solve.layer import make_canonical
from lab2048.rules import Board, Rules, Spawner
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
    is_scattered: bool = False  # the free large tiles start on any cells, all arrangements being equally likely

    def __post_init__(self) -> None:
        """Raise LabError for rules that cannot be solved."""
        rules = self.rules
        if rules.shape.n_cells > PACKED_CELLS:
            raise BoardError(
                f"{rules.shape.n_cells} cells are too many to solve: expected at most {PACKED_CELLS}",
                code="board.too_large",
            )
        if rules.stop_at_goal and self.objective is Objective.SCORE:
            raise UsageError("games that stop at the goal have no score to solve: expected win", field="objective")
        if rules.goal_cells and any(rank >= rules.goal_rank for rank, _ in rules.spawn_table):
            raise UsageError(f"with goal cells no {rules.goal} may spawn: expected a larger goal", field="goal")
        top = min(rules.max_rank, rules.goal_rank) if self.objective is Objective.WIN else rules.max_rank
        if max(top, *rules.board.ranks, *(rank + 1 for rank, _ in rules.spawn_table)) > PACKED_RANK:
            why = f"tiles above {2**PACKED_RANK} could appear"
            if self.objective is Objective.SCORE:
                expected = f"expected a goal of at most {2**PACKED_RANK}, or fewer cells"
                raise UsageError(
                    f"without a goal {why} on {rules.board.to_text()}: {expected}", code="goal.missing", field="goal"
                )
            raise UsageError(f"{why}: expected a goal of at most that, or fewer cells", field="goal")

        if self.is_scattered and not (rules.shape.n_free and self.is_fair and rules.board.max_rank == 0):
            raise UsageError(
                f"{rules.board_text} cannot start anywhere: expected free large tiles, no others, and the fair spawner"
            )

    @classmethod
    def of(cls, rules: Rules, objective: str, *, is_scattered: bool = False) -> Self:
        """Make a problem from the name of its objective."""
        try:
            return cls(rules, Objective(objective), is_scattered)
        except ValueError:
            raise UnknownNameError("objective", objective, [each.value for each in Objective]) from None

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the rules; only the fair spawner treats symmetric boards alike."""
        plan = make_plan(self.rules)
        if self.is_fair:
            return plan
        plan = plan.copy()
        plan[at.N_SYMMETRIES] = 1
        plan.flags.writeable = False
        return plan

    @property
    def is_fair(self) -> bool:
        """Return False if the spawner leaves nothing to chance."""
        return self.rules.spawner is Spawner.FAIR

    @property
    def spawn_chances(self) -> list[tuple[int, float]]:
        """Return the ranks that spawn, and the chance of each; 1 if the board decides which one it is."""
        return [(rank, p if self.is_fair else 1.0) for rank, p in self.rules.spawn_table]

    def canonical(self, board: Board) -> Board:
        """Return the board that stands for all symmetric copies; the board itself if they differ in value."""
        return board.canonical(self.rules.symmetries) if self.is_fair else board

    def canonical_word(self, board: Board) -> int:
        """Return the canonical form of a board, packed."""
        return int(canonical(self.plan, np.uint64(board.to_packed())))

    def key_of(self, board: Board) -> int:
        """Return the key of a board, which is the same for all symmetric copies."""
        return self.canonical_word(board) * int(SCATTER) % 2**64

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
        return self.goal_rank > 0 and self.rules.is_won(board)

    def is_decided(self, board: Board) -> bool:
        """Return True if the goal has been made, on whatever cell; it is lost on a cell where it does not count."""
        return 0 < self.goal_rank <= board.max_rank

    @cached_property
    def starts(self) -> tuple[Start, ...]:
        """Return the start boards up to symmetry, sorted by key."""
        if self.is_scattered:
            return tuple(self._scattered_starts())
        chances: dict[Board, float] = {self.canonical(self.rules.board): 1.0}
        for _ in range(self.rules.n_start):
            following: dict[Board, float] = {}
            for board, chance in chances.items():
                for spawn in self.rules.spawns(board):
                    state = self.canonical(board.put(spawn.cell, spawn.rank))
                    following[state] = following.get(state, 0.0) + chance * spawn.probability
                if len(following) > MAX_STARTS:
                    raise UsageError(
                        f"start {self.rules.n_start} gives too many start boards: expected fewer tiles", field="start"
                    )
            chances = following
        found = [Start(self.key_of(board), board, chance) for board, chance in chances.items()]
        return tuple(sorted(found, key=lambda start: start.key))

    def _scattered_starts(self) -> Iterator[Start]:
        """Yield a start board for every arrangement of the free large tiles and every spawn, up to symmetry."""
        cells = range(self.rules.shape.n_cells)
        arrangements = combinations(cells, self.rules.shape.n_free)
        words = np.array([sum(PACKED_RANK << 4 * cell for cell in taken) for taken in arrangements], np.uint64)
        words, chances = self._gathered(words, np.full(len(words), 1 / len(words)))
        for _ in range(self.rules.n_start):
            following, weights = [], []
            n_empty = sum((words >> np.uint64(4 * cell) & np.uint64(15) == 0).astype(float) for cell in cells)
            for rank, p in self.rules.spawn_table:
                for cell in cells:
                    is_empty = words >> np.uint64(4 * cell) & np.uint64(15) == 0
                    following.append(words[is_empty] | np.uint64(rank << 4 * cell))
                    weights.append((p * chances / n_empty)[is_empty])
            words, chances = self._gathered(np.concatenate(following), np.concatenate(weights))
        shape, keys = self.rules.shape, words * SCATTER
        for i in np.argsort(keys).tolist():
            yield Start(int(keys[i]), Board.from_packed(shape, int(words[i])), float(chances[i]))

    def _gathered(self, words: Words, chances: NDArray[np.float64]) -> tuple[Words, NDArray[np.float64]]:
        """Return the canonical forms of boards, each once, and the chance of each."""
        make_canonical(self.plan, words)
        distinct, inverse = np.unique(words, return_inverse=True)
        return distinct, np.bincount(inverse, chances).astype(np.float64)

    def start_keys(self, tile_sum: int) -> Words:
        """Return the sorted keys of start boards with this tile sum that are not already decided."""
        return np.array(self._keys_by_sum.get(tile_sum, []), np.uint64)

    @cached_property
    def _keys_by_sum(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for start in self.starts:
            if not self.is_decided(start.board):
                found.setdefault(start.board.tile_sum, []).append(start.key)
        return found

    @cached_property
    def open_starts(self) -> Words:
        """Return the sorted keys of all start boards that are not already decided."""
        return np.array([start.key for start in self.starts if not self.is_decided(start.board)], np.uint64)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; `from_json` is the inverse."""
        data = {"rules": self.rules.to_json(), "objective": self.objective.value}
        return data | ({"scattered": True} if self.is_scattered else {})

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse the data that `to_json` returns."""
        try:
            if data.get("scattered", True) is not True:
                raise ValueError(f"scattered {data['scattered']!r}")
            return cls(Rules.from_json(data["rules"]), Objective(data["objective"]), "scattered" in data)
        except (AttributeError, KeyError, TypeError, ValueError, LabError) as error:
            raise FileError(f"the problem of the table is not understood: {error}") from None
