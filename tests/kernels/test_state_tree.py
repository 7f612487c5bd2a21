"""The tree of states is the tree that plain Python grows, draw by draw."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FREE_PACKED, PACKED, SPAWNERS, SPAWNS, WIDE, boards, words

from kernels.test_rollout import TALL, plain_rollout, rules_on
from lab2048.kernels.rollout import state_tree
from lab2048.kernels.rollout.rollout import MERGE, RANDOM, RolloutOptions
from lab2048.kernels.rollout.tree import Exploration
from lab2048.rules import Board, Rules, dice
from lab2048.rules.plan import make_plan

Known = dict[Board, dict[int, tuple[int, float]]]  # visits and mean return of each move of a state


def plain_grow(rules: Rules, root: Board, key: int, n: int, c: float, options: RolloutOptions) -> Known:
    """Algorithm 2 of Datta et al. 2022, with legal moves only."""
    known: Known = {}

    def simulate(state: Board, throw: int, depth: int) -> float:
        slides = dict(state.slides())
        if depth == options.limit or not slides:
            return 0.0
        if state not in known:
            known[state] = {move: (1, float(slide.reward)) for move, slide in slides.items()}
            return plain_rollout(rules, state, throw, True, options._replace(limit=options.limit - depth))[0]
        moves = known[state]
        reach = c * math.sqrt(math.log(sum(visits for visits, _ in moves.values())))
        best = max(
            moves, key=lambda move: moves[move][1] + reach / math.sqrt(moves[move][0])
        )  # rounded in the same way
        after, reward = slides[best]
        gained = reward + simulate(after.put(*rules.spawn(after, dice.draw(throw, depth + 1))), throw, depth + 1)
        visits, mean = moves[best]
        moves[best] = visits + 1, mean + (gained - mean) / (visits + 1)
        return gained

    for count in range(n):
        simulate(root, dice.draw(key, count), 0)
    return known


def assert_same_tree(rules: Rules, root: Board, key: int, n: int, options: RolloutOptions) -> None:
    if not root.legal_moves():
        return
    plan, ranks, c = make_plan(rules), np.array(root.ranks, np.uint8), 10.0
    tree = state_tree.make_state_tree(plan, 10)
    assert state_tree.grow_states(plan, tree, ranks, np.uint64(key), n, Exploration(c, True), options) == n
    known = plain_grow(rules, root, key, n, c, options)
    assert np.count_nonzero(tree.keys) == len(known)
    node = tree.numbers[state_tree.ROOT]
    for move in root.shape.moves:
        visits, mean = known[root].get(int(move), (0, -1.0))
        assert tree.visits[node, move] == visits
        assert visits == 0 or tree.values[node, move] == pytest.approx(mean)
    assert tuple(ranks) == root.ranks


@given(
    boards(PACKED + FREE_PACKED),
    words,
    st.sampled_from([RolloutOptions(RANDOM, limit=5), RolloutOptions(MERGE, discount=0.75, limit=5)]),
    st.sampled_from(SPAWNS),
    st.sampled_from(SPAWNERS),
)
@settings(max_examples=25)
def test_packed_trees_are_plain_trees(
    board: Board, key: int, options: RolloutOptions, spawn: str, spawner: str
) -> None:
    assert_same_tree(rules_on(board, spawn, spawner), board, key, 30, options)


@given(boards(WIDE, max_rank=20), words)
@settings(max_examples=15)
def test_wide_trees_are_plain_trees(board: Board, key: int) -> None:
    assert_same_tree(rules_on(board, TALL, "fair"), board, key, 20, RolloutOptions(limit=5))


def test_a_full_table_still_answers() -> None:
    plan = make_plan(Rules.from_text("4x4"))
    tree = state_tree.make_state_tree(plan, 3)
    ranks = np.array(Board.from_text("2 4 8 16 / # # 2 # / # # # # / # # # 2").ranks, np.uint8)
    options = RolloutOptions(limit=20)
    assert state_tree.grow_states(plan, tree, ranks, np.uint64(1), 500, Exploration(100.0, True), options) == 500
    assert tree.visits[tree.numbers[state_tree.ROOT]].sum() == 500 + 3
