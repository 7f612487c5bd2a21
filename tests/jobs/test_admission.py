"""A job is admitted if this machine has the disk space and memory that it is estimated to need."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab2048.errors import JobConflictError
from lab2048.jobs import runner as runner_module
from lab2048.jobs.job import Job
from lab2048.jobs.needs import Needs
from lab2048.jobs.runner import JobRunner

GB = 10**9


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobRunner]:
    """A runner on a machine with 30 GB of disk and 20 GB of memory for jobs, whose jobs never end."""
    monkeypatch.setattr(runner_module, "free_bytes", lambda _: 30 * GB)
    made = JobRunner(tmp_path / "jobs")
    made.memory = 20 * GB
    monkeypatch.setattr(made, "_launch", lambda job: setattr(job, "state", "running"))
    yield made
    for job in made.all_jobs():
        made._release(job)


def start(runner: JobRunner, *, disk: int = 0, memory: int = 0) -> Job:
    needs = Needs(disk * GB, memory * GB)
    return runner.start("train", "a training", ["train"], request={}, resume_words=[], needs=needs)


def test_disk_space_is_promised_once(runner: JobRunner) -> None:
    assert start(runner, disk=20).state == "running"
    with pytest.raises(JobConflictError, match=r"needs up to 20\.0 GB, and 30\.0 GB .* other jobs still need 20\.0 GB"):
        start(runner, disk=20)
    assert start(runner, disk=10).state == "running"


def test_a_job_that_can_never_fit_in_memory_is_refused(runner: JobRunner) -> None:
    with pytest.raises(JobConflictError, match=r"it needs about 21\.0 GB, and jobs may use 20\.0 GB"):
        start(runner, memory=21)
    assert runner.all_jobs() == []


def test_jobs_wait_until_there_is_memory_for_them(runner: JobRunner) -> None:
    first, second, third = (start(runner, memory=11) for _ in range(3))
    assert [job.state for job in (first, second, third)] == ["running", "queued", "queued"]
    assert start(runner).state == "queued"  # it does not overtake
    wait = "waiting for memory: it needs about 11.0 GB, and running jobs need 11.0 GB of 20.0 GB"
    assert [job.message for job in (first, second, third)] == ["", wait, ""]
    first.state = "done"
    runner._start_queued()
    assert [job.state for job in (first, second, third)] == ["done", "running", "queued"]


def test_what_a_job_needs_is_remembered(runner: JobRunner, tmp_path: Path) -> None:
    id_ = start(runner, disk=1, memory=2).id
    assert Job.load(tmp_path / "jobs" / id_).needs == Needs(GB, 2 * GB)
