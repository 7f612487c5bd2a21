"""Monte Carlo tree search: it finds exact values, keeps what it learned, and minds the clock."""

from functools import cache

import pytest

from lab2048.errors import UsageError
from lab2048.players import check_player, make_player
from lab2048.players.mcts import MctsPlayer
from lab2048.rules import Board, Game, Rules


@cache
def best_value(rules: Rules, board: Board) -> float:
    """The expected score to come under best play, by plain recursion."""
    return max((move_value(rules, *slide) for _, slide in board.slides()), default=0.0)


def move_value(rules: Rules, after: Board, reward: int) -> float:
    return reward + sum(
        spawn.probability * best_value(rules, after.put(spawn.cell, spawn.rank)) for spawn in rules.spawns(after)
    )


@pytest.mark.parametrize("text", ["2 2 / 4 8", "4 8 / 8 #", "16 4 / # 2"])
def test_many_iterations_come_near_the_exact_values(text: str) -> None:
    rules = Rules.from_text("2x2")
    board = Board.from_text(text)
    exact = {move: move_value(rules, *slide) for move, slide in board.slides()}
    player = make_player("mcts:iterations=20000,c=0.5,depth=100")
    player.start(rules, 1)
    decision = player.choose(board)
    best = max(exact.values())
    assert exact[decision.move] == pytest.approx(best)
    assert decision.values[decision.move] == pytest.approx(best, rel=0.03)


def test_it_remembers_from_move_to_move() -> None:
    """A board that it has looked ahead to is known before its first iteration."""
    rules = Rules.from_text("3x3")
    game, player, fresh = Game(rules, 1), MctsPlayer(iterations=3000), MctsPlayer(iterations=1)
    for each in (player, fresh):
        each.start(rules, 1)
    game.play(player.choose(game.board).move)
    player.iterations = 1
    assert len(player.choose(game.board).errors) > 1
    assert not fresh.choose(game.board).errors  # one rollout has no spread


def test_a_discount_makes_later_rewards_of_a_rollout_count_less() -> None:
    """Three moves, the last two in a rollout: only the very last is multiplied."""
    rules, board, halves = Rules.from_text("3x3"), Board.from_text("2 2 4 / 4 8 8 / 2 2 4"), []
    for seed in range(20):
        values = {}
        for discount in (0, 0.5, 1):
            player = make_player(f"mcts:iterations=1,depth=3,discount={discount}")
            player.start(rules, seed)
            values[discount] = sum(player.choose(board).values.values())
        assert values[0.5] == (values[0] + values[1]) / 2
        halves.append(values[1] - values[0.5])
    assert min(halves) >= 0
    assert max(halves) > 0


def test_a_new_game_begins_with_nothing_known() -> None:
    rules, player = Rules.from_text("3x3"), make_player("mcts:iterations=100")
    board = Game(rules, 1).board
    player.start(rules, 1)
    first = player.choose(board)
    player.choose(board)
    player.start(rules, 1)
    assert player.choose(board) == first


@pytest.mark.parametrize(
    "spec",
    [
        "mcts:iterations=1",
        "mcts:iterations=20,rollout=merge",
        "mcts:iterations=20,depth=1",
        "mcts:iterations=20,c=0",
        "mcts:iterations=20,discount=0.75,ripe=1",
    ],
)
def test_every_setting_keeps_the_contract(spec: str) -> None:
    check_player(make_player(spec), seed=1, n_moves=15)


@pytest.mark.parametrize("ms", [0.001, 0.1, 3.0])
def test_a_clock_never_costs_the_move(ms: float) -> None:
    check_player(make_player(f"mcts:ms={ms}"), seed=1, rules=("4x4", "##x|#x#|###", "hex2", "8x8"), n_moves=10)


def test_an_only_move_is_valued_and_costs_little() -> None:
    player = make_player("mcts:iterations=100000")
    player.start(Rules.from_text("2x2"), 1)
    decision = player.choose(Board.from_text("2 4 / # #"))
    assert list(decision.values) == [2]
    assert decision.nodes < 1000
    assert decision.errors[2] > 0


@pytest.mark.parametrize("text", ["65536 32768 2 2 / # # # # / # # # # / # # # #", "65536 65536 / 131072 #"])
def test_tiles_above_32768(text: str) -> None:
    player, rules = make_player("mcts:iterations=100"), Rules.from_text(text)
    player.start(rules, 1)
    decision = player.choose(rules.board)
    rewards = {move: slide.reward for move, slide in rules.board.slides()}
    assert all(decision.values[move] >= reward for move, reward in rewards.items())


@pytest.mark.parametrize(
    ("text", "n_games"), [("3x3", 6), ("2x4", 6), ("####|#xx#|#xx#|####", 6), ("5x5", 2), ("hex2", 2)]
)
def test_it_beats_random_play(text: str, n_games: int) -> None:
    """On the same seeds, at least half as much again; games are cut at a thousand moves."""
    rules = Rules.from_text(text)
    scores = []
    for spec in ("random", "mcts:iterations=12,depth=12"):
        player = make_player(spec)
        total = 0
        for seed in range(n_games):
            game = Game(rules, seed)
            player.start(rules, seed)
            while not game.is_over and len(game.turns) < 1000:
                game.play(player.choose(game.board).move)
            total += game.score
        scores.append(total)
    assert scores[1] > 1.5 * scores[0]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("mcts:iterations=0", "iterations 0 is out of range: expected 1 to"),
        ("mcts:ms=0", "ms 0.0 is out of range: expected above 0"),
        ("mcts:c=-1", "c -1.0 is out of range: expected 0 to"),
        ("mcts:rollout=best", "unknown rollout 'best'"),
        ("mcts:discount=1.5", "discount 1.5 is out of range: expected 0 to 1"),
        ("mcts:depth=0", "depth 0 is out of range: expected 1 or more"),
        ("mcts:ripe=0", "ripe 0 is out of range: expected 1 to"),
    ],
)
def test_bad_options_are_one_line(spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make_player(spec)


def test_it_says_when_it_was_not_started() -> None:
    with pytest.raises(UsageError, match="has not been started"):
        make_player("mcts").choose(Board.from_text("22##"))
