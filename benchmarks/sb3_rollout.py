"""Rollouts of MaskablePPO: steps per second with our VecEnv and with DummyVecEnv over single environments.

    python benchmarks/sb3_rollout.py [--games 1024] [--rounds 7] [--json]

Both run the same number of games with the same policy, in turn, on one core.  Times are CPU seconds; medians are
compared.

    rollout   MaskablePPO.collect_rollouts: policy, masks, steps, rollout buffer
    env       the environment's part of it: get_action_masks and step

Each is measured without a monitor (GameVecEnv, DummyVecEnv over GameEnv) and as Stable-Baselines3 sets up a training
(VecMonitor over GameVecEnv; make_vec_env, which adds Monitor and Gymnasium's own wrappers).  The policy is MlpPolicy,
two layers of 64, with ReLU, and with its default, tanh, which takes more time than all the rest.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor

from lab2048.envs import CLASSIC
from lab2048.envs.benchmark import choose_legal
from lab2048.envs.sb3 import GameVecEnv
from lab2048.envs.single import GameEnv

FAST_STEPS, SLOW_STEPS = 64, 4  # of one measurement


def rollout(make: Callable[[], VecEnv], n_steps: int, activation: type[torch.nn.Module]) -> Callable[[], float]:
    policy = {"net_arch": [64, 64], "activation_fn": activation}
    model = MaskablePPO("MlpPolicy", make(), n_steps=n_steps, policy_kwargs=policy, seed=1, device="cpu")
    _, callback = model._setup_learn(total_timesteps=1, callback=None)

    def measure() -> float:
        before = time.process_time()
        model.collect_rollouts(model.env, callback, model.rollout_buffer, n_steps)
        return n_steps * model.n_envs / (time.process_time() - before)

    return measure


def env_only(make: Callable[[], VecEnv], n_steps: int) -> Callable[[], float]:
    env, rng = make(), np.random.default_rng(1)
    env.seed(1)
    env.reset()

    def measure() -> float:
        spent = 0.0
        for _ in range(n_steps):
            before = time.process_time()
            masks = get_action_masks(env)
            spent += time.process_time() - before
            actions = choose_legal(masks.astype(np.int8), rng)
            before = time.process_time()
            env.step(actions)
            spent += time.process_time() - before
        return n_steps * env.num_envs / spent

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    n = options.games
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    pairs: dict[str, tuple[Callable[[], VecEnv], Callable[[], VecEnv]]] = {
        "without monitor": (lambda: GameVecEnv(n), lambda: DummyVecEnv([GameEnv] * n)),
        "with monitor": (lambda: VecMonitor(GameVecEnv(n)), lambda: make_vec_env(CLASSIC, n_envs=n)),
    }
    measures: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {}
    for name, (ours, theirs) in pairs.items():
        for activation in (torch.nn.ReLU, torch.nn.Tanh):
            measures[f"rollout, {activation.__name__}, {name}"] = (
                rollout(ours, FAST_STEPS, activation),
                rollout(theirs, SLOW_STEPS, activation),
            )
        measures[f"env, {name}"] = env_only(ours, FAST_STEPS), env_only(theirs, SLOW_STEPS)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in measures}
    for _ in range(options.rounds):
        for name, (ours_now, theirs_now) in measures.items():
            found[name].append((ours_now(), theirs_now()))
    rows = {}
    for name, results in found.items():
        fast, slow = (statistics.median(each) for each in zip(*results, strict=True))
        ratios = sorted(a / b for a, b in results)
        rows[name] = {"ours": fast, "dummy": slow, "ratio": fast / slow, "lowest": ratios[0], "highest": ratios[-1]}
    if options.json:
        print(json.dumps({"games": n, "rounds": options.rounds, "steps_per_cpu_second": rows}, indent=2))
        return
    print(f"{n} games, {options.rounds} rounds, thousand steps per CPU second")
    for name, row in rows.items():
        figures = f"ours {row['ours'] / 1e3:8.0f}   DummyVecEnv {row['dummy'] / 1e3:6.1f}"
        print(f"{name:<34} {figures}   ratio {row['ratio']:5.1f} ({row['lowest']:.1f} to {row['highest']:.1f})")


if __name__ == "__main__":
    main()
