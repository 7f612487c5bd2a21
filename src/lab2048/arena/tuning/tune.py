"""Tune the weights of an evaluator with CMA-ES, generation by generation.

All trials of a generation play the same seeds, and every generation plays new ones.  CMA-ES only
ranks the trials within a generation, so values of different generations need not be comparable, and
the weights cannot overfit to particular seeds.

The state of CMA-ES is not stored.  It depends only on its seed and the trial values, so a study is
resumed by replaying the stored values.
"""

import math
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from lab2048.arena.batch import Batch, play_batch
from lab2048.arena.executor.executor import Executor
from lab2048.arena.tuning.parameter import ParameterSpace, check_names, make_space, sample_boards, with_matrix
from lab2048.errors import StoreError, UnknownNameError, UsageError
from lab2048.extras import need
from lab2048.players.evaluator import Evaluator
from lab2048.players.registry import fit_player, make_player, options, spec_with
from lab2048.records.episode import Episode
from lab2048.records.provenance import program
from lab2048.records.tuning_study import LIMIT, Trial, TuningStudy, load_optuna
from lab2048.rules import Rules
from lab2048.rules.dice import check_seed

SCHEMA = 1  # version of `identity`
OBJECTIVES = ("score", "log-score", "goal")
SAMPLE_GAMES = 2  # their boards set the scales of the parameters


@dataclass
class Tuning:
    """An evaluator to tune for a player, and the games of its trials."""

    rules: Rules
    player: str  # canonical spec, without `eval`
    evaluator: Evaluator  # the original one
    seed: int
    n_games: int  # per trial
    objective: str = "score"
    names: Sequence[str] = ()  # terms to tune; empty = all nonzero weights
    is_by_cell: bool = False  # True: convert a path to a matrix first
    population: int = 0  # trials per generation; 0 = chosen by the number of parameters
    make_ready: Callable[[], object] = field(default=lambda: None, repr=False)  # called once all checks have passed

    def __post_init__(self) -> None:
        """Check the options and set up the parameters from the boards of a few games."""
        check_seed(self.seed)
        if self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", self.objective, OBJECTIVES)
        name = self.player.partition(":")[0]
        if "eval" not in options(name):
            raise UsageError(
                f"player {name} has no option eval: expected a player such as lookahead",
                field="player",
            )
        player = make_player(self.player)
        if getattr(player, "eval") != options(name)["eval"].default:  # noqa: B009 - not all players have it
            raise UsageError(
                f"player {self.player} has the option eval: expected a player without it, because eval is tuned",
                field="player",
            )
        if not player.is_repeatable:
            raise UsageError(
                f"player {self.player} has a time limit: expected a player whose games are reproducible", field="player"
            )
        fit_player(self.spec_of(self.evaluator), self.rules)
        start, names = self.evaluator, list(self.names)
        if self.is_by_cell:
            start = with_matrix(start, self.rules.shape)
            names += ["matrix"] if names else []
        check_names(start, self.rules.shape, names)
        need("tune")
        self.make_ready()
        batch = Batch(self.spec_of(self.evaluator), self.rules, self.seed, range(SAMPLE_GAMES), is_passing=True)
        boards = sample_boards(list(play_batch(batch, lambda: False).episodes.values()))
        self.space: ParameterSpace = make_space(start, self.rules, names, boards)
        self.population = self.population or max(8, 4 + round(3 * math.log(len(self.space.parameters))))

    @property
    def tuned_name(self) -> str:
        return self.evaluator.name.removesuffix("-tuned") + "-tuned"

    def spec_of(self, evaluator: Evaluator) -> str:
        """Return the spec of the player with this evaluator."""
        return spec_with(self.player, eval=evaluator.to_inline())

    def identity(self) -> dict[str, Any]:
        """Return everything that affects the trials, and nothing else."""
        start = self.space.evaluator
        return {
            "schema": SCHEMA,
            "programs": [program(), *(f"{name} {version(name)}" for name in ("optuna", "cmaes"))],
            "rules": self.rules.to_json(),
            "player": self.player,
            "evaluator": {"name": start.name, **start.to_table()},
            "knobs": [asdict(parameter) for parameter in self.space.parameters],
            "pivot": self.space.pivot,
            "seed": self.seed,
            "games": self.n_games,
            "objective": self.objective,
            "population": self.population,
        }

    def run(self, n_generations: int, pool: Executor, study: TuningStudy) -> Iterator[Trial]:
        """Run the missing trials until the pool is stopped; each is stored before it is yielded."""
        optuna = load_optuna()
        # CMA-ES needs at least two dimensions: a single parameter gets a dummy one.
        names = [parameter.name for parameter in self.space.parameters] + ["idle"] * (len(self.space.parameters) == 1)
        ranges = {name: optuna.distributions.FloatDistribution(-LIMIT, LIMIT) for name in names}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.CmaEsSampler(
                seed=self.seed % 2**32, popsize=self.population, warn_independent_sampling=False
            )
        method = optuna.create_study(direction="maximize", sampler=sampler)
        method.enqueue_trial(dict.fromkeys(names, 0.0))  # CMA-ES starts around its first trial
        for generation in range(n_generations + 1):
            asked = [method.ask(ranges) for _ in range(self.population if generation else 1)]
            missing = {}
            for trial in asked:
                kept = study.trials.get(trial.number)
                if kept is None:
                    missing[trial.number] = dict(trial.params)
                elif not _is_same(kept.params, trial.params):
                    raise StoreError(
                        f"study {study.id} in {study.path} cannot be continued here: trial {trial.number} differs; "
                        "expected the same machine and packages",
                        code="study.diverged",
                        hint="start again with another study file or another seed",
                    )
            for trial in self._play(missing, generation, pool):
                study.keep(trial)
                yield trial
            if any(trial.number not in study.trials for trial in asked):
                return
            for trial in asked:
                method.tell(trial, study.trials[trial.number].value)

    def _play(self, asked: Mapping[int, Mapping[str, float]], generation: int, pool: Executor) -> Iterator[Trial]:
        """Play the games of some trials on the seeds of their generation."""
        specs = {number: self.spec_of(self.space.with_params(params)) for number, params in asked.items()}
        games: dict[str, dict[int, Episode]] = {spec: {} for spec in specs.values()}
        for played in pool.run(self._batches(list(games), generation, pool.n_workers)):
            games[played.player] |= played.episodes
            if len(games[played.player]) == self.n_games:
                for number in [number for number, spec in specs.items() if spec == played.player]:
                    episodes = games[played.player]
                    in_order = [episodes[n] for n in sorted(episodes)]
                    yield Trial(number, generation, asked[number], self.value_of(in_order), _facts(in_order))
                games[played.player] = {}

    def _batches(self, specs: Sequence[str], generation: int, n_workers: int) -> Iterator[Batch]:
        """Yield one batch per trial, or several if there are more workers than trials."""
        first = max(0, generation - 1) * self.n_games  # trial 0 plays the seeds of the first generation
        numbers = range(first, first + self.n_games)
        n_parts = max(1, min(self.n_games, 2 * n_workers // max(1, len(specs))))
        for spec in specs:
            for i in range(n_parts):
                yield Batch(spec, self.rules, self.seed, numbers[i::n_parts], is_passing=True)

    def value_of(self, episodes: Sequence[Episode]) -> float:
        """Return the objective over the games of a trial."""
        if self.objective == "goal":
            return statistics.fmean(episode.moves_to_goal is not None for episode in episodes)
        if self.objective == "score":
            return statistics.fmean(episode.score for episode in episodes)
        return statistics.fmean(math.log1p(episode.score) for episode in episodes)


def _facts(episodes: Sequence[Episode]) -> dict[str, Any]:
    return {
        "mean_score": statistics.fmean(episode.score for episode in episodes),
        "goal_rate": statistics.fmean(episode.moves_to_goal is not None for episode in episodes),
    }


def _is_same(a: Mapping[str, float], b: Mapping[str, float]) -> bool:
    """Compare up to rounding, which may differ between machines."""
    return a.keys() == b.keys() and all(math.isclose(a[name], b[name], rel_tol=1e-6, abs_tol=1e-6) for name in a)
