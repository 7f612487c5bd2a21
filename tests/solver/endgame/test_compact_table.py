"""Compact tables: the same positions and, rounded, the same values as the layers that they replace."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab2048.errors import BoardError, FileError, StoppedError
from lab2048.kernels.board.block import GATHER
from lab2048.kernels.solve import compact as kernels
from lab2048.rules import Board
from lab2048.rules.shape import FREE
from lab2048.solver.endgame.compact_table import (
    MAX_ERROR,
    CompactTable,
    Size,
    compact,
    is_compactable,
    open_table,
    verify_compact,
)
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.memory import Memory
from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.table import MANIFEST, Table
from lab2048.solver.table_folder import delete_table, state_of
from lab2048.solver.workers import Workers
from lab2048.stop_flag import StopFlag, looking_at

FORMATIONS = [
    ("AA#|AG#|###", 32),
    ("AA##|A###|####", 16),  # the goal counts anywhere
    ("AA#|A##|###", 16),  # symmetric: a table has one of two mirrored positions
    ("A##|G##", 128),  # more ranks than fit a block of two cells
    ("FFF|###|###", 16),  # free large tiles in any arrangement, with all symmetries of a square
    ("AF#|#F#|###", 16),  # some stay and some move
    ("FF#|##G", 16),  # with a goal cell: two symmetries are left of four
]


def solve(text: str, goal: int, folder: Path) -> Table:
    with Workers(1) as workers:
        problem = Formation.from_text(text, goal).problem
        return Solve(problem, folder, workers, Memory(2**28), is_kept=False).run()


@pytest.fixture(scope="module", params=FORMATIONS, ids=lambda each: each[0])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, CompactTable]:
    """The same table with layers and compact."""
    folder = tmp_path_factory.mktemp("tables")
    text, goal = request.param
    layered = solve(text, goal, folder / "layered")
    shutil.copytree(folder / "layered", folder / "compact")
    return layered, compact(Table.open(folder / "compact"))


def boards_of(table: Table) -> list[Board]:
    shape = table.problem.rules.shape
    keys = np.concatenate([layer.keys.read() for layer in table.layers.values()])
    return [Board.from_packed(shape, key * int(GATHER) % 2**64) for key in keys.tolist()]


def test_every_position_has_its_value(pair: tuple[Table, CompactTable]) -> None:
    layered, table = pair
    assert table.count == layered.count
    for board in boards_of(layered)[:5000]:
        exact, rounded = layered.stored_value(board), table.stored_value(board)
        assert abs(chance_of(exact) - chance_of(rounded)) <= 1.001 * MAX_ERROR
        if 1e-8 < exact < 1e8:
            assert abs(math.log(exact / rounded)) <= 0.501 / kernels.STEPS
        else:
            assert (exact == 0, exact == math.inf) == (rounded == 0, rounded == math.inf)


def test_it_has_no_other_position(pair: tuple[Table, CompactTable]) -> None:
    layered, table = pair
    shape, radix = table.problem.rules.shape, table.size.radix
    known = {layered.problem.canonical(board) for board in boards_of(layered)}
    rng = np.random.default_rng(1)
    for ranks in rng.integers(0, radix, (2000, shape.n_cells)):
        ranks[rng.permutation(shape.n_cells)[: shape.n_free]] = FREE
        board = Board(shape, tuple(ranks.tolist()))
        assert (table.code(board) >= 0) == (layered.problem.canonical(board) in known)
    with pytest.raises(BoardError, match="is not in the table: expected one that can be reached"):
        table.stored_value(Board(shape, tuple(rank or radix - 1 for rank in Board(shape).ranks)))


def test_it_verifies(pair: tuple[Table, CompactTable]) -> None:
    found = verify_compact(pair[1], n_sample=0)
    assert found.checked == found.afterstates == pair[0].count.afterstates
    assert verify_compact(pair[1], n_sample=100).checked == min(100, found.afterstates)


def test_a_wrong_value_and_a_damaged_file_are_found(pair: tuple[Table, CompactTable], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(pair[1].folder, folder)
    codes = np.load(folder / "codes.npy")
    codes[len(codes) // 2] ^= 64
    np.save(folder / "codes.npy", codes)
    with pytest.raises(FileError, match=r"codes\.npy is damaged: its checksum does not match"):
        verify_compact(CompactTable.open(folder))
    manifest = json.loads((folder / MANIFEST).read_text())
    for text, message in (("{}", "another format"), (json.dumps(manifest | {"columns": {}}), "is damaged: KeyError")):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(FileError, match=message):
            CompactTable.open(folder)


def test_it_begins_again_after_it_was_stopped(tmp_path: Path) -> None:
    table, flag = solve("AA#|AG#|###", 32, tmp_path / "one"), StopFlag()
    flag.set()
    with looking_at(flag), pytest.raises(StoppedError):
        compact(table)
    assert isinstance(open_table(tmp_path / "one"), Table)
    assert state_of(tmp_path / "one").state == "complete"
    found = compact(Table.open(tmp_path / "one"))
    assert isinstance(open_table(tmp_path / "one"), CompactTable)
    assert not list((tmp_path / "one").glob("keys-*"))
    assert state_of(tmp_path / "one").state == "complete"
    assert found.n_bytes < 5 * found.count.afterstates + 1000
    (tmp_path / "one" / "blocks.npy").write_bytes(b"")
    assert state_of(tmp_path / "one").state == "damaged"
    delete_table(tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_sparse_tables_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = solve("A##|G##", 128, tmp_path / "one")
    assert is_compactable(table)
    monkeypatch.setattr("lab2048.solver.endgame.compact_table.MAX_GROUP_BYTES", -(10**9))
    assert not is_compactable(table)


@given(st.floats(0, allow_nan=False))
def test_codes_are_the_nearest(odds: float) -> None:
    code = int(kernels.code_of(odds))
    assert (code == kernels.NEVER, code == kernels.CERTAIN) == (odds == 0, odds == math.inf)
    if 1e-8 < odds < 1e8:
        assert abs(math.log(float(kernels.odds_of(code)) / odds)) <= 0.501 / kernels.STEPS
    assert int(kernels.code_of(float(kernels.odds_of(code)))) == code


def test_blocks_hold_whole_values_of_the_first_cell() -> None:
    for name in ("snake8-64", "442-256", "442-512"):
        size = Size.of(Problem.of(Formation.from_name(name).rules, "win"))
        assert size.width % size.radix == 0
        assert size.width > kernels.MAX_WIDTH - size.radix
