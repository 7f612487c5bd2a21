"""`mcts`: Monte Carlo tree search."""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.group import TREE
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

_ROLLOUTS = ("random", "merge")  # in the order of lab2048.kernels.rollout.rollout


@dataclass
class MctsPlayer(Player):
    """Monte Carlo tree search (UCT) over moves and spawns; the tree is kept from move to move."""

    kernels: ClassVar[tuple[str, ...]] = (TREE,)
    measure: ClassVar[str] = "mean score of the moves looked ahead"
    unit: ClassVar[str] = "score"
    releases_lock: ClassVar[bool] = True

    iterations: int = option(500, "iterations per move")
    ms: float | None = option(None, "milliseconds per move, instead of a number of iterations")
    c: float = option(2.0, "exploration constant of UCT, in standard deviations of the score")
    rollout: str = option("random", "rollout policy: a random legal move, or the move that merges most", _ROLLOUTS)
    discount: float = option(1.0, "discount factor of rewards in rollouts; rewards in the tree are not discounted")
    depth: int = option(30, "moves per iteration, tree and rollout together")
    ripe: int = option(8, "visits of an afterstate before it is expanded")

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise OutOfRangeError("iterations", self.iterations, f"1 to {MAX_ITERATIONS}")
        if self.ms is not None and not 0 < self.ms <= MAX_MS:
            raise OutOfRangeError("ms", self.ms, f"above 0, at most {MAX_MS}")
        if not 0 <= self.c <= MAX_C:
            raise OutOfRangeError("c", self.c, f"0 to {MAX_C}")
        if self.rollout not in _ROLLOUTS:
            raise UnknownNameError("rollout", self.rollout, _ROLLOUTS)
        if not 0 <= self.discount <= 1:
            raise OutOfRangeError("discount", self.discount, "0 to 1")
        if not 1 <= self.depth <= NO_LIMIT:
            raise OutOfRangeError("depth", self.depth, "1 or more")
        if not 1 <= self.ripe <= MAX_ITERATIONS:
            raise OutOfRangeError("ripe", self.ripe, f"1 to {MAX_ITERATIONS}")
        self._rules: Rules | None = None

    @property
    def is_repeatable(self) -> bool:
        """Return False if the player is limited by time."""
        return self.ms is None

    def start(self, rules: Rules, seed: int) -> None:
        """Clear the tree; the player's randomness comes from its own stream of the seed."""
        self._key = np.uint64(dice.stream_key(seed, dice.PLAYER))
        if self._rules != rules:
            self._prepare(rules)
        kernels.clear(self._tree)

    def _prepare(self, rules: Rules) -> None:
        """Make the table, and load the code now, so that no clock waits for it."""
        self._rules, self._plan = rules, make_plan(rules)
        # Room for the iterations of some moves: what lies ahead is still of use then.
        n = MOVES_KEPT * (self.iterations if self.ms is None else self.ms * PER_MS)
        self._tree = kernels.make_tree(self._plan, min(max(int(n).bit_length(), LEAST_BITS), MOST_BITS))
        self._values, self._errors = np.zeros((2, len(rules.shape.moves)))
        self._options = RolloutOptions(
            _ROLLOUTS.index(self.rollout), float(self.discount), self.depth, clock=clock_address()
        )
        kernels.warm_up(self._plan)

    def choose(self, board: Board) -> Decision:
        """Grow the tree from a board; choose the move with the highest value."""
        begin = time.monotonic_ns()
        if self._rules is None or self._rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        self._options = self._options._replace(stop=current().address)
        root, numbers = np.array(board.ranks, np.uint8), self._tree.numbers
        numbers[kernels.N_STATES :] = 0
        self._tree.returns.fill(0)
        kernels.root_values(self._plan, self._tree, root, self._values, self._errors)
        is_only = np.count_nonzero(self._values >= 0) == 1
        if self.ms is None:
            self._grow_to(root, ONLY_MOVE if is_only else self.iterations)
        else:
            deadline = begin + int(self.ms * 1e6) - LAST_NS
            self._grow_until(root, ONLY_MOVE if is_only else MAX_ITERATIONS, deadline)
        kernels.root_values(self._plan, self._tree, root, self._values, self._errors)
        values = {move: value for move, value in enumerate(self._values.tolist()) if value >= 0}
        errors = {move: error for move, error in enumerate(self._errors.tolist()) if error >= 0}
        best = max(values, key=lambda move: values[move])
        return Decision(best, values, int(numbers[kernels.N_STATES]), int(numbers[kernels.DEEPEST]), errors)

    def _grow_to(self, root: NDArray[np.uint8], total: int) -> None:
        """Run `total` iterations; raise StoppedError if they were stopped."""
        pace = CALL_NS
        while total > 0:
            begin, n = time.monotonic_ns(), max(1, min(total, CALL_NS // pace))
            kernels.grow(self._plan, self._tree, root, self._key, n, float(self.c), self.ripe, self._options)
            current().check()
            total -= n
            pace = max(1, (time.monotonic_ns() - begin) // n)

    def _grow_until(self, root: NDArray[np.uint8], total: int, deadline: int) -> None:
        """Run at most `total` iterations before a deadline; raise StoppedError if they were stopped."""
        call = CALL_NS
        while total > 0 and (now := time.monotonic_ns()) < deadline:
            options = self._options._replace(deadline=min(deadline, now + call))
            n = kernels.grow(self._plan, self._tree, root, self._key, total, float(self.c), self.ripe, options)
            current().check()
            total -= n
            if n == 0:
                call *= 2  # a rollout may take longer than that
