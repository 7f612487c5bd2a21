"""Measure the speed of the environments on this machine."""

import itertools
import time
from collections.abc import Callable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from lab2048.envs import CLASSIC

N_GAMES = 1024


def choose_legal(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a uniformly random legal action for each game."""
    # Draws are above 0, so the highest product belongs to a legal action.
    draws = 1 - rng.random(mask.shape, np.float32)
    actions: NDArray[np.int64] = (draws * mask).argmax(axis=1)
    return actions


def single_env(*, rules: str = "4x4", n_steps: int = 50_000) -> Callable[[], float]:
    """Measure random legal play of one game through `gymnasium.make`, in steps per second of CPU time.

    Choosing the actions and starting new games are included.
    """
    env = gymnasium.make(CLASSIC, rules=rules)
    masks = itertools.product((0, 1), repeat=int(env.action_space.n))  # type: ignore[attr-defined]
    legal = {
        np.array(mask, np.int8).tobytes(): [move for move, is_legal in enumerate(mask) if is_legal] for mask in masks
    }
    draws = np.random.default_rng(0).random(n_steps).tolist()
    mask = env.reset(seed=0)[1]["action_mask"]

    def measure() -> float:
        nonlocal mask
        before = time.process_time()
        for draw in draws:
            choices = legal[mask.tobytes()]
            _, _, terminated, _, info = env.step(choices[int(draw * len(choices))])
            mask = (env.reset()[1] if terminated else info)["action_mask"]
        return n_steps / (time.process_time() - before)

    return measure


def vector_env(*, rules: str = "4x4", n_games: int = N_GAMES, seconds: float = 0.3) -> Callable[[], float]:
    """Measure random legal play through `env.step`, in steps per second of CPU time.

    A step returns ranks, masks, rewards and infos; choosing the actions is not counted.
    """
    env = gymnasium.make_vec(CLASSIC, num_envs=n_games, rules=rules)
    rng = np.random.default_rng(0)
    mask = env.reset(seed=0)[1]["action_mask"]
    for _ in range(200):  # skip the first moves, when all games are similar
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
