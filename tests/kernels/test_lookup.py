"""A network's value is the sum of the weights that the turned copies of a board look up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_network import PlainNetwork, design_of, place_of, random_network
from strategies import PACKED, boards

from lab2048.kernels.board.bits import extract
from lab2048.kernels.board.memory import address_of
from lab2048.kernels.ntuple import lookup, planes
from lab2048.kernels.ntuple.pages import PAGE
from lab2048.models.ntuple.network import Design, Network, runs_of
from lab2048.models.ntuple.order import convert_to_planes, to_digits
from lab2048.models.ntuple.pages import PageBuilder
from lab2048.rules import Board, Rules

CLASSIC = Board.from_text("4x4").shape


@st.composite
def boards_and_designs(draw: st.DrawFn) -> tuple[Board, Design]:
    """A board of any shape, and a few small patterns on it: some in one piece, some scattered."""
    board = draw(boards(PACKED))
    cells = st.lists(st.integers(0, board.shape.n_cells - 1), min_size=1, max_size=4, unique=True)
    patterns = draw(st.lists(cells.map(lambda found: tuple(sorted(found))), min_size=1, max_size=3))
    stages = draw(st.lists(st.integers(2, 14), max_size=3, unique=True))
    empty = Board(board.shape, (0,) * board.shape.n_cells).to_text()
    return board, design_of(empty, tuple(patterns), tuple(sorted(stages)), draw(st.booleans()))


def index_of(network: Network, board: Board) -> list[int]:
    index = np.zeros(network.design.n_lookups, np.uint64)
    lookup.find(network.address, np.uint64(board.to_packed()), address_of(index))
    return [int(word) for word in index]


@given(boards_and_designs())
@settings(max_examples=60)
def test_a_board_looks_up_every_pattern_in_every_copy(case: tuple[Board, Design]) -> None:
    board, design = case
    network = random_network(design, seed=1)
    expected = [place_of(design, key) for key in PlainNetwork(network).keys(board)]
    assert sorted(index_of(network, board)) == sorted(expected)


@given(boards_and_designs(), st.integers(0, 100))
@settings(max_examples=60)
def test_the_value_is_the_sum_and_later_stages_begin_as_copies(case: tuple[Board, Design], seed: int) -> None:
    board, design = case
    network = random_network(design, seed)
    plain = PlainNetwork(network)
    assert network.value(board) == plain.value(board)  # quarters add up without rounding
    assert not np.isnan(network.weights[index_of(network, board)]).any()
    plain.assert_like(network)


@given(boards_and_designs(), st.sampled_from([0.25, 0.5, 2.0]))
@settings(max_examples=30)
def test_short_numbers_count_in_steps(case: tuple[Board, Design], step: float) -> None:
    board, design = case
    weights = np.random.default_rng(3).integers(-32768, 32767, design.n_entries, np.int16)
    plain = PlainNetwork(Network(design, weights.astype(np.float32)))
    assert Network(design, weights, step).value(board) == pytest.approx(step * plain.value(board))


@given(boards_and_designs(), st.integers(1, 40_000))
@settings(max_examples=60)
def test_weights_in_pages_are_found(case: tuple[Board, Design], least: int) -> None:
    board, design = case
    weights = np.random.default_rng(4).integers(-300, 300, design.n_entries, np.int16)
    builder = PageBuilder(design, least)
    for begin, end, *_ in design.tables:
        table = weights[begin:end]
        builder.add(table)
        for page in range(0, len(table), PAGE):
            if np.abs(table[page : page + PAGE].astype(int)).sum() < least:
                table[page : page + PAGE] = 0  # left out
    pages = builder.build()
    paged = Network(design, pages.weights, 0.5, pages=pages.table)
    assert paged.value(board) == Network(design, weights, 0.5).value(board)


@given(boards_and_designs(), st.data())
@settings(max_examples=30)
def test_a_turned_board_is_worth_the_same(case: tuple[Board, Design], data: st.DataObject) -> None:
    board, design = case
    if design.is_shared:
        network = random_network(design, seed=2)
        turned = board.carry(data.draw(st.sampled_from(board.shape.symmetries)))
        assert network.value(turned) == network.value(board)


def spread(network: Network, name: str) -> Network:
    """The network that has at every place of a preset the weights that the shared one looks up there.

    A place that a pattern turns into in several ways is looked up in each; its cells are in another order then.
    """
    shared, design = network.design, Design.from_text(network.design.rules, name, is_shared=False)
    cells, radix = Board(shared.rules.shape, tuple(range(shared.rules.shape.n_cells))), shared.radix
    tables = {pattern: np.zeros((radix,) * len(pattern), np.float32) for pattern in design.patterns}
    for pattern, (begin, end, *_) in zip(shared.patterns, shared.tables, strict=True):
        digits = network.weights[begin:end]
        if radix == 16:
            digits = to_digits(digits, len(pattern))
        table = digits.reshape((radix,) * len(pattern), order="F")
        for symmetry in shared.rules.shape.symmetries:
            copy = cells.carry(symmetry).ranks  # the cell of the board that each cell of the copy shows
            place = [copy[cell] for cell in pattern]
            tables[tuple(sorted(place))] += table.transpose(np.argsort(place))
    weights = np.concatenate([table.ravel(order="F") for table in tables.values()])
    convert_to_planes(design, weights)
    return Network(design, weights)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4x4", "pairs-triplets-quartets"),
        ("4x4", "rows"),
        ("4x4", "4x4"),
        ("3x3", "3x5"),
        ("2x4", "rows"),
        ("hex1", "4x3"),
        ("##x|#x#|###", "4x3"),
    ],
)
def test_a_network_with_equal_weights_at_all_places_is_the_shared_one(text: str, name: str) -> None:
    shared = random_network(Design.from_text(Rules.from_text(text), name), seed=3)
    unshared = spread(shared, name)
    assert unshared.design.n_lookups == len(unshared.design.patterns) > len(shared.design.patterns)
    dice = np.random.default_rng(4)
    for _ in range(100):
        ranks = dice.integers(0, shared.design.radix, shared.design.rules.shape.n_cells)
        board = Board(shared.design.rules.shape, tuple(ranks.tolist()))
        assert unshared.value(board) == shared.value(board)  # quarters add up without rounding


@pytest.mark.parametrize(
    ("stages", "tile", "stage"),
    [
        ((), 32768, 0),
        ((11,), 1024, 0),
        ((11,), 2048, 1),
        ((11,), 4096, 1),
        ((2, 3, 15), 2, 0),
        ((2, 3, 15), 8, 2),
        ((2, 3, 15), 16384, 2),
        ((2, 3, 15), 32768, 3),
    ],
)
def test_the_highest_tile_says_which_stage_serves(stages: tuple[int, ...], tile: int, stage: int) -> None:
    network = Network.empty(design_of("4x4", ((0,),), stages))
    for cell in range(16):
        board = Board(CLASSIC, tuple(tile.bit_length() - 1 if i == cell else 1 for i in range(16)))
        assert int(lookup.stage_of(network.address, np.uint64(board.to_packed()))) == stage


@given(boards(("2x2", "2x3", "3x3", "2x4", "hex1"), max_rank=15), st.sampled_from(["2:1", "2:0.9,4:0.1", "16:1"]))
def test_no_board_looks_outside_of_its_tables(board: Board, spawn: str) -> None:
    # A network plays on its shape by any rules, and a board to be judged may be anything that a person types.
    empty = Board(board.shape, (0,) * len(board.ranks)).to_text()
    rules = Rules.from_text(empty, spawn=spawn)
    design = Design(rules, ((0, 1), (0, 2, 3)), (3,))
    assert design.radix == min(16, rules.max_rank + 1)
    clamped = Board(board.shape, tuple(min(rank, design.radix - 1) for rank in board.ranks))
    network = Network(design, np.zeros(design.n_entries, np.float32))
    index, stage = index_of(network, board), max(board.ranks) >= 3
    assert all(stage * design.stage_size <= word < (stage + 1) * design.stage_size for word in index)
    if stage == (max(clamped.ranks) >= 3):
        assert index == index_of(network, clamped)


@given(st.data(), st.sampled_from(["2x4", "1x8", "3x3"]))
@settings(max_examples=20)
def test_eight_cells_are_looked_up_digit_by_digit(data: st.DataObject, text: str) -> None:
    design = design_of(text, (tuple(range(8)),))
    radix = design.rules.max_rank + 1
    shape = design.rules.shape
    ranks = st.lists(st.integers(0, radix - 1), min_size=shape.n_cells, max_size=shape.n_cells)
    board = Board(shape, tuple(data.draw(ranks)))
    # Weights are only asked for, never read: that they are not there is no harm.
    network = Network(design, np.zeros(1, np.float32))
    copies = [board.carry(symmetry).ranks for symmetry in shape.symmetries]
    assert index_of(network, board) == [sum(copy[i] * radix**i for i in range(8)) for copy in copies]


def test_a_stage_that_has_learnt_is_not_copied_again() -> None:
    network = random_network(design_of("2x2", ((0, 1),), (2, 3)), seed=1)
    board, higher = Board.from_text("4 # / # #"), Board.from_text("8 # / # #")
    first = network.value(board)
    network.weights[: network.design.stage_size] += 100
    assert network.value(board) == first  # its own weights by now
    assert network.value(higher) != first  # the third stage, copied past the second, which has not met these tiles


def plane_word(board: Board) -> int:
    """The planes of a board in plain Python."""
    return sum((rank >> bit & 1) << 16 * bit + cell for cell, rank in enumerate(board.ranks) for bit in range(4))


@given(boards(PACKED))
def test_planes_are_the_transposed_bits(board: Board) -> None:
    assert planes.planes_of(np.uint64(board.to_packed())) == plane_word(board)


@given(boards(("4x4",)))
def test_the_planes_of_a_classic_board_turn(board: Board) -> None:
    word, ranks = np.uint64(plane_word(board)), np.array(board.ranks).reshape(4, 4)
    for turned, expected in [
        (planes.mirror(word), ranks[:, ::-1]),
        (planes.flip(word), ranks[::-1]),
        (planes.transpose(word), ranks.T),
    ]:
        assert turned == plane_word(Board(CLASSIC, tuple(int(rank) for rank in expected.ravel())))


@given(st.sets(st.integers(0, 15), min_size=1, max_size=8).map(lambda cells: tuple(sorted(cells))), boards(("4x4",)))
def test_runs_and_one_instruction_cut_a_pattern_out(pattern: tuple[int, ...], board: Board) -> None:
    runs = runs_of(pattern, is_planes=False)
    assert len(runs) <= min(lookup.MAX_RUNS, len(pattern))
    number = sum((board.to_packed() >> shift) & mask for shift, mask in runs)
    assert number == sum(board.ranks[cell] << 4 * digit for digit, cell in enumerate(pattern))
    cells = np.uint64(sum(0xF << 4 * cell for cell in pattern))
    assert extract(np.uint64(board.to_packed()), cells) == number
    runs = runs_of(pattern, is_planes=True)
    lanes = sum((plane_word(board) >> shift) & mask for shift, mask in runs)
    position = planes.close_lanes(np.uint64(lanes), np.uint64(len(pattern)))
    ranks = [board.ranks[cell] for cell in pattern]
    bits = [rank >> bit & 1 for bit in range(4) for rank in ranks]
    assert position == sum(bit << i for i, bit in enumerate(bits))
    cells = np.uint64(sum(0x1_0001_0001_0001 << cell for cell in pattern))
    assert extract(np.uint64(plane_word(board)), cells) == position


@given(boards(("4x4",), max_rank=15), st.integers(2, 16))
def test_no_rank_above_the_radix_is_left(board: Board, radix: int) -> None:
    clamped = lookup.clamp(np.uint64(board.to_packed()), np.uint64(radix))
    assert Board.from_packed(CLASSIC, int(clamped)).ranks == tuple(min(rank, radix - 1) for rank in board.ranks)


@given(st.integers(2, 16), st.lists(st.integers(0, 15), min_size=8, max_size=8))
def test_nibbles_are_the_digits_of_a_number(radix: int, ranks: list[int]) -> None:
    digits = [min(rank, radix - 1) for rank in ranks]
    nibbles = sum(digit << 4 * i for i, digit in enumerate(digits))
    powers = (np.uint64(radix**n) for n in (1, 2, 4))
    assert lookup.number_of(np.uint64(nibbles), *powers) == sum(digit * radix**i for i, digit in enumerate(digits))
