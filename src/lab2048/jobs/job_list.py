"""The list of jobs in a folder, with those of earlier views."""

import contextlib
import re
import threading
from pathlib import Path

from lab2048.errors import FileError, JobConflictError, JobNotFoundError
from lab2048.jobs.job import DAMAGED, INTERRUPTED, Job
from lab2048.jobs.progress import KINDS, JobProgress, NamePlayer
from lab2048.records.provenance import now

MAX_IN_MEMORY = 10  # ended jobs whose events are kept in memory
ID = r"[A-Za-z0-9_]{1,30}-[0-9]{1,9}"


class JobList:
    """The jobs of a folder; any thread may call it."""

    def __init__(self, folder: Path, name_player: NamePlayer = str) -> None:
        """Prepare to list the jobs in subfolders of `folder`."""
        self.folder, self.name_player = folder, name_player
        self.lock = threading.RLock()  # hold it while you read the details of a JobProgress
        self._jobs: dict[str, Job] = {}
        self._progress: dict[str, JobProgress] = {}  # those used last at the end
        self._is_loaded = False

    def load(self) -> None:
        """Read the jobs of earlier views, once; active ones that no view runs any more were interrupted.

        A job that cannot be read is listed as damaged, with the reason as its message; `forget` removes it.
        """
        with self.lock:
            if self._is_loaded:
                return
            self._is_loaded = True
            found = []
            for folder in self.folder.iterdir() if self.folder.is_dir() else ():
                if not folder.is_dir() or not re.fullmatch(ID, folder.name):
                    continue
                try:
                    job = self._load(folder)
                except FileError as error:
                    job = Job.damaged(folder, str(error))
                if job is not None:
                    found.append(job)
            self._jobs = {job.id: job for job in sorted(found, key=_age)}

    def _load(self, folder: Path) -> Job | None:
        """Read a job and mark it as interrupted if it was active; return None if another view runs it."""
        job = Job.load(folder)
        if job.id != folder.name:
            raise FileError(f"job.json is that of {job.id[:40]!r}")
        if job.kind not in KINDS:
            raise FileError(f"unknown kind of job {job.kind[:40]!r}: a newer version may know it")
        try:
            KINDS[job.kind](job, str)
        except (TypeError, ValueError) as error:
            raise FileError(f"job.json is damaged: its request is wrong: {error}") from None
        if not job.is_active:
            return job
        lock = job.lock
        if not lock.try_acquire():
            return None
        with lock:
            job = Job.load(folder)  # it may have ended meanwhile
            if job.is_active:
                progress = self.progress_of(job)
                job.state, job.ended, job.result = INTERRUPTED, job.ended or now(), progress.result()
                with contextlib.suppress(FileError):
                    job.save()
        return job

    def bring_back(self, folder: Path) -> None:
        """List a job again whose folder was set aside and is back in its place."""
        try:
            job = self._load(folder)
        except FileError as error:
            job = Job.damaged(folder, str(error))
        with self.lock:
            if job is not None:
                found = [*self._jobs.values(), job]
                self._jobs = {each.id: each for each in sorted(found, key=_age)}

    def all_jobs(self, kind: str | None = None) -> list[Job]:
        """List the jobs, newest first."""
        with self.lock:
            return [job for job in reversed(self._jobs.values()) if kind is None or job.kind == kind]

    def interrupted(self) -> list[str]:
        """List the ids of jobs that lost their view, newest first."""
        return [job.id for job in self.all_jobs() if job.state == INTERRUPTED]

    def get(self, id_: str) -> Job:
        """Return a job; raise JobNotFoundError if it is not listed."""
        with self.lock:
            if id_ not in self._jobs:
                raise JobNotFoundError(f"there is no job {id_[:40]!r}: expected the id of a listed job")
            return self._jobs[id_]

    def find(self, kind: str, name: str) -> Job | None:
        """Return the job that was requested under a name: the active one, or else the newest."""
        found = [job for job in self.all_jobs(kind) if job.request.get("name") == name]
        return next((job for job in found if job.is_active), found[0] if found else None)

    def progress_of(self, job: Job) -> JobProgress:
        """Return the progress of a job, up to date with its files; raise JobConflictError if it is damaged."""
        if job.state == DAMAGED:
            raise JobConflictError(f"job {job.id} is damaged: {job.message}; remove it from the list")
        with self.lock:
            progress = self._progress.pop(job.id, None)
            if progress is None:
                progress = KINDS[job.kind](job, self.name_player)
                progress.catch_up()
            self._progress[job.id] = progress
            for id_ in list(self._progress)[:-MAX_IN_MEMORY]:
                if id_ not in self._jobs or not self._jobs[id_].is_active:
                    del self._progress[id_]  # it can be read again
            return progress


def _age(job: Job) -> tuple[str, int]:
    return job.created, number_of(job.id)


def number_of(id_: str) -> int:
    """Return the number in the id of a job."""
    found = re.search(r"-([0-9]{1,9})$", id_)
    return int(found[1]) if found else 0
