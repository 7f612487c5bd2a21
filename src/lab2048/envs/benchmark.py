"""How fast the vector environment is on this machine."""

import time
from collections.abc import Callable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from lab2048.envs import CLASSIC

N_GAMES = 1024


def choose_legal(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal action for each game, each as likely as the others."""
    # The lowest draw is above 0, so that the highest product is that of a legal action.
    draws = 1 - rng.random(mask.shape, np.float32)
    actions: NDArray[np.int64] = (draws * mask).argmax(axis=1)
    return actions


def vector_env(*, rules: str = "4x4", n_games: int = N_GAMES, seconds: float = 0.3) -> Callable[[], float]:
    """Random legal play through `env.step`; a call measures the rate once, in steps a CPU second.

    A step hands out ranks, masks, rewards and infos; choosing the actions is not counted.
    """
    env = gymnasium.make_vec(CLASSIC, num_envs=n_games, rules=rules)
    rng = np.random.default_rng(0)
    mask = env.reset(seed=0)[1]["action_mask"]
    for _ in range(200):  # leave the first moves behind, when all games are alike
        mask = env.step(choose_legal(mask, rng))[4]["action_mask"]

    def measure() -> float:
        nonlocal mask
        spent, n_calls = 0.0, 0
        while spent < seconds:
            actions = choose_legal(mask, rng)
            before = time.process_time()
            result = env.step(actions)
            spent += time.process_time() - before
            mask = result[4]["action_mask"]
            n_calls += 1
        return n_calls * n_games / spent

    return measure
