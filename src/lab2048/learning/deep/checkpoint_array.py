"""Check the arrays of a checkpoint before a training continues with them; each check raises ValueError."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board import layout as at
from lab2048.kernels.board.packed import FULL_SUM
from lab2048.kernels.games import vector
from lab2048.rules import Rules
from lab2048.rules.afterstates import slide_boards
from lab2048.rules.plan import make_plan

MAX_COUNT = 2**53  # of moves, games and steps
Array = NDArray[Any]


def check_like(name: str, given: Array, expected: Array, *, any_length: bool = False) -> None:
    """Check type and shape; with `any_length` the first axis may differ.  Numbers are finite, flags are 0 or 1."""
    first = 1 if any_length else 0
    if given.dtype != expected.dtype or given.ndim != expected.ndim or given.shape[first:] != expected.shape[first:]:
        raise ValueError(f"{name} has another type or shape")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError(f"{name} has a number that is not finite")
    if given.dtype == np.bool_ and (given.view(np.uint8) > 1).any():
        raise ValueError(f"{name} has a flag that is not 0 or 1")


def check_boards(boards: NDArray[np.uint8], rules: Rules) -> None:
    """Check that no rank is above the highest of the rules: networks have one input per rank."""
    if (boards > rules.max_rank).any():
        raise ValueError("a tile is too large")


def check_moves(moves: Array, rules: Rules) -> None:
    """Check that all moves exist."""
    if ((moves < 0) | (moves >= len(rules.shape.moves))).any():
        raise ValueError("a move does not exist")


def are_legal(boards: NDArray[np.uint8], moves: Array, rules: Rules) -> bool:
    """Return True if every move is legal on its board; boards without a legal move do not count."""
    legal = slide_boards(make_plan(rules), boards).legal
    return bool((legal[np.arange(len(moves)), moves] | ~legal.any(axis=1)).all())


def count_of(array: Array) -> int:
    """Return the number in an array of one count."""
    if array.dtype != np.int64 or array.shape != (1,) or not 0 <= int(array[0]) < MAX_COUNT:
        raise ValueError("a count is out of range")
    return int(array[0])


def steps_due(array: Array) -> float:
    """Return the gradient steps to make: between rounds this is a fraction of one."""
    if array.dtype != np.float64 or array.shape != (1,) or not 0 <= float(array[0]) < 1:
        raise ValueError("debt is out of range")
    return float(array[0])


def check_games(words: NDArray[np.uint64], ranks: NDArray[np.uint8], rules: Rules) -> None:
    """Check the words of vectorized games: what follows from the boards is as it should be."""
    plan, n_cells = make_plan(rules), rules.shape.n_cells
    is_wide = words[:, vector.IS_WIDE] != 0
    nibbles = words[:, [vector.BOARD]] >> np.arange(0, 64, 4, dtype=np.uint64) & np.uint64(15)
    if nibbles[~is_wide, n_cells:].any():
        raise ValueError("a tile is outside the board")
    boards = np.where(is_wide[:, None], ranks, nibbles[:, :n_cells].astype(np.uint8) if n_cells <= 16 else ranks)
    check_boards(boards, rules)
    tiles = np.where(boards > 0, np.uint64(1) << boards.astype(np.uint64), np.uint64(0))
    potentials = tiles * np.maximum(boards, 1).astype(np.uint64) - tiles
    legal = slide_boards(plan, np.ascontiguousarray(boards)).legal
    bits = (legal.astype(np.uint64) << np.arange(legal.shape[1], dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    if rules.stop_at_goal:
        bits[boards.max(axis=1) >= rules.goal_rank] = 0
    expected = {
        vector.SUM: tiles.sum(axis=1),
        vector.POTENTIAL: potentials.sum(axis=1),
        vector.MAX_RANK: boards.max(axis=1).astype(np.uint64),
        vector.LEGAL: bits,
        vector.IS_DONE: np.zeros(len(words), np.uint64),
    }
    counts = words[:, [vector.N_SPAWNS, vector.SCORE, vector.N_STEPS, vector.EPISODE]]
    must_be_wide = (tiles.sum(axis=1) >= FULL_SUM) | (plan[at.IS_PACKED] == 0)
    if (
        any((words[:, word] != numbers).any() for word, numbers in expected.items())
        or (counts >= MAX_COUNT).any()
        or (is_wide != must_be_wide).any()
        or (words[:, vector.IS_WIDE] > 1).any()
    ):
        raise ValueError("a game is not as its board says")
