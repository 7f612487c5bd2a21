"""Measure the speed of the rules, in moves per CPU second on one core."""

import time
from collections.abc import Callable

import numpy as np

from lab2048.arena.episode import play_episode
from lab2048.kernels.board.memory import clock_address
from lab2048.kernels.games import play
from lab2048.kernels.rollout import rollout
from lab2048.players import make_player
from lab2048.rules import Game, Rules
from lab2048.rules.dice import episode_seed
from lab2048.rules.plan import make_plan

BOARDS = ("4x4", "3x3", "2x4", "####|#xx#|#xx#|####")


def random_play(board: str) -> Callable[[], float]:
    """Return a function that measures random games in one compiled call, as in `match random`."""
    rules = Rules.from_text(board)
    plan = make_plan(rules)
    seeds = np.array([episode_seed(1, number) for number in range(20_000)], np.uint64)
    games = play.make_games(seeds, rules.shape.n_cells, 5_000_000)
    games.moves.fill(0)  # touch the memory before timing

    def measure() -> float:
        games.cursor.fill(0)
        begin = time.process_time()
        n_moves = play.play_games(plan, games, play.RANDOM, play.NO_SEARCH, 10**9)
        return n_moves / (time.process_time() - begin)

    return measure


def rollout_speed(board: str, policy: int = rollout.RANDOM) -> Callable[[], float]:
    """Return a function that measures rollouts of every move of a first board, as in `montecarlo`."""
    rules = Rules.from_text(board)
    plan, n_moves, n = make_plan(rules), len(rules.shape.moves), 1000 if rules.shape.n_cells <= 16 else 50
    afterstates, rewards = np.zeros((n_moves, rules.shape.n_cells), np.uint8), np.zeros(n_moves, np.int64)
    rollout.afterstates(plan, np.array(Game(rules, 1).board.ranks, np.uint8), afterstates, rewards)
    moves, results = np.flatnonzero(rewards >= 0), np.zeros((n_moves, n))
    options, key = rollout.RolloutOptions(policy, limit=2000, clock=clock_address()), np.uint64(1)

    def measure() -> float:
        begin = time.process_time()
        made = rollout.roll_moves(plan, afterstates, rewards, moves, key, 0, n, rollout.SCORE, options, results)
        return made[1] / (time.process_time() - begin)

    return measure


def reference(board: str) -> Callable[[], float]:
    """Return a function that measures random games with the plain Python rules."""
    rules, player = Rules.from_text(board), make_player("random")

    def measure() -> float:
        begin = time.process_time()
        n_moves = sum(len(play_episode(player, "random", rules, seed).moves) for seed in range(5))
        return n_moves / (time.process_time() - begin)

    return measure
