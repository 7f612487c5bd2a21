"""Rows of the kind train: a network learns so many games, and then plays."""

import importlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, UsageError, nearest
from lab2048.studies.job import Job, StoppedError
from lab2048.studies.measure import Measured
from lab2048.studies.play import play_games
from lab2048.studies.result import Result
from lab2048.studies.study import Lesson

WEIGHTS = "{weights}"  # stands for the trained file in a row's player
SAVE_SECONDS = 300.0  # a checkpoint may be a gigabyte
N_POINTS = 200  # of a curve, at most
# Where each deep training lives; a version without it leaves its rows out.
DEEP = {
    "afterstate": "lab2048.learning.afterstate:AfterstateTraining",
    "c51": "lab2048.learning.action:C51Training",
    "dqn": "lab2048.learning.action:DqnTraining",
    "returns": "lab2048.learning.returns:ReturnsTraining",
}
METHODS = ("ntuple", *DEEP)


def run_train(job: Job) -> Result:
    """Train, or go on; then play with what was learnt."""
    lesson = job.row.lesson
    assert lesson is not None
    path = job.shelf.folder / f"{job.row.id}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    training, result = _begin(job, lesson, path), job.result()
    result.curve = _learn(job, lesson, training, path)
    result.measured["training-time"] = Measured(training.seconds, float("-inf"), float("inf"), 1)
    result.measured["bytes"] = Measured.exact(_bytes(training))
    result.games = play_games(job, job.row.player.replace(WEIGHTS, _quoted(path)))
    path.unlink()
    return result


def _begin(job: Job, lesson: Lesson, path: Path) -> Any:
    """The training where it was left, or a new one.  What was learnt by other options is not gone on with."""
    options = dict(lesson.options) | {"seed": job.seed}
    if lesson.method == "ntuple":
        from lab2048.learning.ntuple import Training
        from lab2048.learning.ntuple_config import Config

        config = Config.for_board(job.rules, **options)
        found = _resumed(Training, path, {})
        if found is not None and found.config == config:
            return found
        return Training.begin(config, job.rules, 1)  # one thread: the same weights every time
    method = deep_method(lesson.method)
    config = method.config_class(**_preset(lesson.preset), **options)
    found = _resumed(method, path, {})
    return found if found is not None and found.config == config else method(config, job.rules, 1)


def deep_method(name: str) -> Any:
    """The class of a deep training; raise ImportError if this version or this machine has none."""
    if name not in DEEP:
        raise UsageError(f"method {name!r} is unknown: {nearest(name, METHODS)}")
    module, _, attribute = DEEP[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _preset(name: str) -> Mapping[str, Any]:
    if not name:
        return {}
    presets: Mapping[str, Any] = vars(importlib.import_module("lab2048.learning.config"))
    found: Mapping[str, Any] = presets[f"PRESET_{name}"]
    return found


def _resumed(method: Any, path: Path, wishes: Mapping[str, Any]) -> Any:
    if not path.exists():
        return None
    try:
        return method.resume(path, 1, **wishes)
    except (FileError, UsageError):  # of another version: begin anew
        return None


def _learn(job: Job, lesson: Lesson, training: Any, path: Path) -> list[dict[str, float]]:
    """Learn to the end; return the curve: a point for each trial, if there are any, else for each report."""
    n_games = lesson.games[job.size]
    points: dict[int, dict[str, float]] = {}  # by games learnt
    job.when_stopped(training.end)
    save_at = time.monotonic() + SAVE_SECONDS
    for progress in training.run(n_games=n_games):
        job.show(f"trained {progress.n_games} of {n_games} games, mean score {progress.mean:,.0f}")
        points.setdefault(progress.n_games, _numbers(progress.to_json()))
        if time.monotonic() > save_at:
            training.save(path)
            save_at = time.monotonic() + SAVE_SECONDS
    training.save(path)
    if training.n_games < n_games:
        raise StoppedError("interrupted")
    curve = [_numbers(trial) for trial in getattr(training, "trials", [])]
    for trial in curve:
        if "loss" in (point := points.get(int(trial["n_games"]), {})):
            trial["loss"] = point["loss"]
    curve = curve or list(points.values())
    return curve[:: max(1, -(-len(curve) // N_POINTS))]


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The plain numbers of a report, and of what is counted by tiles a number each."""
    found = {name: value for name, value in data.items() if isinstance(value, int | float)}
    for tile, count in (data.get("pairs") or {}).items():
        found[f"pairs of {tile}"] = count
    return found


def _bytes(training: Any) -> int:
    """The size of the weights, as numbers of 32 bits."""
    if hasattr(training, "adam"):  # a deep network: all of its weights are one tensor
        return 4 * len(training.adam.flat)
    return int(training.network.weights.nbytes)


def _quoted(path: Path) -> str:
    return f"({path})" if "," in str(path) else str(path)
