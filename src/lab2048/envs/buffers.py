"""Arrays that the caller owns and the vector environment writes to.

>>> import gymnasium, lab2048.envs
>>> envs = gymnasium.make_vec("lab2048/Classic-v0", num_envs=8)
>>> rollout = envs.make_buffers(n_steps=3)
>>> rollout.observation.shape, rollout.reward.shape
((3, 8, 4, 4), (3, 8))
>>> observations, infos = envs.reset(seed=1, out=rollout[0])
>>> observations.base is rollout.observation
True
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lab2048.envs.observation import Observation
from lab2048.errors import UsageError

_DTYPES: dict[str, tuple[DTypeLike, ...]] = {
    "observation": (np.uint8,),
    "action_mask": (np.int8, np.bool_),
    "reward": (np.float64, np.float32),
    "terminated": (np.bool_,),
    "truncated": (np.bool_,),
}


@dataclass(frozen=True)
class StepBuffers:
    """What one step writes, one row per game; or several steps, if all arrays have a leading time axis.

    `buffers[t]` selects step t of several without copying.
    """

    observation: Any
    """uint8, in the shape of the observation space; with `observation="dict"` a dict of two arrays."""
    action_mask: NDArray[Any]
    """int8 or bool."""
    reward: NDArray[Any]
    """float64 or float32."""
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    @classmethod
    def allocate(cls, observation: Observation, leading: tuple[int, ...], reward_dtype: DTypeLike) -> Self:
        """Allocate zeroed buffers with these leading axes: games, or steps and games."""
        mask = np.zeros((*leading, observation.n_moves), np.int8)
        boards = np.zeros((*leading, *observation.array_shape), np.uint8)
        return cls(
            {"observation": boards, "action_mask": mask} if observation.kind == "dict" else boards,
            mask,
            np.zeros(leading, reward_dtype),
            np.zeros(leading, np.bool_),
            np.zeros(leading, np.bool_),
        )

    def __getitem__(self, step: int) -> Self:
        """Return views of one step; needs a leading time axis."""
        boards = self.observation
        return type(self)(
            {name: array[step] for name, array in boards.items()} if isinstance(boards, dict) else boards[step],
            self.action_mask[step],
            self.reward[step],
            self.terminated[step],
            self.truncated[step],
        )

    def check(self, observation: Observation, n: int) -> None:
        """Raise UsageError unless these are buffers of one step of n games, for this kind of observation."""
        shapes = {
            "observation": (n, *observation.array_shape),
            "action_mask": (n, observation.n_moves),
            "reward": (n,),
            "terminated": (n,),
            "truncated": (n,),
        }
        arrays = {name: getattr(self, name) for name in shapes}
        if observation.kind == "dict":
            if not isinstance(self.observation, dict) or self.observation.keys() != {"observation", "action_mask"}:
                raise UsageError("out.observation: expected a dict with observation and action_mask", field="out")
            arrays["observation"] = self.observation["observation"]
            _check_array("action_mask", self.observation["action_mask"], shapes["action_mask"])
        for name, array in arrays.items():
            _check_array(name, array, shapes[name])


def _check_array(name: str, array: Any, shape: tuple[int, ...]) -> None:
    known = _DTYPES[name]
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype not in known:
        given = f"{array.dtype}{array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        wanted = " or ".join(f"{np.dtype(dtype)}{shape}" for dtype in known)
        raise UsageError(f"out.{name} is {given}: expected {wanted}", field="out")
    if not array.flags.carray:
        raise UsageError(f"out.{name} cannot be used: expected a writable C-contiguous array", field="out")
