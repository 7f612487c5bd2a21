"""How fast deep networks play and learn here."""

import time
from dataclasses import dataclass

import numpy as np

from lab2048.learning.deep.action_values import C51Training
from lab2048.learning.deep.afterstate_values import AfterstateTraining
from lab2048.learning.deep.config import AfterstateConfig, C51Config
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import Crowd
from lab2048.models.deep.network import DeepNetwork
from lab2048.rules import Rules

SECONDS = 5.0  # of CPU, for each figure
N_BOARDS = 256  # judged at once


@dataclass(frozen=True)
class Pace:
    """What a training does in a second of CPU time, on one thread."""

    moves: float
    gradients: float


def train_speed(method: str, seconds: float = SECONDS) -> Pace:
    """Moves and gradients together, with the default settings: environment steps are moves of all games."""
    rules = Rules.from_text("4x4")
    training: DeepTraining
    if method == "afterstate":
        training = AfterstateTraining(AfterstateConfig(trial_every=0), rules, 1)
    else:
        training = C51Training(C51Config(trial_every=0), rules, 1)
    list(zip(training.run(), range(2), strict=False))  # the first window has nothing to learn from
    begin, moves, steps = time.process_time(), training.n_moves, training.adam.n_steps
    for _ in training.run():
        if time.process_time() - begin >= seconds:
            break
    spent = time.process_time() - begin
    return Pace((training.n_moves - moves) / spent, (training.adam.n_steps - steps) / spent)


def crowd_speed(n: int = N_BOARDS, seconds: float = SECONDS) -> float:
    """Moves a second of CPU time of games side by side, with all afterstates, where nothing judges them."""
    crowd, begin = Crowd(Rules.from_text("4x4"), n, 1), time.process_time()
    while time.process_time() - begin < seconds:
        crowd.step(np.asarray(crowd.slide().legal.argmax(axis=1), np.int64))
    return crowd.n_moves / (time.process_time() - begin)


def judge_speed(n: int, seconds: float = SECONDS) -> float:
    """Boards that the default network judges in a second of CPU time, so many at once."""
    training = AfterstateTraining(AfterstateConfig(crowd=n, trial_every=0), Rules.from_text("4x4"), 1)
    network: DeepNetwork = training.network()
    boards, n_judged, begin = training.games.ranks, 0, time.process_time()
    while time.process_time() - begin < seconds:
        network.values(boards)
        n_judged += n
    return n_judged / (time.process_time() - begin)
