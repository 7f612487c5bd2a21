"""`/api/jobs`: jobs of every kind."""

from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from lab2048.extras import has_extra
from lab2048.jobs.job import JobData
from lab2048.views.web.serialize.schema import ERRORS, GoneData
from lab2048.views.web.state import Lab, LabOf

router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=ERRORS)
JobId = Annotated[str, Path(alias="job", max_length=40, examples=["match-1"])]


class JobList(BaseModel):
    """The jobs, newest first."""

    jobs: list[JobData]


class JobOptions(BaseModel):
    """What a form that starts a job can offer."""

    has_cluster: bool


class LogData(BaseModel):
    """The last lines of a job's output."""

    lines: list[str]


def job_list(lab: Lab, kind: str | None = None) -> JobList:
    return JobList(jobs=[job.data() for job in lab.jobs.all_jobs(kind)])


@router.get("")
def list_jobs(lab: LabOf, kind: Annotated[str | None, Query(max_length=20)] = None) -> JobList:
    """List the jobs, newest first."""
    return job_list(lab, kind)


@router.get("/options")
def options() -> JobOptions:
    """Tell whether jobs can run on a Ray cluster: its package is installed."""
    return JobOptions(has_cluster=has_extra("cluster"))


@router.get("/{job}")
def show(lab: LabOf, id_: JobId) -> JobData:
    """Show a job."""
    return lab.jobs.get(id_).data()


@router.get("/{job}/log")
def log(lab: LabOf, id_: JobId) -> LogData:
    """Show the log of a job."""
    job = lab.jobs.get(id_)
    told = [line for line in job.log(name="out.jsonl") if not line.startswith("{")]  # without events
    return LogData(lines=[*job.log(), *told])


@router.post("/{job}/cancel")
def cancel(lab: LabOf, id_: JobId) -> JobData:
    """Cancel a job; it saves its work, and most jobs can be resumed."""
    return lab.jobs.cancel(id_).data()


@router.post("/{job}/resume")
def resume(lab: LabOf, id_: JobId) -> JobData:
    """Resume a job."""
    job = lab.jobs.resume(id_)
    lab.tell_status()
    return job.data()


@router.delete("/{job}")
def forget(lab: LabOf, id_: JobId) -> GoneData:
    """Remove a job from the list; keep its games, network or table."""
    undo = lab.jobs.forget(id_, lambda folder: lab.trash.put(id_, [folder], lambda: _bring_back(lab, folder)))
    lab.tell_status()
    return GoneData(deleted=id_, undo=undo)


def _bring_back(lab: Lab, folder: File) -> None:
    lab.jobs.bring_back(folder)
    lab.tell_status()
