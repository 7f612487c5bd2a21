"""Rows that train: a network learns so many games, and then plays."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, UsageError
from lab2048.learning.config import TrainingConfig
from lab2048.learning.registry import Training, find_method
from lab2048.rules import Rules
from lab2048.studies.measure import Measured
from lab2048.studies.model import Lesson
from lab2048.studies.result import Result
from lab2048.studies.run.match import play_games
from lab2048.studies.run.task import Job, StoppedError
from lab2048.studies.run.trained_games import WEIGHTS, is_trained, play_trained

SAVE_SECONDS = 300.0  # a checkpoint may be a gigabyte
N_POINTS = 200  # of a curve, at most


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
def learnt(job: Job, result: Result) -> Iterator[tuple[Training, str]]:
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
    result.measured["bytes"] = Measured.exact(4 * training.n_weights)  # floats of 32 bits
    if find_method(lesson.method).is_deep:
        result.measured["gradients"] = Measured.exact(training.n_steps)
    result.provenance = {"trained": {"sessions": training.sessions, "moves": training.n_moves}}
    yield training, row.player.replace(WEIGHTS, _quoted(path))
    if not _is_needed(job):
        path.unlink()


def _is_needed(job: Job) -> bool:
    """True if another row is yet to play by what this one has trained."""
    rows = (row for row in job.shelf.study.parts(job.size) if row.trained_by == job.row.trained_by)
    return any(row.id != job.row.id and row.amount(job.size) and job.shelf.find(row) is None for row in rows)


def make_config(lesson: Lesson, rules: Rules, seed: int) -> TrainingConfig:
    """Return the Config of a lesson; raise UsageError if its method, its preset or an option is unknown or wrong."""
    config = find_method(lesson.method).config
    return config.for_board(rules, **config.parse(lesson.options, lesson.preset) | {"seed": seed + lesson.later})


def _begin(job: Job, lesson: Lesson, path: Path) -> Training:
    """Resume the training of a lesson if its checkpoint has the same options, else begin a new one."""
    method, config = find_method(lesson.method), make_config(lesson, job.rules, job.seed)
    # A deep network is the same for any number of threads, but by the clock two learn from more games.
    n_threads = min(2, job.n_workers) if method.is_deep and lesson.minutes.get(job.size) else 1
    found = _resumed(method.training(), path, n_threads)
    return (
        found if found is not None and found.config == config else method.training().begin(config, job.rules, n_threads)
    )


def _resumed(training: type[Training], path: Path, n_threads: int) -> Training | None:
    if not path.exists():
        return None
    try:
        return training.resume(path, n_threads)
    except (FileError, UsageError):  # of another version: begin anew
        return None


def _learn(
    job: Job, lesson: Lesson, training: Training, path: Path
) -> tuple[dict[str, Measured], list[dict[str, float]]]:
    """Learn to the end; return how fast that was, if anything was left to learn, and an n-tuple network's curve."""
    n_games, minutes = lesson.games.get(job.size, 0), lesson.minutes.get(job.size, 0)
    is_deep = find_method(lesson.method).is_deep
    limits = {"seconds": 60.0 * minutes} if minutes else {"n_games": n_games}

    def is_done() -> bool:
        return bool(training.seconds >= limits["seconds"] if minutes else training.n_games >= n_games)

    if is_done():
        return {}, []
    job.when_stopped(training.end)
    save_at = time.monotonic() + SAVE_SECONDS
    begin, moves, steps = time.process_time(), training.n_moves, training.n_steps
    points: dict[int, dict[str, float]] = {}  # by games learnt
    for progress in training.run(**limits):
        limit = f"{training.seconds / 60:.1f} of {minutes} minutes" if minutes else f"{progress.n_games} of {n_games}"
        job.show(f"trained {limit}{'' if minutes else ' games'}, mean score {progress.mean:,.0f}")
        if not is_deep and progress.n_games not in points:
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
    if is_deep:
        found["gradient-pace"] = Measured.once((training.n_steps - steps) / spent)
    return found, list(points.values())


def _curve(training: Training, points: list[dict[str, float]]) -> list[dict[str, float]]:
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


def _quoted(path: Path) -> str:
    return f"({path})" if "," in str(path) else str(path)
