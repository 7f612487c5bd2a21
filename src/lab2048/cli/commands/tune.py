"""`lab2048 tune`: tune the weights of an evaluator."""

import contextlib
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.live_view import live
from lab2048.cli.option_types import OneOf, Within
from lab2048.cli.options import (
    MANY_GAMES,
    PLAYER,
    SEED,
    WORKERS,
    ClusterOption,
    GoalOption,
    JsonOption,
    PlayerFileOption,
    RulesOption,
    SpawnerOption,
    SpawnOption,
    StartOption,
    load_players,
    say,
)
from lab2048.cli.output import print_json
from lab2048.cli.progress import again, again_with, bar, say_how
from lab2048.errors import FileError, TargetExistsError, UsageError

if TYPE_CHECKING:
    from lab2048.arena.tuning.result import TuningResult
    from lab2048.arena.tuning.tune import Tuning
    from lab2048.records.tuning_study import Trial, TuningStudy

MIN_POPULATION, MAX_POPULATION = 4, 1000


class _Population(Within):
    """A population size; 0 chooses it automatically."""

    def __call__(self, name: str, value: int) -> None:
        """Reject a number that is neither 0 nor in the range."""
        if value:
            super().__call__(name, value)


def tune(
    evaluator: Annotated[
        str, typer.Argument(metavar="EVAL", help="Evaluator: a name, FILE.toml, FILE.toml#NAME or {empty = 1, ...}.")
    ],
    player: Annotated[
        str,
        typer.Option(
            "--player", "-p", metavar="PLAYER", help="Player that uses the evaluator; must have the option eval."
        ),
        PLAYER,
    ] = "lookahead:depth=2",
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games per trial."), MANY_GAMES] = 200,
    trials: Annotated[
        int,
        typer.Option("--trials", "-t", metavar="N", help="Trials, rounded up to whole generations."),
        Within(1, 1_000_000),
    ] = 400,
    terms: Annotated[
        str, typer.Option("--terms", metavar="LIST", help="Terms to tune (default: all nonzero weights).")
    ] = "",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Turn a path into a matrix of weights, and tune every cell.")
    ] = False,
    objective: Annotated[
        str,
        typer.Option("--objective", metavar="WHAT", help="What to maximize: score, log-score or goal."),
        OneOf(("score", "log-score", "goal")),
    ] = "score",
    rules: RulesOption = "4x4",
    seed: Annotated[
        int, typer.Option("--seed", "-s", metavar="N", help="Seed of the trials and their games."), SEED
    ] = 1,
    population: Annotated[
        int,
        typer.Option(
            "--population", metavar="N", help="Trials per generation (0 = chosen from the number of weights)."
        ),
        _Population(MIN_POPULATION, MAX_POPULATION),
    ] = 0,
    workers: Annotated[
        int, typer.Option("--workers", "-w", metavar="N", help="Parallel trials (0 = one per core)."), WORKERS
    ] = 0,
    cluster: ClusterOption = None,
    fresh: Annotated[
        int,
        typer.Option("--fresh", metavar="N", help="Games on new seeds to compare before and after."),
        Within(2, 10_000_000),
    ] = 1000,
    goal: GoalOption = 2048,
    spawn: SpawnOption = "2:0.9,4:0.1",
    start: StartOption = None,
    spawner: SpawnerOption = "fair",
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result as TOML.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FILE", help="Study file for the trials (default: in your data folder)."),
    ] = None,
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Tune the weights of an evaluator; run the same command again to continue.

    Example: lab2048 tune rows --games 200 --trials 400 --out tuned.toml
    """
    from lab2048.library.tune import tune as tune_evaluator

    load_players(player_file)
    _check_name(out)
    is_stopped = False
    begun: list[tuple[Tuning, TuningStudy, int]] = []

    def begin(tuning: "Tuning", the_study: "TuningStudy", n_trials: int) -> None:
        begun.append((tuning, the_study, n_trials))
        _check_out(out, the_study, force=force)
        view.begin(tuning, the_study, n_trials)

    def stop() -> None:
        nonlocal is_stopped
        is_stopped = True
        say("\nstopping: finished trials are saved, unfinished ones are dropped")

    with contextlib.redirect_stdout(sys.stderr), live() as show:  # the output of a player is not a result
        view = _TrialsView(show)
        result = tune_evaluator(
            evaluator,
            player=player,
            rules=rules,
            games=games,
            trials=trials,
            terms=[name.strip() for name in terms.split(",") if name.strip()],
            matrix=matrix,
            objective=objective,
            seed=seed,
            population=population,
            workers=workers,
            cluster=cluster,
            fresh=fresh,
            goal=goal,
            spawn=spawn,
            start=start,
            spawner=spawner,
            study=study,
            on_begin=begin,
            on_trial=view.show_trial,
            on_compare=lambda: say(f"choosing the best candidate, then comparing before and after, {fresh} games each"),
            on_stop=stop,
            progress=False,
        )
    if is_stopped:
        _report_unfinished(*begun[0], as_json=as_json)
    elif result is None:
        say("no result yet: it needs at least one complete generation and its comparison")
    if result:
        _report(result, evaluator=evaluator, out=out, as_json=as_json)
    raise typer.Exit(130 if is_stopped else 0)


def _check_name(out: Path | None) -> None:
    """Check the output file before the tuning, which may take hours."""
    if out is None:
        return
    if out.suffix != ".toml":
        raise UsageError(f"--out {out}: expected a name that ends in .toml, so that eval={out.stem}.toml works")
    if not out.parent.is_dir():
        raise FileError(
            f"there is no folder {out.parent}: create it, or choose another one with --out FILE", code="file.not_found"
        )


def _check_out(out: Path | None, study: "TuningStudy", *, force: bool) -> None:
    """Raise TargetExistsError if the file is not an earlier result of this study."""
    if out is not None and out.exists() and not force:
        from lab2048.views.tuning import MARK

        is_own = out.is_file() and out.read_bytes().startswith(f"{MARK}{study.id}\n".encode())
        if not is_own:
            raise TargetExistsError(f"{out} exists already and is not from this study")


class _TrialsView:
    """Shows how the trials go, in a text that is updated."""

    def __init__(self, show: Callable[[Callable[[], str]], None]) -> None:
        self._show = show
        self._begin, self._n_made, self._n_trials = time.monotonic(), 0, 1
        self._study: TuningStudy | None = None

    def begin(self, tuning: "Tuning", study: "TuningStudy", n_trials: int) -> None:
        n_found = sum(number < n_trials for number in study.trials)
        say(f"study {study.id} in {study.path}: {n_found} of {n_trials} trials found")
        names = dict.fromkeys(parameter.name.partition("[")[0] for parameter in tuning.space.parameters)
        say(f"tuning {', '.join(names)}: {len(tuning.space.parameters)} numbers, generations of {tuning.population}")
        self._begin, self._n_trials, self._study = time.monotonic(), n_trials, study

    def show_trial(self, trial: "Trial") -> None:
        self._n_made += 1
        self._show(lambda: self._text(trial))

    def _text(self, trial: "Trial") -> str:
        from lab2048.views.number import number

        trials = self._study.trials if self._study else {}
        pace = self._n_made / max(1e-9, time.monotonic() - self._begin)
        last = [t for t in trials.values() if t.generation in (trial.generation, trial.generation - 1) and t.number]
        mean = math.fsum(t.facts["mean_score"] for t in last) / max(1, len(last))
        best = max((t.facts["mean_score"] for t in last), default=0.0)
        first = trials[0].facts["mean_score"] if 0 in trials else math.nan
        meter = bar(len(trials) / self._n_trials, len(trials) / pace)  # as if all had been made at this pace
        gap = "\n" if sys.stderr.isatty() else " "  # a terminal has room for two lines, and none for a long one
        return (
            f"{meter}  {len(trials)} of {self._n_trials} trials, {pace:.3g} per second;{gap}"
            f"mean score of the last generation {number(mean)}, best {number(best)}, initial {number(first)}"
        )


def _report_unfinished(tuning: "Tuning", study: "TuningStudy", n_trials: int, *, as_json: bool) -> None:
    """Show what was found before Ctrl-C, without the games of a comparison, and how to compare or continue."""
    from lab2048.views.tuning import count_complete, unfinished_lines

    n_generations = (n_trials - 1) // tuning.population
    if not as_json:
        for line in unfinished_lines(tuning, study.trials, n_generations):
            print(line)
        sys.stdout.flush()
    n_complete = count_complete(tuning, study.trials, n_generations)
    if 0 < n_complete < n_generations:
        say_how("compare before and after with", again_with("--trials", "-t", str(n_complete * tuning.population)))
    say_how("the finished trials are saved; continue with", again())


def _report(result: "TuningResult", *, evaluator: str, out: Path | None, as_json: bool) -> None:
    from lab2048.records.atomic_file import replacing
    from lab2048.views.tuning import check_command, result_lines, result_toml

    words = " ".join(["lab2048", *sys.argv[1:]])
    text = result_toml(result, "".join(letter if letter.isprintable() else "?" for letter in words))
    if out is not None:
        with replacing(out, force=True) as file:
            file.write(text)
    if as_json:
        print_json("tune-1", result.to_json() | {"toml": text})
        return
    for line in result_lines(result):
        print(line)
    if out is None:
        print(f"\n{text}", end="")
    else:
        print(f"{out} is written; repeat the comparison with {check_command(result, evaluator, str(out))}")
