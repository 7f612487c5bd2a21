"""A job: a `lab2048` command that runs in a process of its own, and its folder.

job.json     what the job is and its state, replaced at every change of state
out.jsonl    standard output of the command: one event per line
log.txt      standard error of the command
lock         held by the view that runs the job
process      held by the process of the job, which may outlive its view for a moment
"""

import json
import time
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from lab2048.errors import FileError, reason_of
from lab2048.jobs.command_line import command_line
from lab2048.jobs.needs import Needs
from lab2048.records.atomic_file import replacing
from lab2048.records.input_file import parse_json, read_text
from lab2048.records.process_lock import ProcessLock

QUEUED, RUNNING, ENDING, DONE, FAILED, CANCELLED, INTERRUPTED, DAMAGED = (
    "queued", "running", "ending", "done", "failed", "cancelled", "interrupted", "damaged"
)  # fmt: skip
ACTIVE = (QUEUED, RUNNING, ENDING)
SCHEMA = "lab2048/job-1"
FACTS, EVENTS, LOG, PROCESS = "job.json", "out.jsonl", "log.txt", "process"
MAX_LOG_BYTES = 100_000
MAX_REASON = 300  # letters


class JobData(BaseModel):
    """A job as the API shows it."""

    id: str
    kind: str
    title: str
    command: str
    state: Literal["queued", "running", "ending", "done", "failed", "cancelled", "interrupted", "damaged"]
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


@dataclass
class Job:
    """One job; the fields are what job.json holds."""

    id: str
    kind: str
    title: str
    words: list[str]  # the command line, without `lab2048` and `--jsonl`
    resume_words: list[str]  # the command line that resumes the job; empty if it cannot be resumed
    request: dict[str, Any]  # what the user asked for, as the view understands it
    created: str
    state: str = QUEUED
    progress: float | None = None  # from 0 to 1; None if unknown
    message: str = ""
    started: str | None = None
    ended: str | None = None
    seconds: float = 0.0  # run time before the current start
    pid: int = 0
    result: dict[str, Any] | None = None
    cwd: str = ""  # the folder that relative paths in `words` start from
    store: str = ""  # the store of its games, also if a view with another store resumes it

    def __post_init__(self) -> None:
        self.folder = Path()
        self.started_at = 0.0  # time.monotonic() of the current start
        self.version = 0  # grows with every change, so that a view knows when to draw

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def can_resume(self) -> bool:
        return self.state in (CANCELLED, INTERRUPTED, FAILED) and bool(self.resume_words)

    @property
    def command(self) -> str:
        """Return the command line as a user would type it."""
        return command_line(self.words)

    @property
    def lock(self) -> ProcessLock:
        """Return a new lock on the folder; hold it to run or change the job."""
        return ProcessLock(self.folder / "lock")

    @property
    def needs(self) -> "Needs":
        """Return the disk space and memory that it was admitted with."""
        found = self.request.get("needs")
        numbers = [found.get(name) for name in Needs._fields] if isinstance(found, dict) else []
        return Needs(*(number if isinstance(number, int) else 0 for number in numbers))

    def data(self) -> JobData:
        """Return the job as the API shows it."""
        since_start = time.monotonic() - self.started_at if self.state in (RUNNING, ENDING) else 0.0
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name in JobData.model_fields}
        return JobData(
            **known | {"seconds": round(self.seconds + since_start, 1)},
            command=self.command,
            can_cancel=self.is_active,
            can_resume=self.can_resume,
        )

    def save(self) -> None:
        """Write job.json, atomically."""
        with replacing(self.folder / FACTS, force=True) as file:
            file.write(json.dumps({"schema": SCHEMA, **asdict(self)}))

    @classmethod
    def load(cls, folder: Path) -> "Job":
        """Read a job's folder; raise FileError, which says why, if its job.json cannot be used."""
        try:
            data = parse_json(read_text(folder / FACTS))
            if not isinstance(data, dict) or (schema := data.pop("schema", None)) is None:
                raise FileError(f"{FACTS} is not that of a job")
            if schema != SCHEMA:
                raise FileError(f"{FACTS} has the schema {str(schema)[:40]}: expected {SCHEMA}")
            if unknown := sorted(data.keys() - {each.name for each in fields(cls)}):
                raise FileError(f"{FACTS} has the field {unknown[0][:40]!r}: a newer version has written it")
            for name in ("words", "resume_words"):  # earlier versions kept the option, too
                data[name] = [str(word) for word in data[name] if word != "--jsonl"]
            job = cls(**data)
            job.folder = folder
            job.data()  # checks the types
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{FACTS} cannot be read: {reason_of(error)}") from None
        except ValidationError as error:
            raise FileError(f"{FACTS} is damaged: the field {error.errors()[0]['loc'][0]} is wrong") from None
        except ValueError as error:
            raise FileError(f"{FACTS} is damaged: {error}") from None
        except (TypeError, KeyError):
            raise FileError(f"{FACTS} is damaged: a field is missing or wrong") from None
        return job

    @classmethod
    def damaged(cls, folder: Path, reason: str) -> "Job":
        """Return a stand-in for a job that cannot be read, so that it is listed and can be removed."""
        kind, when = folder.name.rpartition("-")[0], datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        created = when.isoformat(timespec="seconds")
        job = cls(folder.name, kind, folder.name, [], [], {}, created, DAMAGED, message=reason[:MAX_REASON])
        job.folder = folder
        return job

    def log(self, n_lines: int = 200, name: str = LOG) -> list[str]:
        """Return the last lines of standard error, or of another file of the folder, without empty ones."""
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - MAX_LOG_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        lines = [line for line in text.splitlines() if line.strip()][-n_lines:]
        return ["".join(c if c.isprintable() else " " for c in line) for line in lines]
