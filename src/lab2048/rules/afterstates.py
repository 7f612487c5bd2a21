"""Compute the afterstates of many boards in one call, for networks that evaluate batches."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board import layout as at
from lab2048.kernels.board.packed import Plan
from lab2048.kernels.games.afterstates import slide_all


@dataclass(frozen=True)
class Afterstates:
    """The afterstates of a batch of boards."""

    boards: NDArray[np.uint8]  # (boards, moves, cells)
    rewards: NDArray[np.float32]  # (boards, moves); -1 if the move is illegal

    @property
    def legal(self) -> NDArray[np.bool_]:
        return self.rewards >= 0


def slide_boards(plan: Plan, ranks: NDArray[np.uint8]) -> Afterstates:
    """Slide every board in every direction; boards are rows of ranks."""
    n, n_cells = ranks.shape
    n_moves = int(plan[at.N_MOVES])
    boards, rewards = np.empty((n, n_moves, n_cells), np.uint8), np.empty((n, n_moves), np.float32)
    slide_all(plan, ranks, boards, rewards)
    return Afterstates(boards, rewards)
