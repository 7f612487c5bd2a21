"""Monte Carlo tree search on a hash table of afterstates.

The statistics of an afterstate (visits and returns) do not depend on the path to it, so the tree is a
table of afterstates: transpositions share statistics, and nothing has to be moved when the game
continues.  The tile sum grows with every spawn, so an entry with a smaller sum than the root can never be
reached again and may be overwritten.

One iteration: descend from the root, at each state to the afterstate with the highest UCB and then to a
random spawn; the first new afterstate is the leaf; a rollout estimates its value, which is
backpropagated along the path.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.dice import draw, mix
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.board.packed import FULL_SUM, Plan
from lab2048.kernels.board.wide import Ranks
from lab2048.kernels.rollout.rollout import STOPPED, RolloutOptions, copy_ranks, must_stop, rollout

HASH = U64(0x9E37_79B9_7F4A_7C15)
PRIME = U64(0x0000_0100_0000_01B3)
BUCKET = 8  # entries per key
MAX_PATH = 256  # own moves in the tree
NONE = -1  # instead of an entry: the move is illegal
ROOM = U64(1024)  # a board this close to FULL_SUM is searched as a wide board

# Numbers of a search
COUNT = 0  # iterations since the start of the game: the counter of the dice
N_STATES = 1  # visited states
DEEPEST = 2  # own moves
N_RETURNS = 3
NUMBERS = 4


class Exploration(NamedTuple):
    """The exploration constant of UCT."""

    c: float
    is_in_points: bool  # else in standard deviations of the returns from the root


class Tree(NamedTuple):
    """The table (an entry is one index of all arrays) and buffers for one descent."""

    keys: NDArray[np.uint64]  # of the afterstate; 0 = free
    sums: NDArray[np.uint64]  # its tile sum
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]  # sum of the returns over all visits
    squares: NDArray[np.float64]
    numbers: NDArray[np.int64]
    returns: NDArray[np.float64]  # sum and sum of squares of the returns from the root, in this search
    # The current state of the descent: its board, and for each move the afterstate, its key, reward and entry.
    ranks: NDArray[np.uint8]
    afters: NDArray[np.uint8]
    moves: NDArray[np.uint64]
    rewards: NDArray[np.float64]
    entries: NDArray[np.int64]
    # The path: entry and reward of every move.
    path: NDArray[np.int64]
    gains: NDArray[np.float64]


def make_tree(plan: Plan, bits: int) -> Tree:
    """Make an empty table of 2^bits entries, at least one bucket."""
    n, n_moves, n_cells = 1 << max(bits, 3), int(plan[at.N_MOVES]), int(plan[at.N_CELLS])
    return Tree(
        keys=np.zeros(n, np.uint64),
        sums=np.zeros(n, np.uint64),
        visits=np.zeros(n, np.int64),
        totals=np.zeros(n),
        squares=np.zeros(n),
        numbers=np.zeros(NUMBERS, np.int64),
        returns=np.zeros(2),
        ranks=np.zeros(n_cells, np.uint8),
        afters=np.zeros((n_moves, n_cells), np.uint8),
        moves=np.zeros(n_moves, np.uint64),
        rewards=np.zeros(n_moves),
        entries=np.zeros(n_moves, np.int64),
        path=np.zeros(MAX_PATH, np.int64),
        gains=np.zeros(MAX_PATH),
    )


def clear(tree: Tree) -> None:
    """Clear the table."""
    for array in (tree.keys, tree.sums, tree.visits, tree.numbers):
        array.fill(0)


@kernel
def hash_ranks(ranks: Ranks) -> U64:
    """Hash a wide board; never 0."""
    word = HASH
    for rank in ranks:
        word = (word ^ U64(rank)) * PRIME
    return mix(word) | ONE


@kernel
def find(tree: Tree, key: U64, root_sum: U64) -> I64:
    """Return the entry of an afterstate, or the entry to overwrite if it has none.

    That is a free entry, or else the one with the fewest visits.
    """
    first = I64((key * HASH) >> U64(32)) & I64(len(tree.keys) - 1) & ~(BUCKET - 1)
    found, least = I64(-1), I64(2**62)
    for entry in range(first, first + BUCKET):
        if tree.keys[entry] == key:
            return I64(entry)
        visits = I64(0) if tree.sums[entry] < root_sum else tree.visits[entry]
        if visits < least:
            found, least = I64(entry), visits
    return found


@kernel
def find_children(plan: Plan, tree: Tree, is_wide: bool, board: U64, root_sum: U64) -> I64:
    """Compute the afterstates of a state and find their entries; return the number of legal moves.

    The state is `board`, or tree.ranks if it is wide.
    """
    n_legal, potential = I64(0), packed.potential(board)
    for move in range(len(tree.moves)):
        if is_wide:
            copy_ranks(tree.ranks, tree.afters[move])
            reward = wide.slide(plan, tree.afters[move], move)
            is_legal, key = reward >= 0, hash_ranks(tree.afters[move])
        else:
            key = packed.slide(plan, board, move)
            is_legal, reward = key != board, packed.potential(key) - potential
        tree.moves[move], tree.rewards[move] = key, float(reward)
        tree.entries[move] = find(tree, key, root_sum) if is_legal else I64(NONE)
        n_legal += is_legal
    return n_legal


@kernel
def spread_of(exploration: Exploration, returns: NDArray[np.float64], n: I64) -> float:
    """Return the exploration constant in points; `returns` are the sum and the sum of squares of n returns."""
    if exploration.is_in_points:
        return float(exploration.c)
    n = max(I64(1), n)
    mean = returns[0] / n
    return float(exploration.c * math.sqrt(max(0.0, returns[1] / n - mean * mean)))


@kernel
def select(tree: Tree, exploration: Exploration) -> tuple[I64, bool]:
    """Select the next move by UCB1; return it and whether its afterstate is new.

    New afterstates come first, then the highest value + c * sqrt(ln N / n).
    """
    total = I64(0)
    for move in range(len(tree.moves)):
        entry = tree.entries[move]
        if entry != NONE:
            if tree.keys[entry] != tree.moves[move]:
                return I64(move), True
            total += tree.visits[entry]
    reach = spread_of(exploration, tree.returns, tree.numbers[N_RETURNS]) * math.sqrt(math.log(float(total)))
    best, highest = I64(NONE), 0.0
    for move in range(len(tree.moves)):
        entry = tree.entries[move]
        if entry != NONE:
            n = tree.visits[entry]
            value = tree.rewards[move] + tree.totals[entry] / n + reach / math.sqrt(float(n))
            if best == NONE or value > highest:
                best, highest = I64(move), value
    return best, False


@kernel
def backpropagate(tree: Tree, n_path: I64, gained: float) -> None:
    """Backpropagate along the path; `gained` is the return after the last afterstate."""
    for i in range(n_path - 1, -1, -1):
        entry = tree.path[i]
        if i < n_path - 1 and entry == tree.path[n_path - 1]:  # overwritten by the new leaf
            gained += tree.gains[i]
            continue
        tree.visits[entry] += 1
        tree.totals[entry] += gained
        tree.squares[entry] += gained * gained
        gained += tree.gains[i]
    tree.numbers[N_RETURNS] += 1
    tree.returns[0] += gained
    tree.returns[1] += gained * gained


@kernel
def pack_root(plan: Plan, root: Ranks) -> tuple[bool, U64, U64]:
    """Return whether to search on wide boards, the packed root, and its tile sum."""
    board, tile_sum = ZERO, ZERO
    for cell in range(len(root)):
        if root[cell] > 0 and U64(root[cell]) != plan[at.FREE_RANK]:
            tile_sum += ONE << U64(root[cell])
    is_wide = bool(plan[at.IS_PACKED] == ZERO or tile_sum + ROOM >= FULL_SUM)
    if not is_wide:
        for cell in range(len(root)):
            board |= U64(root[cell]) << U64(4 * cell)
    return is_wide, board, tile_sum


@kernel
def grow(
    plan: Plan,
    tree: Tree,
    root: Ranks,
    key: U64,
    n: I64,
    exploration: Exploration,
    min_visits: I64,
    options: RolloutOptions,
) -> I64:
    """Run at most n iterations from a state; return the number, smaller if it was stopped.

    An afterstate is expanded only after `min_visits` visits: before that, its value is mostly noise.
    Path and rollout together have at most the limit of moves, so all returns cover equally many moves.

    An iteration is a function of the key, of its number since the start of the game, and of the table.
    """
    is_wide, root_board, root_sum = pack_root(plan, root)
    furthest = min(I64(MAX_PATH), I64(options.limit))
    for iteration in range(n):
        if must_stop(options, 0):
            return I64(iteration)
        dice = draw(key, U64(tree.numbers[COUNT]))
        board, tile_sum, n_path = root_board, root_sum, I64(0)
        copy_ranks(root, tree.ranks)
        gained, is_leaf = 0.0, False
        while not is_leaf and n_path < furthest and find_children(plan, tree, is_wide, board, root_sum) > 0:
            # 1. Select an afterstate.
            tree.numbers[N_STATES] += 1
            move, is_new = select(tree, exploration)
            entry, after = tree.entries[move], tree.moves[move]
            tree.path[n_path], tree.gains[n_path] = entry, tree.rewards[move]
            n_path += 1
            is_leaf = is_new or tree.visits[entry] < min_visits
            after_sum = tile_sum
            # 2. Spawn.
            word = draw(dice, U64(n_path))
            if is_wide:
                copy_ranks(tree.afters[move], tree.ranks)
                rank = wide.spawn(plan, tree.ranks, word)
            else:
                board, rank = packed.spawn(plan, after, word)
            tile_sum += ONE << rank
        # 3. Evaluate the leaf by a rollout.
        if is_leaf:
            if not is_wide:
                wide.unpack(board, tree.ranks)
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
            if is_new:
                tree.keys[entry], tree.sums[entry], tree.visits[entry] = after, after_sum, 0
                tree.totals[entry], tree.squares[entry] = 0.0, 0.0
        # 4. Backpropagate.
        backpropagate(tree, n_path, gained)
        tree.numbers[COUNT] += 1
        tree.numbers[DEEPEST] = max(tree.numbers[DEEPEST], n_path)
    return n


@kernel
def root_values(plan: Plan, tree: Tree, root: Ranks, values: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """Write the value of every move and its standard error; both are -1 for an illegal move.

    The value of an unvisited move is its reward; the error of a move with fewer than two visits is -1.
    """
    is_wide, board, root_sum = pack_root(plan, root)
    copy_ranks(root, tree.ranks)
    find_children(plan, tree, is_wide, board, root_sum)
    for move in range(len(values)):
        values[move], errors[move] = -1.0, -1.0
        entry = tree.entries[move]
        if entry == NONE:
            continue
        values[move] = tree.rewards[move]
        if tree.keys[entry] == tree.moves[move]:
            n = tree.visits[entry]
            mean = tree.totals[entry] / n
            values[move] += mean
            if n > 1:
                errors[move] = math.sqrt(max(0.0, tree.squares[entry] / n - mean * mean) / float(n - 1))


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls, or load them."""
    tree, root, values = make_tree(plan, 3), np.zeros(int(plan[at.N_CELLS]), np.uint8), np.zeros(int(plan[at.N_MOVES]))
    options = RolloutOptions(limit=1, clock=clock_address())
    compile_for(grow, plan, tree, root, ONE, 2, Exploration(1.0, False), 1, options)
    compile_for(root_values, plan, tree, root, values, values)
