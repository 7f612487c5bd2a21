"""The single environment: `gymnasium.make("lab2048/Classic-v0")`."""

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from lab2048.envs.engine import Engine
from lab2048.envs.observation import Observation
from lab2048.envs.option import RENDER_FPS, SINGLE_RENDER_MODES, EnvOptions, check_render_mode
from lab2048.envs.render import draw_board
from lab2048.errors import UsageError
from lab2048.kernels.games import vector
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
        # Every step overwrites these arrays, so callers get copies.
        self._frames, self._outcome = self._engine.make_frames(), vector.make_outcome(1)
        self._actions = np.zeros(1, np.int64)
        self._step = self._engine.prepare_step(self._actions, self._outcome, self._frames)
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
        self._engine.start(np.array([game_seed], np.uint64), _FIRST, self._frames)
        if self._view:
            self._view.start_game()
        return self._observation.make_one(self._frames), self._make_info()

    def _draw_seed(self) -> int:
        return int(self.np_random.integers(0, MAX_SEED, endpoint=True))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Slide and spawn.  By default an illegal move does nothing."""
        move = action if type(action) is int else self._read_action(action)
        if not 0 <= move < self._engine.n_moves:
            raise self._engine.unknown_action(action)
        self._actions[0] = move
        self._engine.step(self._step)
        [[terminated], [truncated]] = self._outcome.ended.tolist()
        observation = self._observation.make_one(self._frames)
        return observation, self._outcome.reward.item(), terminated, truncated, self._make_info()

    def _read_action(self, action: Any) -> int:
        if not isinstance(action, np.integer):
            action = np.asarray(action)
            if action.shape != () or action.dtype.kind not in "iu":
                raise self._engine.unknown_action(action)
        return int(action)

    def _make_info(self) -> dict[str, Any]:
        [[score], [max_tile], [seed]] = self._frames.numbers.tolist()
        if self._view:
            self._view.show(self._engine.board(0), score, self.metadata["render_fps"])
        return {"action_mask": self._frames.mask.flatten(), "score": score, "max_tile": max_tile, "seed": seed}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal moves as a mask, for MaskablePPO of sb3-contrib."""
        masks: NDArray[np.bool_] = self._engine.action_masks()[0]
        return masks

    def render(self) -> Any:
        """Render the board as text or as a picture; in human mode, `reset` and `step` have drawn it already."""
        if self.render_mode in (None, "human"):
            return None
        if not self._engine.can_step:
            raise ResetNeeded("no game has begun: expected a reset before the first picture")
        board = self._engine.board(0)
        return str(board) if self.render_mode == "ansi" else draw_board(board)
