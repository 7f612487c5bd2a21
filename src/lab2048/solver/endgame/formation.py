"""Formations: where the large tiles stand in an endgame, and where the next one has to be made.

    A A A A      A is an anchor: a large tile that never merges and may not be moved
    A A A A      G is a cell where the goal tile counts; on another cell it is a failure
    # # # G      # is any other cell
    # # # #

    F F F F      F is a free large tile: it moves like any tile and never merges.  How many there are
    F F F F      is part of the formation, where they stand is not: the endgame starts with any
    # # # #      arrangement of them
    # # # #

The value of a position is the probability of making the goal while the anchors stay and no large tiles merge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from lab2048.errors import BoardError, UnknownNameError
from lab2048.rules import Board, Rules, Shape
from lab2048.rules.kind import without_large
from lab2048.rules.shape import ANCHOR, FREE, Symmetry
from lab2048.solver.problem import Objective, Problem

# The maps, and for each goal the number of afterstates: whole numbers are counted, others estimated.  Names and maps
# as in 2048EndgameTablebase (by the free cells of each row, or by their shape), with the large tiles on top.
KNOWN: dict[str, tuple[str, dict[int, float]]] = {
    "snake8": ("AAAA|AAAA|###G|####", {64: 228_974, 128: 451_009, 256: 768_441}),
    "pdf8": ("AAA#|AAA#|AAG#|####", {64: 144_820, 128: 391_855, 256: 783_017}),
    "L3": ("AAA#|AAAG|##G#|####", {64: 8_153_639, 128: 36_278_823, 256: 118_543_637, 512: 3.1e8}),
    "442": ("AAAA|AAG#|####|####", {64: 4_922_904, 128: 14_382_337, 256: 33_933_001, 512: 68_216_192}),
    "t": ("AAGA|AAGA|GG##|####", {64: 6_724_710, 128: 28_684_932, 256: 90_289_134, 512: 2.3e8}),
    "tfree": ("AA#F|AA#F|####|####", {32: 3.8e7, 64: 3.1e8}),
    "free8": ("FFFF|FFFF|####|####", {32: 105_344_193, 64: 381_852_853, 128: 961_125_527}),
    "free9": ("FFFF|FFF#|####|####", {32: 4.5e8}),
}

STAYING, MERGING = "while the large tiles stay", "as long as the large tiles do not merge"
BYTES = 2.7  # on disk per afterstate
RATE, RATE_FREE = 1_800_000, 800_000  # afterstates that one core solves per second, without and with free large tiles


class Fit(NamedTuple):
    """A formation found on a board: the free cells, and the symmetry that carries the board to the formation."""

    board: Board
    symmetry: Symmetry


class Copy(NamedTuple):
    """A symmetric copy of a formation: the cells of the whole board that it uses."""

    symmetry: Symmetry
    anchors: tuple[int, ...]
    free: tuple[int, ...]  # in the order of the formation's own cells
    goals: tuple[int, ...]  # free cells where the goal counts
    beside_goal: frozenset[int]  # anchors that a goal tile would touch

    def is_beside(self, cell: int) -> bool:
        """Return True if the new tile is made beside a large tile, or if that one is free and can go there."""
        return cell in self.beside_goal or cell not in self.anchors


@dataclass(frozen=True)
class Formation:
    """Rules of an endgame: a map with anchors or free large tiles, and a goal."""

    rules: Rules

    def __post_init__(self) -> None:
        if not self.rules.shape.has_large:
            raise BoardError(
                f"the formation {self.rules.board_text} has no anchors: expected A where the large tiles stand, "
                "or F for large tiles that move"
            )

    @cached_property
    def problem(self) -> Problem:
        """The problem to solve: free large tiles start anywhere."""
        return Problem(self.rules, Objective.WIN, is_scattered=self.n_free > 0)

    @property
    def rate(self) -> int:
        """Return about how many afterstates one core solves per second."""
        return RATE_FREE if self.n_free else RATE

    @property
    def while_text(self) -> str:
        """Return how long values are exact: "while the large tiles stay"."""
        return MERGING if self.n_free else STAYING

    @property
    def n_free(self) -> int:
        """Return the number of free large tiles."""
        return self.rules.shape.n_free

    @property
    def n_cells(self) -> int:
        """Return the number of cells without large tiles."""
        return self.rules.shape.n_cells - self.n_free

    @classmethod
    def from_text(cls, text: str, goal: int) -> "Formation":
        """Read a map.

        >>> Formation.from_text("A A # G / A A # #", 16).rules.goal_cells
        (1,)
        """
        return cls(Rules.from_text(text, goal=goal))

    @classmethod
    def from_name(cls, name: str) -> "Formation":
        """Return a known formation by its name and goal.

        >>> Formation.from_name("L3-256").rules.board_text
        'AAA#|AAAG|##G#|####'
        """
        family, _, goal = name.partition("-")
        if family not in KNOWN or not goal.isdecimal() or int(goal) not in KNOWN[family][1]:
            raise UnknownNameError("formation", name, formation_names())
        return cls.from_text(KNOWN[family][0], int(goal))

    @property
    def picture(self) -> list[str]:
        """Return the map as lines of text."""
        text = self.rules.board_text.partition(":")[2] or self.rules.board_text
        return [" ".join(row) for row in text.split("|")] if "|" in text else text.split(" / ")

    @cached_property
    def whole(self) -> Shape:
        """The shape of boards on which the formation stands."""
        return without_large(self.rules.shape)

    def fit(self, board: Board) -> Fit:
        """Find the formation, or a rotated or mirrored copy, on a board; raise BoardError if it is not there.

        The large tiles must be different and at least the goal, and all other tiles smaller.  If several copies fit,
        take one where the goal is made beside the smallest large tile.
        """
        found = self.find(board)
        if found is None:
            raise BoardError(
                f"the formation {self.rules.board_text} is not on {board.to_text()}: expected different tiles of at "
                f"least {self.rules.goal} {self._where}, and smaller ones elsewhere"
            )
        return found

    def find(self, board: Board) -> Fit | None:
        """Return the same as `fit`, or None if the formation is not there."""
        if board.shape != self.whole:
            return None
        ranks, goal_rank, found = board.ranks, self.rules.goal_rank, None
        large = {cell for cell, rank in enumerate(ranks) if rank >= goal_rank}
        n_large = len(self.copies[0].anchors) + self.n_free
        if len({ranks[cell] for cell in large}) < len(large) or len(large) != n_large:
            return None
        smallest = min(large, key=lambda cell: ranks[cell])
        for copy in self.copies:
            if large.issuperset(copy.anchors):
                is_beside = copy.is_beside(smallest)
                if is_beside or found is None:
                    found = copy
                if is_beside:
                    break
        if found is None:
            return None
        position = tuple(FREE if cell in large else ranks[cell] for cell in found.free)
        return Fit(Board(self.rules.shape, position), found.symmetry)

    @property
    def _where(self) -> str:
        """Return where the large tiles have to be, in words."""
        anchors = "where an A stands" if self.rules.shape.has_anchors else ""
        free = f"on any {self.n_free} cells" if self.n_free else ""
        return " and ".join(filter(None, (anchors, free)))

    @cached_property
    def copies(self) -> tuple[Copy, ...]:
        """The rotated and mirrored copies of the formation."""
        entries = [
            cell
            for row, cells in zip(self.whole.rows, self.rules.shape.rows, strict=True)
            for at, cell in zip(row, cells, strict=True)
            if at >= 0
        ]
        anchors = [place for place, entry in enumerate(entries) if entry == ANCHOR]
        free = {entry: place for place, entry in enumerate(entries) if entry >= 0}
        goals = {free[cell] for cell in self.rules.goal_cells or range(len(free))}
        neighbours = {(a, b) for lines in self.whole.lines for line in lines for a, b in pairwise(line)}
        found = []
        for symmetry in self.whole.symmetries:
            back = {place: cell for cell, place in enumerate(symmetry.cells)}
            beside = frozenset(back[place] for place in anchors if any((place, goal) in neighbours for goal in goals))
            found.append(
                Copy(
                    symmetry,
                    tuple(back[place] for place in anchors),
                    tuple(back[free[cell]] for cell in range(len(free))),
                    tuple(sorted(back[goal] for goal in goals)),
                    beside,
                )
            )
        return tuple(found)


def formation_names() -> list[str]:
    """Return the names of all known formations with their goals."""
    return [f"{family}-{goal}" for family, (_, goals) in KNOWN.items() for goal in goals]


def families() -> Iterator[tuple[str, Formation, dict[int, float]]]:
    """Yield each family: its name, the formation with its smallest goal, and the afterstates for each goal."""
    for family, (text, goals) in KNOWN.items():
        yield family, Formation.from_text(text, min(goals)), goals
