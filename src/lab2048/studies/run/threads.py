"""Rows of the kind threads: the same games on one thread and on all, one after the other."""

import os

from lab2048.arena.episode import play_episode
from lab2048.arena.statistics import mean_interval
from lab2048.players import make_player
from lab2048.players.registry import spec_with
from lab2048.rules.dice import episode_seed
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import Job


def run_threads(job: Job) -> Result:
    """Play each game on one thread and then on as many as there are workers.

    In turn, so that what else the machine does meets both alike.  The moves are the same.
    """
    specs = [spec_with(job.row.player, threads=n) for n in (1, n_threads(job))]
    players = [make_player(spec) for spec in specs]
    times: list[list[float]] = [[], []]
    for number in range(job.amount):
        job.show(f"game {number + 1} of {job.amount}, on 1 and on {n_threads(job)} threads")
        seed = episode_seed(job.seed, number)
        moves = []
        for spec, player, seconds in zip(specs, players, times, strict=True):
            job.check()
            episode = play_episode(player, spec, job.rules, seed)
            seconds.append(episode.seconds)
            moves.append(episode.moves)
        assert moves[0] == moves[1], "threads change no move"
    result = job.result()
    result.measured = {
        "one-thread": Measured.mean(times[0]),
        "many-threads": Measured.mean(times[1]),
        "speedup": Measured(*mean_interval([a / b for a, b in zip(*times, strict=True)]), job.amount),
    }
    return result


def n_threads(job: Job) -> int:
    """As many as the run may use; at least two, or there is nothing to see."""
    return max(2, job.n_workers or os.cpu_count() or 1)
