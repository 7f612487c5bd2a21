"""`montecarlo`: flat Monte Carlo search, with random rollouts of every move."""

import time
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from lab2048.errors import OutOfRangeError, UnknownNameError, UsageError
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.group import ROLLOUT
from lab2048.kernels.rollout import rollout as kernels
from lab2048.kernels.rollout.rollout import RolloutOptions
from lab2048.players.player import Decision, Player, option
from lab2048.players.race import Race
from lab2048.rules import Board, Rules, dice
from lab2048.rules.plan import make_plan
from lab2048.stop_flag import current

MAX_ROLLOUTS = 1_000_000
MAX_MS = 3_600_000
FIRST_LOOK = 24  # rollouts before a move may be eliminated
LOOK_AGAIN = 1.5  # times as many before the next test
ONLY_MOVE = 16  # rollouts if there is only one legal move: they estimate its value
CALL_NS = 200_000_000  # longest compiled call, so that Ctrl-C works
LOOK_NS = 300_000  # with a time limit: least time between two tests, which take about 30 microseconds each
LAST_NS = 55_000  # reserved for the Python code after the last rollout

_METRICS = ("score", "sum", "moves")  # in the order of lab2048.kernels.rollout.rollout
_POLICIES = ("random", "merge")


@dataclass
class MonteCarloPlayer(Player):
    """Flat Monte Carlo: plays random rollouts of every move and chooses the move with the best mean result."""

    kernels: ClassVar[tuple[str, ...]] = (ROLLOUT,)
    measure: ClassVar[str] = "mean result of rollouts"
    releases_lock: ClassVar[bool] = True

    rollouts: int = option(
        100, "rollouts per legal move; if a move is eliminated, the others get its remaining rollouts"
    )
    ms: float | None = option(None, "milliseconds per move, instead of a number of rollouts")
    metric: str = option(
        "score", "result of a rollout: score gained, tile sum at the end, or number of moves", _METRICS
    )
    policy: str = option("random", "rollout policy: a random legal move, or the move that merges most", _POLICIES)
    limit: int = option(2000, "maximum number of moves per rollout; a game on 8x8 can take millions")
    risk: float = option(0.02, "eliminate a move if its probability of becoming the best is below this; 0 = never")

    def __post_init__(self) -> None:
        if not 1 <= self.rollouts <= MAX_ROLLOUTS:
            raise OutOfRangeError("rollouts", self.rollouts, f"1 to {MAX_ROLLOUTS}")
        if self.ms is not None and not 0 < self.ms <= MAX_MS:
            raise OutOfRangeError("ms", self.ms, f"above 0, at most {MAX_MS}")
        if self.metric not in _METRICS:
            raise UnknownNameError("metric", self.metric, _METRICS)
        if self.policy not in _POLICIES:
            raise UnknownNameError("policy", self.policy, _POLICIES)
        if not 1 <= self.limit <= kernels.NO_LIMIT:
            raise OutOfRangeError("limit", self.limit, f"1 to {kernels.NO_LIMIT}")
        if not 0 <= self.risk < 0.5:
            raise OutOfRangeError("risk", self.risk, "0 to below 0.5")
        self._rules: Rules | None = None

    @property
    def is_repeatable(self) -> bool:
        """Return False if the player is limited by time."""
        return self.ms is None

    def start(self, rules: Rules, seed: int) -> None:
        """Take the player's own stream of the seed, so that rollouts are independent of the game's dice."""
        self._key = dice.stream_key(seed, dice.PLAYER)
        if self._rules == rules:
            return
        self._rules, self._plan = rules, make_plan(rules)
        n_moves = len(rules.shape.moves)
        self._afters = np.zeros((n_moves, rules.shape.n_cells), np.uint8)
        self._rewards = np.zeros(n_moves, np.int64)
        self._metric = _METRICS.index(self.metric)
        self._worst = NormalDist().inv_cdf(1 - (self.risk or 0.5))
        self._options = RolloutOptions(_POLICIES.index(self.policy), 1.0, self.limit, clock=clock_address())
        kernels.warm_up(self._plan)  # load the code before any time limit starts

    def choose(self, board: Board) -> Decision:
        """Race the legal moves; choose the one with the highest mean."""
        begin = time.monotonic_ns()
        if self._rules is None or self._rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        self._options = self._options._replace(stop=current().address)
        kernels.afterstates(self._plan, np.array(board.ranks, np.uint8), self._afters, self._rewards)
        moves = np.flatnonzero(self._rewards >= 0)
        race = Race(moves, np.empty((len(self._rewards), 128)))
        # The tile sum never repeats in a game, and a board tells it: see lab2048.players.random.
        key = np.uint64(dice.draw(self._key, board.tile_sum // 2))
        if self.ms is None:
            n_played = self._race_to(race, key, ONLY_MOVE if len(moves) == 1 else self.rollouts)
        else:
            n_played = self._race_until(race, key, begin, begin + int(self.ms * 1e6) - LAST_NS)
        if race.n == 0:  # no time for one rollout of each: use the slides alone
            values = self._first_values(board, moves.tolist())
            return Decision(max(values, key=lambda move: values[move]), values, n_played, 1)
        if race.n == 1:
            values = {move: float(race.results[move, 0]) for move in moves.tolist()}
            return Decision(max(values, key=lambda move: values[move]), values, n_played, 1)
        values, errors = race.estimate()
        return Decision(max(values, key=lambda move: values[move]), values, n_played, 1, errors)

    def _first_values(self, board: Board, moves: list[int]) -> dict[int, float]:
        """Return the results of rollouts without any moves."""
        same = {"sum": float(board.tile_sum), "moves": 1.0}
        return {move: same.get(self.metric, float(self._rewards[move])) for move in moves}

    def _race_to(self, race: Race, key: np.uint64, n_each: int) -> int:
        """Run `n_each` rollouts per move on average; return how many moves they took.

        Eliminated moves leave their rollouts to the others, so that close races run longer.
        """
        n_played, look, pace, left = 0, FIRST_LOOK, CALL_NS, n_each * len(race.moves)
        while (total := race.n + left // len(race.moves)) > race.n:
            begin = time.monotonic_ns()
            n = max(1, min(look - race.n, total - race.n, CALL_NS // pace))
            n_played += self._roll(race, key, n, self._options)
            left -= n * len(race.moves)
            pace = max(1, (time.monotonic_ns() - begin) // n)
            if race.n == look:
                if self.risk > 0 and race.n < total and len(race.moves) > 1:
                    race.drop(self._worst, total)
                    if len(race.moves) == 1:
                        break
                look = int(look * LOOK_AGAIN)
        return n_played

    def _race_until(self, race: Race, key: np.uint64, begin: int, deadline: int) -> int:
        """Run rollouts until a deadline; return how many moves they took."""
        options = self._options._replace(deadline=deadline)
        step = min(CALL_NS, max(LOOK_NS, (deadline - begin) // 8))
        total = MAX_ROLLOUTS if len(race.moves) > 1 else ONLY_MOVE
        n_played, n, now = 0, 1, time.monotonic_ns()
        while now < deadline and race.n < total:
            before = race.n
            n_played += self._roll(race, key, min(n, total - before), options)
            then, now = now, time.monotonic_ns()
            if race.n < before + n:
                break
            n = max(1, step * n // max(1, now - then))
            if race.n >= FIRST_LOOK and len(race.moves) > 1 and self.risk > 0 and deadline - now > LOOK_NS:
                race.drop(self._worst, race.n * (deadline - begin) / (now - begin))
                if len(race.moves) == 1:
                    break
        return n_played

    def _roll(self, race: Race, key: np.uint64, n: int, options: RolloutOptions) -> int:
        """Add n rollouts per move, or as many as there is time for; return how many moves they took.

        Raises StoppedError if they were stopped.
        """
        race.make_room(race.n + n)
        n_done, n_played = kernels.roll_moves(
            self._plan, self._afters, self._rewards, race.moves, key, race.n, n, self._metric, options, race.results
        )
        current().check()
        race.n += int(n_done)
        return int(n_played)
