"""The result of a tuning: the chosen weights, and whether they are better.

The best trial is mostly the luckiest one, so it is not the result.  Candidates are means over many
trials; one set of games chooses among them, and another set on fresh seeds compares the chosen one
with the original evaluator.
"""

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.arena.executor.executor import Executor
from lab2048.arena.match import Match, PlayerResult
from lab2048.arena.statistics import Interval, mean_interval
from lab2048.arena.tuning.tune import Tuning
from lab2048.players.evaluator import Evaluator
from lab2048.records.episode import Episode
from lab2048.records.tuning_study import Trial, TuningStudy
from lab2048.rules.dice import MAX_SEED

SCHEMA = "lab2048/tune-1"
FRESH, CHOICE = 1_000_000, 2_000_000  # added to the seed, so each match has its own seeds


@dataclass
class TuningResult:
    """The tuned evaluator, and its match against the original one."""

    tuning: Tuning
    study: str
    n_trials: int
    how: str  # the name of the chosen candidate
    evaluator: Evaluator
    match: Match

    @property
    def before(self) -> PlayerResult:
        return self.match.results[self.match.players[0]]

    @property
    def after(self) -> PlayerResult:
        return self.match.results[self.match.players[-1]]  # same as before if nothing changed

    @property
    def gain(self) -> Interval:
        """Return the paired difference of the mean scores, after minus before."""
        result = self.match.difference(self.after, self.before)
        return result[0] if result else mean_interval([0.0])

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "study": self.study,
            "identity": self.tuning.identity(),
            "trials": self.n_trials,
            "chosen": self.how,
            "evaluator": {"name": self.evaluator.name, "doc": self.evaluator.doc, **self.evaluator.to_table()},
            "fresh": self.match.to_json(),
        }


def evaluate_tuning(
    tuning: Tuning, study: TuningStudy, n_generations: int, n_games: int, pool: Executor
) -> TuningResult | None:
    """Choose a candidate and compare it with the original evaluator, `n_games` games per evaluator.

    Returns None if no generation is complete or the pool was stopped.
    """
    found = candidates(tuning, list(study.trials.values()), n_generations)
    if not found or pool.is_stopped:
        return None
    how = choose(tuning, found, n_games, pool)
    specs = [tuning.spec_of(tuning.evaluator), tuning.spec_of(found[how])]
    match = Match(tuning.rules, list(dict.fromkeys(specs)), _seed(tuning, FRESH), n_games)
    for _ in match.play(pool):
        pass
    if any(len(player_result.games) < n_games for player_result in match.results.values()):
        return None
    n_trials = sum(trial.generation <= n_generations for trial in study.trials.values())
    return TuningResult(
        tuning, study.id, n_trials, how, dataclasses.replace(found[how], name=tuning.tuned_name, doc=""), match
    )


def candidates(tuning: Tuning, trials: Sequence[Trial], n_generations: int) -> dict[str, Evaluator]:
    """Return the CMA-ES mean after the last complete generation, and averages of the last means (less noisy)."""
    generations: dict[int, list[Trial]] = {}
    for trial in trials:
        generations.setdefault(trial.generation, []).append(trial)
    means: list[dict[str, float]] = []
    while len(means) < n_generations and len(generations.get(len(means) + 1, ())) >= tuning.population:
        means.append(recombine(generations[len(means) + 1]))
    found = {}
    for n in sorted({1, max(1, len(means) // 4), max(1, len(means) // 2)}) if means else ():
        params = {name: statistics.fmean(mean[name] for mean in means[-n:]) for name in means[0]}
        found[f"mean of the last {n} generations" if n > 1 else "last generation"] = tuning.space.with_params(params)
    return found


def recombine(generation: Sequence[Trial]) -> dict[str, float]:
    """Return the CMA-ES mean after a generation: the weighted mean of its better half."""
    n = len(generation) // 2
    best = sorted(generation, key=lambda trial: (-trial.value, trial.number))[:n]
    weights = [math.log((len(generation) + 1) / 2) - math.log(i + 1) for i in range(n)]
    return {
        name: math.fsum(w * trial.params[name] for w, trial in zip(weights, best, strict=True)) / math.fsum(weights)
        for name in best[0].params
    }


def choose(tuning: Tuning, found: Mapping[str, Evaluator], n_games: int, pool: Executor) -> str:
    """Return the candidate that does best on separate seeds; the first if it is the only one or time is up."""
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
