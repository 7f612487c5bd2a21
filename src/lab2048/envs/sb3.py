"""The vector environment for Stable-Baselines3; it needs the extra `sb3`.

>>> from stable_baselines3.common.vec_env import VecMonitor
>>> envs = VecMonitor(GameVecEnv(256, rules="3x3"), info_keywords=("score", "max_tile"))
>>> envs.reset().shape
(256, 3, 3)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from lab2048.envs.vector import VectorGameEnv
from lab2048.errors import UsageError, unknown
from lab2048.extras import need

need("sb3")
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn  # noqa: E402


def _pick(infos: dict[str, Any], game: int) -> dict[str, Any]:
    return {name: int(infos[name][game]) for name in ("score", "max_tile", "seed")}


class _FirstMask(np.ndarray[Any, np.dtype[np.bool_]]):
    """The first of _Masks, which NumPy asks how to stack them."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Stack _Masks at once; do anything else as NumPy does."""
        if func is np.stack and not kwargs and len(args) == 1 and isinstance(args[0], _Masks):
            return args[0].stacked.copy()
        return super().__array_function__(func, types, args, kwargs)


class _Masks(list[NDArray[np.bool_]]):
    """The masks of all games, one row each, ready for the `np.stack` that MaskablePPO calls.

    NumPy would stack a thousand rows one by one, which takes five times as long as a step of the environment.
    """

    def __init__(self, stacked: NDArray[np.bool_]) -> None:
        super().__init__(stacked)
        self.stacked = stacked
        self[0] = stacked[0].view(_FirstMask)


class GameVecEnv(VecEnv):
    """Games of 2048 as a VecEnv, stepped in one compiled call; the options are those of VectorGameEnv.

    The info of a game that ended holds `terminal_observation`, `TimeLimit.truncated`, and `score`,
    `max_tile` and `seed` of that game; infos of games that go on are empty.  All games share their attributes.
    """

    def __init__(self, n_envs: int, **options: Any) -> None:
        if "autoreset_mode" in options:
            raise UsageError("autoreset_mode cannot be given: Stable-Baselines3 expects SAME_STEP")
        self.env = VectorGameEnv(n_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
        super().__init__(n_envs, self.env.single_observation_space, self.env.single_action_space)
        self._actions: NDArray[Any] = np.zeros(n_envs, np.int64)
        self._masks = self.env.action_masks()

    def reset(self) -> VecEnvObs:
        """Start new games, with the seeds of `seed` and the options of `set_options`, if they were called."""
        seeds = None if None in self._seeds else self._seeds
        observations, infos = self.env.reset(seed=seeds, options=self._read_options())
        self.reset_infos = [_pick(infos, i) for i in range(self.num_envs)]
        self._masks = infos["action_mask"].view(np.bool_)
        self._reset_seeds()
        self._reset_options()
        return observations  # type: ignore[no-any-return]

    def _read_options(self) -> dict[str, Any]:
        names = {name for options in self._options for name in options}
        if not names:
            return {}
        if names != {"game_seed"} or not all(self._options):
            raise UsageError(f"options {', '.join(sorted(names))}: expected game_seed for every game, and nothing else")
        return {"game_seed": [options["game_seed"] for options in self._options]}

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Make one step in every game; the arrays are new in every step."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._masks = info["action_mask"].view(np.bool_)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            infos[i] = _pick(info["final_info"], i)
            infos[i]["terminal_observation"] = info["final_obs"][i]
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            self.reset_infos[i] = _pick(info, i)
        return observations, rewards.astype(np.float32), dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the action masks, one row per game."""
        return self._masks.copy()

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks` or `render`; return one result per game."""
        if method_args or method_kwargs:
            raise TypeError(f"{method_name} takes no arguments")
        if method_name == "action_masks":
            rows = _Masks(self.action_masks())
            return rows if indices is None else [rows[i] for i in self._get_indices(indices)]
        if method_name == "render":
            pictures = self.env.render()
            return [None if pictures is None else pictures[i] for i in self._get_indices(indices)]
        raise AttributeError(unknown("method", method_name, ("action_masks", "render")))

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the games have this attribute."""
        return hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the vector environment once per game."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of all games."""
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise UsageError(f"{attr_name} cannot be set for some games: expected indices of all games")
        setattr(self.env, attr_name, value)

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:  # noqa: ARG002
        """Return False for every game: there are no wrappers of single games."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return the pictures of all games; needs `render_mode="rgb_array"`."""
        return self.env_method("render")

    def close(self) -> None:
        """Close the vector environment."""
        self.env.close()
