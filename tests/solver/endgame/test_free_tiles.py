"""Formations with free large tiles: equal to a solver in plain Python that shares no code with lab2048."""

import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lab2048.errors import BoardError, FileError, UsageError
from lab2048.rules import Board, Rules
from lab2048.rules.shape import FREE
from lab2048.solver.endgame.compact_table import CompactTable, compact, verify_compact
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.endgame.probe import Endgame
from lab2048.solver.memory import Memory
from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Objective, Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers

LARGE, SPAWNS = -1, ((2, 0.9), (4, 0.1))  # a free large tile among tiles; 0 is an empty cell
Tiles = tuple[int, ...]


class PlainSolver:
    """Rectangles by recursion, tile by tile; boards are not made canonical."""

    def __init__(self, width: int, goal: int) -> None:
        self.width, self.goal = width, goal
        self.afters: dict[Tiles, float] = {}  # the values of all afterstates that were met
        self.value_of_state = cache(self._state)

    def _line(self, tiles: list[int]) -> list[int]:
        slid: list[int] = []
        waiting = False
        for tile in filter(None, tiles):
            if waiting and slid[-1] == tile != LARGE:
                slid[-1], waiting = 2 * tile, False
            else:
                slid.append(tile)
                waiting = True
        return slid + [0] * (len(tiles) - len(slid))

    def moves(self, board: Tiles) -> Iterator[Tiles]:
        rows = [list(board[i : i + self.width]) for i in range(0, len(board), self.width)]
        for is_turned, is_mirrored in itertools.product((False, True), repeat=2):
            lines = [list(column) for column in zip(*rows, strict=True)] if is_turned else rows
            slid = [self._line(line[::-1])[::-1] if is_mirrored else self._line(line) for line in lines]
            back = zip(*slid, strict=True) if is_turned else slid
            after = tuple(itertools.chain.from_iterable(back))
            if after != board:
                yield after

    def _after(self, board: Tiles) -> float:
        if self.goal in board:
            return 1.0
        if board not in self.afters:
            self.afters[board] = self._spawned(board, 1)
        return self.afters[board]

    def _state(self, board: Tiles) -> float:
        return max(map(self._after, self.moves(board)), default=0.0)

    def start(self, n_cells: int, n_large: int) -> float:
        """Return the value with the large tiles anywhere and two first tiles anywhere else."""
        total, n = 0.0, 0
        for taken in itertools.combinations(range(n_cells), n_large):
            total += self._spawned(tuple(LARGE if cell in taken else 0 for cell in range(n_cells)), 2)
            n += 1
        return total / n

    def _spawned(self, board: Tiles, n_start: int) -> float:
        if n_start == 0:
            return self.value_of_state(board)
        empty = [cell for cell, tile in enumerate(board) if tile == 0]
        follow = (p * self._spawned(put(board, cell, tile), n_start - 1) for cell in empty for tile, p in SPAWNS)
        return sum(follow) / len(empty)


def put(board: Tiles, cell: int, tile: int) -> Tiles:
    return (*board[:cell], tile, *board[cell + 1 :])


def build(formation: Formation, folder: Path) -> CompactTable:
    with Workers(1) as workers:
        return compact(Solve(formation.problem, folder, workers, Memory(2**28), is_kept=False).run())


@pytest.mark.parametrize(
    ("text", "goal", "width"),
    [("FF#|###", 16, 3), ("FFF|F##|###", 16, 3), ("FF##|FFFF", 16, 4), ("FFF|FF#|###", 32, 3)],
)
def test_it_is_what_a_plain_solver_finds(text: str, goal: int, width: int, tmp_path: Path) -> None:
    formation, plain = Formation.from_text(text, goal), PlainSolver(width, goal)
    table, shape = build(formation, tmp_path / "one"), formation.rules.shape
    assert table.manifest["value"] == pytest.approx(plain.start(shape.n_cells, formation.n_free), abs=1e-12)
    reached = {Board(shape, ranks_of(tiles)): value for tiles, value in plain.afters.items()}
    assert len(set(map(table.problem.canonical, reached))) == table.count.afterstates
    for board, value in reached.items():
        assert chance_of(table.stored_value(board)) == pytest.approx(value, abs=1e-4)
    assert verify_compact(table, n_sample=0).checked == table.count.afterstates


def ranks_of(tiles: Tiles) -> tuple[int, ...]:
    return tuple(FREE if tile == LARGE else tile.bit_length() - 1 if tile else 0 for tile in tiles)


@pytest.fixture(scope="module")
def endgame(tmp_path_factory: pytest.TempPathFactory) -> Endgame:
    return Endgame(build(Formation.from_text("AF#|#F#|###", 16), tmp_path_factory.mktemp("endgame") / "mixed"))


def test_every_arrangement_fits(endgame: Endgame) -> None:
    board = Board("16 2 64 / # 32 # / 4 # #")
    found = endgame.probe(board)
    assert found.position.to_text() == "A2F|#F#|4##"
    best = endgame.best(found.moves)
    for symmetry in board.shape.symmetries:
        turned = endgame.probe(board.carry(symmetry))
        assert endgame.best(turned.moves).value == best.value
        assert {*(each.move for each in turned.moves), *turned.leaving} == set(board.carry(symmetry).legal_moves())
    assert found.leaving  # some moves would move the anchor
    assert endgame.probe(Board("16 2 # / # 32 # / 4 # 64")).position.ranks.count(FREE) == 2


@pytest.mark.parametrize(
    "text",
    [
        "16 2 64 / # 32 # / 128 # #",  # four large tiles
        "16 2 # / # 32 # / 4 # #",  # two
        "64 2 64 / # 32 # / 4 # #",  # two are equal
        "2 16 # / 32 2 64 / # # #",  # none stands in a corner
    ],
)
def test_boards_that_do_not_fit_are_one_line(endgame: Endgame, text: str) -> None:
    says = r"expected different tiles of at least 16 where an A stands and on any 2 cells, and smaller ones elsewhere"
    with pytest.raises(BoardError, match=says):
        endgame.probe(Board(text))


def test_a_formation_of_free_large_tiles_starts_anywhere() -> None:
    formation = Formation.from_text("FF|##", 8)
    assert formation.problem.is_scattered
    assert formation.while_text == "as long as the large tiles do not merge"
    starts = formation.problem.starts
    assert sum(start.chance for start in starts) == pytest.approx(1)
    assert {start.board.ranks.count(FREE) for start in starts} == {2}
    # Two arrangements up to symmetry (side by side, diagonal), and on the other two cells 2 2, 2 4, 4 2 or 4 4: beside
    # each other all but 2 4 and 4 2 are their own mirror images, so three boards; across, three as well.
    assert len(starts) == 6
    assert Problem.from_json(formation.problem.to_json()) == formation.problem
    plain = Problem(formation.rules, Objective.WIN)
    assert len(plain.starts) == 3
    assert Problem.from_json(plain.to_json()) == plain != formation.problem


def test_the_starts_are_those_of_the_rules() -> None:
    """The same boards and chances as by rules with each arrangement."""
    formation, chances = Formation.from_text("FF#|###", 8), dict[int, float]()
    arrangements = list(itertools.combinations(range(6), 2))
    for taken in arrangements:
        board = Board(formation.rules.shape, tuple(FREE if cell in taken else 0 for cell in range(6)))
        for start in Problem(Rules(board, goal_rank=3), Objective.WIN).starts:
            chances[start.key] = chances.get(start.key, 0.0) + start.chance / len(arrangements)
    found = {start.key: start.chance for start in formation.problem.starts}
    assert found == pytest.approx(chances)
    assert list(found) == sorted(found)


def test_only_free_large_tiles_can_start_anywhere() -> None:
    for rules in (
        Rules.from_text("3x3"),
        Rules.from_text("F 2 # / # # #"),
        Rules.from_text("FF#|###", spawner="worst"),
    ):
        with pytest.raises(UsageError, match="cannot start anywhere"):
            Problem(rules, Objective.WIN, is_scattered=True)
    data = Formation.from_text("FF|##", 8).problem.to_json()
    with pytest.raises(FileError, match="is not understood"):
        Problem.from_json(data | {"scattered": 1})
