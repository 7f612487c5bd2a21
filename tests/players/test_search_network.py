"""The search by a network is the plain recursion with rewards; threads, clocks and high tiles change nothing."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.test_play import assert_same_game
from kernels.test_search import plain_rules
from plain_network import PlainNetwork, random_network
from strategies import boards

from lab2048.errors import FileError, UsageError
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.models.ntuple.pattern import parse_patterns
from lab2048.players import check_player, make_player, searcher
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules

SHAPES = ("3x3", "2x4", "hex1", "##x|#x#|###", "2x2", "4x4")
CLASSIC = "4x4"


def network_on(board: Board, patterns: str = "rows", seed: int = 1) -> Network:
    rules = plain_rules(board, "2:0.7,4:0.2,8:0.1")
    return random_network(Design(rules, parse_patterns(patterns, board.shape)), seed)


def plain_chance(plain: PlainNetwork, after: Board, depth: int) -> float:
    """The score still to come after a move, `depth` own moves further ahead."""
    if depth == 0:
        return plain.value(after)
    total = 0.0
    for cell, rank, p in plain.design.rules.spawns(after):
        slides = after.put(cell, rank).slides()
        total += p * max((reward + plain_chance(plain, slid, depth - 1) for _, (slid, reward) in slides), default=0.0)
    return total


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("networks")


def weights_for(folder: Path, text: str) -> str:
    """A file with a network for a shape, of little use to play but quickly made."""
    board = Board.from_text(text)
    path = folder / f"{str(board.shape.rows).replace(' ', '')[:60]}.safetensors"
    if not path.exists():
        save_network(path, network_on(board))
    return str(path)


@settings(max_examples=20)
@given(boards(SHAPES, max_rank=6), st.integers(0, 100))
def test_search_is_the_plain_recursion_with_rewards(board: Board, seed: int) -> None:
    if not board.legal_moves() or board.n_empty > 4:
        return
    network = network_on(board, seed=seed)
    searcher, plain = Searcher(network.design.rules, network, cut=0), PlainNetwork(network)
    for depth in (1, 2, 3):
        if depth == 3 and board.n_empty > 2:
            break
        values = searcher.root_values(board, depth)
        assert set(values) == set(board.legal_moves())
        for move, (after, reward) in board.slides():
            expected = reward + plain_chance(plain, after, depth - 1)
            assert values[move] == pytest.approx(expected, rel=1e-4, abs=0.02)


@given(boards(("4x4", "3x3", "hex1"), max_rank=9), st.integers(2, 4), st.sampled_from([0.0, None, 0.01]))
@settings(max_examples=30)
def test_threads_change_nothing_but_the_time(board: Board, n_threads: int, cut: float | None) -> None:
    if not board.legal_moves() or (cut == 0 and board.n_empty > 7):
        return
    network = network_on(board)
    alone = Searcher(network.design.rules, network, cut=cut)
    together = Searcher(network.design.rules, network, cut=cut, n_threads=n_threads)
    with patch.object(searcher, "LARGE", 0):  # small ones too
        for depth in (1, 2, 3):
            assert together.root_values(board, depth) == alone.root_values(board, depth)


@given(boards(("4x4", "3x3"), max_rank=8))
@settings(max_examples=30)
def test_what_is_remembered_changes_nothing_but_the_time(board: Board) -> None:
    if not board.legal_moves():
        return
    network = network_on(board)
    fresh, small, used = (Searcher(network.design.rules, network, cut=None, table_bits=bits) for bits in (15, 1, 15))
    used.root_values(board, 2)
    assert fresh.root_values(board, 3) == small.root_values(board, 3) == used.root_values(board, 3)


@pytest.mark.parametrize("step", [0.25, 1.0])
def test_short_numbers_are_searched_too(step: float) -> None:
    board = Board.from_text("2 4 8 16 / 4 2 2 8 / 8 64 4 2 / # # 4 2")
    exact = network_on(board)
    short = Network(exact.design, np.rint(exact.weights / step).astype(np.int16), step)
    rounded = Network(exact.design, (short.weights * step).astype(np.float32))
    for depth in (1, 3):
        found, expected = (Searcher(exact.design.rules, judge).root_values(board, depth) for judge in (short, rounded))
        assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("text", ["2x2", "2x3", "hex1", "##x|#x#|###", CLASSIC])
@pytest.mark.parametrize("options", ["depth=1", "depth=2", "depth=3,deepen=empty"])
def test_games_in_one_call_are_the_games_move_by_move(folder: Path, text: str, options: str) -> None:
    spec = f"ntuple:weights={weights_for(folder, text)},{options}"
    rules = Rules.from_text(text, goal=64)
    for seed in (1, 2):
        assert_same_game(spec, rules, seed)


@pytest.mark.parametrize("options", ["", ",depth=1", ",depth=2,cut=0,threads=2", ",ms=2", ",ms=2,threads=2"])
@pytest.mark.parametrize("text", ["4x4", "2x3", "##x|#x#|###", "hex1"])
def test_the_contract_is_kept(folder: Path, text: str, options: str) -> None:
    player = make_player(f"ntuple:weights={weights_for(folder, text)}{options}")
    check_player(player, seed=1, rules=(text,), n_moves=15)


@pytest.mark.parametrize(
    "text",
    [
        "32768 16384 8192 4096 / 2048 1024 512 256 / 128 64 32 16 / 8 4 2 2",  # the next merges need a 17th rank
        "32768 32768 # # / # # # # / # # # # / # # # #",
        "65536 32768 16384 # / 16384 # # # / # # # # / # # # #",
        "131072 131072 65536 65536 / 32768 16384 8192 4096 / # # # # / # # # #",
    ],
)
@pytest.mark.parametrize("depth", [1, 2])
def test_tiles_too_high_for_a_word_are_played_on(folder: Path, text: str, depth: int) -> None:
    rules = Rules.from_text(text)
    assert rules.board.tile_sum >= 65536 - 2
    spec = f"ntuple:weights={weights_for(folder, CLASSIC)},depth={depth}"
    assert_same_game(spec, rules, seed=1)
    check_player(make_player(spec), seed=1, rules=(text,), n_moves=25)


def test_a_clock_never_costs_the_move(folder: Path) -> None:
    board = Board.from_text("2 4 8 16 / # # 2 # / # 64 # # / # # # 2")
    for ms in (0.1, 2.0):
        player = make_player(f"ntuple:weights={weights_for(folder, CLASSIC)},ms={ms}")
        player.start(Rules.from_text(CLASSIC), 1)
        decision = player.choose(board)
        assert decision.move in board.legal_moves()
        assert decision.depth >= 1


@pytest.mark.parametrize("top", [4, 64, 1024])
def test_lowered_boards_keep_their_moves(folder: Path, top: int) -> None:
    text = "2 2 8 2048 / # 4096 # # / 16384 # # # / # 64 # 2"
    spec = f"ntuple:weights={weights_for(folder, CLASSIC)},depth=2,top={top}"
    check_player(make_player(spec), seed=1, rules=(text, CLASSIC), n_moves=25)
    assert_same_game(spec, Rules.from_text(CLASSIC, goal=64), seed=3)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("depth=0", "depth 0 is out of range: expected 1 to 12"),
        ("cut=1", "cut 1.0 is out of range: expected 0 to below 1"),
        ("deepen=most", "unknown deepen 'most'"),
        ("threads=0", "threads 0 is out of range"),
        ("ms=0", "ms 0.0 is out of range"),
        ("top=0", "top 0 is out of range: expected a tile from 4 to 16384"),
        ("top=24", "top 24 is out of range"),
        ("top=32768", "top 32768 is out of range"),
    ],
)
def test_a_wrong_option_is_one_line(folder: Path, options: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_player(f"ntuple:weights={weights_for(folder, CLASSIC)},{options}").start(Rules.from_text(CLASSIC), 1)
    assert says in str(caught.value)


def test_boards_too_large_are_refused(folder: Path) -> None:
    with pytest.raises(FileError, match="was trained on 4x4: expected one for 5x5"):
        make_player(f"ntuple:weights={weights_for(folder, CLASSIC)}").start(Rules.from_text("5x5"), 1)
