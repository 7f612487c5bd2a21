"""The result of a tuning as text: a table for people, and the file that players read."""

import dataclasses
import statistics
from collections.abc import Iterator, Mapping

from lab2048.arena.statistics import mean_interval, rate_interval
from lab2048.arena.tuning.result import TuningResult, candidates
from lab2048.arena.tuning.tune import Tuning
from lab2048.jobs.command_line import command_line, file_options, rules_options
from lab2048.players.evaluator import Evaluator
from lab2048.players.registry import spec_with
from lab2048.records.tuning_study import Trial
from lab2048.views.match_table import rate_text, spread
from lab2048.views.number import number

MARK = "# lab2048 tune, study "  # first line of files that a tuning may replace
LABEL_WIDTH, COLUMN_WIDTH = 16, 26


def result_lines(result: TuningResult) -> Iterator[str]:
    """Yield weights and figures before and after tuning."""
    tuning = result.tuning
    board = tuning.rules.board.to_text()
    yield f"{tuning.evaluator.name} for {tuning.player} on {board}: {result.n_trials} trials, {result.how}"
    yield _row("", "before", "after")
    yield from _weight_rows(tuning.space.evaluator, result.evaluator)
    yield _row("mean score", *_means(result))
    n = result.match.n_games
    rates = [rate_text(rate_interval(player_result.n_won, n)) for player_result in (result.before, result.after)]
    yield _row(f">= {tuning.rules.goal}", *rates)
    yield f"after - before: {_gain(result)}" + ("" if result.gain.low > 0 else ", not significantly better")


def unfinished_lines(tuning: Tuning, trials: Mapping[int, Trial], n_generations: int) -> Iterator[str]:
    """Yield what a tuning has found that was stopped: the weights after the last complete generation, not compared."""
    title = f"{tuning.evaluator.name} for {tuning.player} on {tuning.rules.board.to_text()}: {len(trials)} trials"
    n_complete = count_complete(tuning, trials, n_generations)
    if not n_complete:
        yield f"{title}, no generation of {tuning.population} is complete yet"
        return
    evaluator = candidates(tuning, list(trials.values()), n_generations)["last generation"]
    last = [trial.facts["mean_score"] for trial in trials.values() if trial.generation == n_complete]
    yield f"{title}, {n_complete} complete generations, stopped"
    yield _row("", "before", "so far")
    yield from _weight_rows(tuning.space.evaluator, evaluator)
    yield _row("trials score", number(trials[0].facts["mean_score"]), number(statistics.fmean(last)))
    yield f"the score so far is the mean of generation {n_complete}, on other seeds than before: not a comparison"
    yield f"\n{dataclasses.replace(evaluator, name=tuning.tuned_name, doc='').to_toml()}".rstrip()


def count_complete(tuning: Tuning, trials: Mapping[int, Trial], n_generations: int) -> int:
    """Return the number of complete generations."""
    n = 0
    while n < n_generations and all(1 + n * tuning.population + i in trials for i in range(tuning.population)):
        n += 1
    return n


def _weight_rows(before: Evaluator, after: Evaluator) -> Iterator[str]:
    """Yield the weights that differ."""
    old_table, new_table = before.to_table(), after.to_table()
    for name in dict.fromkeys([*old_table, *new_table]):
        a, b = old_table.get(name, 0.0), new_table.get(name, 0.0)
        if name == "matrix":
            for i, (old, new) in enumerate(zip(a, b, strict=True)):
                yield _row(f"matrix[{i}]", " ".join(f"{x:.4g}" for x in old), " ".join(f"{x:.4g}" for x in new))
        elif name != "path" and a != b:
            yield _row(name, f"{a:g}", f"{b:g}")


def result_toml(result: TuningResult, command: str) -> str:
    """Return the tuned evaluator as TOML, with its provenance."""
    tuning = result.tuning
    before, after = _means(result)
    doc = (
        f"{tuning.evaluator.name} tuned for {tuning.player} on {tuning.rules.board.to_text()} by "
        f"{result.n_trials} trials of {tuning.n_games} games, seed {tuning.seed}, {tuning.objective}: "
        f"mean score {before} before, {after} after, difference {_gain(result)}"
    )
    table = dataclasses.replace(result.evaluator, doc=doc).to_toml()
    return f"{MARK}{result.study}\n# {command}\n\n{table}"


def check_command(result: TuningResult, before: str, after: str) -> str:
    """Return the command of the match that repeats the comparison, given the names of the evaluators."""
    match = result.match
    specs = [spec_with(result.tuning.player, eval=name) for name in (before, after)]
    numbers = ["--games", str(match.n_games), "--seed", str(match.seed)]
    return command_line(["match", *specs, *rules_options(match.rules), *numbers, *file_options(specs)])


def _means(result: TuningResult) -> tuple[str, str]:
    return spread(mean_interval(result.before.scores)), spread(mean_interval(result.after.scores))


def _gain(result: TuningResult) -> str:
    return f"{spread(result.gain)} on {result.match.n_games} fresh seeds"


def _row(name: str, before: str, after: str) -> str:
    return f"{name:<{LABEL_WIDTH}}{before:>{COLUMN_WIDTH}}  {after:>{COLUMN_WIDTH}}"
