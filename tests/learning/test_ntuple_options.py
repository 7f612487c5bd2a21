"""Options of the n-tuple learner after Datta et al. 2022: pairs, moves by value alone, the best network, decay; and
training a network further."""

from pathlib import Path

import numpy as np
import pytest

import lab2048
from lab2048.errors import FileError, UsageError
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config, best_path
from lab2048.models.ntuple.compress import quantize
from lab2048.models.ntuple.file import load_network, save_network
from lab2048.players import make_player
from lab2048.rules import Board, Rules

PLAIN = {"method": "td", "order": "forward", "alpha": 0.2, "trace": 0.0, "restart": False, "carousel": False}
RULES = Rules.from_text("3x3")


def trained(n_games: int, **options: object) -> Training:
    given = PLAIN | {"network": "pairs", "guide": 0.0, "stages": "none", "epsilon": 0.0} | options
    training = Training.begin(Config.for_board(RULES, **given), RULES, 1)
    for _ in training.run(n_games=n_games):
        pass
    return training


def test_pairs_are_all_adjacent_cells() -> None:
    assert sorted(trained(1, share=False).network.design.patterns) == sorted(
        [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)]
    )


def test_the_best_network_is_kept_beside_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    training, early = trained(300, keep="best"), trained(1, keep="best")
    training.save(path)
    assert training.n_games == 300
    best, last = load_network(best_path(path)), load_network(path)
    assert not np.array_equal(best.weights, last.weights)
    assert training.best >= early.best
    assert not best_path(tmp_path / "other.safetensors").exists()


def test_keeping_the_best_changes_no_game() -> None:
    kept, plain = trained(200, keep="best"), trained(200)
    assert np.array_equal(kept.network.weights, plain.network.weights)


def test_moves_by_value_alone_learn_other_weights_and_ignore_rewards(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    training = trained(200, choose="value")
    assert not np.array_equal(training.network.weights, trained(200).network.weights)
    training.save(path)
    board = Board.from_text("2 2 4 / 4 # 8 / # 8 8")
    values = {}
    for by in ("value", "return"):
        player = make_player(f"ntuple:weights={path},depth=1,trust=0.0,by={by}")
        player.start(RULES, 1)
        values[by] = player.choose(board).values
    for move, slide in board.slides():
        assert values["return"][move] - values["value"][move] == pytest.approx(slide.reward, abs=0.01)


@pytest.mark.parametrize(("n_moves", "share"), [(0, 1), (199_999, 1), (200_000, 0.5), (400_000, 0.25), (10**9, 0.1)])
def test_the_learning_rate_decays_to_a_tenth(n_moves: int, share: float) -> None:
    config = Config.for_board(RULES, **PLAIN | {"decay": 0.5})
    assert config.kernel_method(RULES, 1, n_moves=n_moves).alpha == pytest.approx(0.2 * share)


@pytest.mark.parametrize(("n_moves", "epsilon"), [(0, 0.05), (99_999_999, 0.05), (10**8, 0.005), (10**9, 0.005)])
def test_small_boards_are_explored_first(n_moves: int, epsilon: float) -> None:
    method = Config.for_board(RULES).kernel_method(RULES, 1, n_moves=n_moves)
    assert method.epsilon == pytest.approx(epsilon)


def test_exploring_ends_with_the_same_move_in_any_slices(tmp_path: Path) -> None:
    options = {"epsilon": 0.2, "explored": 3000.0}
    whole, path = trained(1, **options), tmp_path / "net.safetensors"
    for _ in whole.run(n_moves=6000):
        pass
    part = trained(1, **options)
    for _ in part.run(n_moves=2000):
        pass
    part.save(path)
    resumed = Training.resume(path, 1)
    for _ in resumed.run(n_moves=6000):
        pass
    assert np.array_equal(resumed.network.weights, whole.network.weights)


def fine_tuned(path: Path, **options: object) -> Training:
    return Training.begin(Config.for_board(RULES, init=str(path), **options), RULES, 1)


@pytest.mark.parametrize("is_quantized", [False, True])
def test_a_network_is_trained_further_as_it_was_trained(tmp_path: Path, is_quantized: bool) -> None:
    path = tmp_path / "net.safetensors"
    first = trained(200, restart=True, trace=0.25)
    first.save(path)
    if is_quantized:
        save_network(path, quantize(first.network, 0.5))
    second = fine_tuned(path, seed=9)
    assert np.allclose(second.network.weights, first.network.weights, atol=0.25 if is_quantized else 0)
    assert second.network.design == first.network.design
    assert (second.config.restart, second.config.trace, second.config.seed) == (True, 0.25, 9)
    assert (second.config.method, second.config.alpha) == ("td", 0.002)
    for _ in second.run(n_games=20):
        pass
    assert not np.array_equal(second.network.weights, first.network.weights)
    second.save(tmp_path / "second.safetensors")
    path.unlink()  # its weights are in the new file
    assert Training.resume(tmp_path / "second.safetensors", 1).config.init == str(path)
    lab2048.train(resume=True, out=tmp_path / "second.safetensors", games=25, threads=1, progress=False)
    assert Training.resume(tmp_path / "second.safetensors", 1).n_games >= 25


def test_a_network_that_cannot_be_trained_further_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    with pytest.raises(FileError, match=r"init=.* cannot be read"):
        fine_tuned(path)
    trained(5).save(path)
    with pytest.raises(UsageError, match="expected td"):
        fine_tuned(path, method="tc")
    with pytest.raises(UsageError, match="expected a network of the same kind"):
        fine_tuned(path, network="rows")
    with pytest.raises(UsageError, match="expected a network of the same kind"):
        Training.begin(Config.for_board(Rules.from_text("2x3"), init=str(path)), Rules.from_text("2x3"), 1)
