"""The player that plays every move on at random: what it says, when it stops, and that it plays well."""

import math

import numpy as np
import pytest
from kernels.test_rollout import plain_rollout

from lab2048.arena.episode import play_episode
from lab2048.errors import UsageError
from lab2048.kernels.rollout.rollout import RolloutOptions
from lab2048.players import Decision, check_player, make_player
from lab2048.players.race import Race
from lab2048.rules import Board, Game, Rules, dice

MIDDLE = "2 4 8 16 / # # 2 # / # 64 # # / # # # 2"


def ask(spec: str, text: str, seed: int = 1) -> Decision:
    player, board = make_player(spec), Board.from_text(text)
    player.start(Rules.from_text(text, start=0), seed)
    return player.choose(board)


@pytest.mark.parametrize("metric", ["score", "sum", "moves"])
@pytest.mark.parametrize("text", ["2 2 4 # / # # # #", "hex1:2 4 / 2 # # / # #", "32768 32768 2 / 2 x 4"])
def test_values_are_means_of_plain_rollouts(text: str, metric: str) -> None:
    rules, n, seed = Rules.from_text(text), 4, 3
    found = ask(f"montecarlo:rollouts={n},metric={metric},risk=0", text, seed)
    key = dice.draw(dice.stream_key(seed, dice.PLAYER), rules.board.tile_sum // 2)
    for move, (after, reward) in rules.board.slides():
        games = [plain_rollout(rules, after, dice.draw(key, j), False, RolloutOptions(limit=2000)) for j in range(n)]
        results = {
            "score": [reward + gained for gained, _, _ in games],
            "sum": [tile_sum for _, tile_sum, _ in games],
            "moves": [1 + n_moves for _, _, n_moves in games],
        }[metric]
        assert found.values[move] == pytest.approx(np.mean(results))
        assert found.errors[move] == pytest.approx(np.std(results, ddof=1) / math.sqrt(n))
    assert found.values[found.move] == max(found.values.values())


@pytest.mark.parametrize("spec", ["montecarlo:rollouts=40,policy=merge,limit=30", "montecarlo:rollouts=40,metric=sum"])
def test_contract_on_every_kind_of_board(spec: str) -> None:
    check_player(make_player(spec), seed=3, n_moves=8)


def test_the_choice_is_a_function_of_seed_and_board() -> None:
    player = make_player("montecarlo")
    player.start(Rules.from_text("4x4"), 5)
    boards = [Board.from_text(text) for text in (MIDDLE, "2 2 # # / # # # # / # # # # / # # # #")]
    first, _, again = player.choose(boards[0]), player.choose(boards[1]), player.choose(boards[0])
    assert first == again
    assert first == ask("montecarlo", MIDDLE, 5)
    assert first != ask("montecarlo", MIDDLE, 6)


def test_a_clear_choice_takes_fewer_rollouts() -> None:
    # Left and right merge 1024s; up and down lose the chance to.
    text = "1024 1024 2 4 / 2 4 8 16 / 4 8 16 2 / 8 16 2 #"
    whole, short = ask("montecarlo:rollouts=1000,risk=0", text), ask("montecarlo:rollouts=1000", text)
    assert short.nodes < whole.nodes
    assert short.move == whole.move
    assert set(short.values) == set(short.errors) == set(whole.values)


def test_early_stops_choose_like_all_rollouts() -> None:
    rules, n_same = Rules.from_text("3x3"), 0
    whole, short = make_player("montecarlo:risk=0"), make_player("montecarlo")
    game = Game(rules, 1)
    game.replay(play_episode(make_player("montecarlo:rollouts=8"), "montecarlo", rules, 1).moves)
    boards = []
    while game.undo():
        boards.append(game.board)
    n_nodes = [0, 0]
    for board in boards:
        decisions = []
        for i, player in enumerate((whole, short)):
            player.start(rules, 2)
            decisions.append(player.choose(board))
            n_nodes[i] += decisions[-1].nodes
        n_same += decisions[0].move == decisions[1].move
    assert n_same >= 0.9 * len(boards)
    assert n_nodes[1] < 0.9 * n_nodes[0]


def test_an_only_move_is_judged_cheaply() -> None:
    text = "2 4 # / 8 2 # / 4 8 #"  # only right
    found, whole = ask("montecarlo:rollouts=1000", text), ask("montecarlo:rollouts=16", text)
    assert list(found.values) == [1]
    assert found == whole
    assert found.errors[1] > 0


def test_one_rollout_has_no_error() -> None:
    found = ask("montecarlo:rollouts=1", MIDDLE)
    assert not found.errors
    assert len(found.values) == 4


@pytest.mark.parametrize("ms", [1e-6, 0.1, 3.0])
@pytest.mark.parametrize(
    "text", [MIDDLE, "2 2 / # #", "2 2 32768 32768 / # # # #", "hex2:2 2 # / # # # # / # # # # # / # # # # / # # #"]
)
@pytest.mark.parametrize("metric", ["score", "moves"])
def test_a_clock_never_costs_the_move(ms: float, text: str, metric: str) -> None:
    legal = set(Board.from_text(text).legal_moves())
    found = ask(f"montecarlo:ms={ms},metric={metric}", text)
    assert found.move in legal
    assert set(found.values) == legal
    assert found.values[found.move] == max(found.values.values())
    assert not make_player(f"montecarlo:ms={ms}").is_repeatable


def test_endless_games_end() -> None:
    found = ask(
        "montecarlo:rollouts=2,limit=50", "2 4 8 # # # # # / # # # # # # # # / # # # # # # # # / # # # # # # # #"
    )
    assert 0 < found.nodes <= 2 * 4 * 50


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("montecarlo:rollouts=0", "rollouts 0 "),
        ("montecarlo:rollouts=1000001", "1000000"),
        ("montecarlo:ms=0", "ms 0"),
        ("montecarlo:metric=scores", "score"),
        ("montecarlo:policy=greedy", "policy 'greedy'"),
        ("montecarlo:limit=0", "limit 0 "),
        ("montecarlo:risk=0.5", "risk 0.5 "),
    ],
)
def test_options_that_make_no_sense_are_refused(spec: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        make_player(spec)


def test_it_must_be_started() -> None:
    with pytest.raises(UsageError, match="start"):
        make_player("montecarlo").choose(Board.from_text(MIDDLE))


@pytest.mark.parametrize("text", ["3x3", "2x4", "hex1", "####|#xx#|#xx#|####"])
def test_it_beats_random_on_every_seed_together(text: str) -> None:
    rules, scores = Rules.from_text(text), {}
    for spec in ("montecarlo:rollouts=20", "random"):
        scores[spec] = np.array([play_episode(make_player(spec), spec, rules, seed).score for seed in range(8)])
    ahead = scores["montecarlo:rollouts=20"] - scores["random"]
    assert ahead.mean() > 3 * ahead.std(ddof=1) / math.sqrt(len(ahead))


def race_of(*results: list[float]) -> Race:
    return Race(np.arange(len(results)), np.array(results, float), len(results[0]))


def test_what_is_clearly_worse_drops_out_and_keeps_its_place() -> None:
    race = race_of([10, 20, 30, 40], [9, 18, 31, 39], [1, 12, 19, 30])
    race.drop(2.0, 100)
    assert race.moves.tolist() == [0, 1]
    assert race.dropped == [(2, 0, 4)]
    race.make_room(6)
    race.results[:2, 4:6] = [[0, 0], [50, 50]]  # poor dice for the one that beat it: that is not its merit
    race.n = 6
    values, errors = race.estimate()
    assert values == pytest.approx({0: 100 / 6, 1: 197 / 6, 2: 100 / 6 - 9.5})
    assert set(errors) == {0, 1, 2}
    assert min(errors.values()) > 0


def test_equal_moves_stay_in_the_race() -> None:
    race = race_of([5, 5], [5, 5])
    race.drop(2.0, 100)
    assert race.moves.tolist() == [0, 1]
    race.drop(2.0, 2)  # the end: what is behind would stay behind
    assert race.moves.tolist() == [0, 1]


def test_standard_errors_are_true_also_of_those_that_dropped_out() -> None:
    """Many races of moves whose true means are known: errors in units of what was said have variance 1."""
    rng, distances = np.random.default_rng(1), []
    for _ in range(400):
        luck = rng.normal(0, 3, 200)
        results = np.stack([luck + rng.normal(mean, 1, 200) for mean in (2, 1.9, 0)])
        race = Race(np.arange(2), results, 200, dropped=[(2, 0, 40)])
        values, errors = race.estimate()
        distances.append([(values[move] - mean) / errors[move] for move, mean in ((0, 2), (1, 1.9), (2, 0))])
    spread = np.std(distances, axis=0)
    assert ((spread > 0.85) & (spread < 1.15)).all()
    # By its own 40 rollouts alone the third would be known to 3.16 / sqrt(40) = 0.5; by the rival to 0.32.
    assert errors[2] < 0.4
