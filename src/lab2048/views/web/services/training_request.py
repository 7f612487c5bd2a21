"""Requests for trainings: their command, and how much it will write."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field

from lab2048.errors import FileError, UsageError
from lab2048.jobs.command_line import exact, rules_options
from lab2048.jobs.needs import Needs
from lab2048.learning.config import Option
from lab2048.learning.registry import Method, find_method
from lab2048.models import SHIPPED
from lab2048.records.disk_space import free_bytes
from lab2048.views.disk_space import need_room
from lab2048.views.number import number, size
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.schema import NAME, JobBody, RulesBody
from lab2048.views.web.services.checkpoints import Checkpoints, n_kept
from lab2048.views.web.services.networks import TrainingData, read_training
from lab2048.views.web.services.player_names import Library
from lab2048.views.web.state import Lab

LARGE = 200_000_000  # larger files are not written every minute
MANY = 100_000_000  # of a file that a short training fills only in part
PROGRAM, DEEP_PROGRAM = 320_000_000, 400_000_000  # memory of the program itself, and of PyTorch
MAX_MINUTES = 60 * 24 * 7


class TrainingBody(JobBody):
    """What to train, how long and with which options."""

    name: str = Field(pattern=NAME)
    method: str = Field(default="ntuple", max_length=20)
    network: str | None = Field(default=None, max_length=300, description="Patterns of an n-tuple network.")
    minutes: float = Field(
        default=10, gt=0, le=MAX_MINUTES, description="Minutes to train now, on top of earlier sessions."
    )
    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    options: dict[str, str | float | bool] = Field(default_factory=dict, max_length=40)
    resume: bool = Field(default=False, description="Continue the training of this name.")


@dataclass(frozen=True)
class PlannedTraining:
    """A training that could start."""

    files: Checkpoints
    words: list[str]
    method: Method
    network: str  # its patterns or architecture
    minutes: float  # to train now
    total: float  # minutes of all sessions together
    every: float  # minutes between two checkpoints
    n_bytes: tuple[int, int]  # of its file, at the start and at the end; the most, if it stores only visited weights

    @property
    def free(self) -> int:
        """Free bytes on its disk."""
        return free_bytes(self.files.last)

    @property
    def needs(self) -> Needs:
        """Disk space and memory: what a checkpoint holds at the end is in memory before."""
        last, path = self.n_bytes[1], self.files.last
        there = path.stat().st_size if path.exists() else 0
        return Needs(2 * last - there + self._n_kept_bytes, PROGRAM + DEEP_PROGRAM * self.method.is_deep + last)

    @property
    def _n_kept_bytes(self) -> int:
        """Return the bytes of automatic checkpoints that are added."""
        return self.files.n_more_bytes(self.n_bytes[1], self.n_written) if self.method.is_deep else 0

    @property
    def n_written(self) -> int:
        """Number of checkpoints it will write, the one at the end included."""
        return int(self.minutes / self.every) + 1

    def check_room(self) -> None:
        """Raise ConflictError if the disk cannot hold it with its automatic checkpoints."""
        try:
            need_room(self.files.last, self.n_bytes[1], self._n_kept_bytes, name=f"training {self.files.name}")
        except FileError as error:
            raise ConflictError(str(error)) from None

    def writes(self) -> str:
        """Return a sentence about what it will write."""
        first, last = self.n_bytes
        every = "every minute" if self.every == 1 else f"every {number(self.every)} minutes"
        if self.every < 1:
            every = f"every {60 * self.every:.0f} seconds"
        if self.total <= self.every:
            every = "at its end"
        text = f"Writes {'' if self.method.is_deep else 'at most '}{size(first)} {every}"
        if last > first:
            text += f", up to {size(last)} in a long training"
        if not self.method.is_deep and first > MANY:
            text += "; usually tens of megabytes after a minute"
        if self.method.is_deep:
            text += f"; keeps up to {n_kept(last)} checkpoints, spread over the training"
        else:
            text += "; keeps the last checkpoint and those you protect"
        return f"{text}. {size(self.free)} free."


def option_list(method: Method) -> list[Option]:
    """Return the options that the form lists; the patterns of an n-tuple network have their own field."""
    return [each for each in method.config.options() if method.is_deep or each.name != "network"]


def plan_training(lab: Lab, body: TrainingBody) -> PlannedTraining:
    """Return the command of a training, and what it will write."""
    method = find_method(body.method)
    method.check_installed()
    rules = body.rules.read()
    files = Checkpoints(lab.library.trainings, body.name)
    before = None
    if files.last.exists():
        if not body.resume:
            raise ConflictError(f"training {body.name} exists already: continue it (resume), or choose another name")
        before = read_training(files.last)
        if before is None:
            raise ConflictError(f"training {body.name} is damaged: delete it, or choose another name")
    elif body.resume:
        raise NotFoundError(f"there is no training {body.name} to continue")
    if before and before.method != method.name:
        raise UsageError(
            f"training {body.name} was made by {before.method}: expected the same method to continue it",
            field="training",
        )
    options = _read_options(method, body, lab.library)
    total = body.minutes + (before.minutes if before else 0.0)
    limits = {"seconds": 60 * total}
    n_moves = method.config.moves_within(limits, os.cpu_count() or 1)
    if before:
        network, n_bytes = before.network, _resumed_sizes(files, method, options, before, n_moves)
    else:
        config = method.config.for_board(rules, method.config.moves_within(limits, 1), **options)
        config.check(rules)
        network, n_bytes = str(getattr(config, "network", "")), config.sizes(rules, 0, n_moves)
    every = _minutes_between(method, body.minutes, n_bytes[1])
    words = ["train", method.name, "--out", str(files.last), "--minutes", exact(total), "--checkpoint", exact(every)]
    words += _option_words(method, options)
    words += ["--resume"] if body.resume else rules_options(rules, has_classic=False)
    words += body.cluster_words()
    return PlannedTraining(files, words, method, network, body.minutes, total, every, n_bytes)


def _read_options(method: Method, body: TrainingBody, library: Library) -> dict[str, Any]:
    """Return the options of a request in their types; a player or a network must be one that a browser may name."""
    options = method.config.parse(body.options)
    if "teacher" in options:
        options["teacher"] = library.read(options["teacher"])
    if options.get("init", SHIPPED) not in ("", SHIPPED):
        options["init"] = str(library.network(options["init"]))
    return options | ({"network": body.network} if body.network else {})


def _resumed_sizes(
    files: Checkpoints, method: Method, options: dict[str, Any], before: TrainingData, n_moves: float
) -> tuple[int, int]:
    """Return the bytes of the checkpoint, and the most that it takes in the end."""
    try:
        rules, config = method.config.read_checkpoint(files.last)
    except FileError:
        raise UsageError(
            f"training {before.name} cannot be continued: expected a file of lab2048 train", field="training"
        ) from None
    last = method.config(**asdict(config) | options).sizes(rules, before.n_moves, n_moves)[1]
    return before.bytes, max(before.bytes, last)


def _option_words(method: Method, options: dict[str, Any]) -> list[str]:
    """Return options as arguments of the command line."""
    flags, words = {each.name: each.flag for each in method.config.options()}, []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{flags[name]}" if value else f"--no-{flags[name]}")
        else:
            words += [f"--{flags[name]}", exact(value) if isinstance(value, float) else str(value)]
    return words


def _minutes_between(method: Method, minutes: float, n_bytes: int) -> float:
    """Return the minutes between checkpoints: about ten in a short deep training, few of a large file."""
    if not method.is_deep:
        return 5 if n_bytes > LARGE else 1
    return float(f"{min(5.0, max(0.1, minutes / 10)):.2g}")
