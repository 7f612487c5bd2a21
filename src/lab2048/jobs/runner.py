"""The job runner: starts jobs, follows them, cancels and resumes them; the page and the TUI each have one.

Several views may share one folder of jobs.  A view locks the folder of each of its active jobs; the others leave a
locked job alone.  An active job that nobody has locked lost its view: it was interrupted and can be resumed.
"""

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from typing import Any

from lab2048.errors import FileError, JobConflictError, UnwritableError, reason_of
from lab2048.jobs.job import (
    CANCELLED,
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
)
from lab2048.jobs.job_list import JobList, number_of
from lab2048.jobs.needs import Needs
from lab2048.jobs.process import JobProcess, is_alive
from lab2048.jobs.progress import KINDS, JobProgress, NamePlayer
from lab2048.records.database import STORE_VARIABLE, default_path
from lab2048.records.disk_space import free_bytes
from lab2048.records.memory import all_memory
from lab2048.records.process_lock import ProcessLock
from lab2048.records.provenance import now

MAX_RUNNING = 3
MAX_QUEUED = 50
MAX_JOBS = 500  # listed; older ones are forgotten
NICENESS = 10  # jobs leave the processor to the person at the view
MEMORY_SHARE = 0.8  # of the machine, for all jobs together
POLL_SECONDS = 0.25
NOTHING = Needs()
CLOSE_SECONDS = 1.0  # that the end of the view waits for its jobs


def _delete(folder: Path) -> str:
    """Delete a folder; of a symbolic link only the link."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


class JobRunner(JobList):
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
        super().__init__(folder, name_player)
        self.on_change = on_change
        self.environment, self.niceness = environment or {}, niceness
        self.memory = int(MEMORY_SHARE * all_memory())  # bytes for all jobs together; 0 = unknown
        self._locks: dict[str, ProcessLock] = {}  # of active jobs
        self._processes: dict[str, JobProcess] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._is_closed = False

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
            try:
                job.save()
            except BaseException:  # the disk is full: leave nothing behind
                self._release(job)
                _delete(folder)
                raise
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
                if job.is_active:  # nobody runs it: its end could not be saved
                    job.state = INTERRUPTED
                self._jobs[id_] = job
                self._progress.pop(id_, None)
                _check_resumable(job)
                self._check_needs(job.needs, n_written=self.progress_of(job).n_written)
                job = copy(job)  # the listed one stays as it is if this one cannot be saved
                job.words, job.state, job.ended, job.message = job.resume_words, QUEUED, None, ""
                job.save()
                if KINDS[job.kind].tells_all_again:
                    (job.folder / EVENTS).unlink(missing_ok=True)  # else it would grow by all games each time
                self._jobs[id_] = job
                self._progress.pop(id_, None)
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
                with contextlib.suppress(FileError):
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

    def forget(self, id_: str, discard: Callable[[Path], str] = _delete) -> str:
        """Remove a job from the list and `discard` its folder, by default delete it; keep what the job made.

        Returns what `discard` returns.
        """
        with self.lock:
            job = self.get(id_)
            if job.is_active:
                raise JobConflictError(f"job {id_} is {job.state}: cancel it first")
            self._acquire(job)
            return self._remove(job, discard)

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
            number = max((number_of(path.name) for path in self.folder.glob(f"{kind}-*")), default=0) + 1
            while True:
                folder = self.folder / f"{kind}-{number}"
                with contextlib.suppress(FileExistsError):
                    folder.mkdir()
                    return folder
                number += 1
        except OSError as error:
            raise UnwritableError(f"{self.folder} cannot be written: {reason_of(error)}") from None

    def _check_needs(self, needs: Needs, *, n_written: int = 0) -> None:
        active = [job for job in self._jobs.values() if job.is_active]
        promised = sum(max(0, job.needs.disk - self.progress_of(job).n_written) for job in active)
        needs.check(n_written=n_written, free=free_bytes(self.folder), promised=promised, memory=self.memory)

    def _start_queued(self) -> None:
        running = [job for job in self._jobs.values() if job.state in (RUNNING, ENDING)]
        for job in list(self._jobs.values()):
            if self._is_closed or len(running) >= MAX_RUNNING:
                return
            if job.state == QUEUED:
                used = sum(other.needs.memory for other in running)
                if running and job.needs.memory + used > self.memory > 0:
                    job.message = job.needs.why_it_waits(used, self.memory)
                    return  # it waits for the others, and those behind it for their turn
                self._launch(job)
                running.append(job)

    def _launch(self, job: Job) -> None:
        progress = self.progress_of(job)
        job.state, job.started, job.started_at = RUNNING, job.started or now(), time.monotonic()
        job.message = ""  # why it waited
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
            with contextlib.suppress(FileError):
                job.save()
            self._release(job)
            return
        job.pid = process.pid
        with contextlib.suppress(FileError):  # it runs all the same
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
                self._remove(job, _delete)

    def _remove(self, job: Job, discard: Callable[[Path], str]) -> str:
        del self._jobs[job.id]
        self._progress.pop(job.id, None)
        self._release(job)
        return discard(job.folder)


def _check_resumable(job: Job) -> None:
    if not job.can_resume:
        raise JobConflictError(f"job {job.id} is {job.state} and cannot be resumed: expected an interrupted job")
