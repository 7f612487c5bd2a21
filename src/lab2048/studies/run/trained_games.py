"""Games of a network that was just trained: all at once, behind the mask or the shield that it learnt with."""

import time
from typing import Any

from lab2048.studies.measure import Measure, Measured
from lab2048.studies.result import GameResult
from lab2048.studies.run.task import Job

WEIGHTS = "{weights}"  # stands for the file of a trained network in a row's player
# What a row's player says for it.  The second is for values of afterstates only.
TRAINED, TURNED = "{trained}", "{trained}:turned=true"
UNTOLD = ("won", "goal-time", "move-time", "overrides", "interventions")  # measures that games at once do not tell
PAIRED = range(3, 12)  # ranks of the pairs that are kept, 8 to 2048


def is_trained(player: str) -> bool:
    """True if the player of a row is what it has trained, asked for all games at once."""
    return player in (TRAINED, TURNED)


def play_trained(job: Job, training: Any) -> tuple[list[GameResult], dict[str, Measured]]:
    """Play a row's games; return them, and what else they tell.

    They have seeds of their own, those of trials: a training begins on the games that a match of its seed plays.
    """
    from lab2048.learning.evaluation import SEED, play_trial

    network = training.network()
    if job.row.player == TURNED:
        from lab2048.models.deep.network import TurnedNetwork

        network = TurnedNetwork(network)

    def show(n_ended: int) -> None:
        job.show(f"{n_ended} of {job.amount} games")
        job.check()

    begin = time.perf_counter()
    played = play_trial(
        job.rules, job.amount, lambda *seen: training.choose(network, *seen), seed=SEED + job.seed - 1, show=show
    )
    pace = (time.perf_counter() - begin) / max(1, sum(ending.n_moves for ending in played.endings))
    games = [
        GameResult(i, end.score, end.n_moves, end.max_tile, end.tile_sum, None, round(pace * end.n_moves, 9))
        for i, end in enumerate(played.endings)
    ]
    pairs = {Measure("pairs", 1 << rank): Measured.mean(played.pairs[:, rank].tolist()) for rank in PAIRED}
    return games, {measure.to_text(): found for measure, found in pairs.items()}
