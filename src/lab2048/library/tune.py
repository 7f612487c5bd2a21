"""Tuning: better weights for an evaluator."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from lab2048.arena.compile import groups_of
from lab2048.arena.executor.choice import executor_for
from lab2048.arena.tuning.result import TuningResult, evaluate_tuning
from lab2048.arena.tuning.tune import Tuning
from lab2048.library.arguments import PlayerLike, RulesLike, read_rules, read_spec
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.progress import make_ready, progress_line
from lab2048.players.evaluator import make_evaluator
from lab2048.records.tuning_study import Trial, TuningStudy, check_file, study_path


@interruptible()
def tune(
    evaluator: str,
    *,
    player: PlayerLike = "lookahead:depth=2",
    rules: RulesLike = "4x4",
    games: int = 200,
    trials: int = 400,
    terms: Sequence[str] = (),
    matrix: bool = False,
    objective: str = "score",
    seed: int = 1,
    population: int = 0,
    workers: int = 0,
    cluster: str | None = None,
    fresh: int = 1000,
    goal: int | None = None,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    study: "str | Path | None" = None,
    on_begin: Callable[[Tuning, TuningStudy, int], None] = lambda *_: None,
    on_trial: Callable[[Trial], None] = lambda _: None,
    on_compare: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
    progress: bool | None = None,
) -> TuningResult | None:
    """Tune the weights of an evaluator with CMA-ES, and compare before and after on fresh seeds.

    Trials are saved in the file `study`, so the same call continues an interrupted tuning, and one with fewer `trials`
    compares what is done.  Return None after Ctrl-C, or if there is nothing to compare yet.  The tuned evaluator is
    `result.evaluator`; `result.gain` is the paired difference in score.  `cluster` is a Ray cluster that plays:
    "auto", "local" or an address.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> result = lab.tune(
    ...     "{empty = 1, merges = 2}", player="greedy", rules="2x3", games=5, trials=8, fresh=10,
    ...     study=pathlib.Path(tempfile.mkdtemp()) / "tuning.sqlite", progress=False,
    ... )
    >>> result is not None and result.gain is not None
    True
    """
    spec = read_spec(player)
    path = Path(study) if study is not None else study_path()
    check_file(path)
    the_rules = read_rules(rules, goal, spawn, start, spawner)
    tuning = Tuning(
        the_rules,
        spec,
        make_evaluator(evaluator),
        seed,
        games,
        objective,
        list(terms),
        matrix,
        population,
        lambda: make_ready(*groups_of([spec], the_rules, games=True), progress=progress),
    )
    n_generations = math.ceil(trials / tuning.population)
    n_trials = 1 + n_generations * tuning.population
    the_study = TuningStudy(path, tuning.identity())
    try:
        with executor_for(cluster, workers, "tune") as pool, progress_line(progress) as show:
            pool.make_ready([spec], groups_of([spec], the_rules, games=True))

            def stop() -> None:
                pool.stop()
                on_stop()

            on_begin(tuning, the_study, n_trials)
            with stopping(stop):
                for trial in tuning.run(n_generations, pool, the_study):
                    show(f"{len(the_study.trials)} of {n_trials} trials", len(the_study.trials) / n_trials)
                    on_trial(trial)
                if not pool.is_stopped:
                    on_compare()
                return evaluate_tuning(tuning, the_study, n_generations, fresh, pool)
    finally:
        the_study.close()
