"""Rows that train a network and then play with it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, StoppedError, UsageError
from lab2048.learning.config import TrainingConfig
from lab2048.learning.ntuple_config import best_path
from lab2048.learning.registry import Training, find_method
from lab2048.rules import Rules
from lab2048.studies.measure import Measured
from lab2048.studies.model import TrainingSpec
from lab2048.studies.result import Result
from lab2048.studies.run.match import play_games
from lab2048.studies.run.task import RowTask
from lab2048.studies.run.trained_games import WEIGHTS, is_trained, play_trained

SAVE_SECONDS = 300.0  # a checkpoint may be a gigabyte
N_POINTS = 200  # maximum per curve


def run_train(task: RowTask) -> Result:
    """Train, or resume training, and then play."""
    row, result = task.row, task.result()
    with trained(task, result) as (training, spec):
        if is_trained(row.player):
            result.games, more = play_trained(task, training)
            result.measured |= more
        else:
            result.games = play_games(task, spec)
    return result


@contextmanager
def trained(task: RowTask, result: Result) -> Iterator[tuple[Training, str]]:
    """Train, or resume training; yield the training and the player spec with its weights file.

    Measures of the training go into `result`.  The file stays if the row is interrupted or another row
    still needs it.
    """
    row, training_spec = task.row, task.row.training_spec
    assert training_spec is not None
    path = task.result_folder.folder / f"{row.trained_by}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    training = _begin(task, training_spec, path)
    result.measured, points = _learn(task, training_spec, training, path)
    result.curve = _curve(training, points)
    result.measured["training-time"] = Measured.single(training.seconds)
    result.measured["bytes"] = Measured.exact(4 * training.n_weights)  # floats of 32 bits
    if find_method(training_spec.method).is_deep:
        result.measured["gradients"] = Measured.exact(training.n_steps)
    result.provenance = {"trained": {"sessions": training.sessions, "moves": training.n_moves}}
    best = best_path(path)
    is_best_kept = getattr(training.config, "keep", "") == "best"
    yield training, row.player.replace(WEIGHTS, _quoted(best if is_best_kept else path))
    if not _is_needed(task):
        path.unlink()
        best.unlink(missing_ok=True)


def _is_needed(task: RowTask) -> bool:
    """Return True if another row still needs this row's network."""
    rows = (row for row in task.result_folder.study.parts(task.size) if row.trained_by == task.row.trained_by)
    return any(row.id != task.row.id and row.amount(task.size) and task.result_folder.find(row) is None for row in rows)


def make_config(training_spec: TrainingSpec, rules: Rules, seed: int) -> TrainingConfig:
    """Return the Config of a training spec; raise UsageError if its method, preset or an option is invalid."""
    config = find_method(training_spec.method).config
    return config.for_board(
        rules, **config.parse(training_spec.options, training_spec.preset) | {"seed": seed + training_spec.seed_offset}
    )


def _begin(task: RowTask, training_spec: TrainingSpec, path: Path) -> Training:
    """Resume a training if its checkpoint has the same options, else begin a new one."""
    method, config = find_method(training_spec.method), make_config(training_spec, task.rules, task.seed)
    # A deep network does not depend on the number of threads, but with a time limit two threads train on more games.
    n_threads = min(2, task.n_workers) if method.is_deep and training_spec.minutes.get(task.size) else 1
    found = _resumed(method.training(), path, n_threads)
    return (
        found
        if found is not None and found.config == config
        else method.training().begin(config, task.rules, n_threads)
    )


def _resumed(training: type[Training], path: Path, n_threads: int) -> Training | None:
    if not path.exists():
        return None
    try:
        return training.resume(path, n_threads)
    except (FileError, UsageError):  # written by another version: start again
        return None


def _learn(
    task: RowTask, training_spec: TrainingSpec, training: Training, path: Path
) -> tuple[dict[str, Measured], list[dict[str, float]]]:
    """Train to the limit; return the speed, if there was anything left to train, and an n-tuple network's curve."""
    n_games, minutes = training_spec.games.get(task.size, 0), training_spec.minutes.get(task.size, 0)
    is_deep = find_method(training_spec.method).is_deep
    limits = {"seconds": 60.0 * minutes} if minutes else {"n_games": n_games}

    def is_done() -> bool:
        return bool(training.seconds >= limits["seconds"] if minutes else training.n_games >= n_games)

    if is_done():
        return {}, []
    task.when_stopped(training.end)
    save_at = time.monotonic() + SAVE_SECONDS
    begin, moves, steps = time.process_time(), training.n_moves, training.n_steps
    points: dict[int, dict[str, float]] = {}  # by number of games
    for progress in training.run(**limits):
        limit = f"{training.seconds / 60:.1f} of {minutes} minutes" if minutes else f"{progress.n_games} of {n_games}"
        task.show(f"trained {limit}{'' if minutes else ' games'}, mean score {progress.mean:,.0f}")
        if not is_deep and progress.n_games not in points:
            points[progress.n_games] = _numbers(progress.to_json())
        if time.monotonic() > save_at:
            training.save(path)
            save_at = time.monotonic() + SAVE_SECONDS
    training.save(path)
    if not is_done():
        task.save_partial([])
        raise StoppedError("interrupted")
    spent = max(1e-9, time.process_time() - begin)
    found = {"training-pace": Measured.single((training.n_moves - moves) / spent)}
    if is_deep:
        found["gradient-pace"] = Measured.single((training.n_steps - steps) / spent)
    return found, list(points.values())


def _curve(training: Training, points: list[dict[str, float]]) -> list[dict[str, float]]:
    """Return one point per evaluation, or the training's own curve if there were none."""
    noted = points or [_numbers(point) for point in training.curve]
    curve = [_numbers(trial) for trial in getattr(training, "evaluations", [])]
    for trial in curve:
        if before := [point["loss"] for point in noted if point["n_games"] <= trial["n_games"] and "loss" in point]:
            trial["loss"] = before[-1]
    curve = curve or noted
    return curve[:: max(1, -(-len(curve) // N_POINTS))]


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the numeric fields, and one field per tile for the pair counts."""
    found = {name: value for name, value in data.items() if isinstance(value, int | float)}
    for tile, count in (data.get("pairs") or {}).items():
        found[f"pairs of {tile}"] = count
    return found


def _quoted(path: Path) -> str:
    return f"({path})" if "," in str(path) else str(path)
