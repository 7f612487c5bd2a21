"""Measure how fast deep networks play and train on this machine."""

import time
from dataclasses import dataclass

import numpy as np

from lab2048.learning.deep.action_values import C51Training
from lab2048.learning.deep.afterstate_values import AfterstateTraining
from lab2048.learning.deep.config import AfterstateConfig, C51Config
from lab2048.learning.deep.training import DeepTraining
from lab2048.learning.deep.vector_games import VectorGames
from lab2048.models.deep.network import DeepNetwork
from lab2048.rules import Rules

SECONDS = 5.0  # of CPU time, per figure
N_BOARDS = 256  # per batch


@dataclass(frozen=True)
class TrainingSpeed:
    """The speed of a training on one thread, per second of CPU time."""

    moves: float
    gradients: float


def train_speed(method: str, seconds: float = SECONDS) -> TrainingSpeed:
    """Measure moves and gradient steps of a training with default options."""
    rules = Rules.from_text("4x4")
    training: DeepTraining
    if method == "afterstate":
        training = AfterstateTraining(AfterstateConfig(trial_every=0), rules, 1)
    else:
        training = C51Training(C51Config(trial_every=0), rules, 1)
    list(zip(training.run(), range(2), strict=False))  # the first round has nothing to train on
    begin, moves, steps = time.process_time(), training.n_moves, training.adam.n_steps
    for _ in training.run():
        if time.process_time() - begin >= seconds:
            break
    spent = time.process_time() - begin
    return TrainingSpeed((training.n_moves - moves) / spent, (training.adam.n_steps - steps) / spent)


def vector_games_speed(n: int = N_BOARDS, seconds: float = SECONDS) -> float:
    """Measure moves per second of CPU time of vectorized games, with all afterstates but without a network."""
    games, begin = VectorGames(Rules.from_text("4x4"), n, 1), time.process_time()
    while time.process_time() - begin < seconds:
        games.step(np.asarray(games.slide().legal.argmax(axis=1), np.int64))
    return games.n_moves / (time.process_time() - begin)


def evaluation_speed(n: int, seconds: float = SECONDS) -> float:
    """Measure boards per second of CPU time that the default network evaluates in batches of n."""
    training = AfterstateTraining(AfterstateConfig(crowd=n, trial_every=0), Rules.from_text("4x4"), 1)
    network: DeepNetwork = training.network()
    boards, n_evaluated, begin = training.games.ranks, 0, time.process_time()
    while time.process_time() - begin < seconds:
        network.values(boards)
        n_evaluated += n
    return n_evaluated / (time.process_time() - begin)
