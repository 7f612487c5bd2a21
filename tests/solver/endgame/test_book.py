"""The book finds formations on whole boards as the reference does, and answers only where it is sure."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab2048.errors import FileError
from lab2048.kernels.search import endgame as kernels
from lab2048.rules import Board, Rules
from lab2048.rules.move import Move
from lab2048.solver.endgame.book import Book
from lab2048.solver.endgame.compact_table import CompactTable, compact, verify_compact
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.endgame.probe import Endgame
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers

RULES = Rules.from_text("3x3")
CLASSIC = Rules.from_text("4x4")
MAPS = {"mine": ("AA#|AG#|###", 16), "row": ("AAA|##G|###", 16), "symmetric": ("AA#|A##|###", 16)}
MAPS |= {"free": ("FFF|###|###", 16), "mixed": ("AF#|F##|###", 16), "pair": ("AA#|F##|#F#", 16)}
CORNER = "64 32 8 / 16 2 4 / 2 4 #"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("endgames")
    with Workers(1) as workers:
        for name, (text, goal) in MAPS.items():
            problem = Formation.from_text(text, goal).problem
            compact(Solve(problem, folder / name, workers, Memory(2**28), is_kept=False).run())
    return folder


@given(st.integers(0, 2**64 - 1), st.integers(1, 15))
def test_large_tiles(board: int, goal: int) -> None:
    expected = sum(8 << 4 * cell for cell in range(16) if board >> 4 * cell & 15 >= goal)
    assert int(kernels.large_bits(np.uint64(board), goal)) == expected


@pytest.mark.parametrize("name", MAPS)
def test_it_answers_as_a_probe_does(folder: Path, name: str) -> None:
    """Random boards with the formation on one of its copies; the probe reads the table in plain Python."""
    table = CompactTable.open(folder / name)
    book, endgame, rng, n = Book([table], RULES, 0.0), Endgame(table), np.random.default_rng(1), 0
    formation = endgame.formation
    for _ in range(600):
        copy = formation.copies[rng.integers(len(formation.copies))]
        ranks = [0] * 9
        moving = rng.permutation(copy.free)[: formation.n_free].tolist()
        large = [*copy.anchors, *moving]
        for cell in copy.free:
            ranks[cell] = int(rng.integers(0, 4))
        for cell, rank in zip(large, rng.permutation(len(large)).tolist(), strict=True):
            ranks[cell] = 4 + rank
        board = Board(RULES.shape, tuple(ranks))
        answer = book.look_up(board)
        smallest = ranks.index(4)
        fits = [each for each in formation.copies if set(each.anchors) <= set(large)]
        if not any(smallest in each.beside_goal or smallest not in each.anchors for each in fits):
            assert answer is None
            continue
        codes = []
        position = formation.fit(board)
        for move, (after, _) in position.board.slides():
            if after.max_rank >= 4:
                codes.append((65535 if table.problem.is_won(after) else 0, move))
            else:
                codes.append((table.code(after), move))
        best = max((code for code, _ in codes), default=-1)
        if min((code for code, _ in codes), default=-1) < 0:
            assert answer is None
            continue
        n += 1
        assert answer is not None
        chosen = {position.symmetry.moves.index(int(move)): code for code, move in codes}
        assert chosen[answer.move] == best
        assert answer.formation == formation
    assert n > 50


def test_fixed_formations_come_first(folder: Path) -> None:
    """Where both fit, the new tile of the fixed one joins the chain."""
    names = [table.folder.name for table in Book.open(str(folder), RULES).tables]
    assert {*names[:3]} == {"mine", "row", "symmetric"}
    for text in (CORNER, "64 2 8 / 2 32 4 / # 4 16"):
        found = Book.open(str(folder), RULES, 0.0).look_up(Board(text))
        assert found is not None
        assert (found.formation.n_free == 0) == (text == CORNER)


def test_with_goal_cells_free_large_tiles_are_only_probed(tmp_path: Path) -> None:
    """On a whole board nobody can tell which of two equal tiles is the new one."""
    with Workers(1) as workers:
        problem = Formation.from_text("FF#|##G|###", 16).problem
        compact(Solve(problem, tmp_path / "one", workers, Memory(2**28), is_kept=False).run())
    assert Book.open(str(tmp_path), RULES).tables == []
    probed = Endgame.open(tmp_path / "one").probe(Board("32 # 2 / 4 # # / # 16 2"))
    assert len(probed.moves) == 4


def test_it_answers_where_it_is_sure(folder: Path) -> None:
    board = Board(CORNER)
    table = CompactTable.open(folder / "mine")
    found = Book([table], RULES).look_up(board)
    assert found is not None
    assert 0.5 < found.value < 0.99
    assert Book([table], RULES, found.value + 0.01).look_up(board) is None


@pytest.mark.parametrize(
    "text",
    [
        "64 32 8 / 8 2 4 / 2 4 #",  # no formation
        "128 64 8 / 32 2 4 / 2 4 #",  # 16 would not join the chain
        "64 64 8 / 16 2 4 / 2 4 #",  # two large tiles are equal
        "64 32 16 / 16 2 4 / 2 4 #",  # the goal is made
    ],
)
def test_boards_without_an_answer(folder: Path, text: str) -> None:
    assert Book.open(str(folder), RULES).look_up(Board(text)) is None


def test_large_tiles_beyond_a_nibble(folder: Path) -> None:
    """The tiles may be larger than a packed board holds."""
    plain = Book.open(str(folder), RULES).look_up(Board(CORNER))
    large = Book.open(str(folder), RULES).look_up(Board("262144 131072 8 / 16 2 4 / 2 4 #"))
    assert plain is not None
    assert large is not None
    assert (large.move, large.value) == (plain.move, plain.value)


def test_tables_of_a_folder(folder: Path, tmp_path: Path) -> None:
    assert len(Book.open(str(folder), RULES).tables) == len(MAPS)
    assert Book.open(str(folder), CLASSIC).tables == []  # of another shape
    assert Book.open(str(tmp_path), RULES).tables == []
    assert Book.open(str(tmp_path), RULES).look_up(Board(CORNER)) is None
    with pytest.raises(FileError, match="there is no folder"):
        Book.open(str(tmp_path / "none"), RULES)
    with Workers(1) as workers:
        problem = Problem.of(Rules.from_text("2x2", goal=16), "win")
        Solve(problem, tmp_path / "2x2", workers, Memory(2**24), is_kept=False).run()
    assert Book.open(str(tmp_path), RULES).tables == []
    with pytest.raises(FileError, match="expected one of a formation"):
        Endgame.open(tmp_path / "2x2")


def test_the_tables_that_ship() -> None:
    """They are whole, small and exact; a sample is enough, because their checksums are those of a full check."""
    book = Book.open("shipped", CLASSIC)
    assert {table.folder.name for table in book.tables} == {
        f"{name}-{goal}" for name in ("snake8", "pdf8") for goal in (64, 128, 256)
    }
    assert sum(table.n_bytes for table in book.tables) < 8_000_000
    for table in book.tables:
        assert table.n_bytes <= 3 * table.count.afterstates
        assert verify_compact(table, n_sample=2000).checked == 2000
    found = book.look_up(Board("16384 4096 1024 256 / 8192 2048 512 128 / 2 2 2 4 / # # 2 2"))
    assert found is not None
    assert (found.move, round(found.value, 3)) == (Move.RIGHT, 0.782)


def test_tables_are_only_for_the_spawns_that_they_were_solved_with() -> None:
    for rules in (Rules.from_text("4x4", spawn="2:1"), Rules.from_text("4x4", spawner="worst")):
        assert Book.open("shipped", rules).tables == []
