"""How deep networks learn: they get better, one seed makes one curve, and an interruption changes nothing."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab2048.errors import FileError, UsageError
from lab2048.learning.deep.config import ActionConfig
from lab2048.learning.deep.vector_games import VectorGames
from lab2048.rules import Board, Game, Rules

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")

from lab2048.learning.deep.action_values import C51Training, DqnTraining, project  # noqa: E402
from lab2048.learning.deep.afterstate_values import AfterstateTraining  # noqa: E402
from lab2048.learning.deep.distil import DistilTraining  # noqa: E402
from lab2048.learning.deep.replay_buffer import ReplayBuffer  # noqa: E402
from lab2048.learning.deep.returns import ReturnsTraining  # noqa: E402
from lab2048.learning.deep.training import DeepTraining  # noqa: E402
from lab2048.models.deep.file import load_deep  # noqa: E402

METHODS: list[type[DeepTraining]] = [AfterstateTraining, C51Training, DqnTraining, ReturnsTraining, DistilTraining]
SMALL = {"crowd": 8, "widths": "16,8,16", "batch": 32, "trial_every": 50, "trial_games": 4}


def begin(method: type[DeepTraining], n_threads: int = 1, text: str = "2x3", **wishes: Any) -> DeepTraining:
    return method(method.config_class(**SMALL | wishes), Rules.from_text(text), n_threads)


def curve(training: DeepTraining, n_moves: int) -> list[dict[str, Any]]:
    """Every figure of every round but those that a clock has to do with."""
    clocks = ("seconds", "pace", "step_pace", "trial")
    return [
        {name: value for name, value in progress.to_json().items() if name not in clocks}
        for progress in training.run(n_moves=n_moves)
    ]


def state(training: DeepTraining) -> dict[str, bytes]:
    arrays = training.adam.to_arrays() | training.games.to_arrays() | training.extra_arrays()
    return {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)
def test_one_seed_makes_one_curve_to_the_bit(method: type[DeepTraining]) -> None:
    one, other, third = begin(method), begin(method, n_threads=2), begin(method, seed=2)
    figures = curve(one, 2000)
    assert figures == curve(other, 2000)
    assert state(one) == state(other)
    assert one.evaluations[-1]["mean"] == other.evaluations[-1]["mean"]
    assert figures != curve(third, 2000)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)
def test_training_in_two_parts_is_training_in_one(method: type[DeepTraining], tmp_path: Path) -> None:
    path, whole = tmp_path / "net.safetensors", begin(method)
    curve(whole, 2500)
    part = begin(method)
    for n_moves in (1, 900, 2500):
        curve(part, n_moves)
        part.save(path)
        part = method.resume(path, 1)
    assert state(part) == state(whole)
    assert [trial["mean"] for trial in part.evaluations] == [trial["mean"] for trial in whole.evaluations]
    assert len(part.sessions) == 3
    names = ("n_games", "mean", "length", "tile_sum", "max_tile")  # of the rest, only since it went on
    assert [[point[name] for name in names] for point in part.curve] == [
        [point[name] for name in names] for point in whole.curve
    ]


def test_a_training_is_evaluated_before_its_first_game() -> None:
    training = begin(C51Training)
    untrained = training.evaluate(4).mean
    curve(training, 3000)
    assert [trial["n_games"] // 50 for trial in training.evaluations] == list(range(len(training.evaluations)))
    assert (training.evaluations[0]["n_moves"], training.evaluations[0]["mean"]) == (0, untrained)


def test_random_moves_become_rarer() -> None:
    config = begin(C51Training, epsilon=0.5, epsilon_end=0.1, epsilon_games=200).config
    assert isinstance(config, ActionConfig)
    assert [config.epsilon_after(n) for n in (0, 100, 200, 1000)] == pytest.approx([0.5, 0.3, 0.1, 0.1])
    assert dataclasses.replace(config, epsilon_end=None).epsilon_after(1000) == 0.5


def test_moves_of_the_shield_are_learned_only_if_asked_for() -> None:
    wishes = {"strategy": "reverse-shield", "warm_up": 0, "reward": "ordered"}
    for learns in (False, True):
        training = begin(C51Training, text="4x4", learn_shield=learns, **wishes)
        curve(training, 4000)
        assert isinstance(training, C51Training)
        assert training.replay.is_own[: training.replay.n_added].all() == learns


@pytest.mark.parametrize(
    ("method", "wishes", "least"),
    [
        (AfterstateTraining, {"unit": 100.0}, 2.0),
        (C51Training, {"most": 500.0, "ratio": 0.03, "refresh": 50}, 1.4),
        (DqnTraining, {"ratio": 0.03, "refresh": 50}, 1.2),
        (ReturnsTraining, {"penalty": 0.0, "discount": 0.9}, 1.1),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
def test_it_learns_to_play(method: type[DeepTraining], wishes: dict[str, Any], least: float) -> None:
    """Against random play, which makes 74 on average."""
    training = begin(method, crowd=32, trial_every=0, rate=5e-3, average=0.9, **wishes)
    curve(training, 16_000)
    assert training.evaluate(100).mean > least * 74


def test_the_mean_of_the_weights_is_what_is_kept(tmp_path: Path) -> None:
    training = begin(AfterstateTraining)
    curve(training, 1000)
    training.save(tmp_path / "net")
    network, _ = load_deep(tmp_path / "net")
    boards = np.array([[0, 1, 2, 0, 0, 1]], np.uint8)
    assert network.values(boards) == training.network().values(boards)
    assert network.values(boards) != training.adam.live.values(boards)
    assert network.facts["training"]["config"]["crowd"] == 8


def test_a_checkpoint_of_an_older_version_goes_on(tmp_path: Path) -> None:
    """An option that it had no word for is as it is by default."""
    from lab2048.models.deep.file import save_deep

    training, path = begin(ReturnsTraining), tmp_path / "net"
    training.save(path)
    network, arrays = load_deep(path)
    del network.facts["training"]["config"]["blame"]
    save_deep(path, network, arrays)
    assert ReturnsTraining.resume(path, 1).config == training.config


def test_what_cannot_change_is_refused(tmp_path: Path) -> None:
    training, path = begin(AfterstateTraining), tmp_path / "net"
    training.save(path)
    assert AfterstateTraining.resume(path, 1, rate=0.01).config.rate == 0.01
    with pytest.raises(UsageError, match="crowd 9: the network was trained with 8"):
        AfterstateTraining.resume(path, 1, crowd=9)
    with pytest.raises(UsageError, match="lab2048 train afterstate, not c51"):
        C51Training.resume(path, 1)


@pytest.mark.parametrize("missing", ["adam.flat", "games.words", "more.targets", "adam.n_steps"])
def test_a_file_without_its_training_cannot_go_on(tmp_path: Path, missing: str) -> None:
    from lab2048.models.deep.file import save_deep

    path = tmp_path / "net"
    begin(AfterstateTraining).save(path)
    network, arrays = load_deep(path)
    del arrays[missing]
    save_deep(path, network, arrays)
    with pytest.raises(FileError, match="cannot be trained further"):
        AfterstateTraining.resume(path, 1)


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"rate": 0.0}, "rate 0 is out of range"),
        ({"network": "line"}, "did you mean lines"),
        ({"widths": "8,x,8"}, "expected numbers such as"),
        ({"trace": 2.0}, "trace 2 is out of range: expected 0 to 1"),
    ],
)
def test_nonsense_is_refused(wishes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        begin(AfterstateTraining, **wishes)


# --- the parts ---------------------------------------------------------------------------


def test_vector_games_play_by_the_rules() -> None:
    rules = Rules.from_text("2x3")
    vector_games, rng = VectorGames(rules, 3, 1), np.random.default_rng(1)
    games, n_pairs = [Game(rules, int(seed)) for seed in vector_games._frames.numbers[2]], 0
    for _ in range(60):
        legal = vector_games.slide().legal
        moves = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
        for row in vector_games.ranks:
            board = row.reshape(2, 3)
            for one, other in ((board[:, 1:], board[:, :-1]), (board[1:], board[:-1])):
                n_pairs += int(((one == other) & (one > 0)).sum())
        step = vector_games.step(moves)
        for i, game in enumerate(games):
            score = game.score
            game.play(int(moves[i]))
            assert tuple(step.boards[i]) == game.board.ranks
            assert step.rewards[i] == game.score - score
            assert step.ended[i] == game.is_over
            if game.is_over:
                ending = vector_games.finished.popleft()
                assert ending[:4] == (game.score, len(game.turns), game.board.max_tile, game.board.tile_sum)
                games[i] = Game(rules, int(vector_games._frames.numbers[2, i]))
    assert vector_games.pairs[1:].sum() == n_pairs


def test_the_buffer_sums_rewards_to_the_end_of_a_game_and_no_further() -> None:
    replay = ReplayBuffer(6, 1, 1)
    ends, others = {4}, {7}
    for t in range(9):  # the first three are overwritten
        flags = [np.array([t in ends]), np.array([t not in others])]
        replay.add(np.full((1, 1), t, np.uint8), np.zeros(1, np.int64), np.array([10.0**t], np.float32), *flags)
    sample = replay.draw(np.random.default_rng(1), 200, 2, 0.5)
    assert sample is not None
    seen = {
        int(board): (float(reward), int(next_boards), float(discount))
        for (board,), reward, (next_boards,), discount in zip(
            sample.boards, sample.rewards, sample.next_boards, sample.discounts, strict=True
        )
    }
    assert seen == {
        3: (1000 + 0.5 * 1e4, 4, 0.0),  # the game ended at 4
        4: (1e4, 4, 0.0),
        5: (1e5 + 0.5 * 1e6, 7, 0.25),
        6: (1e6, 7, 0.5),  # the move at 7 was another's: judged there
    }


def test_a_projection_keeps_the_mean_and_the_ends() -> None:
    atoms = torch.tensor([0.0, 1.0, 10.0, 100.0])
    chances = torch.tensor([[0.5, 0.5, 0.0, 0.0]])
    returns = torch.tensor([[4.0, 55.0, 0.0, 0.0]])
    projected = project(returns, chances, atoms)
    assert float((projected * atoms).sum()) == pytest.approx(0.5 * 4 + 0.5 * 55)
    assert project(torch.tensor([[-5.0, 500.0, 0.0, 0.0]]), chances, atoms).tolist() == [[0.5, 0.0, 0.0, 0.5]]


def test_a_turned_board_has_its_move_turned() -> None:
    """The move that is learnt for a turned board does to it what the move does to the board."""
    training = begin(C51Training, text="3x3")
    assert isinstance(training, C51Training)
    ranks = np.array([1, 1, 2, 0, 3, 0, 4, 4, 0], np.uint8)
    shape = Rules.from_text("3x3").shape
    board = Board(shape, tuple(ranks.tolist()))
    assert len(training._cells) == 8
    for cells, moves in zip(training._cells, training._turned, strict=True):
        turned = Board(shape, tuple(ranks[cells].tolist()))
        for move, (after, _) in board.slides():
            assert turned.slide(int(moves[move])).board.ranks == tuple(np.array(after.ranks)[cells])


@pytest.mark.parametrize(
    ("blame", "is_won", "returns"),
    [
        ("end", False, [4 + 0.5 * (8 - 0.5 * 100), 8 - 0.5 * 100]),  # the penalty follows the last reward
        ("end", True, [4 + 0.5 * 8, 8]),
        ("every", False, [-100, -100]),
        ("every", True, [4 + 0.5 * 8, 8]),
    ],
)
def test_who_pays_for_a_lost_game(blame: str, is_won: bool, returns: list[float]) -> None:
    training = begin(ReturnsTraining, discount=0.5, penalty=100.0, blame=blame)
    assert isinstance(training, ReturnsTraining)
    highest = training.rules.goal_rank if is_won else 3
    assert training._returns(np.array([4, 8], np.float32), highest).tolist() == returns


@pytest.mark.parametrize("strategy", ["safe", "reverse-shield"])
def test_the_strategy_of_document_003_is_kept(strategy: str) -> None:
    training = begin(C51Training, strategy=strategy, reward="ordered", warm_up=5, epsilon=0.3, text="3x3")
    assert isinstance(training, C51Training)
    curve(training, 2000)
    replay = training.replay
    own = replay.is_own[: replay.n_added]
    boards, moves = replay.boards[: replay.n_added][own], replay.moves[: replay.n_added][own]
    shape = training.rules.shape
    for ranks, move in zip(boards, moves, strict=True):
        legal = Board(shape, tuple(ranks.tolist())).legal_moves()
        assert move in (2, 3) or not {2, 3} & set(legal)
    assert own.all() == (strategy == "safe")
    assert training.progress().total < training.progress().mean  # what is out of order counts less


def test_a_shield_is_learnt_from_its_interventions() -> None:
    """The learner comes to do as the shield does, also where that overrides the player behind it."""
    wishes = {"teacher": "shield:inner=(first:order=wdsa),kind=safe", "rate": 5e-3, "share": 0.5, "ratio": 0.2}
    training = begin(DistilTraining, text="3x3", average=0.9, trial_every=0, **wishes)
    first = next(training.run(n_moves=8)).more
    curve(training, 6000)
    last = training.progress().more
    assert last["overridden"] > 0.3  # up and right are not safe
    assert last["agreement"] > max(0.95, first["agreement"])


def test_what_a_shield_overrides_can_count_more() -> None:
    training = begin(DistilTraining, teacher="shield:inner=(first:order=wdsa),kind=safe", stress=3.0)
    assert isinstance(training, DistilTraining)
    curve(training, 100)
    weights = training.replay.rewards[: training.replay.n_added]
    assert set(np.unique(weights).tolist()) == {1.0, 3.0}


def test_the_curve_grows_ever_more_slowly() -> None:
    training = begin(AfterstateTraining, trial_every=0)
    curve(training, 20_000)
    games = [point["n_games"] for point in training.curve]
    assert games == sorted(set(games))
    assert all(next_boards >= 1.02 * before for before, next_boards in itertools.pairwise(games))
    assert len(games) > 20


def test_configs_say_what_their_fields_mean() -> None:
    for method in METHODS:
        for field in dataclasses.fields(method.config_class):
            assert field.metadata["doc"], field.name


def test_the_learning_rate_falls_with_the_square_root_of_moves() -> None:
    config = AfterstateTraining.config_class(rate=0.01, decay=100.0)
    assert [config.rate_after(n) for n in (0, 300, 2400)] == pytest.approx([0.01, 0.005, 0.002])
    assert AfterstateTraining.config_class(rate=0.01, decay=0.0).rate_after(10**9) == 0.01


def test_speeds_can_be_measured() -> None:
    from lab2048.learning.deep import benchmark

    pace = benchmark.train_speed("c51", 0.0)
    assert pace.moves > 0
    assert benchmark.vector_games_speed(8, 0.01) > 0
    assert benchmark.evaluation_speed(2, 0.01) > 0
