"""What an environment can be asked for, checked before a game begins."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from lab2048.errors import UnknownNameError, UsageError, nearest
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
    """The options of an environment; the first five are those of `Rules.from_text`."""

    rules: str | Rules = "4x4"
    """A board such as 4x4, hex2 or a map; or Rules, and then the next four stay away."""
    goal: int | None = None
    """The tile that wins; the game goes on past it."""
    spawn: str | None = None
    """New tiles and their probabilities."""
    start: int | None = None
    """Number of first tiles."""
    spawner: str | None = None
    """Who places new tiles: fair, first or worst."""
    observation: str = "ranks"
    """ranks; planes, one for each rank; or dict, the ranks with the mask."""
    reward: str = "score"
    """score of the slide; log, its logarithm; merges, their number; goal, 1 when the goal is made."""
    illegal: str = "ignore"
    """An action that moves nothing: ignore it, end the game, or raise an error."""
    illegal_reward: float = 0.0
    """What such an action is worth."""

    @classmethod
    def from_given(cls, given: dict[str, Any]) -> Self:
        """The options of a call; an unknown one is answered with the nearest."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownNameError("option", name, known)
        return cls(**given)

    def __post_init__(self) -> None:
        """Refuse what is unknown."""
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}: expected {kinds[0].__name__}")
        if not math.isfinite(self.illegal_reward):
            raise UsageError(
                f"illegal_reward is {self.illegal_reward}: expected a finite number", field="illegal_reward"
            )
        for name, known in (("observation", OBSERVATIONS), ("reward", REWARDS), ("illegal", ILLEGALS)):
            word = getattr(self, name)
            if word not in known:
                raise UsageError(f"{name} {word!r} is unknown: {nearest(str(word), known)}")

    def read_rules(self) -> Rules:
        """The rules that these options stand for."""
        names = ("goal", "spawn", "start", "spawner")
        given: dict[str, Any] = {name: value for name in names if (value := getattr(self, name)) is not None}
        if isinstance(self.rules, str):
            return Rules.from_text(self.rules, **given)
        if given:
            raise UsageError(
                f"{', '.join(given)} cannot be given beside Rules: expected a text such as 4x4, or Rules alone"
            )
        self.rules.check()
        return self.rules

    def with_reading(self) -> "EnvOptions":
        """The same with the rules read, so that they are read only once."""
        return replace(self, rules=self.read_rules(), goal=None, spawn=None, start=None, spawner=None)


def check_render_mode(mode: str | None) -> str | None:
    """Return the render mode if it is one."""
    if mode is not None and mode not in RENDER_MODES:
        raise UnknownNameError("render_mode", mode, RENDER_MODES)
    return mode


def check_count(name: str, count: Any) -> None:
    """Raise an error unless this is a sensible number of games or steps."""
    if not isinstance(count, int | np.integer) or not 1 <= count < 2**31:
        raise UsageError(f"{name} is {count!r}: expected a whole number from 1 on")
