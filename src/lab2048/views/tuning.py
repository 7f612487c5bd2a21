"""Verdicts on tunings as text: a table for people, and the file that players read."""

import dataclasses
from collections.abc import Iterator

from lab2048.arena.statistics import mean_interval, rate_interval
from lab2048.arena.tuning.result import Verdict
from lab2048.players.registry import spec_with
from lab2048.views.match_table import rate_text, spread

MARK = "# lab2048 tune, study "  # how a file begins that a tuning may replace
LABEL_WIDTH, COLUMN_WIDTH = 16, 26


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Weights and figures, before and after."""
    tuning = verdict.tuning
    board = tuning.rules.board.to_text()
    yield f"{tuning.evaluator.name} for {tuning.player} on {board}: {verdict.n_trials} trials, {verdict.how}"
    yield _row("", "before", "after")
    before, after = tuning.panel.evaluator.to_table(), verdict.evaluator.to_table()
    for name in dict.fromkeys([*before, *after]):
        a, b = before.get(name, 0.0), after.get(name, 0.0)
        if name == "matrix":
            for i, (old, new) in enumerate(zip(a, b, strict=True)):
                yield _row(f"matrix[{i}]", " ".join(f"{x:.4g}" for x in old), " ".join(f"{x:.4g}" for x in new))
        elif name != "path" and a != b:
            yield _row(name, f"{a:g}", f"{b:g}")
    yield _row("mean score", *_means(verdict))
    n = verdict.match.n_games
    rates = [rate_text(rate_interval(standing.n_won, n)) for standing in (verdict.before, verdict.after)]
    yield _row(f">= {tuning.rules.goal}", *rates)
    yield f"after - before: {_gain(verdict)}" + ("" if verdict.gain.low > 0 else ", not clearly better")


def verdict_toml(verdict: Verdict, command: str) -> str:
    """The tuned evaluator as a TOML file that says where it comes from."""
    tuning = verdict.tuning
    before, after = _means(verdict)
    doc = (
        f"{tuning.evaluator.name} tuned for {tuning.player} on {tuning.rules.board.to_text()} by "
        f"{verdict.n_trials} trials of {tuning.n_games} games, seed {tuning.seed}, {tuning.objective}: "
        f"mean score {before} before, {after} after, difference {_gain(verdict)}"
    )
    table = dataclasses.replace(verdict.evaluator, doc=doc).to_toml()
    return f"{MARK}{verdict.study}\n# {command}\n\n{table}"


def check_command(verdict: Verdict, before: str, after: str) -> str:
    """Return the match that repeats the comparison, given the names of the evaluators."""
    specs = [spec_with(verdict.tuning.player, eval=name) for name in (before, after)]
    numbers = ["--games", str(verdict.match.n_games), "--seed", str(verdict.match.seed)]
    return " ".join(["lab2048", "match", *specs, *numbers])


def _means(verdict: Verdict) -> tuple[str, str]:
    return spread(mean_interval(verdict.before.scores)), spread(mean_interval(verdict.after.scores))


def _gain(verdict: Verdict) -> str:
    return f"{spread(verdict.gain)} on {verdict.match.n_games} fresh seeds"


def _row(name: str, before: str, after: str) -> str:
    return f"{name:<{LABEL_WIDTH}}{before:>{COLUMN_WIDTH}}  {after:>{COLUMN_WIDTH}}"
