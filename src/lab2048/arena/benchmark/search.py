"""Measure searches: slides and rollout moves per CPU second, speedup by threads, accuracy of time limits.

All are measured on boards of one game at equal distances, so that early and late boards
are represented.
"""

import statistics
import time
from collections.abc import Callable
from functools import cache

from lab2048.players import make_player
from lab2048.players.search.player import SearchPlayer
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Game, Rules

# The limits of nneonneo's player, the strongest public heuristic one: as many own moves as different tiles minus
# one, and spawn sequences down to a probability of 1 in 10,000.
LIMITS = "expectimax:depth=3,deepen=tiles,cut=0.0001"
CLOCKS = (0.1, 1.0, 5.0, 20.0)  # milliseconds
CLOCKED = ("expectimax", "montecarlo", "mcts")
N_SLIDES = 4  # of a state on the classic board


@cache
def boards(n: int = 40) -> tuple[Board, ...]:
    """Return boards of a long game, at equal distances."""
    rules, player = Rules.from_text("4x4"), make_player("expectimax:depth=4")
    game, seen = Game(rules, 5), []
    player.start(rules, 1)
    while not game.is_over:
        seen.append(game.board)
        game.play(player.choose(game.board).move)
    return tuple(seen[(2 * i + 1) * len(seen) // (2 * n)] for i in range(n))


def _started(spec: str) -> tuple[SearchPlayer, Searcher]:
    player, rules = make_player(spec), Rules.from_text("4x4")
    assert isinstance(player, SearchPlayer)
    player.start(rules, 1)
    return player, player.searcher(rules)


def slides(spec: str) -> Callable[[], float]:
    """Return a function that measures slides per CPU second of a search on one thread."""
    player, searcher = _started(spec)

    def measure() -> float:
        searcher.forget()
        begin, n = time.process_time(), 0
        for board in boards()[::4]:
            n += N_SLIDES * player.choose(board).nodes
        return n / (time.process_time() - begin)

    return measure


def thread_gain(spec: str, n_threads: int) -> tuple[float, float]:
    """Return the speedup of several threads over one, in answers and in slides per second.

    Both alternate on new boards, so that the transposition table helps both alike.
    """
    players = [_started(spec)[0], _started(f"{spec},threads={n_threads}")[0]]
    seconds, nodes = [0.0, 0.0], [0, 0]
    for board in boards(120):
        for i, player in enumerate(players):
            begin = time.perf_counter()
            nodes[i] += player.choose(board).nodes
            seconds[i] += time.perf_counter() - begin
    return seconds[0] / seconds[1], nodes[1] / seconds[1] / (nodes[0] / seconds[0])


def time_used(name: str, ms: float) -> tuple[float, float]:
    """Return the time used by a player with a time limit, as a fraction of the limit: median and 99th percentile."""
    player = make_player(f"{name}:ms={ms}")
    player.start(Rules.from_text("4x4"), 1)
    n_rounds = max(3, min(50, round(200 / ms)))
    used = []
    for _ in range(n_rounds):
        for board in boards():
            begin = time.monotonic_ns()
            player.choose(board)
            used.append((time.monotonic_ns() - begin) / (ms * 1e6))
    return statistics.median(used), statistics.quantiles(used, n=100)[-1]
