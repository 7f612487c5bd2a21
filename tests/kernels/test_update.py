"""Learning is what the books have it, game by game: errors, shares, rates, ends."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_network import PlainNetwork, design_of, lowered, random_network
from strategies import boards
from student import F32, SEED, Student, method_of

from lab2048.kernels.board.memory import address_of
from lab2048.kernels.ntuple import lookup, self_play, update
from lab2048.models.ntuple.network import Design, Network
from lab2048.rules import Board, Rules, dice

BOARDS = {
    "2x2": ((0, 1), (0, 3)),
    "hex1": ((0, 1, 2), (0, 3)),
    "##x|#x#|###": ((0, 1, 2), (1, 4)),
    "2 4 8 16 / 4 8 16 32 / 2 4 8 2 / 4 8 # #": ((0, 1, 2, 3), (4, 5, 6, 7)),
}


# --- one afterstate ------------------------------------------------------------------


@given(boards(("2x2", "4x4", "hex1")), st.sampled_from([0.1, 0.5, 1.0]), st.integers(-1000, 1000))
@settings(max_examples=30)
def test_the_changes_of_all_weights_sum_to_alpha_times_the_error(board: Board, alpha: float, error: int) -> None:
    empty = Board(board.shape, (0,) * len(board.ranks)).to_text()
    network = Network.empty(design_of(empty, ((0, 1), (0, 1, 2), (3,))))
    index = np.zeros(network.design.n_lookups, np.uint64)
    lookup.find(network.address, np.uint64(board.to_packed()), address_of(index))
    share = F32(alpha / network.design.n_lookups)
    update.learn(network.address, address_of(index), share, F32(error), False)
    assert network.weights.sum() == pytest.approx(alpha * error, rel=1e-4)


@pytest.mark.parametrize(
    ("signed", "unsigned", "rate"),
    [(0, 0, 1), (3, 4, 0.75), (-3, 4, 0.75), (4, 4, 1), (-4, 4, 1), (0, 4, 0)],
)
@pytest.mark.parametrize("error", [-8, 8])
def test_a_weight_learns_as_much_as_its_errors_agree(signed: float, unsigned: float, rate: float, error: float) -> None:
    network = Network.empty(design_of("2x2", ((0,),), share=False), is_coherent=True)
    assert network.rates is not None
    network.rates[6:8] = signed, unsigned  # behind a tile of 8
    index = np.array([3], np.uint64)
    value, rates = update.learn(network.address, address_of(index), F32(0.5), F32(error), True)
    assert [network.weights[3], value, rates] == [0.5 * error * rate, 0.5 * error * rate, rate]
    assert list(network.rates[6:8]) == [signed + error, unsigned + abs(error)]
    assert np.count_nonzero(network.weights) == (rate > 0)


# --- whole games ---------------------------------------------------------------------


def in_corner(board: Board, corners: int) -> int:
    """The highest tile, if a nibble of the corners is where it stands."""
    return board.max_tile * any(
        2**rank == board.max_tile and corners >> 4 * cell & 15 for cell, rank in enumerate(board.ranks)
    )


def retell(student: Student, plain: PlainNetwork, n: int, number: int) -> list[Board]:
    """Check the game that a student just played move by move, forward learning included; return its states.

    Values that are almost equal may be ordered either way, so the moves are the student's.
    """
    method, rules = student.method, student.network.design.rules
    seed = dice.episode_seed(SEED, number)
    key, player_dice = dice.stream_key(seed, dice.SPAWN), dice.stream_key(seed, dice.PLAYER)
    is_guided = int(student.cursor[self_play.MADE]) - n < method.guided
    board = rules.board
    for count in range(rules.n_start):
        board = board.put(*rules.spawn(board, dice.draw(key, count)))
    states, n_taught = [], student.n_taught
    for t, chosen in enumerate([*student.boards(n), None]):
        states.append(board)
        slides = [slide for _, slide in board.slides()]
        stages = [rank for rank in student.network.design.stages if max(board.ranks) >= rank]
        shown = lowered(board, stages[-1] - 1) if stages and n_taught < method.taught else board
        n_taught += shown != board and bool(slides)
        totals = [reward + float(method.discount) * plain.value(after) for _, (after, reward) in shown.slides()]
        likings = [
            total + is_guided * float(method.guide) * in_corner(after, int(method.corners))
            for total, (_, (after, _)) in zip(totals, shown.slides(), strict=True)
        ]
        target = 0.0
        if slides:
            best = likings.index(max(likings))
            after, reward = slides[best]
            target = totals[best] if shown == board else reward + float(method.discount) * plain.value(after)
        if t and not method.is_backward:
            last = student.boards(n)[t - 1]
            plain.learn(last, target - plain.value(last))
        if chosen is None:
            assert not slides
            assert student.cursor[self_play.TAUGHT] == n_taught
            return states
        i = [after for after, _ in slides].index(chosen)
        assert student.trajectory.rewards[t] == slides[i].reward
        tile_sum = board.tile_sum
        if (dice.draw(player_dice, tile_sum) >> 11) * 2.0**-53 < method.epsilon:
            assert chosen == slides[dice.pick(dice.draw(player_dice, tile_sum | 1), len(slides))][0]
            assert student.trajectory.greedy_target[t] == pytest.approx(target, abs=1e-3)
        else:
            assert math.isnan(student.trajectory.greedy_target[t])
            assert likings[i] == pytest.approx(max(likings), abs=1e-3)
        board = chosen.put(*rules.spawn(chosen, dice.draw(key, rules.n_start + t)))
    raise AssertionError("a game without an end")


def look_back(plain: PlainNetwork, method: update.Method, student: Student, n: int) -> None:
    """Learn a game from its end, which is worth nothing; a move at random cuts it."""
    target, trace = 0.0, float(method.trace)
    for t in range(n - 1, -1, -1):
        after, missed = student.boards(n)[t], float(student.trajectory.greedy_target[t])
        value = plain.learn(after, target - plain.value(after))
        target = float(student.trajectory.rewards[t]) + float(method.discount) * (trace * target + (1 - trace) * value)
        target = target if math.isnan(missed) else missed


@pytest.mark.parametrize("text", BOARDS)
@pytest.mark.parametrize(
    "options",
    [
        {"kind": "td"},
        {"kind": "tc", "alpha": 1.0},
        {"kind": "tc", "epsilon": 0.3},
        {"kind": "td", "discount": 0.5, "epsilon": 1.0},
        {"kind": "td", "guide": 8.0, "guided": 5, "corners": 0xF00F},
        {"kind": "tc", "guide": 4.0, "guided": 1000, "corners": 0xF, "order": "backward", "trace": 0.5},
        {"kind": "td", "order": "backward"},
        {"kind": "td", "order": "backward", "taught": 10},
        {"kind": "tc", "order": "backward", "trace": 0.5, "epsilon": 0.3},
        {"kind": "tc", "epsilon": 0.3, "taught": 1000},
        {"kind": "tc", "order": "backward", "alpha": 1.0, "trace": 0.5},
        {"kind": "tc", "order": "backward", "alpha": 0.5, "trace": 1.0, "discount": 0.9},
    ],
    ids=str,
)
def test_a_game_is_learnt_as_in_plain_python(text: str, options: dict[str, float | str]) -> None:
    method = method_of(**options)  # type: ignore[arg-type]
    network = random_network(design_of(text, BOARDS[text], (3,)), seed=1, is_coherent=method.is_coherent)
    student, plain = Student(network, method), PlainNetwork(network, float(method.alpha), method.is_coherent)
    for number in range(3):
        n = student.play()
        states = retell(student, plain, n, number)
        if method.is_backward:
            look_back(plain, method, student, n)
        plain.assert_like(network)
        assert student.report[self_play.N_GAMES] == number + 1
        assert student.report[self_play.HIGHEST + max(states[-1].ranks)] >= 1


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("kind", ["td", "tc"])
def test_the_end_is_worth_nothing(order: str, kind: str) -> None:
    rules = Rules.from_text("22", spawn="2:1")  # two twos merge, and the two that spawns ends the game
    network = Network.empty(Design(rules, ((0, 1),)), 100.0, is_coherent=True)
    after = Board.from_text("4#")
    assert network.value(after) == 100
    Student(network, method_of(alpha=1.0, order=order, kind=kind)).play()
    assert network.value(after) == 0
    assert network.value(Board.from_text("2#")) == 100


@given(boards(("2x2", "4x4", "hex1", "##x|#x#|###")), st.sampled_from([-8.0, 0.0, 5.0, 320_000.0]))
@settings(max_examples=30)
def test_optimism_is_what_every_board_is_worth(board: Board, value: float) -> None:
    empty = Board(board.shape, (0,) * len(board.ranks)).to_text()
    network = Network.empty(design_of(empty, ((0, 1), (0, 1, 2), (3,)), (3, 5)), value)
    assert network.value(board) == pytest.approx(value, rel=1e-6)
