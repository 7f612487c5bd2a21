"""The single environment: `gymnasium.make("lab2048/Classic-v0")`."""

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lab2048.envs.engine import Engine
from lab2048.envs.observation import Observation
from lab2048.envs.option import RENDER_FPS, SINGLE_RENDER_MODES, EnvOptions, check_render_mode
from lab2048.envs.render import draw_board
from lab2048.errors import UsageError
from lab2048.kernels.games import vector
from lab2048.kernels.games.vector import Frames
from lab2048.rules.dice import MAX_SEED, check_seed

if TYPE_CHECKING:
    from lab2048.envs.terminal_view import TerminalView

_FIRST = np.ones(1, np.bool_)


class GameEnv(gymnasium.Env[Any, Any]):
    """One game of 2048; an action is a move, clockwise from up.

    The options are those of EnvOptions.  `info` holds the action mask, the score, the
    highest tile and the seed of the game, by which `Game(rules, seed)` replays it.
    """

    metadata = {"render_modes": list(SINGLE_RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.render_mode = check_render_mode(render_mode, SINGLE_RENDER_MODES)
        self.metadata = dict(self.metadata)  # a copy, so that render_fps can be set for this environment alone
        self._view: TerminalView | None = None
        if render_mode == "human":
            from lab2048.envs import terminal_view

            self._view = terminal_view.TerminalView()
        self.options = EnvOptions.from_given(options).with_reading()
        # A finished game must be reset by the caller.
        self._engine = Engine(1, self.options, vector.DISABLED)
        self.rules = self._engine.rules
        self._observation = Observation(self.options.observation, self.rules)
        self.observation_space = self._observation.space
        self.action_space = spaces.Discrete(len(self.rules.shape.moves))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new game.

        Its seed is drawn from `np_random`, which `seed` sets; `options={"game_seed": ...}` overrides it.
        """
        super().reset(seed=seed)
        chosen = (options or {}).get("game_seed")
        if chosen is not None and not isinstance(chosen, int | np.integer):
            raise UsageError(f"game_seed is {chosen!r}: expected a whole number", field="game_seed")
        game_seed = self._draw_seed() if chosen is None else check_seed(int(chosen))
        frames = self._engine.make_frames()
        self._engine.start(np.array([game_seed], np.uint64), _FIRST, frames)
        if self._view:
            self._view.start_game()
        return self._observe(frames)

    def _draw_seed(self) -> int:
        return int(self.np_random.integers(0, MAX_SEED, endpoint=True))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Slide and spawn.  By default an illegal move does nothing."""
        actions = np.array([action])
        if actions.shape != (1,) or actions.dtype.kind not in "iu":
            raise UsageError(
                f"action {action!r} is not a number: expected 0 to {self._engine.n_moves - 1}", field="action"
            )
        frames = self._engine.make_frames()
        outcome, _ = self._engine.step(actions.astype(np.int64), frames)
        observation, info = self._observe(frames)
        terminated, truncated = outcome.ended[:, 0].tolist()
        return observation, float(outcome.reward[0]), terminated, truncated, info

    def _observe(self, frames: Frames) -> tuple[Any, dict[str, Any]]:
        score, max_tile, seed = frames.numbers[:, 0].tolist()
        if self._view:
            self._view.show(self._engine.board(0), score, self.metadata["render_fps"])
        info = {"action_mask": frames.mask[0], "score": score, "max_tile": max_tile, "seed": seed}
        return self._observation.one_of(self._observation.make(frames), 0), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal moves as a mask, for MaskablePPO of sb3-contrib."""
        masks: NDArray[np.bool_] = self._engine.action_masks()[0]
        return masks

    def render(self) -> Any:
        """Render the board as text or as a picture; in human mode, `reset` and `step` have drawn it already."""
        if self.render_mode in (None, "human"):
            return None
        board = self._engine.board(0)
        return str(board) if self.render_mode == "ansi" else draw_board(board)
