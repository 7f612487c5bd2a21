"""The vector environment: `gymnasium.make_vec("lab2048/Classic-v0", num_envs=1024)`.

All games step in one compiled call.  Observations, rewards and infos equal those of SyncVectorEnv over
single environments, as tests check for every autoreset mode.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from lab2048.envs.buffers import StepBuffers
from lab2048.envs.engine import Engine
from lab2048.envs.observation import Observation
from lab2048.envs.option import RENDER_FPS, RENDER_MODES, EnvOptions, check_count, check_render_mode
from lab2048.envs.render import draw_board
from lab2048.errors import UnknownNameError, UsageError
from lab2048.kernels.games import vector
from lab2048.kernels.games.vector import Frames, Outcome
from lab2048.rules.dice import MAX_SEED

_CODES = {
    AutoresetMode.NEXT_STEP: vector.NEXT_STEP,
    AutoresetMode.SAME_STEP: vector.SAME_STEP,
    AutoresetMode.DISABLED: vector.DISABLED,
}


class VectorGameEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Vectorized games of 2048; the options are those of EnvOptions.

    `autoreset_mode` says when a finished game restarts: in the next step (NEXT_STEP), in the same step
    (SAME_STEP), or by `reset` (DISABLED).  Every call returns new arrays, unless `out` names buffers to write to.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_count("num_envs", num_envs)
        if max_episode_steps is not None:
            check_count("max_episode_steps", max_episode_steps)
        self.num_envs = num_envs
        self.autoreset_mode = _read_mode(autoreset_mode)
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.options = EnvOptions.from_given(options).with_reading()
        self._engine = Engine(num_envs, self.options, _CODES[self.autoreset_mode], max_episode_steps or 0)
        self._all = np.ones(num_envs, np.bool_)
        self.rules = self._engine.rules
        self._observation = Observation(self.options.observation, self.rules)
        self.single_observation_space = self._observation.space
        self.single_action_space = spaces.Discrete(len(self.rules.shape.moves))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
        out: StepBuffers | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new games: all, or those selected by `options={"reset_mask": ...}`.

        The first seed of each sub-environment is drawn from `np_random`, which `seed` sets, and the
        seeds of its later games derive from it; `options={"game_seed": ...}` sets the first seeds
        instead.  A list of seeds, one per sub-environment, starts the same games as that many single
        environments.  Of `out`, only the observation and the action mask are written.
        """
        options = options or {}
        frames = self._make_frames(out)
        chosen = self._read_array(options, "reset_mask", "b")
        seeds = self._read_array(options, "game_seed", "iu")
        if seed is not None and not isinstance(seed, int | np.integer):
            listed = self._draw_listed(list(seed))
            seeds = listed if seeds is None else seeds
        else:
            super().reset(seed=None if seed is None else int(seed))
        if seeds is None:
            seeds = self.np_random.integers(0, MAX_SEED, self.num_envs, endpoint=True)
        elif seeds.min() < 0 or seeds.max() > MAX_SEED:
            raise UsageError(f"game_seed is out of range: expected 0 to {MAX_SEED}", field="game_seed")
        if chosen is None:
            chosen = self._all
        self._engine.start(seeds.astype(np.uint64), chosen, frames)
        return self._observe(frames, out), self._make_info(frames, chosen, out)

    def _draw_listed(self, seeds: list[int | None]) -> NDArray[np.int64]:
        """Return the first seed of each sub-environment, as a single environment draws it."""
        numbers = [int(seed) for seed in seeds if isinstance(seed, int | np.integer) and seed >= 0]
        if len(seeds) != self.num_envs or len(numbers) + seeds.count(None) != len(seeds):
            raise UsageError(
                f"seed {seeds!s:.80} is not understood: expected {self.num_envs} whole numbers from 0 on", field="seed"
            )
        if None not in seeds:
            # Later resets depend on the list too; one extra number keeps them from repeating these games.
            self.np_random = np.random.default_rng([*numbers, len(numbers)])
        generators = [np_random(None if seed is None else int(seed))[0] for seed in seeds]
        return np.array([generator.integers(0, MAX_SEED, endpoint=True) for generator in generators])

    def _read_array(self, options: dict[str, Any], name: str, kinds: str) -> NDArray[Any] | None:
        if options.get(name) is None:
            return None
        array = np.array(options[name])
        if array.shape != (self.num_envs,) or array.dtype.kind not in kinds:
            raise UsageError(f"{name} has shape {array.shape}, {array.dtype}: expected ({self.num_envs},) of {kinds!r}")
        return array

    def step(
        self, actions: Any, *, out: StepBuffers | None = None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make one step in every game; with `out`, the arrays returned are these buffers."""
        actions = np.array(actions)  # a copy: kernels are compiled for writable arrays
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise UsageError(
                f"actions have shape {actions.shape}, {actions.dtype}: expected ({self.num_envs},) of whole numbers"
            )
        frames = self._make_frames(out)
        direct = out.reward if out is not None and out.reward.dtype == np.float64 else None
        reward = np.empty(self.num_envs) if direct is None else direct
        terminated, truncated = ended = np.empty((2, self.num_envs), np.bool_)
        step = self._engine.prepare_step(actions.astype(np.int64, copy=False), Outcome(reward, ended), frames)
        self._engine.step(step)
        info = self._make_info(frames, self._all, out)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (has_ended := terminated | truncated).any():
            info = self._make_final_info(Frames(*step[-1]), has_ended) | info
        if out is not None:
            if direct is None:
                out.reward[...] = reward
            out.terminated[...], out.truncated[...] = terminated, truncated
            reward, terminated, truncated = out.reward, out.terminated, out.truncated
        return self._observe(frames, out), reward, terminated, truncated, info

    def make_buffers(self, n_steps: int | None = None, *, reward_dtype: DTypeLike = np.float64) -> StepBuffers:
        """Allocate buffers for `out`: of one step, or of `n_steps` steps, of which `buffers[t]` is one."""
        if n_steps is not None:
            check_count("n_steps", n_steps)
        leading = (self.num_envs,) if n_steps is None else (n_steps, self.num_envs)
        return StepBuffers.allocate(self._observation, leading, reward_dtype)

    def _make_frames(self, out: StepBuffers | None) -> Frames:
        if out is None:
            return self._engine.make_frames()
        out.check(self._observation, self.num_envs)
        kind, mask = self._observation.kind, out.action_mask.view(np.int8)
        if kind == "planes":
            return self._engine.make_frames(mask=mask)
        ranks = out.observation["observation"] if kind == "dict" else out.observation
        return self._engine.make_frames(ranks, mask)

    def _observe(self, frames: Frames, out: StepBuffers | None) -> Any:
        return self._observation.make(frames, None if out is None else out.observation)

    def _make_info(
        self, frames: Frames, holds_for: NDArray[np.bool_], out: StepBuffers | None = None
    ) -> dict[str, Any]:
        # Names with an underscore are Gymnasium's masks of valid entries.
        scores, max_tiles, seeds = frames.numbers
        return {
            "action_mask": frames.mask if out is None else out.action_mask,
            "_action_mask": holds_for.copy(),
            "score": scores,
            "_score": holds_for.copy(),
            "max_tile": max_tiles,
            "_max_tile": holds_for.copy(),
            "seed": seeds,
            "_seed": holds_for.copy(),
        }

    def _make_final_info(self, finals: Frames, has_ended: NDArray[np.bool_]) -> dict[str, Any]:
        observations = self._observation.make(Frames(finals.ranks[has_ended], finals.mask[has_ended], finals.numbers))
        final_obs = np.full(self.num_envs, None, object)
        for row, game in enumerate(np.flatnonzero(has_ended).tolist()):
            final_obs[game] = self._observation.one_of(observations, row)
        return {
            "final_obs": final_obs,
            "_final_obs": has_ended,
            "final_info": self._make_info(finals, has_ended),
            "_final_info": has_ended.copy(),
        }

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the action masks, one row per game."""
        return self._engine.action_masks()

    def render(self) -> tuple[Any, ...] | None:
        """Render every board according to the render mode."""
        if self.render_mode is None:
            return None
        write = str if self.render_mode == "ansi" else draw_board
        return tuple(write(self._engine.board(game)) for game in range(self.num_envs))


def _read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode.__members__.get(str(mode)) or AutoresetMode(mode)
    except ValueError:
        raise UnknownNameError("autoreset_mode", mode, AutoresetMode.__members__) from None
