"""Rows of kind threads: play the same games on one thread and on several, and compare the time."""

import os

from lab2048.arena.episode import play_episode
from lab2048.arena.statistics import mean_interval
from lab2048.players import make_player
from lab2048.players.registry import spec_with
from lab2048.rules.dice import episode_seed
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import RowTask


def run_threads(task: RowTask) -> Result:
    """Play each game on one thread and then on all workers.

    The two alternate, so other load on the machine affects both equally.  The moves are the same.
    """
    specs = [spec_with(task.row.player, threads=n) for n in (1, n_threads(task))]
    players = [make_player(spec) for spec in specs]
    times: list[list[float]] = [[], []]
    for number in range(task.amount):
        task.show(f"game {number + 1} of {task.amount}, on 1 and on {n_threads(task)} threads")
        seed = episode_seed(task.seed, number)
        moves = []
        for spec, player, seconds in zip(specs, players, times, strict=True):
            task.check()
            episode = play_episode(player, spec, task.rules, seed)
            seconds.append(episode.seconds)
            moves.append(episode.moves)
        assert moves[0] == moves[1], "threads change no move"
    result = task.result()
    result.measured = {
        "one-thread": Measured.mean(times[0]),
        "many-threads": Measured.mean(times[1]),
        "speedup": Measured(*mean_interval([a / b for a, b in zip(*times, strict=True)]), task.amount),
    }
    return result


def n_threads(task: RowTask) -> int:
    """Return the number of threads to compare with: the number of workers, but at least two."""
    return max(2, task.n_workers or os.cpu_count() or 1)
