"""Observations of boards.

A plain rectangle keeps its rows and columns.  Hexagons and boards with bricks have no
rectangle of cells: theirs is a list of cells, in the order of their numbers.
"""

from typing import Any

import numpy as np
from gymnasium import spaces

from lab2048.kernels.games.vector import Frames, write_planes
from lab2048.rules import Rules


class Observation:
    """The encoding of boards: ranks, planes or dict."""

    def __init__(self, kind: str, rules: Rules) -> None:
        shape = rules.shape
        self.kind = kind
        self.cells = (len(shape.rows), len(shape.rows[0])) if shape.is_rectangle else (shape.n_cells,)
        self.n_planes = rules.max_rank + 1
        self.n_moves = len(shape.moves)
        self.array_shape = (self.n_planes, *self.cells) if kind == "planes" else self.cells
        self.space = self._make_space()

    def _make_space(self) -> spaces.Space[Any]:
        ranks = spaces.Box(0, self.n_planes - 1, self.cells, np.uint8)
        if self.kind == "ranks":
            return ranks
        if self.kind == "planes":
            return spaces.Box(0, 1, (self.n_planes, *self.cells), np.uint8)
        return spaces.Dict({"observation": ranks, "action_mask": spaces.MultiBinary(self.n_moves)})

    def make(self, frames: Frames, out: Any = None) -> Any:
        """Return the batched observations of all games; `out` is the caller's observation buffer.

        Unless observations are planes, `frames.ranks` must already be the memory of `out`.
        """
        n, n_cells = frames.ranks.shape
        if self.kind == "planes":
            planes = np.empty((n, *self.array_shape), np.uint8) if out is None else out
            planes[...] = 0
            write_planes(frames.ranks, planes.reshape(n, self.n_planes, n_cells))
            return planes
        if out is None:
            ranks = frames.ranks.reshape(n, *self.cells)
            return ranks if self.kind == "ranks" else {"observation": ranks, "action_mask": frames.mask.copy()}
        if self.kind == "dict" and not np.may_share_memory(out["action_mask"], frames.mask):
            out["action_mask"][...] = frames.mask
        return out

    def make_one(self, frames: Frames) -> Any:
        """Return the observation of the only game, as new arrays."""
        if self.kind == "planes":
            return self.make(frames)[0]
        ranks = frames.ranks.reshape(self.cells).copy()
        return ranks if self.kind == "ranks" else {"observation": ranks, "action_mask": frames.mask.flatten()}

    def one_of(self, observations: Any, game: int) -> Any:
        """Return the observation of one game of a batch."""
        if self.kind == "dict":
            return {name: part[game] for name, part in observations.items()}
        return observations[game]
