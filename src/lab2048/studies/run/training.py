"""Rows that train: a network learns so many games, and then plays."""

import importlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, UnknownNameError, UsageError
from lab2048.studies.measure import Measured
from lab2048.studies.model import Lesson
from lab2048.studies.result import Result
from lab2048.studies.run.match import play_games
from lab2048.studies.run.task import Job, StoppedError
from lab2048.studies.run.trained_games import WEIGHTS, is_trained, play_trained

SAVE_SECONDS = 300.0  # a checkpoint may be a gigabyte
N_POINTS = 200  # of a curve, at most
# Where each deep training lives; a version without it leaves its rows out.
DEEP = {
    "afterstate": "lab2048.learning.deep.afterstate_values:AfterstateTraining",
    "c51": "lab2048.learning.deep.action_values:C51Training",
    "dqn": "lab2048.learning.deep.action_values:DqnTraining",
    "returns": "lab2048.learning.deep.returns:ReturnsTraining",
}
METHODS = ("ntuple", *DEEP)


def run_train(job: Job) -> Result:
    """Train, or go on; then play with what was learnt."""
    row, result = job.row, job.result()
    with learnt(job, result) as (training, spec):
        if is_trained(row.player):
            result.games, more = play_trained(job, training)
            result.measured |= more
        else:
            result.games = play_games(job, spec)
    return result


@contextmanager
def learnt(job: Job, result: Result) -> Iterator[tuple[Any, str]]:
    """Train, or go on, and note in the result how that went; lend the training, and the row's player with its file.

    The file is kept if the row is cut short, or if another row is yet to play by it.
    """
    row, lesson = job.row, job.row.lesson
    assert lesson is not None
    path = job.shelf.folder / f"{row.trained_by}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    training = _begin(job, lesson, path)
    result.measured, points = _learn(job, lesson, training, path)
    result.curve = _curve(training, points)
    result.measured["training-time"] = Measured.once(training.seconds)
    result.measured["bytes"] = Measured.exact(_bytes(training))
    if _is_deep(training):
        result.measured["gradients"] = Measured.exact(_n_steps(training))
    result.provenance = {"trained": {"sessions": training.sessions, "moves": training.n_moves}}
    yield training, row.player.replace(WEIGHTS, _quoted(path))
    if not _is_needed(job):
        path.unlink()


def _is_needed(job: Job) -> bool:
    """True if another row is yet to play by what this one has trained."""
    rows = (row for row in job.shelf.study.parts(job.size) if row.trained_by == job.row.trained_by)
    return any(row.id != job.row.id and row.amount(job.size) and job.shelf.find(row) is None for row in rows)


def _begin(job: Job, lesson: Lesson, path: Path) -> Any:
    """The training where it was left, or a new one.  What was learnt by other options is not gone on with."""
    options = dict(lesson.options) | {"seed": job.seed + lesson.later}
    if lesson.method == "ntuple":
        from lab2048.learning.ntuple import Training
        from lab2048.learning.ntuple_config import Config

        config = Config.for_board(job.rules, **options)
        found = _resumed(Training, path, 1)
        if found is not None and found.config == config:
            return found
        return Training.begin(config, job.rules, 1)  # one thread: the same weights every time
    method = deep_method(lesson.method)
    config = method.config_class(**{**_preset(lesson.preset), **options})
    # Any number of threads makes the same network of so many games; by the clock two make more of them.
    n_threads = min(2, job.n_workers) if lesson.minutes.get(job.size) else 1
    found = _resumed(method, path, n_threads)
    return found if found is not None and found.config == config else method(config, job.rules, n_threads)


def deep_method(name: str) -> Any:
    """The class of a deep training; raise ImportError if this version or this machine has none."""
    if name not in DEEP:
        raise UnknownNameError("method", name, METHODS)
    module, _, attribute = DEEP[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _preset(name: str) -> Mapping[str, Any]:
    if not name:
        return {}
    presets: Mapping[str, Any] = vars(importlib.import_module("lab2048.learning.deep.config"))
    found: Mapping[str, Any] = presets[f"PRESET_{name}"]
    return found


def _resumed(method: Any, path: Path, n_threads: int) -> Any:
    if not path.exists():
        return None
    try:
        return method.resume(path, n_threads)
    except (FileError, UsageError):  # of another version: begin anew
        return None


def _learn(job: Job, lesson: Lesson, training: Any, path: Path) -> tuple[dict[str, Measured], list[dict[str, float]]]:
    """Learn to the end; return how fast that was, if anything was left to learn, and an n-tuple network's curve."""
    n_games, minutes = lesson.games.get(job.size, 0), lesson.minutes.get(job.size, 0)
    limits = {"seconds": 60.0 * minutes} if minutes else {"n_games": n_games}

    def is_done() -> bool:
        return bool(training.seconds >= limits["seconds"] if minutes else training.n_games >= n_games)

    if is_done():
        return {}, []
    job.when_stopped(training.end)
    save_at = time.monotonic() + SAVE_SECONDS
    begin, moves, steps = time.process_time(), training.n_moves, _n_steps(training)
    points: dict[int, dict[str, float]] = {}  # by games learnt
    for progress in training.run(**limits):
        limit = f"{training.seconds / 60:.1f} of {minutes} minutes" if minutes else f"{progress.n_games} of {n_games}"
        job.show(f"trained {limit}{'' if minutes else ' games'}, mean score {progress.mean:,.0f}")
        if not _is_deep(training) and progress.n_games not in points:
            points[progress.n_games] = _numbers(progress.to_json())
        if time.monotonic() > save_at:
            training.save(path)
            save_at = time.monotonic() + SAVE_SECONDS
    training.save(path)
    if not is_done():
        job.keep_part([])
        raise StoppedError("interrupted")
    spent = max(1e-9, time.process_time() - begin)
    found = {"training-pace": Measured.once((training.n_moves - moves) / spent)}
    if _is_deep(training):
        found["gradient-pace"] = Measured.once((_n_steps(training) - steps) / spent)
    return found, list(points.values())


def _is_deep(training: Any) -> bool:
    return hasattr(training, "adam")


def _n_steps(training: Any) -> int:
    """How many gradients a deep network has followed."""
    return int(training.adam.n_steps) if _is_deep(training) else 0


def _curve(training: Any, points: list[dict[str, float]]) -> list[dict[str, float]]:
    """A point for each trial, if there are any, else for each time that the training noted how it stood."""
    noted = points or [_numbers(point) for point in training.curve]
    curve = [_numbers(trial) for trial in getattr(training, "trials", [])]
    for trial in curve:
        if before := [point["loss"] for point in noted if point["n_games"] <= trial["n_games"] and "loss" in point]:
            trial["loss"] = before[-1]
    curve = curve or noted
    return curve[:: max(1, -(-len(curve) // N_POINTS))]


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The plain numbers of a report, and of what is counted by tiles a number each."""
    found = {name: value for name, value in data.items() if isinstance(value, int | float)}
    for tile, count in (data.get("pairs") or {}).items():
        found[f"pairs of {tile}"] = count
    return found


def _bytes(training: Any) -> int:
    """The size of the weights, as numbers of 32 bits."""
    if _is_deep(training):  # all of its weights are one tensor
        return 4 * len(training.adam.flat)
    return int(training.network.weights.nbytes)


def _quoted(path: Path) -> str:
    return f"({path})" if "," in str(path) else str(path)
