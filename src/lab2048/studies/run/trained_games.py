"""Vectorized games of a network that was just trained, with the mask or shield used in training."""

import time
from typing import Any

from lab2048.studies.measure import REVIEWED, Measure, Measured
from lab2048.studies.result import GameResult
from lab2048.studies.run.task import RowTask

WEIGHTS = "{weights}"  # placeholder for the trained network's file in a player spec
# Player specs for the trained network itself; the second averages over symmetries (afterstate values only).
TRAINED, TURNED = "{trained}", "{trained}:turned=true"
# Measures that vectorized games do not provide.
UNAVAILABLE = ("won", "goal-time", "move-time", "overrides", "interventions", *REVIEWED)
PAIRED = range(3, 12)  # ranks whose pairs are stored, 8 to 2048


def is_trained(player: str) -> bool:
    """Return True if the player is the network that the row trained, playing vectorized games."""
    return player in (TRAINED, TURNED)


def play_trained(task: RowTask, training: Any) -> tuple[list[GameResult], dict[str, Measured]]:
    """Play a row's games; return them and further measures.

    The games use the seeds of evaluation games, because training starts on the games that a match with its
    seed would play.
    """
    from lab2048.learning.evaluation import SEED, play_evaluation_games

    network = training.network()
    if task.row.player == TURNED:
        from lab2048.models.deep.network import TurnedNetwork

        network = TurnedNetwork(network)

    def show(n_ended: int) -> None:
        task.show(f"{n_ended} of {task.amount} games")
        task.check()

    begin = time.perf_counter()
    played = play_evaluation_games(
        task.rules, task.amount, lambda *seen: training.choose(network, *seen), seed=SEED + task.seed - 1, show=show
    )
    pace = (time.perf_counter() - begin) / max(1, sum(finished_game.n_moves for finished_game in played.finished))
    games = [
        GameResult(i, end.score, end.n_moves, end.max_tile, end.tile_sum, None, round(pace * end.n_moves, 9))
        for i, end in enumerate(played.finished)
    ]
    pairs = {Measure("pairs", 1 << rank): Measured.mean(played.pairs[:, rank].tolist()) for rank in PAIRED}
    return games, {measure.to_text(): found for measure, found in pairs.items()}
