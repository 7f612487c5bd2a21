"""What an environment refuses, and how."""

from typing import Any

import numpy as np
import pytest

from lab2048.envs.single import GameEnv
from lab2048.envs.vector import VectorGameEnv
from lab2048.errors import UsageError


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "3x3"}, "unknown option 'rule': did you mean rules?"),
        ({"rules": 4}, "rules is 4: expected str"),
        ({"goal": "2048"}, "goal is '2048': expected int"),
        ({"spawn": 5}, "spawn is 5"),
        ({"start": 1.5}, "start is 1.5"),
        ({"start": True}, "start is True"),
        ({"spawner": 5}, "spawner is 5"),
        ({"illegal_reward": None}, "illegal_reward is None"),
        ({"illegal_reward": float("nan")}, "expected a finite number"),
        ({"reward": "socre"}, "did you mean score?"),
    ],
)
@pytest.mark.parametrize("kind", [GameEnv, VectorGameEnv])
def test_a_wrong_option_is_one_clear_line(kind: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**options)
    assert says in str(caught.value)


@pytest.mark.parametrize("options", [{"num_envs": 0}, {"num_envs": 1.5}, {"max_episode_steps": 2**63}])
def test_a_wrong_count_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected a whole number from 1 on"):
        VectorGameEnv(**options)


@pytest.mark.parametrize("action", [[1], np.array([1]), [0, 1], 1.0, "1", None])
def test_an_action_is_one_whole_number(action: Any) -> None:
    env = GameEnv()
    env.reset(seed=1)
    with pytest.raises(UsageError, match="expected 0 to 3"):
        env.step(action)


@pytest.mark.parametrize("seed", ["abc", "5", 1.5])
def test_a_game_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(UsageError, match="expected a whole number"):
        GameEnv().reset(options={"game_seed": seed})
