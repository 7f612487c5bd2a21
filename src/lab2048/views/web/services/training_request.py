"""Plans of trainings: what is wished for, the command that does it, and what that will write."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import Field

from lab2048.errors import FileError, UsageError
from lab2048.rules import Rules
from lab2048.views.disk_space import free_room, need_room
from lab2048.views.number import number, size
from lab2048.views.web.errors import ConflictError, NotFoundError
from lab2048.views.web.serialize.schema import NAME, Body, RulesBody
from lab2048.views.web.services.checkpoints import Checkpoints, n_kept
from lab2048.views.web.services.command_line import exact
from lab2048.views.web.services.networks import TrainingData, read_training
from lab2048.views.web.services.training_methods import (
    NTUPLE,
    Method,
    check_design,
    find_method,
    minutes_between,
    option_words,
    read_wishes,
    rules_words,
)
from lab2048.views.web.state import Lab

MAX_MINUTES = 60 * 24 * 7


class TrainingBody(Body):
    """What to train, for how long, and how."""

    name: str = Field(pattern=NAME)
    method: str = Field(default=NTUPLE, max_length=20)
    network: str | None = Field(default=None, max_length=300, description="The patterns of n-tuples.")
    minutes: float = Field(default=10, gt=0, le=MAX_MINUTES, description="To learn now, on top of what was learnt.")
    rules: RulesBody = Field(default_factory=lambda: RulesBody(board="4x4"))
    options: dict[str, str | float | bool] = Field(default_factory=dict, max_length=40)
    resume: bool = Field(default=False, description="Go on with a training of this name.")


@dataclass(frozen=True)
class Plan:
    """A training that could start."""

    files: Checkpoints
    words: list[str]
    method: Method
    minutes: float  # to learn now
    total: float  # minutes that it will have learnt in all
    every: float  # minutes between two checkpoints
    n_bytes: tuple[int, int]  # of its file, at first and in the end

    @property
    def free(self) -> int:
        """Bytes that are free where it is written."""
        return free_room(self.files.last)

    @property
    def n_written(self) -> int:
        """How many checkpoints it will write: one at its end, others before."""
        return int(self.minutes / self.every) + 1

    def check_room(self) -> None:
        """Raise ConflictError if the disk cannot hold it, with the checkpoints that keep themselves."""
        last = self.n_bytes[1]
        kept = self.files.n_more_bytes(last, self.n_written) if self.method.is_deep else 0
        try:
            need_room(self.files.last, last, kept, name=f"training {self.files.name}")
        except FileError as error:
            raise ConflictError(str(error)) from None

    def writes(self) -> str:
        """What it will write, in a sentence."""
        first, last = self.n_bytes
        every = "every minute" if self.every == 1 else f"every {number(self.every)} minutes"
        if self.every < 1:
            every = f"every {60 * self.every:.0f} seconds"
        if self.total <= self.every:
            every = "at its end"
        text = f"Writes {size(first)} {every}"
        if last > first:
            text += f", up to {size(last)} in a long training"
        if self.method.is_deep:
            text += f"; up to {n_kept(last)} checkpoints are kept, spread over the training"
        else:
            text += "; the last one is kept, and those that you ask to keep"
        return f"{text}. {size(self.free)} are free."


def make_plan(lab: Lab, body: TrainingBody) -> Plan:
    """The command of a training, and what it will write."""
    method = find_method(body.method)
    rules = body.rules.read()
    files = Checkpoints(lab.library.trainings, body.name)
    before = None
    if files.last.exists():
        if not body.resume:
            raise ConflictError(f"training {body.name} is there already: go on with it (resume), or take another name")
        before = read_training(files.last)
    elif body.resume:
        raise NotFoundError(f"there is no training {body.name} to go on with")
    if before and before.method != method.name:
        raise UsageError(
            f"training {body.name} was made by {before.method}: expected the same method to go on with it",
            field="training",
        )
    config = read_wishes(method, body.options, lab.library)
    if body.network:
        config["network"] = body.network
    n_bytes = _sizes(files.last, method, config, before) if before else check_design(method, rules, config)
    every = minutes_between(method, body.minutes, n_bytes[1])
    total = body.minutes + (before.minutes if before else 0.0)
    words = ["train", method.name, "--out", str(files.last), "--minutes", exact(total), "--checkpoint", exact(every)]
    words += option_words(method, config)
    words += ["--resume"] if body.resume else rules_words(body.rules.board, rules)
    return Plan(files, words, method, body.minutes, total, every, n_bytes)


def _sizes(path: Path, method: Method, wishes: dict[str, Any], before: TrainingData) -> tuple[int, int]:
    """How many bytes the file of a training that goes on has now, and in the end: it may not have its full size yet."""
    try:
        rules, config = _begun(path, method)
        last = check_design(method, rules, config | wishes, before.n_moves)[1]
    except (KeyError, TypeError, AttributeError):
        raise UsageError(
            f"training {before.name} cannot go on: expected a file of lab2048 train", field="training"
        ) from None
    return before.bytes, max(before.bytes, last)


def _begun(path: Path, method: Method) -> tuple[Rules, dict[str, Any]]:
    """The rules and the options that a training began with, as its file says."""
    if method.is_deep:
        from lab2048.models.deep.header import read_deep_header

        design, facts = read_deep_header(path)
        rules, config = design.rules, facts["training"]["config"]
    else:
        from lab2048.learning.ntuple_config import BEFORE
        from lab2048.models.ntuple.file import read_header

        header = read_header(path)
        rules, config = header.design.rules, BEFORE | header.facts["training"]["config"]
    return rules, {each.name: config[each.name] for each in fields(method.config)}
