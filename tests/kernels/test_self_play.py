"""Games in a row: restarts, the carousel, slices, and where games end."""

import numpy as np
import pytest
from plain_network import design_of, random_network
from student import SEED, Student, method_of

from lab2048.kernels.ntuple import self_play as train
from lab2048.models.ntuple.network import Network
from lab2048.rules import Board, Rules, dice


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_a_restart_begins_half_way_through_the_last_game(order: str) -> None:
    network = random_network(design_of("3x3", ((0, 1, 2), (0, 1, 3, 4))), seed=1, is_coherent=True)
    rules, student = network.design.rules, Student(network, method_of(order=order, kind="tc", restart=True))
    restarts = n_anew = 0
    for number in range(12):
        start = int(student.cursor[train.START])
        n = student.play()
        n_anew += start == 0
        if start:
            restarts += 1
            after = Board.from_packed(rules.shape, start)
            key = dice.stream_key(dice.episode_seed(SEED, number), dice.SPAWN)
            state = after.put(*rules.spawn(after, dice.draw(key, 0)))
            firsts = [slid for _, (slid, _) in state.slides()]
            assert n == 0 if not firsts else student.boards(1)[0] in firsts
        half = int(student.trajectory.boards[n // 2]) if n - n // 2 >= train.RESTART_LEAST else 0
        assert student.cursor[train.START] == half
        assert student.report[train.N_GAMES] == n_anew  # restarts are not games
    assert restarts > 3


@pytest.mark.parametrize(
    ("tile_sum", "ring", "next_one"),
    [(4, 8, 5), (7, 11, 8), (8, 12, 10), (9, 12, 10), (1024, 40, 1280), (16384, 56, 20480), (65534, 63, 65536)],
)
def test_there_are_four_rings_for_each_octave_of_the_tile_sum(tile_sum: int, ring: int, next_one: int) -> None:
    assert train.bucket_of(np.uint64(tile_sum)) == (ring, next_one)


def test_a_carousel_begins_in_turn_anew_and_at_boards_of_earlier_games() -> None:
    network = random_network(design_of("3x3", ((0, 1, 2), (0, 1, 3, 4))), seed=1, is_coherent=True)
    student, seen, sums = Student(network, method_of(carousel=True)), set(), []
    for turn in range(3 * train.TURNS):
        games = student.report[train.N_GAMES]
        n = student.play()
        is_anew = student.report[train.N_GAMES] > games
        first = student.boards(1)[0].tile_sum if n else 0
        if turn % train.TURNS == 0:
            assert is_anew
        elif not is_anew and n:
            sums.append((turn % train.TURNS, first))
            assert any(abs(first - other) <= 4 for other in seen)
        seen |= {board.tile_sum for board in student.boards(n)}
    assert len(sums) > train.TURNS
    early, late = ([total for turn, total in sums if low <= turn < low + 5] for low in (1, 6))
    assert min(early) > max(late) / 4  # from large tile sums to small ones
    assert np.mean(early) > np.mean(late)


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("budget", [1, 17, 300])
def test_slices_of_any_size_come_to_the_same_bits(order: str, budget: int) -> None:
    def train(budget: int) -> list[bytes]:
        network = random_network(design_of("2x2", ((0, 1), (0, 3)), (3,)), seed=1, is_coherent=True)
        student = Student(network, method_of(kind="tc", order=order, trace=0.5, restart=True, carousel=True))
        left = 300
        while left > 0:
            left -= student.play(min(left, budget))
        assert network.rates is not None
        return [array.tobytes() for array in (network.weights, network.rates, student.cursor, student.report)]

    assert train(budget) == train(300)


@pytest.mark.parametrize("n_games", [1, 5])
def test_games_are_counted_to_the_last_one(n_games: int) -> None:
    network = random_network(design_of("3x3", ((0, 1, 2), (0, 1, 3, 4))), seed=1, is_coherent=True)
    student = Student(network, method_of(kind="tc", restart=True))
    student.report[train.MOST_GAMES] = n_games
    student.play(1_000_000)
    assert student.report[train.N_GAMES] == n_games
    assert student.cursor[train.NUMBER] >= n_games


@pytest.mark.parametrize(
    "text",
    [
        "32768 16384 8192 4096 / 2048 1024 512 256 / 128 64 16 16 / # # # #",
        "32768 16384 8192 4096 / 2048 1024 512 256 / 16 32 64 128 / # # # #",
    ],
)
@pytest.mark.parametrize("order", ["forward", "backward"])
def test_a_game_ends_with_the_value_it_had_before_a_packed_board_becomes_wrong(text: str, order: str) -> None:
    network = random_network(design_of(text, ((0, 1, 2, 3), (4, 5, 6, 7))), seed=1, is_coherent=True)
    student, sums = Student(network, method_of(kind="tc", order=order)), []
    for _ in range(100):
        boards = student.boards(student.play())
        # After a second 32768 nothing more is learned, because the two would not merge.
        assert all(board.ranks.count(15) <= 1 for board in boards[:-1])
        sums += [board.tile_sum for board in boards]
    assert max(sums) < train.LAST_SUM
    assert np.isfinite(network.weights).all()
    if "16 32 64" in text:
        assert max(sums) >= train.FULL_SUM  # the next 4096 could be made there


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_a_share_of_the_moves_is_in_games_that_end_early(order: str) -> None:
    text = "8192 4096 2048 1024 / 512 256 # # / # # # # / # # # #"
    design = design_of(text, ((0, 1, 2, 3), (4, 5, 6, 7)))
    rules = Rules.from_text(text, spawn="64:1", start=1)
    network = Network.empty(design.__class__(rules, design.patterns))
    student, n_early, n_whole = Student(network, method_of(order=order, early=0.6, restart=True)), 0, 0
    for _ in range(1500):
        games = student.report[train.N_GAMES]
        boards = student.boards(student.play())
        end = boards[-1].tile_sum + 64
        if student.cursor[train.IS_EARLY]:
            n_early += len(boards)
            assert student.report[train.N_GAMES] == games  # only whole games count
            assert end <= train.EARLY_SUM
            if end == train.EARLY_SUM:
                assert student.cursor[train.START] == 0  # no restart, because this game got through
        else:
            n_whole += len(boards)
    assert n_early / (n_early + n_whole) == pytest.approx(0.6, abs=0.02)
    assert (student.cursor[train.N_EARLY], student.cursor[train.N_WHOLE]) == (n_early, n_whole)


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ("32768 16384 / 8192 4096", True),
        ("32768 4 / 32768 #", False),
        ("16384 16384 / 8192 2", True),
        ("2 2 / # #", True),
    ],
)
def test_a_packed_board_is_exact_with_one_32768(text: str, is_exact: bool) -> None:
    assert train.is_exact(np.uint64(Board.from_text(text).to_packed())) == is_exact


@pytest.mark.parametrize("text", ["32768 32768 # # / # # # # / # # # # / # # # #", "2 4 / 8 #"])
def test_games_without_a_move_come_to_an_end(text: str) -> None:
    rules = Rules.from_text(text, spawn="16:1", start=1)
    student = Student(Network.empty(design_of(text, ((0, 1),)).__class__(rules, ((0, 1),))), method_of())
    assert student.play(5) == 0
