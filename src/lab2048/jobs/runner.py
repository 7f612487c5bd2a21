"""The job service: starts commands in processes of their own, follows them, and remembers them.

A job is the command line that the page shows, on a leash (lab2048.cli.parent_watch): when the server ends, however it
ends, the job ends as by Ctrl-C and keeps what it has.  The next server finds it and calls it interrupted.
"""

import contextlib
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, JobConflictError, JobNotFoundError
from lab2048.jobs import process as child
from lab2048.jobs.job import (
    ACTIVE,
    CANCELLED,
    DONE,
    ENDING,
    FAILED,
    INTERRUPTED,
    QUEUED,
    RUNNING,
    Follower,
    Job,
)
from lab2048.records.provenance import now

MAX_RUNNING = 3
MAX_JOBS = 500  # that are remembered
MAX_QUEUED = 50
MAX_READ = 10  # jobs that are done and held in memory
NICENESS = 10  # jobs step back: a person at the page goes first
PAUSE = 0.25  # seconds between two looks at a job
LAST_WAIT = 20.0  # seconds that jobs get to keep what they have when the server ends

Follow = Callable[[Job], Follower]


class Foreman:
    """Runs jobs; any thread may ask."""

    def __init__(
        self, folder: Path, tell: Callable[[Job], None], kinds: Mapping[str, Follow], environment: Mapping[str, str]
    ) -> None:
        """`folder` holds a folder for each job; `tell` hears of every change; `kinds` make the followers.

        Commands see `environment`, too.
        """
        self.folder, self.tell, self.kinds, self.environment = folder, tell, kinds, environment
        self.niceness = NICENESS
        self._jobs: dict[str, Job] = {}
        self.lock = threading.RLock()  # also of what followers have read
        self._read: list[str] = []  # jobs whose followers are in memory, those asked for last at the end
        self._has_begun = self._is_closed = False
        self._on_news: list[Callable[[Job], None]] = []

    def begin(self) -> None:
        """Read the jobs of earlier servers, once; those that were not done were interrupted."""
        if self._has_begun:
            return
        self._has_begun = True
        found = []
        for folder in self.folder.iterdir() if self.folder.is_dir() else ():
            with contextlib.suppress(FileError):
                found.append(Job.load(folder))
        with self.lock:
            for job in sorted(found, key=lambda job: (job.created, _number(job.id))):
                self._jobs[job.id] = job
                if job.state in ACTIVE:
                    self.follower(job)
                    job.state, job.ended = INTERRUPTED, job.ended or now()
                    job.result = job.follower.result() if job.follower else None
                    with contextlib.suppress(FileError):
                        job.save()

    def on_news(self, call: Callable[[Job], None]) -> None:
        """Call this with every job that has come on, or has ended."""
        self._on_news.append(call)

    def all_jobs(self, kind: str | None = None) -> list[Job]:
        """The jobs, newest first."""
        with self.lock:
            return [job for job in reversed(self._jobs.values()) if kind is None or job.kind == kind]

    def interrupted(self) -> list[str]:
        """The jobs that ended with their server, newest first."""
        return [job.id for job in self.all_jobs() if job.state == INTERRUPTED]

    def get(self, id_: str) -> Job:
        """A job."""
        with self.lock:
            if id_ not in self._jobs:
                raise JobNotFoundError(f"there is no job {id_[:40]!r}: /api/jobs lists those there are")
            return self._jobs[id_]

    def follower(self, job: Job) -> Follower:
        """Who follows a job, having read all that it said."""
        with self.lock:
            if job.follower is None:
                job.follower = self.kinds[job.kind](job)
                job.n_read = 0
                state = job.progress, job.message
                job.catch_up()
                if not job.is_active and job.state != INTERRUPTED:
                    job.progress, job.message = state  # what was said in the end
            self._remember(job)
            return job.follower

    def _remember(self, job: Job) -> None:
        """Let go of what was read of the jobs that nobody has asked for lately; it can be read again."""
        if job.id in self._read:
            self._read.remove(job.id)
        self._read.append(job.id)
        for id_ in self._read[:-MAX_READ]:
            old = self._jobs.get(id_)
            if old is None or not old.is_active:
                self._read.remove(id_)
                if old:
                    old.follower = None

    def start(
        self, kind: str, title: str, words: list[str], *, request: dict[str, Any], resume_words: list[str]
    ) -> Job:
        """Start a job, or let it wait for its turn."""
        with self.lock:
            if sum(job.state == QUEUED for job in self._jobs.values()) >= MAX_QUEUED:
                raise JobConflictError(f"{MAX_QUEUED} jobs are waiting already: cancel some first")
            number = max((_number(id_) for id_ in self._jobs if id_.startswith(f"{kind}-")), default=0) + 1
            job = Job(f"{kind}-{number}", kind, title, words, resume_words, request, now())
            job.folder = self.folder / job.id
            shutil.rmtree(job.folder, ignore_errors=True)  # of a job that is forgotten
            job.save()
            self._jobs[job.id] = job
            self._forget_oldest()
            self._pump()
        self.tell(job)
        return job

    def resume(self, id_: str) -> Job:
        """Go on with a job that was cut short."""
        job = self.get(id_)
        with self.lock:
            if not job.data().can_resume:
                raise JobConflictError(f"job {id_} is {job.state} and cannot go on: expected one that was cut short")
            if job.process is None and child.is_alive(job.pid):
                raise JobConflictError(f"job {id_} is still keeping what it has: try again in a moment")
            job.words, job.state, job.ended, job.message = job.resume_words, QUEUED, None, ""
            job.save()
            self._pump()
        self.tell(job)
        return job

    def cancel(self, id_: str) -> Job:
        """End a job as Ctrl-C would; a second time does not wait for what it wants to keep."""
        job = self.get(id_)
        with self.lock:
            if job.state == QUEUED:
                job.state, job.ended = CANCELLED, now()
                job.save()
            elif job.state == RUNNING:
                job.state = ENDING
                child.let_go(job.process)
            elif job.state == ENDING and job.process:
                job.process.kill()
            else:
                raise JobConflictError(f"job {id_} is {job.state}: expected one that runs")
        self.tell(job)
        return job

    def forget(self, id_: str) -> None:
        """Remove a job from the list; what it made stays."""
        job = self.get(id_)
        with self.lock:
            if job.is_active:
                raise JobConflictError(f"job {id_} is {job.state}: cancel it first")
            del self._jobs[id_]
            shutil.rmtree(job.folder, ignore_errors=True)

    def close(self) -> None:
        """Let every job end and keep what it has; they can go on with the next server."""
        with self.lock:
            self._is_closed = True
            running = [job for job in self._jobs.values() if job.process]
            for job in running:
                child.let_go(job.process)
        deadline = time.monotonic() + LAST_WAIT
        for job in running:
            if job.process:
                child.end(job.process, max(0.1, deadline - time.monotonic()))
        with self.lock:
            for job in self._jobs.values():
                if job.is_active:
                    job.state, job.ended = INTERRUPTED, now()
                    with contextlib.suppress(FileError):
                        job.save()

    def _pump(self) -> None:
        """Start those who wait, as many as may run."""
        if self._is_closed:
            return
        n_running = sum(job.state in (RUNNING, ENDING) for job in self._jobs.values())
        for job in list(self._jobs.values()):
            if n_running >= MAX_RUNNING:
                return
            if job.state == QUEUED:
                self._launch(job)
                n_running += 1

    def _launch(self, job: Job) -> None:
        self.follower(job)
        job.state, job.started, job.begun_at = RUNNING, job.started or now(), time.monotonic()
        try:
            job.process = child.launch(job.folder, job.words, self.environment, self.niceness)
        except OSError as error:
            job.state, job.message, job.ended = FAILED, f"cannot be started: {error.strerror}", now()
            job.save()
            return
        job.pid = job.process.pid
        job.save()
        threading.Thread(target=self._follow, args=(job, job.process), name=job.id, daemon=True).start()

    def _follow(self, job: Job, process: "subprocess.Popen[bytes]") -> None:
        """Tell how a job comes on, until it ends."""
        while (code := child.wait(process, PAUSE)) is None:
            with self.lock:
                is_news = job.catch_up()
            if is_news:
                self._call(job)
                self.tell(job)
        with self.lock:
            job.catch_up()
            job.process = None
            child.let_go(process)
            job.seconds += time.monotonic() - job.begun_at
            job.ended = now()
            job.result = job.follower.result() if job.follower else None
            was_ending = job.state == ENDING
            if code == 0:
                job.state = DONE
                job.progress = 1.0
            elif self._is_closed and not was_ending:
                job.state = INTERRUPTED
            elif was_ending:
                job.state = CANCELLED
            else:
                lines = job.log(5)
                job.state = FAILED
                job.message = lines[-1].removeprefix("lab2048: ") if lines else f"ended with code {code}"
            with contextlib.suppress(FileError):
                job.save()
            self._call(job)  # before anyone can see that it has ended
            self._pump()
        self.tell(job)

    def _call(self, job: Job) -> None:
        for call in self._on_news:
            call(job)

    def _forget_oldest(self) -> None:
        for id_ in [job.id for job in self._jobs.values() if not job.is_active][: max(0, len(self._jobs) - MAX_JOBS)]:
            shutil.rmtree(self._jobs.pop(id_).folder, ignore_errors=True)


def _number(id_: str) -> int:
    found = re.search(r"-([0-9]{1,9})$", id_)
    return int(found[1]) if found else 0
