"""Whole games in one call are the games that the plain rules play."""

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import FREE_PACKED, FREE_WIDE, PACKED, WIDE, seeds
from strategies import rules as any_rules

from lab2048.arena.episode import play_episode
from lab2048.kernels.games import play
from lab2048.players import make_player
from lab2048.players.player import Player
from lab2048.rules import Rules


def compiled_game(player: Player, rules: Rules, seed: int, budget: int) -> tuple[str, int, int, int | None]:
    """Moves, score, highest tile and moves to the goal; `budget` moves a call."""
    kernel = player.games_kernel(rules)
    assert kernel is not None
    games = play.make_games(np.array([seed], np.uint64), rules.shape.n_cells, 4)
    while games.n_finished < 1:
        games = play.room_for(games, budget)
        kernel(games, budget)
    text = "".join(rules.shape.letters[move] for move in games.moves[: games.n_used])
    to_goal = int(games.to_goal[0])
    highest = max(rank for rank in games.ranks[0].tolist() if rank != rules.shape.free_rank)
    return text, int(games.score[0]), 2**highest, None if to_goal < 0 else to_goal


def assert_same_game(spec: str, rules: Rules, seed: int, budget: int = 10_000) -> None:
    player = make_player(spec)
    expected = play_episode(player, spec, rules, seed)
    found = compiled_game(player, rules, seed, budget)
    assert found == (expected.moves, expected.score, expected.max_tile, expected.moves_to_goal)


@given(any_rules(PACKED + FREE_PACKED), seeds)
@settings(max_examples=40)
def test_packed_games_are_the_plain_games(rules: Rules, seed: int) -> None:
    assert_same_game("random", rules, seed)
    assert_same_game("first", rules, seed)


@pytest.mark.parametrize("spec", ["random", "lookahead:depth=1"])
@pytest.mark.parametrize("text", ["4x4", "2x3", "hex1", "5x5"])
def test_games_that_stop_at_the_goal_are_the_plain_games(spec: str, text: str) -> None:
    if (spec, text) != ("lookahead:depth=1", "5x5"):  # it has no loop for whole games there
        assert_same_game(spec, Rules.from_text(text, goal=32, stop_at_goal=True), seed=3)


@pytest.mark.parametrize("text", [shape for shape in WIDE + FREE_WIDE if shape not in ("8x8", "hex4")])
def test_wide_games_are_the_plain_games(text: str) -> None:
    # A tall spawn table fills the board sooner: a whole game on 25 cells would be long in plain Python.
    rules = Rules.from_text(text, goal=128, spawn="2:0.2,4:0.2,8:0.2,16:0.2,32:0.1,64:0.1")
    assert_same_game("random", rules, seed=5)


@pytest.mark.parametrize(
    "text",
    [
        "32768 32768 # # / # # # # / # # # # / # # # #",
        "16384 16384 32768 # / # # # # / # # # # / # # # #",
        "65536 65536 # # / 65536 65536 # # / # # # # / # # # #",
        "32768 16384 8192 # / 8192 # # #",
        "2048 2048 # # / 32768 # # # / 16384 8192 4096 #",
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_tiles_above_32768_are_real(text: str, seed: int) -> None:
    assert_same_game("random", Rules.from_text(text, goal=65536), seed)
    assert_same_game("first:order=ad", Rules.from_text(text, goal=65536), seed)


@pytest.mark.parametrize("spawner", ["fair", "first", "worst"])
@pytest.mark.parametrize("spawn", ["2:0.5,32768:0.5", "16384:0.5,8192:0.5", "65536:1"])
def test_tall_spawns_are_real(spawn: str, spawner: str) -> None:
    for text in ("2x2", "3x3", "32768 # / # #"):
        assert_same_game("random", Rules.from_text(text, spawn=spawn, spawner=spawner), 1)


@pytest.mark.parametrize("budget", [1, 2, 7, 10_000])
@pytest.mark.parametrize("text", ["4x4", "32768 16384 8192 # / 8192 # # #", "hex1"])
def test_slices_do_not_change_a_game(text: str, budget: int) -> None:
    assert_same_game("random", Rules.from_text(text), 3, budget)


def test_a_full_buffer_ends_a_slice_and_nothing_is_lost() -> None:
    rules = Rules.from_text("3x3")
    kernel = make_player("random").games_kernel(rules)
    assert kernel is not None
    seeds = np.arange(20, dtype=np.uint64)
    whole = play.make_games(seeds, 9, 10_000)
    kernel(whole, 10_000)
    games = play.make_games(seeds, 9, 1)
    while games.n_finished < len(seeds):
        kernel(games, 10_000)  # stops at a full buffer
        games = play.room_for(games, 1)
    assert games.moves[: games.n_used].tolist() == whole.moves[: whole.n_used].tolist()
    assert games.score.tolist() == whole.score.tolist()


def test_dead_starts_are_games_without_moves() -> None:
    rules = Rules.from_text("1x2", spawn="2:0.5,4:0.5")
    for seed in range(8):
        assert_same_game("random", rules, seed)
