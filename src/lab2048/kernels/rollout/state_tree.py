"""Monte Carlo tree search on a table of states, as in Datta et al. 2022.

A node is a board before the move.  It begins with one visit of each legal move, whose return is the reward of the
move.  An iteration descends from the root, at each node by the move with the highest UCB and then by a random spawn,
to the first board without a node; that board becomes a node, and a rollout gives the rest of the return.  The table is
cleared for every decision.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import wide
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.dice import draw
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.board.packed import Plan
from lab2048.kernels.board.wide import Ranks
from lab2048.kernels.rollout.rollout import STOPPED, RolloutOptions, copy_ranks, must_stop, rollout
from lab2048.kernels.rollout.tree import (
    COUNT,
    DEEPEST,
    HASH,
    MAX_PATH,
    N_RETURNS,
    N_STATES,
    NONE,
    NUMBERS,
    Exploration,
    hash_ranks,
    spread_of,
)

MAX_STEPS = 32  # places that are tried for a new node
ROOT = NUMBERS  # after the numbers of a search: the node of the root


class StateTree(NamedTuple):
    """The table (a node is one index of keys, visits and values) and buffers for one descent."""

    keys: NDArray[np.uint64]  # 0 = free
    visits: NDArray[np.int64]  # of each move; 0 = illegal
    values: NDArray[np.float64]  # mean return of each move
    numbers: NDArray[np.int64]
    returns: NDArray[np.float64]  # sum and sum of squares of the returns from the root
    ranks: NDArray[np.uint8]  # the board of the descent
    after: NDArray[np.uint8]
    path: NDArray[np.int64]  # node and move of every step
    chosen: NDArray[np.int64]
    gains: NDArray[np.float64]


def make_state_tree(plan: Plan, bits: int) -> StateTree:
    """Make an empty table of 2^bits nodes."""
    n, n_moves, n_cells = 1 << bits, int(plan[at.N_MOVES]), int(plan[at.N_CELLS])
    return StateTree(
        keys=np.zeros(n, np.uint64),
        visits=np.zeros((n, n_moves), np.int64),
        values=np.zeros((n, n_moves)),
        numbers=np.zeros(NUMBERS + 1, np.int64),
        returns=np.zeros(2),
        ranks=np.zeros(n_cells, np.uint8),
        after=np.zeros(n_cells, np.uint8),
        path=np.zeros(MAX_PATH, np.int64),
        chosen=np.zeros(MAX_PATH, np.int64),
        gains=np.zeros(MAX_PATH),
    )


@kernel
def find_node(tree: StateTree, key: U64) -> I64:
    """Return the node of a board, a free one if it has none, or NONE if there is no room."""
    n = I64(len(tree.keys))
    node = I64((key * HASH) >> U64(32)) & (n - 1)
    for _ in range(min(I64(MAX_STEPS), n)):
        if tree.keys[node] == key or tree.keys[node] == ZERO:
            return node
        node = (node + 1) & (n - 1)
    return I64(NONE)


@kernel
def expand(plan: Plan, tree: StateTree, node: I64, key: U64) -> I64:
    """Make a node of the board tree.ranks; return the number of its legal moves; without any it stays free."""
    n_legal = I64(0)
    for move in range(tree.visits.shape[1]):
        copy_ranks(tree.ranks, tree.after)
        reward = wide.slide(plan, tree.after, move)
        tree.visits[node, move], tree.values[node, move] = I64(reward >= 0), float(reward)
        n_legal += I64(reward >= 0)
    if n_legal > 0:
        tree.keys[node] = key
    return n_legal


@kernel
def select_move(tree: StateTree, node: I64, exploration: Exploration) -> I64:
    """Return the first move with the highest value + c * sqrt(ln N / n)."""
    total = I64(0)
    for move in range(tree.visits.shape[1]):
        total += tree.visits[node, move]
    reach = spread_of(exploration, tree.returns, tree.numbers[N_RETURNS]) * math.sqrt(math.log(float(total)))
    best, highest = I64(NONE), 0.0
    for move in range(tree.visits.shape[1]):
        n = tree.visits[node, move]
        if n > 0:
            value = tree.values[node, move] + reach / math.sqrt(float(n))
            if best == NONE or value > highest:
                best, highest = I64(move), value
    return best


@kernel
def grow_states(
    plan: Plan, tree: StateTree, root: Ranks, key: U64, n: I64, exploration: Exploration, options: RolloutOptions
) -> I64:
    """Run at most n iterations from a state; return the number, smaller if it was stopped.

    Path and rollout together have at most the limit of moves.
    """
    furthest = min(I64(MAX_PATH), I64(options.limit))
    for iteration in range(n):
        if must_stop(options, 0):
            return I64(iteration)
        dice, n_path, gained = draw(key, U64(tree.numbers[COUNT])), I64(0), 0.0
        copy_ranks(root, tree.ranks)
        while n_path < furthest:
            state_key = hash_ranks(tree.ranks)
            node = find_node(tree, state_key)
            if n_path == 0:
                tree.numbers[ROOT] = node
            if node == NONE or tree.keys[node] == ZERO:
                # 1. A new board becomes a node, and a rollout plays on from it.
                if node != NONE and expand(plan, tree, node, state_key) == 0:
                    break
                rest = RolloutOptions(
                    options.policy,
                    options.discount,
                    options.limit - n_path,
                    options.deadline,
                    options.clock,
                    options.stop,
                )
                gained, _, played = rollout(plan, tree.ranks, dice, True, rest)
                if played == STOPPED:
                    return I64(iteration)
                tree.numbers[N_STATES] += played
                break
            # 2. At a node: select a move, then spawn.
            tree.numbers[N_STATES] += 1
            move = select_move(tree, node, exploration)
            tree.path[n_path], tree.chosen[n_path] = node, move
            tree.gains[n_path] = float(wide.slide(plan, tree.ranks, move))
            n_path += 1
            wide.spawn(plan, tree.ranks, draw(dice, U64(n_path)))
        # 3. Backpropagate.
        for i in range(n_path - 1, -1, -1):
            gained += tree.gains[i]
            node, move = tree.path[i], tree.chosen[i]
            tree.visits[node, move] += 1
            tree.values[node, move] += (gained - tree.values[node, move]) / tree.visits[node, move]
        tree.numbers[N_RETURNS] += 1
        tree.returns[0] += gained
        tree.returns[1] += gained * gained
        tree.numbers[COUNT] += 1
        tree.numbers[DEEPEST] = max(tree.numbers[DEEPEST], n_path)
    return n


def warm_up(plan: Plan) -> None:
    """Compile the kernel of this file that Python calls, or load it."""
    tree, root = make_state_tree(plan, 3), np.zeros(int(plan[at.N_CELLS]), np.uint8)
    options = RolloutOptions(limit=1, clock=clock_address())
    compile_for(grow_states, plan, tree, root, ONE, 2, Exploration(1.0, True), options)
