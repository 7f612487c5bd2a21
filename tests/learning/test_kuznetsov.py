"""The network of Kuznetsov 2022: its optimizer, regularization, penalty and illegal moves."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lab2048.errors import UsageError  # noqa: E402
from lab2048.learning.deep.config import ReturnsConfig  # noqa: E402
from lab2048.learning.deep.optimizer import Sgd  # noqa: E402
from lab2048.learning.deep.returns import ReturnsTraining  # noqa: E402
from lab2048.models.deep.file import load_deep  # noqa: E402
from lab2048.rules import Rules  # noqa: E402

RULES = Rules.from_text("2x2", goal=16)


def begin(**options: object) -> ReturnsTraining:
    return ReturnsTraining.begin(config_of(crowd=4, trial_every=0, **options), RULES, 1)


def config_of(**options: object) -> ReturnsConfig:
    return ReturnsConfig(**ReturnsConfig.parse(options, "kuznetsov"))


def test_a_step_is_that_of_torch() -> None:
    ours = begin(l2=0.3, momentum=0.8).adam
    assert isinstance(ours, Sgd)
    theirs = torch.nn.Parameter(ours.flat.detach().clone())
    optimizer = torch.optim.SGD([theirs], lr=0.01, momentum=0.8, weight_decay=0.3)
    for _ in range(3):
        ours.step((ours.flat**2).sum(), 0.01)
        optimizer.zero_grad()
        (theirs**2).sum().backward()
        optimizer.step()
    assert torch.allclose(ours.flat, theirs, rtol=1e-5)


def test_the_preset_trains_and_resumes_bit_by_bit(tmp_path: Path) -> None:
    whole, first = begin(dropout=0.2), begin(dropout=0.2)
    for _ in whole.run(n_games=60):
        pass
    for _ in first.run(n_games=20):
        pass
    first.save(tmp_path / "net.safetensors")
    second = ReturnsTraining.resume(tmp_path / "net.safetensors", 1)
    for _ in second.run(n_games=60):
        pass
    assert torch.equal(whole.adam.flat, second.adam.flat)
    assert whole.n_steps == whole.n_games  # one gradient step per game
    assert load_deep(tmp_path / "net.safetensors")[0].design.slope == 0.01


def test_illegal_moves_change_nothing_and_earn_nothing() -> None:
    training = begin(epsilon=1.0)
    for _ in training.run(n_games=30):
        pass
    # Random moves of which some change nothing: a tile sum of at most 4 per move that spawned.
    assert sum(game.n_moves for game in training._last) > sum(game.tile_sum / 2 for game in training._last)
    assert max(game.score for game in training._last) > 0


def test_a_network_without_random_moves_might_repeat_an_illegal_one_for_ever() -> None:
    with pytest.raises(UsageError, match="needs random moves"):
        config_of(epsilon=0.0).check(RULES)


def test_a_lost_game_costs_twice_its_highest_tile() -> None:
    rewards = np.array([4, 0, 8], np.float32)
    assert begin()._returns(rewards, 3).tolist() == [12 - 16, 8 - 16, 8 - 16]
    assert begin()._returns(rewards, 4).tolist() == [12, 8, 8]  # the goal
    assert begin(tile_penalty=0.0, penalty=5.0)._returns(rewards, 3).tolist() == [7, 3, 3]


def test_the_same_layers_read_digits() -> None:
    pytest.importorskip("sklearn")
    from lab2048.studies.run.digits import learn_digits, read_digits

    images, digits = read_digits()
    learned, unseen = learn_digits(images[:600], digits[:600], images[600:], digits[600:], seed=1)
    assert learned.mean() > 0.97
    assert unseen.mean() > 0.8
