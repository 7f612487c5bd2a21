"""The games behind an environment, and the arrays that kernels fill."""

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from lab2048.arena.compile import prepare
from lab2048.envs.option import ILLEGALS, REWARDS, EnvOptions
from lab2048.errors import IllegalMoveError, UsageError, unknown
from lab2048.kernels.board.packed import Plan
from lab2048.kernels.games import vector
from lab2048.kernels.games.vector import Frames, Outcome
from lab2048.kernels.group import ENVIRONMENTS
from lab2048.rules import Board
from lab2048.rules.move import move_name
from lab2048.rules.plan import make_plan

PreparedStep = tuple[
    Plan,
    vector.GamesTuple,
    NDArray[np.int64],
    vector.SettingsTuple,
    vector.OutcomeTuple,
    vector.FramesTuple,
    vector.FramesTuple,
]
"""The arguments of `step_some`: actions are the third, final frames the last."""


class Engine:
    """Vectorized games under the same rules, and the options of their steps."""

    def __init__(self, n: int, options: EnvOptions, autoreset: int, max_steps: int = 0) -> None:
        prepare(
            lambda _: None, ENVIRONMENTS
        )  # here, so that environments in separate processes do not all compile at once
        self.n = n
        self.rules = options.read_rules()
        self.n_cells, self.n_moves = self.rules.shape.n_cells, len(self.rules.shape.moves)
        self._plan = make_plan(self.rules)
        self._games = vector.open_games(n, self.n_cells)
        self._settings = vector.Settings(
            reward=REWARDS[options.reward],
            illegal=ILLEGALS[options.illegal],
            illegal_reward=float(options.illegal_reward),
            autoreset=autoreset,
            max_steps=max_steps,
        )
        self._has_begun = np.zeros(n, np.bool_)
        self.can_step = False  # True once every game has begun
        self._has_finals = autoreset == vector.SAME_STEP
        self._no_finals = self.make_frames(n=0)

    def make_frames(
        self, ranks: NDArray[np.uint8] | None = None, mask: NDArray[np.int8] | None = None, *, n: int | None = None
    ) -> Frames:
        """Allocate frames for n games (default: all), or make them of the caller's boards and masks."""
        n = self.n if n is None else n
        # Not zeroed: the kernel writes every entry, and zeroing would cost as much as half a step.
        return Frames(
            np.empty((n, self.n_cells), np.uint8) if ranks is None else ranks.reshape(n, self.n_cells),
            np.empty((n, self.n_moves), np.int8) if mask is None else mask,
            np.empty((3, n), np.int64),
        )

    def start(self, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_], frames: Frames) -> None:
        """Restart the chosen games, each from its seed; write the frames of all games."""
        vector.start_games(self._plan, self._games, seeds, chosen, frames)
        self._has_begun |= chosen
        self.can_step = bool(self._has_begun.all())

    def prepare_step(self, actions: NDArray[np.int64], outcome: Outcome, frames: Frames) -> PreparedStep:
        """Collect the arrays that `step` reads and writes; the same step can be made again with new actions in them."""
        finals = vector.make_frames(self.n, self.n_cells, self.n_moves) if self._has_finals else self._no_finals
        return (self._plan, self._games[:], actions, self._settings[:], outcome[:], frames[:], finals[:])

    def step(self, prepared: PreparedStep) -> None:
        """Make one step in every game; raise an error, and change nothing, if an action is invalid.

        Final frames are written only for games that ended, and only if the next game starts in the same step.
        """
        if not self.can_step:
            raise ResetNeeded("no game has begun: expected a reset before the first step")
        refused = vector.step_some(*prepared)
        if refused != vector.ALL_FINE:
            raise self._refusal(int(refused), int(prepared[2][refused]))

    def _refusal(self, game: int, action: int) -> Exception:
        if not 0 <= action < self.n_moves:
            return self.unknown_action(action)
        if self._games.words[game, vector.IS_DONE]:
            return UsageError(f"game {game} is over: expected a reset before the next step")
        name = move_name(self.rules.shape.moves[action])
        return IllegalMoveError(f"{name} changes nothing on {self.board(game).to_text()}")

    def unknown_action(self, action: Any) -> UsageError:
        """Return the error for an action that is no move."""
        return UsageError(unknown("action", action, otherwise=f"expected 0 to {self.n_moves - 1}"), field="action")

    def board(self, game: int) -> Board:
        """Return the board of one game."""
        frames = vector.make_frames(self.n, self.n_cells, self.n_moves)
        vector.show(self._games, game, game + 1, frames)
        return Board(self.rules.shape, tuple(frames.ranks[game].tolist()))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the action masks, one row per game."""
        legal = self._games.words[:, vector.LEGAL, None]
        masks: NDArray[np.bool_] = (legal >> np.arange(self.n_moves, dtype=np.uint64)) & np.uint64(1) != 0
        return masks
