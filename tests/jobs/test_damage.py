"""A job whose folder is damaged is listed with the reason, can be removed, and disturbs no other job."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab2048.errors import FileError, JobConflictError
from lab2048.jobs.job import FACTS, Job
from lab2048.jobs.runner import JobRunner
from lab2048.rules import Rules

REQUEST = {"specs": ["random"], "rules": Rules.from_text("3x3").to_json(), "games": 1, "seed": 1}
WORDS = ["match", "random"]


def make_job(folder: Path, id_: str, state: str = "done") -> Path:
    job = Job(id_, "match", "a match", WORDS, WORDS, dict(REQUEST), "2026-01-01T00:00:00+00:00", state)
    job.folder = folder / id_
    job.folder.mkdir(parents=True)
    job.save()
    return job.folder / FACTS


def change(**fields: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return write


def write(text: str | bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode() if isinstance(text, str) else text) and None


DAMAGES = {
    "unknown kind": (change(kind="tournament"), "unknown kind of job 'tournament'"),
    "empty request": (change(request={}), "its request has no specs"),
    "request of another kind": (change(request=[]), "the field request is wrong"),
    "names": (change(request=REQUEST | {"names": ["a", "b"]}), "its request is wrong"),
    "deep": (write("[" * 100_000), "nested too deeply"),
    "no JSON": (write('{"schema": "lab2048/job-1"'), "is damaged: Expecting"),
    "not UTF-8": (write(b"\xff\xfe"), "not UTF-8"),
    "empty": (write(""), "is damaged: Expecting value"),
    "missing field": (write('{"schema": "lab2048/job-1"}'), "a field is missing or wrong"),
    "list": (write("[]"), "not that of a job"),
    "newer schema": (change(schema="lab2048/job-2"), "has the schema lab2048/job-2"),
    "newer field": (change(colour="red"), "a newer version has written it"),
    "state": (change(state="sleeping"), "the field state is wrong"),
    "other folder": (change(id="match-77"), "is that of 'match-77'"),
    "gone": (Path.unlink, "does not exist"),
}


@pytest.mark.parametrize("state", ["done", "running"])
@pytest.mark.parametrize(("damage", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_job_is_listed_and_can_be_removed(
    tmp_path: Path, damage: Callable[[Path], None], reason: str, state: str
) -> None:
    make_job(tmp_path, "match-1")
    damage(make_job(tmp_path, "match-2", state))
    (tmp_path / "notes.txt").write_text("not a job")
    (tmp_path / "other folder").mkdir()
    runner = JobRunner(tmp_path)
    runner.load()
    jobs = {job.id: job for job in runner.all_jobs()}
    assert {id_: job.state for id_, job in jobs.items()} == {"match-1": "done", "match-2": "damaged"}
    shown = jobs["match-2"].data()
    assert reason in shown.message
    assert (shown.can_cancel, shown.can_resume) == (False, False)
    for refused in (runner.resume, runner.cancel, lambda id_: runner.progress_of(runner.get(id_))):
        with pytest.raises(JobConflictError):
            refused("match-2")
    runner.forget("match-2")
    assert [job.id for job in runner.all_jobs()] == ["match-1"]
    assert not (tmp_path / "match-2").exists()


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "progress", "n_done": "x", "n_all": 0}',
        '{"event": "progress", "n_done": 1, "n_all": 0}',
        '{"event": "progress", "n_done": null}',
        '{"event": "games", "games": 3}',
        '{"event": ' + "[" * 100_000,
        "\x00\x01",
    ],
)
def test_a_damaged_event_is_skipped(tmp_path: Path, line: str) -> None:
    make_job(tmp_path, "match-1", "running")
    good = {"event": "progress", "n_done": 1, "n_all": 4, "players": []}
    (tmp_path / "match-1" / "out.jsonl").write_text(f"{line}\n{json.dumps(good)}\n")
    runner = JobRunner(tmp_path)
    runner.load()
    [job] = runner.all_jobs()
    assert job.state == "interrupted"
    assert runner.progress_of(job).fraction == 0.25


def test_a_damaged_folder_holds_no_job(tmp_path: Path) -> None:
    for name, text in (("a", "{"), ("b", "{}"), ("c", '{"schema": "lab2048/job-1", "id": 3}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "job.json").write_text(text)
        with pytest.raises(FileError):
            Job.load(tmp_path / name)


def test_a_job_of_an_earlier_version_is_shown_without_its_option(tmp_path: Path) -> None:
    job = Job("match-1", "match", "", [*WORDS, "--jsonl"], [*WORDS, "--jsonl", "--resume"], REQUEST, "2026-01-01")
    job.folder = tmp_path
    job.save()
    loaded = Job.load(tmp_path)
    assert (loaded.words, loaded.resume_words) == (WORDS, [*WORDS, "--resume"])
