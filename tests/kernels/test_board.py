"""Kernels are the reference, only faster: every verb on every kind of board."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, FREE_WIDE, PACKED, SPAWNERS, SPAWNS, WIDE, boards, words

from lab2048.kernels._jit import IS_COMPILED
from lab2048.kernels.board import bits, classic, packed, wide
from lab2048.kernels.board import layout as at
from lab2048.rules import Board, Rules, reference
from lab2048.rules.plan import Plan, make_plan

U64, I64 = np.uint64, np.int64
NARROW, ALL = PACKED + FREE_PACKED, PACKED + FREE_PACKED + WIDE + FREE_WIDE


def plan_of(board: Board, *, spawn: str = SPAWNS[0], spawner: str = "fair") -> tuple[Rules, Plan]:
    rules = Rules.from_text(Board(board.shape).to_text(), spawn=spawn, spawner=spawner)
    return rules, make_plan(rules)


def as_bytes(board: Board) -> np.ndarray:
    return np.array(board.ranks, np.uint8)


def mask_of(board: Board) -> int:
    return sum(1 << move for move in board.legal_moves())


@given(words, st.integers(0, 63))
def test_bits(word: int, n: int) -> None:
    assert int(bits.popcount(U64(word))) == word.bit_count()
    assert int(bits.lowest_bit(U64(word))) == ((word & -word).bit_length() - 1 if word else 64)
    assert int(bits.rotate(U64(word), U64(n))) == (word << n | word >> (64 - n)) & (2**64 - 1)


@given(boards(NARROW))
def test_packed_slides_like_the_reference(board: Board) -> None:
    _, plan = plan_of(board)
    for move, lines in enumerate(board.shape.lines):
        shape = board.shape
        slid, _ = reference.slide(board.ranks, lines, shape.holding[move], shape.free_rank)
        expected = Board(shape, slid).to_packed()
        assert int(packed.slide(plan, U64(board.to_packed()), I64(move))) == expected
    assert int(packed.legal_mask(plan, U64(board.to_packed()))) == mask_of(board)


@given(boards(ALL, max_rank=50))
def test_bytes_slide_like_the_reference(board: Board) -> None:
    _, plan = plan_of(board)
    for move, lines in enumerate(board.shape.lines):
        shape = board.shape
        expected, reward = reference.slide(board.ranks, lines, shape.holding[move], shape.free_rank)
        ranks = as_bytes(board)
        got = int(wide.slide(plan, ranks, I64(move)))
        assert tuple(map(int, ranks)) == expected
        assert got == (reward if expected != board.ranks else -1)
    assert int(wide.legal_mask(plan, as_bytes(board))) == mask_of(board)


def test_lines_of_four_slide_like_the_reference_every_way() -> None:
    rules = Rules.from_text("4x4")
    plan, lines = make_plan(rules), rules.shape.lines
    for row in range(0, 65536, 97):
        ranks = tuple(row >> 4 * i & 15 for i in range(4))
        if ranks.count(15) > 1:
            continue
        for move, cells in ((3, (0, 1, 2, 3)), (1, (3, 2, 1, 0)), (0, (0, 4, 8, 12)), (2, (12, 8, 4, 0))):
            board = [0] * 16
            for cell, rank in zip(cells, ranks, strict=True):
                board[cell] = rank
            expected = Board(rules.shape, reference.slide(tuple(board), lines[move])[0]).to_packed()
            word = Board(rules.shape, tuple(board)).to_packed()
            assert int(packed.slide(plan, U64(word), I64(move))) == expected


@given(boards(NARROW))
def test_packed_facts(board: Board) -> None:
    _, plan = plan_of(board)
    word = U64(board.to_packed())
    assert int(bits.popcount(packed.empty_bits(plan, word))) == board.n_empty
    assert int(packed.max_rank(word)) == max(board.ranks)
    assert int(packed.potential(word)) == board.potential
    ranks = np.zeros(board.shape.n_cells, np.uint8)
    wide.unpack(word, ranks)
    assert tuple(map(int, ranks)) == board.ranks
    assert int(wide.max_rank(ranks)) == max(board.ranks)
    assert int(wide.potential(ranks)) == board.potential


@given(boards(NARROW))
def test_symmetries_carry_packed_boards_like_the_reference(board: Board) -> None:
    _, plan = plan_of(board)
    word = U64(board.to_packed())
    for i, symmetry in enumerate(board.shape.symmetries):
        assert int(packed.carry(plan, word, I64(i))) == board.carry(symmetry).to_packed()
    assert int(packed.canonical(plan, word)) == board.canonical().to_packed()


@given(boards(NARROW), words, st.sampled_from(SPAWNS), st.sampled_from(SPAWNERS))
def test_packed_spawns_like_the_reference(board: Board, word: int, spawn: str, spawner: str) -> None:
    if board.n_empty == 0:
        return
    rules, plan = plan_of(board, spawn=spawn, spawner=spawner)
    cell, rank = rules.spawn(board, word)
    state, spawned = packed.spawn(plan, U64(board.to_packed()), U64(word))
    assert (int(state), int(spawned)) == (board.put(cell, rank).to_packed(), rank)


@given(boards(ALL, max_rank=31), words, st.sampled_from(SPAWNS), st.sampled_from(SPAWNERS))
def test_bytes_spawn_like_the_reference(board: Board, word: int, spawn: str, spawner: str) -> None:
    if board.n_empty == 0 or (spawner == "worst" and board.shape.n_cells > 25):
        return
    rules, plan = plan_of(board, spawn=spawn, spawner=spawner)
    cell, rank = rules.spawn(board, word)
    ranks = as_bytes(board)
    assert int(wide.spawn(plan, ranks, U64(word))) == rank
    assert tuple(map(int, ranks)) == board.put(cell, rank).ranks


@pytest.mark.parametrize("spawn", ["16384:1", "2:0.5,16384:0.5"])
@pytest.mark.parametrize("text", ["32768 16384 8192 4096 / 2048 1024 # #", "16384 16384 / 8192 #"])
def test_the_adversary_may_look_one_spawn_beyond_the_full_sum(text: str, spawn: str) -> None:
    board = Board.from_text(text)
    rules, plan = plan_of(board, spawn=spawn, spawner="worst")
    assert plan[at.IS_PACKED]
    state, _ = packed.spawn(plan, U64(board.to_packed()), U64(0))
    assert int(state) == board.put(*rules.spawn(board, 0)).to_packed()


@given(boards(("2x2", "3x3", "4x4"), max_rank=15), st.sampled_from(SPAWNERS))
def test_rules_that_spawn_32768_are_played_in_bytes(board: Board, spawner: str) -> None:
    """A packed board may be one spawn away from the sum where it ends, and this spawn would bring a second 32768."""
    if board.n_empty == 0:
        return
    rules, plan = plan_of(board, spawn="2:0.5,32768:0.5", spawner=spawner)
    assert not plan[at.IS_PACKED]
    ranks = as_bytes(board)
    wide.spawn(plan, ranks, U64(2**63))
    assert tuple(map(int, ranks)) == board.put(*rules.spawn(board, 2**63)).ranks


@pytest.mark.parametrize("spawn", SPAWNS)
def test_a_plan_holds_exact_probabilities(spawn: str) -> None:
    rules = Rules.from_text("4x4", spawn=spawn)
    found = [float(packed.spawn_chance(make_plan(rules), I64(i))) for i in range(len(rules.spawn_table))]
    assert found == [p for _, p in rules.spawn_table]


@pytest.mark.parametrize("text", [*PACKED, *WIDE])
def test_only_packed_plans_have_symmetries(text: str) -> None:
    plan = make_plan(Rules.from_text(text))
    is_packed = text in PACKED
    assert (plan[at.IS_PACKED], plan[at.N_SYMMETRIES] > 0) == (is_packed, is_packed)


@pytest.mark.parametrize("n_cells", range(1, 17))
def test_the_nth_empty_cell_is_found_for_every_number_of_cells(n_cells: int) -> None:
    for cells in (list(range(n_cells)), list(range(16 - n_cells, 16)), list(range(0, n_cells, 2))):
        word = sum(1 << 4 * cell for cell in cells)
        found = [int(packed.nth_cell_shift(U64(word), I64(n))) for n in range(len(cells))]
        assert found == [4 * cell for cell in cells]


def test_two_tiles_of_32768_do_not_merge_into_something_else() -> None:
    """A packed board has no nibble for 65536: its slide leaves them, and callers have left packed boards by then."""
    board = Board.from_text("32768 32768 # # / # # # # / # # # # / # # # #")
    _, plan = plan_of(board)
    assert int(packed.slide(plan, U64(board.to_packed()), I64(3))) == board.to_packed()
    assert board.tile_sum >= int(packed.FULL_SUM)
    ranks = as_bytes(board)
    assert int(wide.slide(plan, ranks, I64(3))) == 65536
    assert int(ranks[0]) == 16


@pytest.mark.skipif(not IS_COMPILED, reason="kernels are plain Python")
def test_functions_of_others_can_call_kernels() -> None:
    from numba import njit

    mine = njit(lambda board: classic.slide_low(board))
    assert int(mine(np.uint64(0x1122))) == 0x23
