"""Rollouts are the games that the plain rules play, draw by draw."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FREE_PACKED, PACKED, SPAWNERS, SPAWNS, boards, words

from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.rollout import rollout as kernels
from lab2048.kernels.rollout.rollout import MERGE, MERGE_FIRST, RANDOM, RolloutOptions
from lab2048.rules import Board, Rules, dice
from lab2048.rules.plan import make_plan

TALL = "2:0.2,4:0.2,8:0.2,16:0.2,32:0.1,64:0.1"  # fills a board sooner


def rules_on(board: Board, spawn: str, spawner: str) -> Rules:
    """Rules on the shape of a board that may have no legal move."""
    return Rules.from_text(Board(board.shape).to_text(), spawn=spawn, spawner=spawner)


def plain_rollout(
    rules: Rules, board: Board, key: int, has_spawned: bool, options: RolloutOptions
) -> tuple[float, int, int]:
    """The same rollout by the rules in plain Python: what was gained, the last tile sum, moves made."""
    gained = 0.0
    for turn in range(options.limit):
        if turn > 0 or not has_spawned:
            board = board.put(*rules.spawn(board, dice.draw(key, 2 * turn)))
        slides = dict(board.slides())
        left, random_word, order = list(board.shape.moves), dice.draw(key, 2 * turn + 1), []
        while left:
            order.append(left.pop(dice.pick(random_word, len(left))))
            random_word = dice.mix((random_word + dice.GOLDEN) & dice.MASK)
        if options.policy == MERGE_FIRST:
            order = [board.shape.moves[i] for i in ((0, 2, 3, 1) if len(order) == 4 else range(len(order)))]
        legal = [move for move in order if move in slides]
        if not legal:
            return gained, board.tile_sum, turn
        move = legal[0] if options.policy == RANDOM else max(legal, key=lambda move: slides[move].reward)
        gained += options.discount**turn * slides[move].reward
        board = slides[move].board
    return gained, board.tile_sum, options.limit


def assert_same_rollout(rules: Rules, board: Board, key: int, has_spawned: bool, options: RolloutOptions) -> None:
    if board.n_empty == 0 and not has_spawned:  # no afterstate
        return
    ranks = np.array(board.ranks, np.uint8)
    gained, tile_sum, n_moves = kernels.rollout(make_plan(rules), ranks, np.uint64(key), has_spawned, options)
    expected = plain_rollout(rules, board, key, has_spawned, options)
    assert (int(tile_sum), n_moves) == expected[1:]
    assert gained == (expected[0] if options.discount == 1 else pytest.approx(expected[0]))


all_terms = st.tuples(
    st.sampled_from([RANDOM, MERGE, MERGE_FIRST]), st.sampled_from([1.0, 0.75]), st.sampled_from([0, 1, 2, 7, 1000])
).map(lambda values: RolloutOptions(*values))


@given(
    boards(PACKED + FREE_PACKED, max_rank=15),
    words,
    st.booleans(),
    all_terms,
    st.sampled_from(SPAWNS),
    st.sampled_from(SPAWNERS),
)
def test_packed_rollouts_are_plain_games(
    board: Board, key: int, has_spawned: bool, options: RolloutOptions, spawn: str, spawner: str
) -> None:
    assert_same_rollout(rules_on(board, spawn, spawner), board, key, has_spawned, options)


@given(boards(("5x5", "hex2", "#####|##x##|#x#x#|##x##|#####"), max_rank=20), words, st.booleans(), all_terms)
@settings(max_examples=25)
def test_wide_rollouts_are_plain_games(board: Board, key: int, has_spawned: bool, options: RolloutOptions) -> None:
    assert_same_rollout(rules_on(board, TALL, "fair"), board, key, has_spawned, options._replace(limit=60))


@pytest.mark.parametrize("policy", [RANDOM, MERGE])
@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize(
    "text",
    [
        "32768 16384 8192 # / 8192 # # #",  # becomes too rich for a word on the way
        "32768 32768 # # / # # # # / # # # # / # # # #",
        "65536 65536 # # / 65536 65536 # # / # # # # / # # # #",
    ],
)
def test_tiles_above_32768_are_real(text: str, discount: float, policy: int) -> None:
    rules = Rules.from_text(text)
    for key in range(4):
        assert_same_rollout(rules, rules.board, key, False, RolloutOptions(policy, discount, 1000))


def roll_all(text: str, options: RolloutOptions, metric: int, n: int, first: int = 0) -> tuple[int, int, np.ndarray]:
    """Rollouts of every legal move of a board: how many, their moves, and what they came to."""
    board = Board.from_text(text)
    n_moves, plan = len(board.shape.moves), make_plan(rules_on(board, "2:0.9,4:0.1", "fair"))
    afters, rewards = np.zeros((n_moves, board.shape.n_cells), np.uint8), np.zeros(n_moves, np.int64)
    kernels.afterstates(plan, np.array(board.ranks, np.uint8), afters, rewards)
    for move in board.shape.moves:
        slide = dict(board.slides()).get(move)
        assert rewards[move] == (-1 if slide is None else slide.reward)
        assert tuple(afters[move]) == (board if slide is None else slide.board).ranks
    moves, results = np.flatnonzero(rewards >= 0), np.full((n_moves, first + n), -1.0)
    arguments = (plan, afters, rewards, moves, np.uint64(7), first, n, metric, options, results)
    return (*kernels.roll_moves(*arguments), results)


@pytest.mark.parametrize("text", ["2 2 4 # / # # # #", "hex1:2 4 / 2 # # / # #", "2 2 32768 32768 / # # # #"])
def test_moves_share_their_dice(text: str) -> None:
    board, options = Board.from_text(text), RolloutOptions(limit=50)
    rules, slides = rules_on(board, "2:0.9,4:0.1", "fair"), dict(board.slides())
    scores, sums, lengths = (
        roll_all(text, options, metric, 3) for metric in (kernels.SCORE, kernels.SUM, kernels.MOVES)
    )
    n_played = 0
    for move in board.shape.moves:
        for j in range(3):
            if move not in slides:
                assert scores[2][move, j] == -1
                continue
            after, reward = slides[move]
            gained, tile_sum, n = plain_rollout(rules, after, dice.draw(7, j), False, options)
            assert (scores[2][move, j], sums[2][move, j], lengths[2][move, j]) == (reward + gained, tile_sum, 1 + n)
            n_played += n
    assert scores[:2] == sums[:2] == lengths[:2] == (3, n_played)


def test_later_rollouts_are_the_same_in_any_call() -> None:
    text = "2 2 4 # / # # # #"
    whole, later = (
        roll_all(text, RolloutOptions(), kernels.SCORE, 5),
        roll_all(text, RolloutOptions(), kernels.SCORE, 2, first=3),
    )
    assert later[2][:, 3:].tolist() == whole[2][:, 3:].tolist()
    assert (later[2][:, :3] == -1).all()


@pytest.mark.parametrize(
    "text", ["4 2 / 2 4 / 8 # / # # / # # / # # / # # / # #", "2 2 32768 32768 / # # # # / # # # #"]
)
def test_a_deadline_ends_rollouts(text: str) -> None:
    past = RolloutOptions(deadline=time.monotonic_ns(), clock=clock_address())
    n, _, _ = roll_all(text, past, kernels.SCORE, 1000)
    assert n < 1000
    future = past._replace(deadline=time.monotonic_ns() + 10**15)
    assert roll_all(text, future, kernels.SCORE, 2)[0] == 2
