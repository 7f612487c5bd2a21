"""The verdict on a tuning: which weights came out of it, and whether they are better.

The trial with the highest value is the one that luck favoured most, so it is not the result.
Candidates are means over many trials; games on seeds of their own choose among them; and
games on fresh seeds, by which nothing was decided, compare the chosen one with the start.
"""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.arena.executor import Pool
from lab2048.arena.match import Match, Standing
from lab2048.arena.statistics import Interval, mean_interval
from lab2048.arena.tuning.tune import Tuning
from lab2048.players.evaluator import Evaluator
from lab2048.records.episode import Episode
from lab2048.records.tuning_study import Study, Trial
from lab2048.rules.dice import MAX_SEED

SCHEMA = "lab2048/tune-1"
FRESH, CHOICE = 1_000_000, 2_000_000  # added to the seed: the seeds of matches of their own


@dataclass
class Verdict:
    """The tuned evaluator, and the match of before and after."""

    tuning: Tuning
    study: str
    n_trials: int
    how: str  # which candidate it was
    evaluator: Evaluator
    match: Match

    @property
    def before(self) -> Standing:
        return self.match.standings[self.match.players[0]]

    @property
    def after(self) -> Standing:
        return self.match.standings[self.match.players[-1]]  # the same if nothing has changed

    @property
    def gain(self) -> Interval:
        """The score after less the score before, on the same seeds."""
        result = self.match.difference(self.after, self.before)
        return result[0] if result else mean_interval([0.0])

    def to_json(self) -> dict[str, Any]:
        """The verdict as data."""
        return {
            "schema": SCHEMA,
            "study": self.study,
            "identity": self.tuning.identity(),
            "trials": self.n_trials,
            "chosen": self.how,
            "evaluator": {"name": self.evaluator.name, "doc": self.evaluator.doc, **self.evaluator.to_table()},
            "fresh": self.match.to_json(),
        }


def judge(tuning: Tuning, study: Study, n_generations: int, n_games: int, pool: Pool) -> Verdict | None:
    """Choose and compare, `n_games` games for each; None if no generation is whole or the pool was stopped."""
    found = candidates(tuning, list(study.trials.values()), n_generations)
    if not found or pool.is_stopped:
        return None
    how = choose(tuning, found, n_games, pool)
    specs = [tuning.spec_of(tuning.evaluator), tuning.spec_of(found[how])]
    match = Match(tuning.rules, list(dict.fromkeys(specs)), _seed(tuning, FRESH), n_games)
    for _ in match.play(pool):
        pass
    if any(len(standing.games) < n_games for standing in match.standings.values()):
        return None
    name = tuning.evaluator.name.removesuffix("-tuned") + "-tuned"
    n_trials = sum(trial.generation <= n_generations for trial in study.trials.values())
    return Verdict(tuning, study.id, n_trials, how, dataclasses.replace(found[how], name=name, doc=""), match)


def candidates(tuning: Tuning, trials: Sequence[Trial], n_generations: int) -> dict[str, Evaluator]:
    """The method's mean after the last whole generation, and means of its means, which step about less."""
    generations: dict[int, list[Trial]] = {}
    for trial in trials:
        generations.setdefault(trial.generation, []).append(trial)
    means: list[dict[str, float]] = []
    while len(means) < n_generations and len(generations.get(len(means) + 1, ())) >= tuning.population:
        means.append(recombined(generations[len(means) + 1]))
    found = {}
    for n in sorted({1, max(1, len(means) // 4), max(1, len(means) // 2)}) if means else ():
        settings = {name: statistics.fmean(mean[name] for mean in means[-n:]) for name in means[0]}
        found[f"mean of the last {n} generations" if n > 1 else "last generation"] = tuning.panel.with_settings(
            settings
        )
    return found


def recombined(generation: Sequence[Trial]) -> dict[str, float]:
    """Where CMA-ES goes from a generation: the mean of its better half, the best ones weighing most."""
    n = len(generation) // 2
    best = sorted(generation, key=lambda trial: (-trial.value, trial.number))[:n]
    weights = [math.log((len(generation) + 1) / 2) - math.log(i + 1) for i in range(n)]
    return {
        name: math.fsum(w * trial.settings[name] for w, trial in zip(weights, best, strict=True)) / math.fsum(weights)
        for name in best[0].settings
    }


def choose(tuning: Tuning, found: Mapping[str, Evaluator], n_games: int, pool: Pool) -> str:
    """Which candidate does best on seeds of its own; the first one if there is no other, or no time."""
    specs = {name: tuning.spec_of(evaluator) for name, evaluator in found.items()}
    match = Match(tuning.rules, list(dict.fromkeys(specs.values())), _seed(tuning, CHOICE), n_games)
    played: dict[str, dict[int, Episode]] = {spec: {} for spec in match.players}
    if len(played) > 1:
        for piece in match.play(pool):
            played[piece.player] |= piece.episodes
    if any(len(games) < n_games for games in played.values()):
        return next(iter(found))
    values = {spec: tuning.value_of([games[n] for n in sorted(games)]) for spec, games in played.items()}
    return max(found, key=lambda name: values[specs[name]])


def _seed(tuning: Tuning, offset: int) -> int:
    return (tuning.seed + offset) % (MAX_SEED + 1)
