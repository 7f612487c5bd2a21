"""The options of an environment."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from lab2048.errors import UnknownNameError, UsageError
from lab2048.kernels.games import vector as codes
from lab2048.rules import Rules

OBSERVATIONS = ("ranks", "planes", "dict")
REWARDS = {
    "score": codes.REWARD_SCORE,
    "log": codes.REWARD_LOG,
    "merges": codes.REWARD_MERGES,
    "goal": codes.REWARD_GOAL,
}
ILLEGALS = {"ignore": codes.ILLEGAL_IGNORE, "end": codes.ILLEGAL_END, "error": codes.ILLEGAL_ERROR}
RENDER_MODES = ("ansi", "rgb_array")
SINGLE_RENDER_MODES = ("human", *RENDER_MODES)  # of the environment of one game
RENDER_FPS = 4
_KINDS: dict[str, tuple[type, ...]] = {
    "rules": (str, Rules),
    "goal": (int, type(None)),
    "spawn": (str, type(None)),
    "start": (int, type(None)),
    "spawner": (str, type(None)),
    "illegal_reward": (float, int),
}


@dataclass(frozen=True)
class EnvOptions:
    """The options of an environment; the first six are those of `Rules.from_text`."""

    rules: str | Rules = "4x4"
    """A board such as 4x4, hex2 or a map; or Rules, which exclude the next five options."""
    goal: int | None = None
    """The tile that wins; the game continues beyond it unless `stop_at_goal` is set."""
    spawn: str | None = None
    """New tiles and their probabilities."""
    start: int | None = None
    """Number of tiles at the start."""
    spawner: str | None = None
    """Who places new tiles: fair, first or worst."""
    stop_at_goal: bool = False
    """True ends a game when the goal is reached."""
    observation: str = "ranks"
    """ranks; planes, one per rank; or dict, the ranks with the action mask."""
    reward: str = "score"
    """score of the slide; log, its logarithm; merges, their number; goal, 1 when the goal is reached."""
    illegal: str = "ignore"
    """What an illegal action does: ignore, end the game, or raise an error."""
    illegal_reward: float = 0.0
    """The reward of an illegal action."""

    @classmethod
    def from_given(cls, given: dict[str, Any]) -> Self:
        """Make options from keyword arguments; raise UsageError with a suggestion for an unknown name."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownNameError("option", name, known)
        return cls(**given)

    def __post_init__(self) -> None:
        """Raise UsageError for unknown values."""
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}: expected {kinds[0].__name__}")
        if not isinstance(self.stop_at_goal, bool):
            raise UsageError(f"stop_at_goal is {self.stop_at_goal!r}: expected bool", field="stop_at_goal")
        if not math.isfinite(self.illegal_reward):
            raise UsageError(
                f"illegal_reward is {self.illegal_reward}: expected a finite number", field="illegal_reward"
            )
        for name, known in (("observation", OBSERVATIONS), ("reward", REWARDS), ("illegal", ILLEGALS)):
            word = getattr(self, name)
            if word not in known:
                raise UnknownNameError(name, word, known)

    def read_rules(self) -> Rules:
        """Return the rules of these options."""
        names = ("goal", "spawn", "start", "spawner")
        given: dict[str, Any] = {name: value for name in names if (value := getattr(self, name)) is not None}
        given |= {"stop_at_goal": True} if self.stop_at_goal else {}
        if not isinstance(self.rules, str) and given:
            raise UsageError(
                f"{', '.join(given)} cannot be given beside Rules: expected a text such as 4x4, or Rules alone"
            )
        rules = Rules.from_text(self.rules, **given) if isinstance(self.rules, str) else self.rules
        rules.check()
        if rules.goal_cells:
            raise UsageError("environments have no goal cells: expected # instead of G in the map", field="goal")
        if rules.shape.n_free:
            raise UsageError("environments have no free large tiles: expected a map without F", field="rules")
        return rules

    def with_reading(self) -> "EnvOptions":
        """Return the options with parsed rules, so that they are parsed only once."""
        return replace(
            self, rules=self.read_rules(), goal=None, spawn=None, start=None, spawner=None, stop_at_goal=False
        )


def check_render_mode(mode: str | None, known: Sequence[str]) -> str | None:
    """Return the render mode if it is one of those known, else raise UsageError."""
    if mode is not None and mode not in known:
        raise UnknownNameError("render_mode", mode, known)
    return mode


def check_count(name: str, count: Any) -> None:
    """Raise UsageError unless this is a valid number of games or steps."""
    if not isinstance(count, int | np.integer) or not 1 <= count < 2**31:
        raise UsageError(f"{name} is {count!r}: expected a whole number from 1 on")
