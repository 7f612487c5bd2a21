"""The tree of the kernels is the tree that plain Python grows, draw by draw."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FREE_PACKED, PACKED, SPAWNERS, SPAWNS, WIDE, boards, words

from kernels.test_rollout import TALL, plain_rollout, rules_on
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.rollout import tree as kernels
from lab2048.kernels.rollout.rollout import MERGE, RANDOM, RolloutOptions
from lab2048.rules import Board, Rules, dice
from lab2048.rules.plan import make_plan

C = 0.5
ONE_SPREAD = kernels.Exploration(1.0, False)
Known = dict[Board, list[float]]  # what was gained after each visit of an afterstate


def plain_choice(known: Known, state: Board, returns: list[float]) -> int:
    """The move to try next."""
    slides = dict(state.slides())
    for move, slide in slides.items():
        if slide.board not in known:
            return move
    total = sum(len(known[slide.board]) for slide in slides.values())
    n = max(1, len(returns))
    mean = sum(returns) / n
    variance = max(0.0, sum(gained * gained for gained in returns) / n - mean * mean)
    reach = C * math.sqrt(variance * math.log(total))

    def select(move: int) -> float:
        gains = known[slides[move].board]
        return slides[move].reward + sum(gains) / len(gains) + reach / math.sqrt(len(gains))

    return max(slides, key=select)


def plain_grow(rules: Rules, root: Board, key: int, n: int, min_visits: int, options: RolloutOptions) -> Known:
    """The same search by the rules in plain Python."""
    known: Known = {}
    returns: list[float] = []
    for count in range(n):
        state, path, is_leaf, gained, throw = root, [], False, 0.0, dice.draw(key, count)
        while not is_leaf and len(path) < options.limit and state.legal_moves():
            after, reward = state.slide(plain_choice(known, state, returns))
            path.append((after, reward))
            is_leaf = len(known.get(after, [])) < min_visits
            state = after.put(*rules.spawn(after, dice.draw(throw, len(path))))
        if is_leaf:
            gained = plain_rollout(rules, state, throw, True, options._replace(limit=options.limit - len(path)))[0]
        for after, reward in reversed(path):
            known.setdefault(after, []).append(gained)
            gained += reward
        returns.append(gained)
    return known


def assert_same_tree(rules: Rules, root: Board, key: int, n: int, min_visits: int, options: RolloutOptions) -> None:
    """Every legal move has the same value, by as many visits."""
    if not root.legal_moves():
        return
    plan, ranks = make_plan(rules), np.array(root.ranks, np.uint8)
    tree, (values, errors) = kernels.make_tree(plan, 12), np.zeros((2, len(root.shape.moves)))
    assert kernels.grow(plan, tree, ranks, np.uint64(key), n, kernels.Exploration(C, False), min_visits, options) == n
    kernels.root_values(plan, tree, ranks, values, errors)
    known = plain_grow(rules, root, key, n, min_visits, options)
    assert sorted(tree.visits[tree.keys != 0].tolist()) == sorted(len(gains) for gains in known.values())
    for move in root.shape.moves:
        slide = dict(root.slides()).get(move)
        if slide is None:
            assert (values[move], errors[move]) == (-1, -1)
            continue
        gains = np.array(known.get(slide.board, []))
        assert values[move] == pytest.approx(slide.reward + (gains.mean() if len(gains) else 0.0))
        expected = gains.std(ddof=1) / math.sqrt(len(gains)) if len(gains) > 1 else -1
        assert errors[move] == pytest.approx(expected, rel=1e-6, abs=1e-2)
    assert tuple(ranks) == root.ranks


@given(
    boards(PACKED + FREE_PACKED),
    words,
    st.sampled_from([1, 3]),
    st.sampled_from(
        [RolloutOptions(RANDOM, limit=5), RolloutOptions(MERGE, limit=5), RolloutOptions(MERGE, discount=0.75, limit=5)]
    ),
    st.sampled_from(SPAWNS),
    st.sampled_from(SPAWNERS),
)
@settings(max_examples=25)
def test_packed_trees_are_plain_trees(
    board: Board, key: int, min_visits: int, options: RolloutOptions, spawn: str, spawner: str
) -> None:
    assert_same_tree(rules_on(board, spawn, spawner), board, key, 30, min_visits, options)


@given(boards(WIDE, max_rank=20), words)
@settings(max_examples=15)
def test_wide_trees_are_plain_trees(board: Board, key: int) -> None:
    assert_same_tree(rules_on(board, TALL, "fair"), board, key, 20, 1, RolloutOptions(limit=5))


@pytest.mark.parametrize(
    "text", ["65536 32768 2 2 / # # # #", "32768 32768 # / # # #", "32768 16384 8192 4096 / 2048 1024 2 #"]
)
def test_tiles_above_32768_are_real(text: str) -> None:
    rules = Rules.from_text(text)
    assert_same_tree(rules, rules.board, 1, 40, 2, RolloutOptions(limit=5))


def test_two_ways_to_one_board_share_what_they_learn() -> None:
    plan, ranks = make_plan(Rules.from_text("2x2")), np.array([1, 0, 0, 0], np.uint8)
    tree = kernels.make_tree(plan, 12)
    kernels.grow(plan, tree, ranks, np.uint64(1), 500, ONE_SPREAD, 1, RolloutOptions())
    # 2x2 has few boards: far fewer afterstates than iterations.
    assert 20 < np.count_nonzero(tree.keys) < 250


def test_a_small_table_still_answers() -> None:
    rules = Rules.from_text("4x4")
    plan = make_plan(rules)
    tree, (values, errors) = kernels.make_tree(plan, 3), np.zeros((2, 4))
    ranks = np.array(Board.from_text("2 4 8 16 / # # 2 # / # # # # / # # # 2").ranks, np.uint8)
    assert kernels.grow(plan, tree, ranks, np.uint64(1), 500, ONE_SPREAD, 1, RolloutOptions(limit=20)) == 500
    kernels.root_values(plan, tree, ranks, values, errors)
    assert (values >= 0).all()
    assert (errors > 0).any()  # the most tried moves keep their places
    assert (tree.visits >= 0).all()


@pytest.mark.parametrize("text", ["4x4", "5x5"])
def test_a_deadline_ends_it_and_leaves_nothing_half_done(text: str) -> None:
    rules = Rules.from_text(text)
    plan = make_plan(rules)
    ranks = np.zeros(rules.shape.n_cells, np.uint8)
    ranks[:2] = 1
    tree = kernels.make_tree(plan, 12)
    late = RolloutOptions(deadline=time.monotonic_ns(), clock=clock_address())
    assert kernels.grow(plan, tree, ranks, np.uint64(1), 1000, ONE_SPREAD, 1, late) == 0
    assert not tree.keys.any()
    soon = RolloutOptions(deadline=time.monotonic_ns() + 3_000_000, clock=clock_address())
    n = kernels.grow(plan, tree, ranks, np.uint64(1), 10**9, ONE_SPREAD, 1, soon)
    assert n == tree.numbers[kernels.COUNT]
    assert (tree.visits[tree.keys != 0] > 0).all()
