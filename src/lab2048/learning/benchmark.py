"""Measure how fast n-tuple networks train and play, compared with the memory speed."""

import time
from dataclasses import dataclass

import numpy as np

from lab2048.kernels.board.memory import address_of
from lab2048.kernels.games import play
from lab2048.kernels.random_access import gather
from lab2048.kernels.search import context as of
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.models.ntuple.network import Network, huge_array
from lab2048.players.searcher import Searcher
from lab2048.rules import Rules

N_GAMES = 25_000  # from an empty network, the usual measurement
N_GATHERS = 20_000_000
TABLE_BITS = 26  # weights of a 4x6 network


@dataclass(frozen=True)
class Learning:
    """The speed of a training."""

    moves: float  # per CPU second
    lookups: float  # per CPU second: of all afterstates, and of those that are updated
    pace: float  # moves per second, wall-clock time
    network: Network


def learn(method: str, n_threads: int = 1, n_games: int = N_GAMES) -> Learning:
    """Train a 4x6 network forward for some games."""
    config = Config(network="4x6", method=method, order="forward", restart=False)
    training = Training.begin(config, Rules.from_text("4x4"), n_threads)
    begin, cpu = time.monotonic(), time.process_time()
    for _ in training.run(n_games=n_games):
        pass
    spent, cpu = time.monotonic() - begin, time.process_time() - cpu
    rate = training.n_moves / cpu
    return Learning(
        rate, rate * LOOKUPS_A_MOVE * training.network.design.n_lookups, training.n_moves / spent, training.network
    )


LOOKUPS_A_MOVE = (
    4.5  # boards indexed per move: its legal afterstates (3.5 in a game of 4,000 moves) and the updated one
)


def play_speed(network: Network, depth: int, n_moves: int) -> float:
    """Measure moves per CPU second at a depth, over whole games, without a cutoff."""
    searcher = Searcher(network.design.rules, network, depth, of.ALWAYS_EVEN, 0.0)
    games = play.make_games(np.arange(1, 1 + n_moves, dtype=np.uint64), 16, 2 * n_moves)
    play.play_games(searcher.plan, games, play.RANDOM, searcher.games_address(), max(1, n_moves // 10))
    begin = time.process_time()
    made = play.play_games(searcher.plan, games, play.RANDOM, searcher.games_address(), n_moves)
    return float(made / (time.process_time() - begin))


def gather_speed() -> float:
    """Measure random 4-byte reads per CPU second from a table as large as a 4x6 network."""
    table = huge_array(1 << TABLE_BITS, np.float32)
    table[:] = 1
    gather(address_of(table), TABLE_BITS, 1000)
    begin = time.process_time()
    gather(address_of(table), TABLE_BITS, N_GATHERS)
    return N_GATHERS / (time.process_time() - begin)
