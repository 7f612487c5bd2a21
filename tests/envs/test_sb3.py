"""The environment for Stable-Baselines3, against its own DummyVecEnv over single environments."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from envs.series import SeriesEnv, assert_same
from lab2048.errors import UsageError

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install sb3-contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from lab2048.envs.sb3 import GameVecEnv
from lab2048.envs.single import GameEnv


def plain(observations):
    """Theirs are in an OrderedDict, ours in a dict."""
    return dict(observations) if isinstance(observations, dict) else observations


@pytest.mark.parametrize(
    "options",
    [
        {"rules": "3x3"},
        {"rules": "2x4", "observation": "planes", "reward": "log"},
        {"rules": "hex1", "observation": "dict", "illegal": "end"},
        {"rules": "3x3", "max_episode_steps": 7},
    ],
    ids=str,
)
def test_steps_are_those_of_dummy_vec_env(options):
    n_games = 3
    ours = GameVecEnv(n_games, **options)
    ours.seed(5)
    seen = ours.reset()
    single_options = dict(options)
    limit = single_options.pop("max_episode_steps", None)

    def make_single(base):
        env = SeriesEnv(base, **single_options)
        return gymnasium.wrappers.TimeLimit(env, limit) if limit else env

    theirs = DummyVecEnv([lambda base=int(info["seed"]): make_single(base) for info in ours.reset_infos])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert_same(seen, plain(theirs.reset()))
    rng, n_ended = np.random.default_rng(2), 0
    for _ in range(80):
        masks = get_action_masks(ours)
        assert_same(masks, get_action_masks(theirs))
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        if options.get("illegal") == "end":
            actions = rng.integers(0, masks.shape[1], n_games)
        seen, rewards, dones, infos = ours.step(actions)
        their_seen, their_rewards, their_dones, their_infos = theirs.step(actions)
        assert_same(seen, plain(their_seen))
        assert_same(rewards, their_rewards)
        assert_same(dones, their_dones)
        for i in range(n_games):
            assert (infos[i] != {}) == dones[i]
            assert_same({name: their_infos[i][name] for name in infos[i]}, infos[i])
            if dones[i]:
                assert {"terminal_observation", "TimeLimit.truncated", "score", "max_tile", "seed"} == infos[i].keys()
                assert ours.reset_infos[i]["seed"] == theirs.reset_infos[i]["seed"]
                n_ended += 1
    assert n_ended > 2


def test_seeds_and_game_seeds_are_those_of_dummy_vec_env():
    ours, theirs = GameVecEnv(3), DummyVecEnv([GameEnv] * 3)
    for env in (ours, theirs):
        env.seed(7)
    assert_same(ours.reset(), theirs.reset())
    for env in (ours, theirs):
        env.set_options([{"game_seed": seed} for seed in (3, 4, 5)])
    assert_same(ours.reset(), theirs.reset())
    assert [info["seed"] for info in ours.reset_infos] == [3, 4, 5]
    ours.reset()
    assert [info["seed"] for info in ours.reset_infos] != [3, 4, 5]  # options hold for one reset


def test_results_of_a_step_outlive_the_next():
    env = GameVecEnv(4)
    env.seed(1)
    kept = [env.reset(), env.action_masks(), np.stack(env.env_method("action_masks"))]
    copies = [array.copy() for array in kept]
    for action in range(4):
        env.step(np.full(4, action))
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_masks():
    env = GameVecEnv(5, rules="2x2")
    env.seed(1)
    env.reset()
    masks = env.env_method("action_masks")
    assert is_masking_supported(env)
    assert is_masking_supported(VecMonitor(env))
    assert len(masks) == 5
    expected = env.env.action_masks()
    for stacked in (np.stack(masks), np.stack(masks, axis=0), np.stack(list(masks)), np.array(masks)):
        np.testing.assert_array_equal(stacked, expected)
    np.testing.assert_array_equal(np.stack(masks, axis=1), expected.T)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 1]), expected[[3, 1]])
    np.testing.assert_array_equal(env.env_method("action_masks", indices=0), expected[:1])


def test_attributes_and_methods():
    env = GameVecEnv(2, rules="3x3", render_mode="rgb_array")
    env.reset()
    assert env.get_attr("rules", 0)[0].shape.n_cells == 9
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False, False]
    env.set_attr("note", 7)
    assert env.get_attr("note") == [7, 7]
    assert env.render().shape[2] == 3
    assert [image.shape for image in env.get_images()] == [image.shape for image in env.env_method("render")]
    with pytest.raises(UsageError, match="expected indices of all games"):
        env.set_attr("note", 8, indices=0)
    with pytest.raises(AttributeError, match="expected one of action_masks, render"):
        env.env_method("undo")
    assert not env.has_attr("undo")
    env.close()


@pytest.mark.parametrize("options", [{"game_seed": 1, "more": 2}, [{"game_seed": 1}, {}]])
def test_options_that_cannot_be_heeded_are_refused(options):
    env = GameVecEnv(2)
    env.set_options(options)
    with pytest.raises(UsageError, match="expected game_seed for every game"):
        env.reset()


def test_the_autoreset_mode_is_that_of_stable_baselines():
    with pytest.raises(UsageError, match="SAME_STEP"):
        GameVecEnv(2, autoreset_mode="NEXT_STEP")


def test_maskable_ppo_learns_and_plays():
    envs = VecMonitor(GameVecEnv(8, rules="3x3", observation="planes"), info_keywords=("score", "max_tile"))
    model = MaskablePPO("MlpPolicy", VecNormalize(envs, norm_obs=False), n_steps=32, batch_size=64, n_epochs=1, seed=1)
    model.learn(8 * 32 * 2)
    assert model.ep_info_buffer
    assert all(episode["score"] == episode["r"] for episode in model.ep_info_buffer)
    mean, _ = evaluate_policy(model, VecMonitor(GameVecEnv(4, rules="3x3", observation="planes")), n_eval_episodes=4)
    assert mean > 0


def test_environments_do_not_load_stable_baselines():
    code = (
        "import sys, gymnasium, lab2048.envs; gymnasium.make_vec('lab2048/Classic-v0', num_envs=2); "
        "print('stable_baselines3' in sys.modules, 'torch' in sys.modules, 'rich.console' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("False False")


def test_a_missing_package_is_one_line_with_the_command():
    code = (
        "import sys; sys.modules['sb3_contrib'] = None\n"
        "from lab2048.errors import MissingPackageError\n"
        "try: import lab2048.envs.sb3\n"
        "except MissingPackageError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.count("\n") == 1
    assert 'pip install "lab2048[sb3]"' in result.stdout
