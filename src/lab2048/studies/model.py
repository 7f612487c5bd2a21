"""What a study is: a question, rows that are run, and the figures that each is compared by."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lab2048.rules import Rules
from lab2048.studies.measure import SIZES, Measure
from lab2048.studies.published import Published

KINDS = ("match", "solve", "regret", "threads", "train", "bound", "none")
SPAWN = "2:0.9,4:0.1"  # what spawns unless a row says otherwise


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
    """A training: by which method, with which options, how many games or minutes of each size of run."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    games: Mapping[str, int] = field(default_factory=dict)
    minutes: Mapping[str, int] = field(default_factory=dict)  # of the sizes that are trained by the clock
    of: str = ""  # id of the row whose training it is, if that is another
    later: int = 0  # how far its seed is from that of the run

    def is_at(self, size: str) -> bool:
        """True if there is something to learn at a size of run."""
        return bool(self.games.get(size) or self.minutes.get(size))

    def facts(self, size: str) -> list[Any]:
        """All that changes what is learnt; what only some lessons have stands where they have it."""
        method, options, preset, *more = self.begin(size)
        return [method, options, preset, self.games.get(size), *more]

    def begin(self, size: str) -> list[Any]:
        """The same but for the number of games: lessons that are equal in this begin alike."""
        more = {"minutes": self.minutes.get(size, 0), "later": self.later}
        given = {name: value for name, value in more.items() if value}
        return [self.method, dict(self.options), self.preset, *([given] if given else [])]


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
    trainings: int = 1  # of a full run, each with a seed of its own; smaller runs have one
    tests_on: str = ""  # a smaller board for runs of the size test
    note: str = ""
    spawn: str = SPAWN  # which tiles spawn, and how often

    def rules(self, size: str) -> Rules:
        """The rules for a run of some size."""
        board = self.tests_on if size == "test" and self.tests_on else self.board
        return Rules.from_text(board, goal=self.goal, spawn=self.spawn)

    def amount(self, size: str) -> int:
        """How many games, or whether at all."""
        return self.sizes.get(size, 0)

    def parts(self, size: str) -> tuple["Row", ...]:
        """What is run and kept by itself: the row, or each of its trainings."""
        if self.lesson is None or self.trainings == 1 or size != "full":
            return (self,)
        of, parts = self.lesson.of, []
        for i in range(self.trainings):
            lesson = replace(self.lesson, later=i, of=f"{of}.{i + 1}" if of else "")
            parts.append(replace(self, id=f"{self.id}.{i + 1}", lesson=lesson, trainings=1))
        return tuple(parts)

    @property
    def trained_by(self) -> str:
        """The id of the row that trains what this one plays by."""
        return self.lesson.of or self.id if self.lesson else ""

    def digest(self, size: str) -> str:
        """Changes with anything that changes what is run or counted; other figures are only read off."""
        learnt = self.lesson.facts(size) if self.lesson else None
        facts = [self.kind, self.rules(size).to_json(), self.player, self.amount(size), self.objective, learnt]
        if any(figure.measure.name == "interventions" for figure in self.figures):
            facts.append("interventions")  # counted while the games are played: those kept before do not tell it
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def likeness(self, size: str) -> str:
        """The same for all rows that differ from this one in their number of games alone."""
        return replace(self, sizes={}).digest(size)


@dataclass(frozen=True)
class Ranking:
    """A list of rows from the best to the worst: all that have a figure, on one board."""

    title: str
    by: Measure
    board: str


@dataclass(frozen=True)
class Study:
    """A published experiment, or a question of our own."""

    name: str
    title: str
    question: str
    source: str
    assumptions: tuple[str, ...]
    rows: tuple[Row, ...]
    rankings: tuple[Ranking, ...] = ()
    charts: tuple[Measure, ...] = ()  # what its picture shows; none: what most figures are published of

    def row(self, id_: str) -> Row:
        """The row with this id; there is one."""
        return next(row for row in self.rows if row.id == id_)

    def parts(self, size: str) -> Iterator[Row]:
        """All that is run and kept by itself, in order."""
        for row in self.rows:
            yield from row.parts(size)

    def to_json(self) -> dict[str, Any]:
        """What a list of studies says."""
        return {
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "source": self.source,
            "assumptions": list(self.assumptions),
            "rows": len(self.rows),
            "games": {size: sum(row.amount(size) for row in self.parts(size) if row.player) for size in SIZES},
        }
