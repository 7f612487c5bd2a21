"""Monte Carlo tree search: a table of afterstates, and iterations that make it grow.

What is known of an afterstate (how often it was tried, and what came after it) does not
depend on how the game came there.  So the tree is a table by afterstate: different ways
to one board share what they learn, and nothing has to be moved when a game goes on.  The
tile sum grows with every spawn; an entry with a smaller one than the board that is asked
about can never be met again, and its place is free.

One iteration: walk down from the root, at each state to the afterstate that promises
most, then to a spawn of the dice; the first afterstate that is new ends the walk, a
rollout says what it is good for, and every afterstate on the way learns what was gained
after it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import I64, ONE, U64, ZERO
from lab2048.kernels.board.dice import draw, mix
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.board.packed import FULL_SUM, Plan
from lab2048.kernels.board.wide import Ranks
from lab2048.kernels.rollout.rollout import STOPPED, Terms, copy_ranks, is_late, rollout

HASH = U64(0x9E37_79B9_7F4A_7C15)
PRIME = U64(0x0000_0100_0000_01B3)
BUCKET = 8  # entries that a key may be in
MAX_PATH = 256  # own moves in the tree
NONE = -1  # in place of an entry: the move is not legal
ROOM = U64(1024)  # a board this near to being too rich for a word is searched in bytes

# Numbers of a search
COUNT = 0  # iterations since the game began: the count of the dice
N_STATES = 1  # boards looked at
DEEPEST = 2  # own moves
N_RETURNS = 3
NUMBERS = 4


class Tree(NamedTuple):
    """The table, an entry at the same index of each array, and room for a walk through it."""

    keys: NDArray[np.uint64]  # of the afterstate; 0: free
    sums: NDArray[np.uint64]  # its tile sum
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]  # what was gained after it, all visits together
    squares: NDArray[np.float64]
    numbers: NDArray[np.int64]
    returns: NDArray[np.float64]  # sum and squares of what was gained from the root, in this search
    # The state that a walk has come to: its board, and for each move the afterstate, its key, reward and entry.
    ranks: NDArray[np.uint8]
    afters: NDArray[np.uint8]
    moves: NDArray[np.uint64]
    rewards: NDArray[np.float64]
    entries: NDArray[np.int64]
    # The walk: entry and reward of every move.
    path: NDArray[np.int64]
    gains: NDArray[np.float64]


def make_tree(plan: Plan, bits: int) -> Tree:
    """An empty table of 2^bits entries, at least a bucket."""
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
    """Forget everything."""
    for array in (tree.keys, tree.sums, tree.visits, tree.numbers):
        array.fill(0)


@kernel
def hash_ranks(ranks: Ranks) -> U64:
    """A key for a board in bytes; never 0."""
    word = HASH
    for rank in ranks:
        word = (word ^ U64(rank)) * PRIME
    return mix(word) | ONE


@kernel
def find(tree: Tree, key: U64, root_sum: U64) -> I64:
    """The entry of an afterstate; if it has none, where it may be written.

    That is a free place, or else that of the afterstate that was tried least.
    """
    first = I64((key * HASH) >> U64(32)) & I64(len(tree.keys) - 1) & ~(BUCKET - 1)
    place, least = I64(-1), I64(2**62)
    for entry in range(first, first + BUCKET):
        if tree.keys[entry] == key:
            return I64(entry)
        visits = I64(0) if tree.sums[entry] < root_sum else tree.visits[entry]
        if visits < least:
            place, least = I64(entry), visits
    return place


@kernel
def look(plan: Plan, tree: Tree, is_wide: bool, board: U64, root_sum: U64) -> I64:
    """Slide a state every way and find its afterstates; return how many there are.

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
def promise(tree: Tree, c: float) -> tuple[I64, bool]:
    """The move to try next, and whether its afterstate is new.

    A new one comes first; then the highest of value + c * spread * sqrt(ln N / n) (UCB1).
    The spread is the standard deviation of what iterations gained from the root, so that c
    means the same for small scores and large.
    """
    total = I64(0)
    for move in range(len(tree.moves)):
        entry = tree.entries[move]
        if entry != NONE:
            if tree.keys[entry] != tree.moves[move]:
                return I64(move), True
            total += tree.visits[entry]
    n = max(1, tree.numbers[N_RETURNS])
    mean = tree.returns[0] / n
    reach = c * math.sqrt(max(0.0, tree.returns[1] / n - mean * mean) * math.log(float(total)))
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
def learn(tree: Tree, n_path: I64, gained: float) -> None:
    """Tell every afterstate of a walk what was gained after it; `gained` is what came after the last."""
    for i in range(n_path - 1, -1, -1):
        entry = tree.path[i]
        if i < n_path - 1 and entry == tree.path[n_path - 1]:  # lost its place to the new one
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
def enter(plan: Plan, root: Ranks) -> tuple[bool, U64, U64]:
    """How to search from a state: in bytes or in a word, that word, and the tile sum."""
    board, tile_sum = ZERO, ZERO
    for cell in range(len(root)):
        if root[cell] > 0:
            tile_sum += ONE << U64(root[cell])
    is_wide = bool(plan[at.IS_PACKED] == ZERO or tile_sum + ROOM >= FULL_SUM)
    if not is_wide:
        for cell in range(len(root)):
            board |= U64(root[cell]) << U64(4 * cell)
    return is_wide, board, tile_sum


@kernel
def grow(plan: Plan, tree: Tree, root: Ranks, key: U64, n: I64, c: float, ripe: I64, terms: Terms) -> I64:
    """Make at most n iterations from a state; return how many, fewer if the time was up.

    A walk goes past an afterstate only when it was visited `ripe` times: before that, a
    choice among what follows would be a choice by luck.  Walk and rollout together are at
    most as long as the limit of the terms, so that all returns count equally many moves.

    Everything that happens in an iteration is a function of the key, of its number since
    the game began, and of the table.
    """
    is_wide, root_board, root_sum = enter(plan, root)
    furthest = min(I64(MAX_PATH), I64(terms.limit))
    for iteration in range(n):
        if is_late(terms, 0):
            return I64(iteration)
        dice = draw(key, U64(tree.numbers[COUNT]))
        board, tile_sum, n_path = root_board, root_sum, I64(0)
        copy_ranks(root, tree.ranks)
        gained, is_leaf = 0.0, False
        while not is_leaf and n_path < furthest and look(plan, tree, is_wide, board, root_sum) > 0:
            # 1. Walk to an afterstate.
            tree.numbers[N_STATES] += 1
            move, is_new = promise(tree, c)
            entry, after = tree.entries[move], tree.moves[move]
            tree.path[n_path], tree.gains[n_path] = entry, tree.rewards[move]
            n_path += 1
            is_leaf = is_new or tree.visits[entry] < ripe
            after_sum = tile_sum
            # 2. Spawn.
            word = draw(dice, U64(n_path))
            if is_wide:
                copy_ranks(tree.afters[move], tree.ranks)
                rank = wide.spawn(plan, tree.ranks, word)
            else:
                board, rank = packed.spawn(plan, after, word)
            tile_sum += ONE << rank
        # 3. See what the last afterstate is good for.
        if is_leaf:
            if not is_wide:
                wide.unpack(board, tree.ranks)
            rest = Terms(terms.policy, terms.discount, terms.limit - n_path, terms.deadline, terms.clock)
            gained, _, played = rollout(plan, tree.ranks, dice, True, rest)
            if played == STOPPED:
                return I64(iteration)
            tree.numbers[N_STATES] += played
            if is_new:
                tree.keys[entry], tree.sums[entry], tree.visits[entry] = after, after_sum, 0
                tree.totals[entry], tree.squares[entry] = 0.0, 0.0
        # 4. Learn from it.
        learn(tree, n_path, gained)
        tree.numbers[COUNT] += 1
        tree.numbers[DEEPEST] = max(tree.numbers[DEEPEST], n_path)
    return n


@kernel
def judge(plan: Plan, tree: Tree, root: Ranks, values: NDArray[np.float64], errors: NDArray[np.float64]) -> None:
    """The value of every move of a state and its standard error; both -1 for a move that is not legal.

    A move that was never tried is worth its reward, with an error of -1; so is the error of one tried once.
    """
    is_wide, board, root_sum = enter(plan, root)
    copy_ranks(root, tree.ranks)
    look(plan, tree, is_wide, board, root_sum)
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
    """Call every kernel of this file once, so that it is compiled."""
    tree, n_moves = make_tree(plan, 3), int(plan[at.N_MOVES])
    root = np.zeros(int(plan[at.N_CELLS]), np.uint8)
    root[:2] = 1
    grow(plan, tree, root, ONE, 2, 1.0, 1, Terms(limit=1, clock=clock_address()))
    judge(plan, tree, root, np.zeros(n_moves), np.zeros(n_moves))
