"""Options of the n-tuple learner after Datta et al. 2022: pairs, moves by value alone, the best network, decay."""

from pathlib import Path

import numpy as np
import pytest

from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config, best_path
from lab2048.models.ntuple.file import load_network
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
