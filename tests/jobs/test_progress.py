"""The progress of a job, read from the events that its process writes."""

import json
from itertools import pairwise
from pathlib import Path

from lab2048.jobs.job import EVENTS, LOG, RUNNING, Job
from lab2048.jobs.progress import MAX_CURVE, TrainingProgress


def test_a_long_learning_curve_is_thinned_out_and_keeps_its_ends(tmp_path: Path) -> None:
    job = Job("train-1", "train", "", ["train", "ntuple"], [], {}, "2026-01-01", state=RUNNING)
    job.folder = tmp_path
    n_points = 10 * MAX_CURVE + 1
    facts = {"event": "progress", "seconds": 1.0, "n_games": 1, "n_last": 1, "mean": 1.0, "pace": 1.0}
    lines = [json.dumps(facts | {"n_moves": n}) for n in range(n_points)]
    (tmp_path / EVENTS).write_text("".join(f"{line}\n" for line in lines))
    progress = TrainingProgress(job, str)
    assert progress.catch_up()
    moves = [point["n_moves"] for point in progress.curve]
    assert len(moves) <= MAX_CURVE + 1
    assert (moves[0], moves[-1]) == (0, n_points - 1)
    assert len({b - a for a, b in pairwise(moves[:-1])}) == 1


def test_half_a_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    job = Job("train-1", "train", "", ["train", "ntuple"], [], {}, "2026-01-01", state=RUNNING)
    job.folder = tmp_path
    event = {"event": "progress", "seconds": 1, "n_games": 2, "n_last": 2, "mean": 7, "pace": 1, "n_moves": 5}
    text = json.dumps(event) + "\n"
    (tmp_path / LOG).write_text("lab2048: compiling kernels\n")
    (tmp_path / EVENTS).write_text(text[:20])
    progress = TrainingProgress(job, str)
    assert progress.catch_up()
    assert job.message == "compiling kernels"
    (tmp_path / EVENTS).write_text(text)
    assert progress.catch_up()
    assert job.message == "2 games, mean score 7 (last 2), 1 moves/s"
    assert not progress.catch_up()


def test_keys_of_a_terminal_are_not_named_to_who_reads_a_view(tmp_path: Path) -> None:
    job = Job("train-1", "train", "", ["train", "ntuple"], [], {}, "2026-01-01", state=RUNNING)
    job.folder = tmp_path
    (tmp_path / LOG).write_text("lab2048: saving the network; press Ctrl-C again to stop at once; to my.safetensors\n")
    assert TrainingProgress(job, str).catch_up()
    assert job.message == "saving the network"
