"""The job runner: starts jobs, follows them, cancels, resumes and lists them; the page and the TUI each have one.

Several views may share one folder of jobs.  A view locks the folder of each of its active jobs; the others leave a
locked job alone.  An active job that nobody has locked lost its view: it was interrupted and can be resumed.
"""

import contextlib
import re
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, JobConflictError, JobNotFoundError, reason_of
from lab2048.jobs.job import (
    CANCELLED,
    DAMAGED,
    DONE,
    ENDING,
    EVENTS,
    FAILED,
    INTERRUPTED,
    LOG,
    PROCESS,
    QUEUED,
    RUNNING,
    Job,
    Needs,
)
from lab2048.jobs.process import JobProcess, is_alive
from lab2048.jobs.progress import KINDS, JobProgress, NamePlayer
from lab2048.records.database import STORE_VARIABLE, default_path
from lab2048.records.disk_space import free_bytes, rough_size
from lab2048.records.memory import all_memory
from lab2048.records.process_lock import ProcessLock
from lab2048.records.provenance import now

MAX_RUNNING = 3
MAX_QUEUED = 50
MAX_JOBS = 500  # listed; older ones are forgotten
MAX_IN_MEMORY = 10  # ended jobs whose events are kept in memory
ID = r"[A-Za-z0-9_]{1,30}-[0-9]{1,9}"
NICENESS = 10  # jobs leave the processor to the person at the view
MEMORY_SHARE = 0.8  # of the machine, for all jobs together
POLL_SECONDS = 0.25
NOTHING = Needs()
CLOSE_SECONDS = 1.0  # that the end of the view waits for its jobs


class JobRunner:
    """Runs the jobs of one view; any thread may call it."""

    def __init__(
        self,
        folder: Path,
        *,
        on_change: Callable[[Job], None] = lambda _: None,
        name_player: NamePlayer = str,
        environment: Mapping[str, str] | None = None,
        niceness: int = NICENESS,
    ) -> None:
        """Prepare to run jobs in subfolders of `folder`; `on_change` is called from any thread after every change.

        When a job has ended, `on_change` is called before any other thread can see that.
        """
        self.folder, self.on_change, self.name_player = folder, on_change, name_player
        self.environment, self.niceness = environment or {}, niceness
        self.memory = int(MEMORY_SHARE * all_memory())  # bytes for all jobs together; 0 = unknown
        self.lock = threading.RLock()  # hold it while you read the details of a JobProgress
        self._jobs: dict[str, Job] = {}
        self._progress: dict[str, JobProgress] = {}  # those used last at the end
        self._locks: dict[str, ProcessLock] = {}  # of active jobs
        self._processes: dict[str, JobProcess] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._is_loaded = self._is_closed = False

    # --- list

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
            self._jobs = {job.id: job for job in sorted(found, key=lambda job: (job.created, _number(job.id)))}

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

    # --- start and stop

    def start(
        self,
        kind: str,
        title: str,
        words: list[str],
        *,
        request: dict[str, Any],
        resume_words: list[str],
        needs: Needs = NOTHING,
    ) -> Job:
        """Start a job, or queue it until fewer jobs run and there is enough memory for it.

        Raises JobConflictError if too many jobs are waiting, or if this machine has too little disk space or memory.
        """
        self.load()
        with self.lock:
            if sum(job.state == QUEUED for job in self._jobs.values()) >= MAX_QUEUED:
                raise JobConflictError(f"{MAX_QUEUED} jobs are waiting already: cancel some first")
            self._check_needs(needs)
            if needs != NOTHING:
                request = request | {"needs": needs._asdict()}
            folder = self._new_folder(kind)
            store = self.environment.get(STORE_VARIABLE) or str(default_path().absolute())
            cwd = str(Path.cwd())
            job = Job(folder.name, kind, title, words, resume_words, request, now(), cwd=cwd, store=store)
            job.folder = folder
            self._acquire(job)
            job.save()
            self._jobs[job.id] = job
            self._forget_oldest()
            self._start_queued()
        self._changed(job)
        return job

    def resume(self, id_: str) -> Job:
        """Resume a job that was cancelled or interrupted, or that failed."""
        with self.lock:
            job = self.get(id_)
            _check_resumable(job)
            self._acquire(job)
            try:
                if is_alive(job.folder / PROCESS):
                    raise JobConflictError(f"job {id_} is still saving its work: try again in a moment")
                job = Job.load(job.folder)  # another view may have resumed it meanwhile
                self._jobs[id_] = job
                self._progress.pop(id_, None)
                _check_resumable(job)
                self._check_needs(job.needs, n_written=self.progress_of(job).n_written)
                if KINDS[job.kind].tells_all_again:
                    (job.folder / EVENTS).unlink(missing_ok=True)  # else it would grow by all games each time
                job.words, job.state, job.ended, job.message = job.resume_words, QUEUED, None, ""
                job.save()
            except BaseException:
                self._release(job)
                raise
            self._start_queued()
        self._changed(job)
        return job

    def cancel(self, id_: str) -> Job:
        """End a job as Ctrl-C would; called again, kill it."""
        job = self.get(id_)
        with self.lock:
            if job.state == QUEUED:
                job.state, job.ended = CANCELLED, now()
                job.save()
                self._release(job)
            elif job.state == RUNNING:
                job.state = ENDING
                self._processes[id_].stop()
            elif job.state == ENDING:
                self._processes[id_].kill()
            else:
                raise JobConflictError(f"job {id_} is {job.state}: expected a running job")
        self._changed(job)
        return job

    def forget(self, id_: str) -> None:
        """Remove a job from the list; keep what it made."""
        with self.lock:
            job = self.get(id_)
            if job.is_active:
                raise JobConflictError(f"job {id_} is {job.state}: cancel it first")
            self._acquire(job)
            self._remove(job)

    def join(self) -> None:
        """Wait until the processes that run now have ended."""
        for thread in list(self._threads.values()):
            thread.join()

    def close(self) -> None:
        """End all jobs, so that they save their work; a later view can resume them.

        A job that takes longer ends by itself after the view, and cannot be resumed before.
        """
        with self.lock:
            self._is_closed = True
            threads = list(self._threads.values())
            for process in self._processes.values():
                process.stop()
        deadline = time.monotonic() + CLOSE_SECONDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        with self.lock:
            for job in self._jobs.values():
                if job.is_active:
                    job.state, job.ended = INTERRUPTED, now()
                    with contextlib.suppress(FileError):
                        job.save()
                    self._release(job)

    # --- inside

    def _changed(self, job: Job) -> None:
        job.version += 1
        self.on_change(job)

    def _acquire(self, job: Job) -> None:
        lock = job.lock
        if not lock.try_acquire():
            raise JobConflictError(f"job {job.id} is running in another lab2048 program: stop it there first")
        self._locks[job.id] = lock

    def _release(self, job: Job) -> None:
        self._locks.pop(job.id).release()

    def _new_folder(self, kind: str) -> Path:
        """Make a folder with the next free number; two views never get the same one."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            number = max((_number(path.name) for path in self.folder.glob(f"{kind}-*")), default=0) + 1
            while True:
                folder = self.folder / f"{kind}-{number}"
                with contextlib.suppress(FileExistsError):
                    folder.mkdir()
                    return folder
                number += 1
        except OSError as error:
            raise FileError(f"{self.folder} cannot be written: {reason_of(error)}") from None

    def _check_needs(self, needs: Needs, *, n_written: int = 0) -> None:
        """Raise JobConflictError if a job needs more disk space or memory than there is beside the other jobs."""
        active = [job for job in self._jobs.values() if job.is_active]
        promised = sum(max(0, job.needs.disk - self.progress_of(job).n_written) for job in active)
        free, left = free_bytes(self.folder), needs.disk - n_written
        if left > 0 and left + promised > free:
            beside = f", and other jobs still need {rough_size(promised)}" if promised else ""
            room = rough_size(max(0, free))
            raise JobConflictError(
                f"not enough disk space: it needs up to {rough_size(left)}, and {room} are free{beside}"
            )
        if needs.memory > self.memory > 0:
            raise JobConflictError(
                f"not enough memory: it needs about {rough_size(needs.memory)}, and jobs may use "
                f"{rough_size(self.memory)} on this machine"
            )

    def _start_queued(self) -> None:
        running = [job for job in self._jobs.values() if job.state in (RUNNING, ENDING)]
        for job in list(self._jobs.values()):
            if self._is_closed or len(running) >= MAX_RUNNING:
                return
            if job.state == QUEUED:
                memory = job.needs.memory + sum(other.needs.memory for other in running)
                if running and memory > self.memory > 0:
                    return  # it waits for the others, and those behind it for their turn
                self._launch(job)
                running.append(job)

    def _launch(self, job: Job) -> None:
        progress = self.progress_of(job)
        job.state, job.started, job.started_at = RUNNING, job.started or now(), time.monotonic()
        try:
            process = JobProcess(
                [*job.words, *progress.options],
                job.folder / EVENTS,
                job.folder / LOG,
                job.folder / PROCESS,
                cwd=job.cwd,
                environment={**self.environment, **({STORE_VARIABLE: job.store} if job.store else {})},
                niceness=self.niceness,
            )
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            job.state, job.message, job.ended = FAILED, f"cannot be started: {where}{reason_of(error)}", now()
            job.save()
            self._release(job)
            return
        job.pid = process.pid
        job.save()
        thread = threading.Thread(target=self._follow, args=(job, process, progress), name=job.id, daemon=True)
        self._processes[job.id], self._threads[job.id] = process, thread
        thread.start()

    def _follow(self, job: Job, process: JobProcess, progress: JobProgress) -> None:
        """Report changes of a job until it has ended."""
        while (code := process.wait(POLL_SECONDS)) is None:
            with self.lock:
                is_news = progress.catch_up()
            if is_news:
                self._changed(job)
        with self.lock:
            if job.id not in self._locks:  # the view has ended without waiting for it
                return
            progress.catch_up()
            process.stop()
            job.seconds += time.monotonic() - job.started_at
            job.ended, job.result = now(), progress.result()
            if code == 0:
                job.state, job.progress = DONE, 1.0
            elif job.state == ENDING:
                job.state = CANCELLED
            elif self._is_closed:
                job.state = INTERRUPTED
            else:
                lines = job.log(1)
                job.state = FAILED
                job.message = lines[-1].removeprefix("lab2048: ") if lines else f"ended with code {code}"
            with contextlib.suppress(FileError):
                job.save()
            del self._processes[job.id], self._threads[job.id]
            self._release(job)
            self._changed(job)
            self._start_queued()

    def _forget_oldest(self) -> None:
        ended = [job for job in self._jobs.values() if not job.is_active]
        for job in ended[: max(0, len(self._jobs) - MAX_JOBS)]:
            with contextlib.suppress(JobConflictError):
                self._acquire(job)
                self._remove(job)

    def _remove(self, job: Job) -> None:
        del self._jobs[job.id]
        self._progress.pop(job.id, None)
        self._release(job)
        shutil.rmtree(job.folder, ignore_errors=True)


def _check_resumable(job: Job) -> None:
    if not job.can_resume:
        raise JobConflictError(f"job {job.id} is {job.state} and cannot be resumed: expected an interrupted job")


def _number(id_: str) -> int:
    found = re.search(r"-([0-9]{1,9})$", id_)
    return int(found[1]) if found else 0
