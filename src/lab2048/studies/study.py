"""What a study is: a question, rows that are run, and the figures that each is compared by."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lab2048.rules import Rules
from lab2048.studies.measure import SIZES, Measure
from lab2048.studies.published import Published

KINDS = ("match", "solve", "regret", "threads", "train", "bound", "none")


@dataclass(frozen=True)
class Figure:
    """One number of a row, and what it is set beside: a published one, or the same of another row."""

    measure: Measure
    published: Published | None = None
    where: str = ""  # table, figure or section of the document
    against: str = ""  # id of another row
    differs: str = ""  # why the two cannot be compared


@dataclass(frozen=True)
class Lesson:
    """A training: by which method, with which options, how many games of each size of run."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    games: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One thing that is run."""

    id: str
    title: str
    kind: str
    board: str
    goal: int
    player: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)  # games, or 1, by size of run; 0: left out
    figures: tuple[Figure, ...] = ()
    objective: str = "win"  # of a solve
    lesson: Lesson | None = None
    tests_on: str = ""  # a smaller board for runs of the size test
    note: str = ""

    def rules(self, size: str) -> Rules:
        """The rules for a run of some size."""
        return Rules.from_text(self.tests_on if size == "test" and self.tests_on else self.board, goal=self.goal)

    def amount(self, size: str) -> int:
        """How many games, or whether at all."""
        return self.sizes.get(size, 0)

    def digest(self, size: str) -> str:
        """Changes with anything that changes what is run; figures are only read off."""
        lesson = self.lesson
        learnt = [lesson.method, dict(lesson.options), lesson.preset, lesson.games.get(size)] if lesson else None
        facts = [self.kind, self.rules(size).to_json(), self.player, self.amount(size), self.objective, learnt]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Study:
    """A published experiment, or a question of our own."""

    name: str
    title: str
    question: str
    source: str
    assumptions: tuple[str, ...]
    rows: tuple[Row, ...]

    def row(self, id_: str) -> Row:
        """The row with this id; there is one."""
        return next(row for row in self.rows if row.id == id_)

    def to_json(self) -> dict[str, Any]:
        """What a list of studies says."""
        return {
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "source": self.source,
            "assumptions": list(self.assumptions),
            "rows": len(self.rows),
            "games": {size: sum(row.amount(size) for row in self.rows if row.player) for size in SIZES},
        }
