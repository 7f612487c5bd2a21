"""Blocks and layers of boards are the reference, only many at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, PACKED, SPAWNS, boards

from lab2048.kernels.board import block
from lab2048.kernels.board.bits import U64
from lab2048.kernels.solve import backup, layer, policy
from lab2048.rules import Board, Rules
from lab2048.rules.plan import Plan, make_plan, walk

I64 = np.int64
SCATTER = int(block.SCATTER)


def plan_of(board: Board, spawn: str = SPAWNS[0]) -> Plan:
    return make_plan(Rules.from_text(Board(board.shape).to_text(), spawn=spawn))


def filled(words: list[int]) -> tuple[block.Words, int]:
    """A block with some boards in it."""
    array = np.zeros(block.BLOCK, np.uint64)
    array[: len(words)] = words
    return array, len(words)


def spare() -> block.Words:
    return np.empty(2 * block.BLOCK, np.uint64)


def keys_of(words: "list[int] | set[int]") -> block.Words:
    return np.array(sorted(word * SCATTER % 2**64 for word in words), np.uint64)


@st.composite
def several(draw: st.DrawFn, max_rank: int = 14) -> list[Board]:
    """A few boards of one shape."""
    first = draw(boards(PACKED + FREE_PACKED, max_rank))
    more = st.lists(st.permutations(first.ranks), max_size=4)
    return [first, *(Board(first.shape, tuple(ranks)) for ranks in draw(more))]


@pytest.mark.parametrize("text", PACKED + FREE_PACKED)
def test_two_steps_in_turn_lead_to_every_copy(text: str) -> None:
    shape = Board.from_text(text).shape
    first, second = walk(shape.symmetries)
    ranks = tuple(range(shape.n_cells))
    images = {ranks}
    for i in range(len(shape.symmetries) - 1):
        step, turned = (second if i % 2 else first), [0] * len(ranks)
        for cell, rank in enumerate(ranks):
            turned[step[cell]] = rank
        ranks = tuple(turned)
        images.add(ranks)
    assert len(images) == len(shape.symmetries)


@given(several())
def test_a_block_is_canonical_like_the_reference(some: list[Board]) -> None:
    plan = plan_of(some[0])
    array, n = filled([board.to_packed() for board in some])
    copies = np.zeros(block.BLOCK, np.uint64)
    block.copies_block(plan, array, I64(n), copies, spare())
    block.canonical_block(plan, array, I64(n), spare())
    assert array[:n].tolist() == [board.canonical().to_packed() for board in some]
    expected = [len({board.carry(symmetry) for symmetry in board.shape.symmetries}) for board in some]
    assert copies[:n].tolist() == expected


@given(several())
def test_a_block_slides_like_the_reference(some: list[Board]) -> None:
    plan = plan_of(some[0])
    array, n = filled([board.to_packed() for board in some])
    slid = np.zeros(block.BLOCK, np.uint64)
    for move in some[0].shape.moves:
        block.slide_block(plan, array, I64(n), I64(move), slid, spare())
        expected = [dict(board.slides()).get(move) for board in some]
        assert slid[:n].tolist() == [
            after.board.to_packed() if after else board.to_packed() for board, after in zip(some, expected, strict=True)
        ]


@given(several(), st.integers(1, 3))
def test_spawns_lead_to_the_states_of_the_reference(some: list[Board], rank: int) -> None:
    plan = plan_of(some[0])
    keys = keys_of([board.to_packed() for board in some if any(board.ranks)])
    seen, found = np.zeros(16, np.uint64), np.empty(block.BLOCK + 32, np.uint64)
    got: set[int] = set()
    begin = 0
    while begin < len(keys):
        begin, n = layer.spawn_all(plan, keys, begin, U64(rank), seen, found)
        got |= set(found[:n].tolist())
    expected = {
        board.put(cell, rank).canonical().to_packed()
        for board in some
        if any(board.ranks)
        for cell, old in enumerate(board.ranks)
        if old == 0
    }
    assert got == set(keys_of(expected).tolist())


@given(several(max_rank=5), st.sampled_from((0, 3, 5)))
def test_slides_lead_to_the_afterstates_of_the_reference(some: list[Board], goal_rank: int) -> None:
    some = [board for board in some if any(board.ranks) and (goal_rank == 0 or board.max_rank < goal_rank)]
    if not some:
        return
    plan = plan_of(some[0])
    keys = keys_of({board.canonical().to_packed() for board in some})
    seen, counts = np.zeros(16, np.uint64), np.zeros(layer.N_COUNTS, np.int64)
    found, won = np.empty(8 * block.BLOCK, np.uint64), np.empty(8 * block.BLOCK, np.uint64)
    begin, n, n_won = layer.slide_all(plan, keys, 0, U64(goal_rank), seen, found, won, counts)
    assert begin == len(keys)
    canonical = {board.canonical() for board in some}
    afters = {after.canonical() for board in canonical for _, (after, _) in board.slides()}
    wins = {after for after in afters if goal_rank and after.max_rank >= goal_rank}
    assert set(found[:n].tolist()) == set(keys_of({after.to_packed() for after in afters - wins}).tolist())
    assert set(won[:n_won].tolist()) == set(keys_of({after.to_packed() for after in wins}).tolist())
    lost = [board for board in canonical if not board.legal_moves()]
    copies = {board: len({board.carry(symmetry) for symmetry in board.shape.symmetries}) for board in canonical}
    assert counts.tolist() == [
        len(canonical) - len(lost),
        sum(copies.values()) - sum(copies[board] for board in lost),
        len(lost),
        sum(copies[board] for board in lost),
    ]
    assert layer.count_raw(plan, keys) == sum(copies.values())


@given(st.lists(st.integers(1, 30)), st.lists(st.integers(1, 30)))
def test_runs_are_merged_without_doubles(one: list[int], other: list[int]) -> None:
    runs = []
    for numbers in (one, other):
        keys = np.array(sorted(numbers), np.uint64)
        n = layer.drop_doubles(keys)
        assert keys[:n].tolist() == sorted(set(numbers))
        runs.append(keys[:n])
    merged = np.empty(len(one) + len(other), np.uint64)
    n = layer.merge(*runs, merged)
    assert merged[:n].tolist() == sorted({*one, *other})


@given(st.sets(st.integers(1, 2**64 - 1), max_size=60), st.integers(1, 4))
def test_a_key_index_finds_its_keys_and_nothing_else(keys: set[int], n_parts: int) -> None:
    edges = [(i << 64) // n_parts for i in range(n_parts + 1)]
    words = [key * int(block.GATHER) % 2**64 for key in sorted(keys)] + [12345]
    found = dict.fromkeys(words, 0)
    for low, high in pairwise(edges):
        here = np.array(sorted(key for key in keys if low <= key < high), np.uint64)
        key_index = backup.make_key_index(here, here.astype(np.float64), low, high - low - 1)
        array, n = filled(words)
        places = np.zeros(block.BLOCK, np.int64)
        backup.find_block(key_index, array, I64(n), places)
        for word, place in zip(words, places.tolist()[:n], strict=True):
            found[word] += place >= 0
            assert place < 0 or int(here[place]) == word * SCATTER % 2**64
    assert all(count == (word * SCATTER % 2**64 in keys) for word, count in found.items())


@given(several(max_rank=4), st.sampled_from((backup.ODDS, backup.TOTAL)), st.sampled_from((0, 5)), st.randoms())
def test_values_are_backed_up_like_the_reference(
    some: list[Board], measure: int, goal_rank: int, random: object
) -> None:
    """States take the best slide, afterstates the mean over spawns; looked up on two shelves."""
    some = [board for board in some if any(board.ranks) and 0 in board.ranks]
    if not some or (measure == backup.TOTAL and goal_rank):
        return
    plan, rank = plan_of(some[0]), 1
    afters = sorted({board.canonical() for board in some}, key=lambda b: b.to_packed() * SCATTER % 2**64)
    keys = keys_of({board.to_packed() for board in afters})
    states = {board.put(cell, rank).canonical() for board in afters for cell, old in enumerate(board.ranks) if not old}
    nexts = {after.canonical() for state in states for _, (after, _) in state.slides()}
    values = {
        after: float(random.choice((0, 0.25, 3, 1e9)) if measure == backup.ODDS else random.randint(50, 99))
        for after in nexts
    }  # type: ignore[attr-defined]
    next_keys = keys_of({after.to_packed() for after in nexts})
    by_key = {int(keys_of([after.to_packed()])[0]): value for after, value in values.items()}
    next_values = np.array([by_key[key] for key in next_keys.tolist()])

    def best(state: Board) -> float:
        slides = [after for _, (after, _) in state.slides()]
        if not slides:
            return state.potential if measure == backup.TOTAL else 0.0
        return max(
            np.inf if goal_rank and after.max_rank >= goal_rank else values[after.canonical()] for after in slides
        )

    state_keys, middle = keys_of({state.to_packed() for state in states}), 1 << 63
    got = np.empty(len(state_keys))
    cut = int(np.searchsorted(next_keys, U64(middle)))
    key_indexes = [
        backup.make_key_index(next_keys[:cut], next_values[:cut], 0, middle - 1),
        backup.make_key_index(next_keys[cut:], next_values[cut:], middle, middle - 1),
    ]
    for i, key_index in enumerate(key_indexes):
        backup.back_up_states(plan, state_keys, U64(goal_rank), key_index, I64(measure), i == 0, got)
    ordered = sorted(states, key=lambda b: b.to_packed() * SCATTER % 2**64)
    assert got.tolist() == [best(state) for state in ordered]

    wins, losses = np.zeros(len(keys)), np.zeros(len(keys))
    backup.back_up_afterstates(
        plan, keys, U64(rank), 1.0, backup.make_key_index(state_keys, got), I64(measure), wins, losses
    )
    backup.finish_afterstates(plan, keys, I64(measure), 7.0, wins, losses)
    assert backup.states_after(plan, keys, rank).tolist() == [after.n_empty for after in afters]
    for i, after in enumerate(afters):
        follow = [best(after.put(cell, rank)) for cell, old in enumerate(after.ranks) if not old]
        if measure == backup.TOTAL:
            assert wins[i] == pytest.approx(sum(follow) / len(follow) - 7)
        else:
            lose = sum(1 / (1 + odds) for odds in follow)
            assert wins[i] == pytest.approx((len(follow) - lose) / lose if lose else np.inf, rel=1e-9)
    potentials = np.empty(len(keys))
    backup.potentials(keys, potentials)
    assert potentials.tolist() == [after.potential for after in afters]


def test_the_best_move_is_followed_and_ties_do_not_depend_on_how_a_board_lies() -> None:
    board = Board.from_text("22|4#")
    plan = plan_of(board)
    ended, chances = np.zeros(16), np.array([1.0])
    afters = sorted({after.canonical().to_packed() for _, (after, _) in board.slides()})
    keys = keys_of(afters)
    for word in {board.carry(symmetry).to_packed() for symmetry in board.shape.symmetries}:
        reached = np.zeros(len(keys))
        key_index = backup.make_key_index(keys, np.ones(len(keys)))
        policy.follow(plan, keys_of([word]), chances, policy.NO_SPAWN, U64(0), key_index, reached, ended)
        assert reached.tolist() == [float(key == keys_of([afters[0]])[0]) for key in keys]
    assert not ended.any()
    stuck = keys_of([Board.from_text("24|42").to_packed()])
    policy.follow(
        plan,
        stuck,
        chances,
        policy.NO_SPAWN,
        U64(0),
        backup.make_key_index(keys, np.ones(len(keys))),
        np.zeros(9),
        ended,
    )
    assert ended.tolist() == [0, 0, 1, *[0] * 13]
