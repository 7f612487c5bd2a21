"""A job: long work in a process of its own, and its folder.

job.json     what it is and how it stands, written whole at every change of state
out.jsonl    what the command said on standard output: an event a line
log.txt      what it said on standard error
"""

import json
import shlex
import subprocess
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from lab2048.errors import FileError
from lab2048.records.atomic_file import replacing

QUEUED, RUNNING, ENDING, DONE, FAILED, CANCELLED, INTERRUPTED = (
    "queued", "running", "ending", "done", "failed", "cancelled", "interrupted"
)  # fmt: skip
ACTIVE = (QUEUED, RUNNING, ENDING)
SCHEMA = "lab2048/job-1"
FACTS = "job.json"


class JobData(BaseModel):
    """Long work, and how far it has come."""

    id: str
    kind: str
    title: str
    command: str
    state: Literal["queued", "running", "ending", "done", "failed", "cancelled", "interrupted"]
    progress: float | None
    message: str
    created: str
    started: str | None
    ended: str | None
    seconds: float
    can_cancel: bool
    can_resume: bool
    request: dict[str, Any]
    result: dict[str, Any] | None


class Follower:
    """Makes sense of the events of a job; each kind has its own."""

    progress: float | None = None
    message: str = ""
    reads_log: ClassVar[bool] = False  # True if the last line of the log says how far it has come

    def read(self, event: dict[str, Any]) -> None:
        """Take notice of an event."""

    def result(self) -> dict[str, Any] | None:
        """What has come out so far, in short."""
        return None


@dataclass
class Job:
    """One job; `words` is its command line without the name of the program."""

    id: str
    kind: str
    title: str
    words: list[str]
    resume_words: list[str]  # to go on with it; empty if it cannot
    request: dict[str, Any]
    created: str
    state: str = QUEUED
    progress: float | None = None
    message: str = ""
    started: str | None = None
    ended: str | None = None
    seconds: float = 0.0  # of all sessions
    pid: int = 0
    result: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Nothing runs yet."""
        self.folder = Path()
        self.process: subprocess.Popen[bytes] | None = None
        self.follower: Follower | None = None
        self.n_read = 0  # bytes of out.jsonl
        self.begun_at = 0.0
        self.told_at = 0.0
        self.is_untold = False

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    def data(self) -> JobData:
        """As the page sees it."""
        so_far = time.monotonic() - self.begun_at if self.state in (RUNNING, ENDING) else 0.0
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name in JobData.model_fields}
        return JobData(
            **known | {"seconds": round(self.seconds + so_far, 1)},
            command=shlex.join(["lab2048", *(word for word in self.words if word != "--jsonl")]),
            can_cancel=self.is_active,
            can_resume=self.state in (CANCELLED, INTERRUPTED, FAILED) and bool(self.resume_words),
        )

    def save(self) -> None:
        """Write its facts, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / FACTS, force=True) as file:
            file.write(json.dumps({"schema": SCHEMA, **asdict(self)}))

    @classmethod
    def load(cls, folder: Path) -> "Job":
        """Read a folder; raise FileError if it holds no job."""
        try:
            data = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            if data.pop("schema") != SCHEMA:
                raise ValueError("another schema")
            job = cls(**data)
            job.folder = folder
            job.data()  # types are checked there
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileError(f"{folder} holds no job: {error}") from None
        return job

    def catch_up(self) -> bool:
        """Read the events that came since the last time; True if there were any."""
        assert self.follower is not None
        try:
            with (self.folder / "out.jsonl").open("rb") as file:
                file.seek(self.n_read)
                text = file.read()
        except OSError:
            return False
        end = text.rfind(b"\n") + 1  # the rest of the last line is still to come
        for one in text[:end].splitlines():
            try:
                event = json.loads(one)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("event"), str):
                self.follower.read(event)
        self.n_read += end
        if end:
            self.progress, self.message = self.follower.progress, self.follower.message
        if self.follower.reads_log and (lines := self.log(1)) and lines[-1] != self.message:
            self.message = lines[-1]
            return True
        return end > 0

    def log(self, n_lines: int = 200, name: str = "log.txt") -> list[str]:
        """The last lines that it said."""
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - 100_000))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        return ["".join(c if c.isprintable() else " " for c in each) for each in text.splitlines()[-n_lines:]]
