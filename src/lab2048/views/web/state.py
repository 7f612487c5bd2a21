"""The state of the server, in one object that every route gets."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request

from lab2048.arena.annotation import Annotator
from lab2048.errors import FileError, StoppedError
from lab2048.jobs.job import Job
from lab2048.jobs.progress import KINDS, JobProgress
from lab2048.jobs.runner import JobRunner
from lab2048.records.database import STORE_VARIABLE, data_folder
from lab2048.records.episode import Episode
from lab2048.records.provenance import program
from lab2048.records.store import Store
from lab2048.stop_flag import StopFlag, looking_at
from lab2048.views.web.errors import NotFoundError, NotReadyError
from lab2048.views.web.serialize.schema import StatusData
from lab2048.views.web.services.checkpoints import Checkpoints
from lab2048.views.web.services.event_bus import Bus, News
from lab2048.views.web.services.open_games import OpenGames
from lab2048.views.web.services.player_names import Library
from lab2048.views.web.services.players import Players
from lab2048.views.web.services.reviews import Reviews
from lab2048.views.web.services.trash import Trash

MAX_WAITING = 4
Progress = TypeVar("Progress", bound=JobProgress)


class Lab:
    """The laboratory behind the page."""

    def __init__(self, store: Store, folder: Path | None = None) -> None:
        """Use `folder` for jobs, trainings and tables; the default is the user's data folder."""
        self.store = store
        self.folder = folder or data_folder()
        self.bus = Bus()
        self.library = Library(self.folder)
        self.players = Players(self.tell_status)
        self.annotator = Annotator()
        self.reviews = Reviews(store)
        self.open_games = OpenGames(store, self.library, self.bus, self.players)
        self.jobs = JobRunner(
            self.folder / "jobs",
            on_change=self._on_job_change,
            name_player=self.library.write,
            environment={STORE_VARIABLE: str(store.path.absolute())},
        )
        self.trash = Trash(self.folder / "trash")
        self.open_games.on_failure = self.tell_status
        self._heavy = threading.Lock()
        self._queue = threading.BoundedSemaphore(MAX_WAITING)
        self._flags: set[StopFlag] = set()  # of heavy work
        self._is_ending = False

    @contextlib.contextmanager
    def heavy_work(self, gone: "Future[None]") -> Iterator[None]:
        """Run one estimate or similar work at a time; raise NotReadyError if several are waiting already.

        It is stopped when the client is `gone` and when the server ends.
        """
        if not self._queue.acquire(blocking=False):
            raise NotReadyError("other estimates are running: try again in a moment")
        flag = StopFlag()
        self._flags.add(flag)
        gone.add_done_callback(lambda _: flag.set())
        try:
            with self._heavy, looking_at(flag):
                if self._is_ending:
                    flag.set()
                flag.check()
                yield
        except StoppedError:
            raise NotReadyError("the request was cancelled: ask again") from None
        finally:
            self._flags.discard(flag)
            self._queue.release()

    def add_flag(self, flag: StopFlag) -> StopFlag:
        """Note the flag of work in the background, which is set when the server ends."""
        self._flags.add(flag)
        if self._is_ending:
            flag.set()
        return flag

    def drop_flag(self, flag: StopFlag) -> None:
        self._flags.discard(flag)

    def check_running(self) -> None:
        """Raise NotReadyError if the server is stopping; long requests call it often."""
        if self.bus.is_closed:
            raise NotReadyError("lab2048 is stopping")

    def begin(self) -> None:
        """Load the jobs and start preparing players."""
        self.jobs.load()
        self.players.prepare()

    def stop_work(self) -> None:
        """Stop everything that keeps requests waiting: event streams, searches and estimates."""
        self._is_ending = True
        self.bus.close()
        self.players.close()
        self.reviews.close()
        for flag in list(self._flags):
            flag.set()

    def end(self) -> None:
        """Stop all work, save the games and leave the jobs to save theirs."""
        self.stop_work()
        jobs = threading.Thread(target=self.jobs.close, name="jobs-close")
        jobs.start()
        self.open_games.close()
        jobs.join()
        self.trash.empty()

    @property
    def unsaved(self) -> tuple[list[Episode], str]:
        """Return the games that could not be saved before the end, and why."""
        return self.open_games.unsaved, self.open_games.failure

    def status(self) -> StatusData:
        return StatusData(
            program=program(),
            ready=self.players.preparation.is_ready,
            doing=self.players.preparation.doing,
            cores=os.cpu_count() or 1,
            interrupted=self.jobs.interrupted(),
            store=self.open_games.failure,
            unsaved=self.open_games.n_unsaved,
        )

    def _on_job_change(self, job: Job) -> None:
        """Keep the checkpoints of a training, then tell every tab."""
        self._keep_checkpoints(job)
        self.bus.tell_progress(News("job", job.data().model_dump_json(), f"job {job.id}"))

    def _keep_checkpoints(self, job: Job) -> None:
        """Keep the checkpoints of a deep training; after a training, forget players with its old network."""
        name, method = job.request.get("name"), job.request.get("method", "ntuple")
        if job.kind != "train" or not isinstance(name, str):
            return
        checkpoints = Checkpoints(self.library.trainings, name)
        if method != "ntuple":
            with contextlib.suppress(OSError, FileError):
                checkpoints.keep_last(is_wished=False)
        if not job.is_active:
            self.players.forget(str(checkpoints.last))

    def progress_of(self, id_: str, kind: type[Progress]) -> Progress:
        """Return the progress of a job of this kind; raise NotFoundError if the job is of another kind."""
        progress = self.jobs.progress_of(self.jobs.get(id_))
        if not isinstance(progress, kind):
            noun = next(noun for noun, each in KINDS.items() if each is kind)
            raise NotFoundError(f"{id_[:40]} is not a {noun}: expected an id such as {noun}-1")
        return progress

    def tell_status(self) -> None:
        if hasattr(self, "jobs"):
            self.bus.tell(News("status", self.status().model_dump_json(), "status"))


async def _lab(request: Request) -> Lab:  # a plain function would be called in another thread
    found: Lab = request.app.state.lab
    return found


async def _gone(request: Request) -> AsyncIterator["Future[None]"]:
    gone: Future[None] = Future()

    async def watch() -> None:
        if (await request.receive())["type"] == "http.disconnect":  # the whole body was read before
            gone.set_result(None)

    watching = asyncio.ensure_future(watch())
    try:
        yield gone
    finally:
        watching.cancel()


LabOf = Annotated[Lab, Depends(_lab)]
Gone = Annotated["Future[None]", Depends(_gone)]  # done when the client has closed its connection
TabName = Annotated[str, Header(alias="X-Tab", max_length=40)]
