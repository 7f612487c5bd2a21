"""What tests of several environments share."""

from typing import Any

import numpy as np

from lab2048.envs.single import GameEnv
from lab2048.rules.dice import episode_seed


class SeriesEnv(GameEnv):
    """A single game whose seeds go on as those of one place of the vector environment."""

    def __init__(self, base: int, **options: Any) -> None:
        super().__init__(**options)
        self.base, self.number = base, 0

    def _draw_seed(self) -> int:
        self.number += 1
        return self.base if self.number == 1 else episode_seed(self.base, self.number - 1)


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:
    assert type(ours) is type(theirs), where
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), where
        for name in ours:
            assert_same(ours[name], theirs[name], f"{where}/{name}")
    elif isinstance(ours, tuple):
        assert len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{where}/{i}")
    elif isinstance(ours, np.ndarray):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), where
        if ours.dtype == object:
            for a, b in zip(ours, theirs, strict=True):
                assert_same(a, b, where)
        else:
            np.testing.assert_array_equal(ours, theirs, where)
    else:
        assert ours == theirs, where
