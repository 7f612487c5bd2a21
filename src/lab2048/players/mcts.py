"""`mcts`: Monte Carlo tree search."""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.group import STATE_TREE, TREE
from lab2048.kernels.rollout import state_tree
from lab2048.kernels.rollout import tree as kernels
from lab2048.kernels.rollout.rollout import NO_LIMIT, RolloutOptions
from lab2048.players.player import Decision, Player, option
from lab2048.rules import Board, Rules, dice
from lab2048.rules.plan import make_plan
from lab2048.stop_flag import current

MAX_ITERATIONS = 10_000_000
MAX_MS = 3_600_000
MAX_C = 1_000_000
ONLY_MOVE = 16  # iterations if there is only one legal move: they estimate its value
PER_MS = 400  # iterations per millisecond, at most
MOVES_KEPT = 8
LEAST_BITS, MOST_BITS = 12, 21  # size of the table: 40 bytes per entry, 80 MB at most
CALL_NS = 200_000_000  # longest compiled call, so that Ctrl-C works
LAST_NS = 60_000  # reserved for the Python code after the last iteration

_ROLLOUTS = ("random", "merge", "merge-first")  # in the order of lab2048.kernels.rollout.rollout
_NODES = ("afterstates", "states")


@dataclass
class MctsPlayer(Player):
    """Monte Carlo tree search (UCT) over moves and spawns; the tree is kept from move to move."""

    measure: ClassVar[str] = "mean score of the moves looked ahead"
    unit: ClassVar[str] = "score"
    releases_lock: ClassVar[bool] = True

    iterations: int = option(500, "iterations per move")
    ms: float | None = option(None, "milliseconds per move, instead of a number of iterations")
    c: float = option(2.0, "exploration constant of UCT, in standard deviations of the score")
    points: float | None = option(None, "exploration constant of UCT in points, instead of c")
    rollout: str = option(
        "random",
        "rollout policy: a random move, or the largest merge; ties at random, or (merge-first) up, down, left, right",
        _ROLLOUTS,
    )
    discount: float = option(1.0, "discount factor of rewards in rollouts; rewards in the tree are not discounted")
    depth: int = option(30, "moves per iteration, tree and rollout together")
    ripe: int = option(8, "visits of an afterstate before it is expanded")
    nodes: str = option(
        "afterstates",
        "nodes: afterstates, or states whose moves begin with one visit worth their reward (Datta et al. 2022)",
        _NODES,
    )

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise OutOfRangeError("iterations", self.iterations, f"1 to {MAX_ITERATIONS}")
        if self.ms is not None and not 0 < self.ms <= MAX_MS:
            raise OutOfRangeError("ms", self.ms, f"above 0, at most {MAX_MS}")
        if not 0 <= self.c <= MAX_C:
            raise OutOfRangeError("c", self.c, f"0 to {MAX_C}")
        if self.points is not None and not 0 <= self.points <= MAX_C:
            raise OutOfRangeError("points", self.points, f"0 to {MAX_C}")
        if self.nodes not in _NODES:
            raise UnknownNameError("nodes", self.nodes, _NODES)
        if self.rollout not in _ROLLOUTS:
            raise UnknownNameError("rollout", self.rollout, _ROLLOUTS)
        if not 0 <= self.discount <= 1:
            raise OutOfRangeError("discount", self.discount, "0 to 1")
        if not 1 <= self.depth <= NO_LIMIT:
            raise OutOfRangeError("depth", self.depth, "1 or more")
        if not 1 <= self.ripe <= MAX_ITERATIONS:
            raise OutOfRangeError("ripe", self.ripe, f"1 to {MAX_ITERATIONS}")
        self._rules: Rules | None = None

    def groups(self, rules: Rules, *, games: bool = False) -> tuple[str, ...]:  # noqa: ARG002
        """Return the group of the tree."""
        return (STATE_TREE if self._has_states else TREE,)

    @property
    def _has_states(self) -> bool:
        return self.nodes == "states"

    @property
    def is_repeatable(self) -> bool:
        """Return False if the player is limited by time."""
        return self.ms is None

    def start(self, rules: Rules, seed: int) -> None:
        """Clear the tree; the player's randomness comes from its own stream of the seed."""
        self._key = np.uint64(dice.stream_key(seed, dice.PLAYER))
        if self._rules != rules:
            self._prepare(rules)
        if isinstance(self._tree, kernels.Tree):
            kernels.clear(self._tree)
        else:
            self._tree.numbers.fill(0)

    def _prepare(self, rules: Rules) -> None:
        """Make the table, and load the code now, so that no clock waits for it."""
        self._rules, self._plan = rules, make_plan(rules)
        self._exploration = kernels.Exploration(
            float(self.c if self.points is None else self.points), self.points is not None
        )
        n = self.iterations if self.ms is None else self.ms * PER_MS
        self._tree: kernels.Tree | state_tree.StateTree
        if self._has_states:
            bits = min(int(2 * n).bit_length() + 1, MOST_BITS)  # half of it stays free, so nodes are found quickly
            self._tree = state_tree.make_state_tree(self._plan, bits)
            state_tree.warm_up(self._plan)
        else:
            # Room for the iterations of some moves: what lies ahead is still of use then.
            n *= MOVES_KEPT
            self._tree = kernels.make_tree(self._plan, min(max(int(n).bit_length(), LEAST_BITS), MOST_BITS))
            kernels.warm_up(self._plan)
        self._values, self._errors = np.zeros((2, len(rules.shape.moves)))
        self._options = RolloutOptions(
            _ROLLOUTS.index(self.rollout), float(self.discount), self.depth, clock=clock_address()
        )

    def choose(self, board: Board) -> Decision:
        """Grow the tree from a board; choose the move with the highest value."""
        begin = time.monotonic_ns()
        if self._rules is None or self._rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        self._options = self._options._replace(stop=current().address)
        root, numbers = np.array(board.ranks, np.uint8), self._tree.numbers
        numbers[kernels.N_STATES :] = 0
        self._tree.returns.fill(0)
        if self._has_states:
            self._tree.keys.fill(0)
        is_only = len(board.legal_moves()) == 1
        if self.ms is None:
            self._grow_to(root, ONLY_MOVE if is_only else self.iterations)
        else:
            deadline = begin + int(self.ms * 1e6) - LAST_NS
            self._grow_until(root, ONLY_MOVE if is_only else MAX_ITERATIONS, deadline)
        self._find_values(root)
        values = {move: value for move, value in enumerate(self._values.tolist()) if value >= 0}
        errors = {move: error for move, error in enumerate(self._errors.tolist()) if error >= 0}
        best = max(values, key=lambda move: values[move])
        return Decision(best, values, int(numbers[kernels.N_STATES]), int(numbers[kernels.DEEPEST]), errors)

    def _find_values(self, root: NDArray[np.uint8]) -> None:
        """Set the value of every move and its standard error; -1 where there is none."""
        if isinstance(self._tree, kernels.Tree):
            kernels.root_values(self._plan, self._tree, root, self._values, self._errors)
        else:
            node = self._tree.numbers[state_tree.ROOT]
            self._values[:] = np.where(self._tree.visits[node] > 0, self._tree.values[node], -1)
            self._errors.fill(-1)

    def _grow(self, root: NDArray[np.uint8], n: int, options: RolloutOptions) -> int:
        """Run at most n iterations; return the number."""
        if isinstance(self._tree, kernels.Tree):
            grown = kernels.grow(self._plan, self._tree, root, self._key, n, self._exploration, self.ripe, options)
        else:
            grown = state_tree.grow_states(self._plan, self._tree, root, self._key, n, self._exploration, options)
        return int(grown)

    def _grow_to(self, root: NDArray[np.uint8], total: int) -> None:
        """Run `total` iterations; raise StoppedError if they were stopped."""
        pace = CALL_NS
        while total > 0:
            begin, n = time.monotonic_ns(), max(1, min(total, CALL_NS // pace))
            self._grow(root, n, self._options)
            current().check()
            total -= n
            pace = max(1, (time.monotonic_ns() - begin) // n)

    def _grow_until(self, root: NDArray[np.uint8], total: int, deadline: int) -> None:
        """Run at most `total` iterations before a deadline; raise StoppedError if they were stopped."""
        call = CALL_NS
        while total > 0 and (now := time.monotonic_ns()) < deadline:
            options = self._options._replace(deadline=min(deadline, now + call))
            n = self._grow(root, total, options)
            current().check()
            total -= n
            if n == 0:
                call *= 2  # a rollout may take longer than that
