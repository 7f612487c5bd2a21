"""Many boards slid at once, against the rules in plain Python."""

import numpy as np
import pytest

from lab2048.kernels.games.afterstates import slide_all
from lab2048.rules import Board, Rules
from lab2048.rules.plan import make_plan


@pytest.mark.parametrize("text", ["4x4", "2x3", "1x5", "##x|#x#|###", "hex1", "5x5"])
def test_every_move_of_every_board_is_that_of_the_reference(text: str) -> None:
    rules = Rules.from_text(text)
    n_cells, n_moves = rules.shape.n_cells, len(rules.shape.moves)
    ranks = np.random.default_rng(1).choice(np.array([0, 0, 1, 1, 2, 3, 16], np.uint8), (50, n_cells))
    afters, rewards = np.zeros((50, n_moves, n_cells), np.uint8), np.zeros((50, n_moves), np.float32)
    slide_all(make_plan(rules), ranks, afters, rewards)
    for i, row in enumerate(ranks):
        board = Board(rules.shape, tuple(row.tolist()))
        legal = dict(board.slides())
        for move in range(n_moves):
            if move in legal:
                after, reward = legal[move]
                assert tuple(afters[i, move]) == after.ranks
                assert rewards[i, move] == reward
            else:
                assert rewards[i, move] == -1
                assert tuple(afters[i, move]) == board.ranks
