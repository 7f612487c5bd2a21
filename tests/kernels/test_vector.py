"""The compiled step of many games against the rules in plain Python."""

import numpy as np
import pytest

from lab2048.kernels.board import classic, packed, wide
from lab2048.kernels.games import vector
from lab2048.rules import Board, Game, Rules, dice
from lab2048.rules.plan import make_plan

SHAPES = ["4x4", "3x3", "2x4", "1x5", "###|#x#|###", "hex1", "hex2", "5x5"]
RICH = [
    "32768 32768 . . / . . . . / . . . . / 2 . . 2",  # the merge leaves packed boards
    "32768 16384 8192 8192 / . . . . / . . . . / 2 . . .",
    "65536 . . 65536 / . . . . / . 2 . . / . . . .",
    "hex1:32768 32768|. . .|2 .",
]


def random_play(rules: Rules, n_games: int, n_steps: int, settings: vector.Settings):
    """Play at random, illegal actions among them, and hand out every step."""
    plan, n_cells, n_moves = make_plan(rules), rules.shape.n_cells, len(rules.shape.moves)
    games, frames = vector.open_games(n_games, n_cells), vector.make_frames(n_games, n_cells, n_moves)
    rng = np.random.default_rng(1)
    seeds = rng.integers(0, dice.MAX_SEED, n_games).astype(np.uint64)
    vector.start_games(plan, games, seeds, np.ones(n_games, bool), frames)
    for _ in range(n_steps):
        before, finals = frames, vector.make_frames(n_games, n_cells, n_moves)
        frames, outcome = vector.make_frames(n_games, n_cells, n_moves), vector.make_outcome(n_games)
        actions = rng.integers(0, n_moves, n_games)
        assert vector.step_games(plan, games, actions, settings, outcome, frames, finals) == vector.ALL_FINE
        yield actions, before, outcome, frames, finals


def check_frame(game: Game, frames: vector.Frames, i: int) -> None:
    assert tuple(frames.ranks[i]) == game.board.ranks
    assert set(np.flatnonzero(frames.mask[i])) == set(game.legal_moves())
    assert frames.numbers[:, i].tolist() == [game.score, game.board.max_tile, game.seed]


@pytest.mark.parametrize("spawner", ["fair", "first", "worst"])
@pytest.mark.parametrize("text", SHAPES + RICH)
def test_every_step_is_that_of_the_reference(text, spawner):
    check_steps(Rules.from_text(text, spawner=spawner))


@pytest.mark.parametrize("text", SHAPES)
def test_games_stop_at_the_goal_as_in_the_reference(text):
    check_steps(Rules.from_text(text, goal=16, stop_at_goal=True))


def check_steps(rules: Rules) -> None:
    settings = vector.Settings(vector.REWARD_SCORE, vector.ILLEGAL_IGNORE, -1.0, vector.NEXT_STEP, 0)
    games: dict[int, Game] = {}
    was_done = [False] * 2
    for actions, before, outcome, frames, _ in random_play(rules, 2, 60, settings):
        for i, action in enumerate(actions):
            if i not in games or was_done[i]:
                seen = frames if i in games else before
                games[i] = Game(rules, int(seen.numbers[vector.SEEDS, i]))
                check_frame(games[i], seen, i)
                if was_done[i]:
                    assert outcome.reward[i] == 0
                    was_done[i] = False
                    continue
            game = games[i]
            if action in game.legal_moves():
                assert outcome.reward[i] == game.play(int(action)).reward
            else:
                assert outcome.reward[i] == -1
            check_frame(game, frames, i)
            assert outcome.ended[vector.TERMINATED, i] == game.is_over
            assert not outcome.ended[vector.TRUNCATED, i]
            was_done[i] = game.is_over


@pytest.mark.parametrize("text", RICH)
def test_large_tiles_are_real(text):
    rules = Rules.from_text(text)
    settings = vector.Settings(vector.REWARD_SCORE, vector.ILLEGAL_IGNORE, 0.0, vector.DISABLED, 0)
    plan, games = make_plan(rules), vector.open_games(1, rules.shape.n_cells)
    frames, outcome = vector.make_frames(1, rules.shape.n_cells, len(rules.shape.moves)), vector.make_outcome(1)
    vector.start_games(plan, games, np.array([3], np.uint64), np.ones(1, bool), frames)
    best = max(rules.board.slides(), key=lambda option: option[1].reward)
    vector.step_games(plan, games, np.array([best[0]]), settings, outcome, frames, frames)
    assert outcome.reward[0] == best[1].reward
    assert frames.numbers[vector.MAX_TILES, 0] == best[1].board.max_tile


def test_the_next_seed_derives_from_the_first():
    rules = Rules.from_text("2x2")
    settings = vector.Settings(vector.REWARD_SCORE, vector.ILLEGAL_IGNORE, 0.0, vector.SAME_STEP, 0)
    first, seen = None, []
    for _, before, _, frames, _ in random_play(rules, 1, 200, settings):
        first = int(before.numbers[vector.SEEDS, 0]) if first is None else first
        seed = int(frames.numbers[vector.SEEDS, 0])
        if seed != (seen or [first])[-1]:
            seen.append(seed)
    assert len(seen) > 3
    assert seen == [dice.episode_seed(first, number) for number in range(1, len(seen) + 1)]


def test_finals_show_the_game_that_ended():
    rules = Rules.from_text("2x3")
    settings = vector.Settings(vector.REWARD_MERGES, vector.ILLEGAL_IGNORE, 0.0, vector.SAME_STEP, 0)
    n_ended = 0
    for _, before, outcome, frames, finals in random_play(rules, 4, 100, settings):
        for i in np.flatnonzero(outcome.ended[vector.TERMINATED]):
            n_ended += 1
            assert not Board(rules.shape, tuple(finals.ranks[i].tolist())).legal_moves()
            assert not finals.mask[i].any()
            assert finals.numbers[vector.SEEDS, i] == before.numbers[vector.SEEDS, i]
            assert frames.numbers[vector.SCORES, i] == 0
            assert frames.numbers[vector.SEEDS, i] != before.numbers[vector.SEEDS, i]
    assert n_ended > 4


@pytest.mark.parametrize("reward", range(4))
def test_rewards(reward):
    rules = Rules.from_text("4x4", goal=16)
    settings = vector.Settings(reward, vector.ILLEGAL_IGNORE, 0.0, vector.NEXT_STEP, 0)
    for _, before, outcome, frames, _ in random_play(rules, 4, 60, settings):
        gain = frames.numbers[vector.SCORES] - before.numbers[vector.SCORES]
        n_merges = 1 + (before.ranks > 0).sum(1) - (frames.ranks > 0).sum(1)
        is_same_game = frames.numbers[vector.SEEDS] == before.numbers[vector.SEEDS]
        has_moved = is_same_game & (before.ranks != frames.ranks).any(1)
        expected = [
            gain,
            np.log2(np.maximum(gain, 1)),
            n_merges,
            (before.ranks.max(1) < 4) & (frames.ranks.max(1) >= 4),
        ][reward]
        np.testing.assert_array_equal(outcome.reward, np.where(has_moved, expected, 0))


def test_a_refused_action_changes_nothing():
    rules = Rules.from_text("2 4 . / . . .")
    plan, games = make_plan(rules), vector.open_games(2, 6)
    frames, outcome = vector.make_frames(2, 6, 4), vector.make_outcome(2)
    vector.start_games(plan, games, np.array([3, 4], np.uint64), np.ones(2, bool), frames)
    words = games.words.copy()
    fine, strict = (vector.Settings(0, illegal, 0.0, vector.NEXT_STEP, 0) for illegal in (0, vector.ILLEGAL_ERROR))
    for actions, settings in (([1, 4], fine), ([1, -1], fine), ([1, 0], strict)):
        assert vector.step_games(plan, games, np.array(actions), settings, outcome, frames, frames) == 1
        np.testing.assert_array_equal(games.words, words)


def test_legal_masks_without_sliding():
    rules, rng = Rules.from_text("4x4"), np.random.default_rng(0)
    plan = make_plan(rules)
    for _ in range(300):
        ranks = (rng.integers(1, 5, 16) * (rng.random(16) < rng.random())).astype(np.uint8)
        board = Board(rules.shape, tuple(ranks.tolist()))
        expected = sum(1 << move for move in board.legal_moves())
        word = np.uint64(board.to_packed())
        assert classic.legal_mask(word) == packed.legal_mask(plan, word) == wide.legal_mask(plan, ranks) == expected
        assert packed.potential(word) == wide.potential(ranks) == board.potential


def test_planes():
    ranks = np.array([[0, 3, 1], [2, 2, 0]], np.uint8)
    planes = np.zeros((2, 4, 3), np.uint8)
    vector.write_planes(ranks, planes)
    np.testing.assert_array_equal(planes, ranks[:, None, :] == np.arange(4)[None, :, None])
