"""Buffers that the caller owns: the same results as new arrays, in the caller's memory."""

from dataclasses import fields, replace

import gymnasium
import numpy as np
import pytest

from envs.series import assert_same
from lab2048.envs import CLASSIC
from lab2048.envs.benchmark import choose_legal
from lab2048.envs.buffers import StepBuffers
from lab2048.errors import IllegalMoveError, UsageError

KINDS = ["ranks", "planes", "dict"]


def make(n_games=3, **options):
    return gymnasium.make_vec(CLASSIC, num_envs=n_games, **{"rules": "3x3", **options})


def arrays_of(buffers):
    boards = buffers.observation
    boards = list(boards.values()) if isinstance(boards, dict) else [boards]
    return [*boards, *(getattr(buffers, field.name) for field in fields(buffers)[1:])]


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
@pytest.mark.parametrize("observation", KINDS)
def test_steps_into_buffers_are_those_into_new_arrays(observation, mode):
    ours, theirs = (make(observation=observation, autoreset_mode=mode) for _ in range(2))
    out, rng = ours.make_buffers(), np.random.default_rng(1)
    seen, info = ours.reset(seed=1, out=out)
    assert_same((seen, info), theirs.reset(seed=1))
    n_ended = 0
    for _ in range(100):
        actions = choose_legal(info["action_mask"] | 1, rng)
        result = ours.step(actions, out=out)
        seen, reward, terminated, truncated, info = result
        assert_same(result, theirs.step(actions))
        assert seen is out.observation
        assert reward is out.reward
        assert terminated is out.terminated
        assert truncated is out.truncated
        assert info["action_mask"] is out.action_mask
        n_ended += terminated.sum()
    assert n_ended >= 3


def test_torch_sees_every_step_without_a_copy():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")
    envs = make(64, observation="planes")
    out = envs.make_buffers(reward_dtype=np.float32)
    tensors = [torch.from_numpy(array) for array in arrays_of(out)]
    boards, masks, rewards, terminated, _ = tensors
    addresses = [tensor.data_ptr() for tensor in tensors]
    other, rng = make(64, observation="planes"), np.random.default_rng(1)
    envs.reset(seed=1, out=out)
    other.reset(seed=1)
    for _ in range(50):
        actions = choose_legal(masks.numpy(), rng)
        envs.step(actions, out=out)
        seen, reward, ended, _, info = other.step(actions)
        np.testing.assert_array_equal(boards.numpy(), seen)
        np.testing.assert_array_equal(rewards.numpy(), reward)
        np.testing.assert_array_equal(terminated.numpy(), ended)
        np.testing.assert_array_equal(masks.numpy(), info["action_mask"])
    assert [tensor.data_ptr() for tensor in tensors] == addresses == [array.ctypes.data for array in arrays_of(out)]


def test_tensors_of_the_caller_can_be_buffers():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")
    boards, mask = torch.zeros((3, 3, 3), dtype=torch.uint8), torch.zeros((3, 4), dtype=torch.bool)
    reward, terminated, truncated = torch.zeros(3), torch.zeros(3, dtype=torch.bool), torch.zeros(3, dtype=torch.bool)
    envs = make()
    envs.reset(
        seed=1, out=StepBuffers(boards.numpy(), mask.numpy(), reward.numpy(), terminated.numpy(), truncated.numpy())
    )
    expected, info = make().reset(seed=1)
    np.testing.assert_array_equal(boards.numpy(), expected)
    np.testing.assert_array_equal(mask.numpy(), info["action_mask"])


@pytest.mark.parametrize("observation", KINDS)
def test_a_rollout_has_one_row_per_step(observation):
    envs, other = (make(observation=observation) for _ in range(2))
    rollout, rng = envs.make_buffers(n_steps=5), np.random.default_rng(1)
    _, info = envs.reset(seed=1, out=rollout[0])
    kept = [other.reset(seed=1)[0]]
    for step in range(1, 5):
        actions = choose_legal(info["action_mask"], rng)
        _, _, _, _, info = envs.step(actions, out=rollout[step])
        kept.append(other.step(actions)[0])
    for step, seen in enumerate(kept):
        assert_same(rollout[step].observation, seen)
        assert all(np.shares_memory(a, b) for a, b in zip(arrays_of(rollout[step]), arrays_of(rollout), strict=True))


def test_two_buffers_in_turn_keep_the_step_before():
    envs = make()
    both = [envs.make_buffers() for _ in range(2)]
    last, _ = envs.reset(seed=1, out=both[0])
    for step in range(1, 20):
        before = last.copy()
        seen, _, _, _, _ = envs.step(
            choose_legal(both[(step - 1) % 2].action_mask | 1, np.random.default_rng(step)), out=both[step % 2]
        )
        np.testing.assert_array_equal(last, before)
        assert not np.shares_memory(last, seen)
        last = seen


def test_reset_writes_boards_and_masks_alone():
    envs = make()
    out = envs.make_buffers()
    out.reward[...], out.terminated[...] = 7, True
    envs.reset(seed=1, out=out)
    assert out.reward.tolist() == [7, 7, 7]
    assert out.terminated.all()
    assert out.observation.any()


def test_a_refused_step_writes_nothing():
    envs = make(2, rules="2 4 . / . . .", start=0, illegal="error")
    out = envs.make_buffers()
    envs.reset(seed=1, out=out)
    before = [array.copy() for array in arrays_of(out)]
    with pytest.raises(IllegalMoveError):
        envs.step([1, 3], out=out)
    for array, old in zip(arrays_of(out), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_the_two_masks_of_a_dict_may_be_two_arrays():
    envs = make(observation="dict")
    out = envs.make_buffers()
    assert out.observation["action_mask"] is out.action_mask
    apart = replace(out, action_mask=np.zeros((3, 4), np.bool_))
    envs.reset(seed=1, out=apart)
    assert apart.action_mask.any()
    np.testing.assert_array_equal(apart.observation["action_mask"], apart.action_mask)


@pytest.mark.parametrize(
    ("name", "array", "says"),
    [
        ("observation", np.zeros((3, 9), np.uint8), "out.observation is uint8(3, 9): expected uint8(3, 3, 3)"),
        ("observation", {"observation": 1}, "out.observation is dict: expected uint8(3, 3, 3)"),
        ("action_mask", np.zeros((3, 4)), "expected int8(3, 4) or bool(3, 4)"),
        ("reward", np.zeros(3, int), "out.reward is int64(3,): expected float64(3,) or float32(3,)"),
        ("reward", np.zeros(6)[::2], "out.reward cannot be used: expected a writable C-contiguous array"),
        ("terminated", np.broadcast_to(np.array(False), 3), "writable"),
        ("truncated", [False] * 3, "out.truncated is list"),
    ],
)
def test_unsuitable_buffers_are_refused(name, array, says):
    envs = make()
    out = replace(envs.make_buffers(), **{name: array})
    with pytest.raises(UsageError) as caught:
        envs.reset(seed=1, out=out)
    assert says in str(caught.value)


def test_a_dict_of_buffers_has_two_arrays():
    envs = make(observation="dict")
    with pytest.raises(UsageError, match="expected a dict with observation and action_mask"):
        envs.reset(out=make().make_buffers())
