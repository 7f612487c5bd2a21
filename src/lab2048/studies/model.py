"""The data model of a study: a question, rows to run, and the figures each row is compared by."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lab2048.rules import Rules
from lab2048.studies.measure import REVIEWED, SIZES, Measure
from lab2048.studies.published import Published

KINDS = ("match", "solve", "regret", "threads", "cache", "train", "bound", "digits", "none")
SPAWN = "2:0.9,4:0.1"  # default spawn table


@dataclass(frozen=True)
class Figure:
    """One number of a row and its reference: a published value, or the same measure of another row."""

    measure: Measure
    published: Published | None = None
    where: str = ""  # table, figure or section of the publication
    against: str = ""  # id of another row
    differs: str = ""  # why the two cannot be compared
    games: int = 0  # games behind a published mean without a spread; 0 = unknown, or the spread is published


@dataclass(frozen=True)
class TrainingSpec:
    """What to train: method, options, and the number of games or minutes per size."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    games: Mapping[str, int] = field(default_factory=dict)
    minutes: Mapping[str, int] = field(default_factory=dict)  # only for sizes with a time limit
    of: str = ""  # id of another row whose training is reused
    seed_offset: int = 0  # added to the seed of the study

    def trains_at(self, size: str) -> bool:
        """Return True if this size includes training."""
        return bool(self.games.get(size) or self.minutes.get(size))

    def facts(self, size: str) -> list[Any]:
        """Return everything that affects the trained network, for the digest."""
        method, options, preset, *more = self.begin(size)
        return [method, options, preset, self.games.get(size), *more]

    def begin(self, size: str) -> list[Any]:
        """Return the same facts without the number of games: trainings with equal facts start identically."""
        more = {"minutes": self.minutes.get(size, 0), "later": self.seed_offset}
        given = {name: value for name, value in more.items() if value}
        return [self.method, dict(self.options), self.preset, *([given] if given else [])]


@dataclass(frozen=True)
class Row:
    """One experiment of a study."""

    id: str
    title: str
    kind: str
    board: str
    goal: int
    player: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)  # games (or 1) per size; 0 = skip
    figures: tuple[Figure, ...] = ()
    objective: str = "win"  # of a solve
    training_spec: TrainingSpec | None = None
    trainings: int = 1  # at size full, each with its own seed; other sizes have one
    tests_on: str = ""  # a smaller board for size test
    note: str = ""
    spawn: str = SPAWN  # spawn table
    other_method: str = ""  # how our method differs from the one whose figures are published
    stop_at_goal: bool = False  # games end at the goal
    null_moves: bool = False  # True: some moves may change nothing, as in Datta et al. 2022; that is not 2048

    def rules(self, size: str) -> Rules:
        board = self.tests_on if size == "test" and self.tests_on else self.board
        return Rules.from_text(
            board, goal=self.goal, spawn=self.spawn, stop_at_goal=self.stop_at_goal, null_moves=self.null_moves
        )

    def amount(self, size: str) -> int:
        """Return the number of games at a size; 0 means the row is skipped."""
        return self.sizes.get(size, 0)

    def parts(self, size: str) -> tuple["Row", ...]:
        """Return the units that are run and stored separately: the row itself, or one row per training."""
        if self.training_spec is None or self.trainings == 1 or size != "full":
            return (self,)
        of, parts = self.training_spec.of, []
        for i in range(self.trainings):
            training_spec = replace(self.training_spec, seed_offset=i, of=f"{of}.{i + 1}" if of else "")
            parts.append(replace(self, id=f"{self.id}.{i + 1}", training_spec=training_spec, trainings=1))
        return tuple(parts)

    @property
    def trained_by(self) -> str:
        """Return the id of the row that trains the network of this one."""
        return self.training_spec.of or self.id if self.training_spec else ""

    def digest(self, size: str) -> str:
        """Return a digest of everything that affects what is run or counted."""
        trained = self.training_spec.facts(size) if self.training_spec else None
        facts = [self.kind, self.rules(size).to_json(), self.player, self.amount(size), self.objective, trained]
        names = {figure.measure.name for figure in self.figures}
        # Counted during the games, so results without these do not fit.
        facts += ["interventions"] * ("interventions" in names) + ["review"] * bool(names & REVIEWED)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def digest_without_games(self, size: str) -> str:
        """Return a digest that ignores the number of games, for partial results."""
        return replace(self, sizes={}).digest(size)


@dataclass(frozen=True)
class Ranking:
    """A ranking of all rows on one board by one measure."""

    title: str
    by: Measure
    board: str


@dataclass(frozen=True)
class Study:
    """A published experiment, or one of our own."""

    name: str
    title: str
    question: str
    source: str
    assumptions: tuple[str, ...]
    rows: tuple[Row, ...]
    rankings: tuple[Ranking, ...] = ()
    charts: tuple[Measure, ...] = ()  # measures in the chart; empty = the measure with the most published figures

    def row(self, id_: str) -> Row:
        """Return the row with this id, which must exist."""
        return next(row for row in self.rows if row.id == id_)

    def parts(self, size: str) -> Iterator[Row]:
        """Yield the parts of all rows, in order."""
        for row in self.rows:
            yield from row.parts(size)

    def to_json(self) -> dict[str, Any]:
        """Return the summary shown in a list of studies."""
        return {
            "name": self.name,
            "title": self.title,
            "question": self.question,
            "source": self.source,
            "assumptions": list(self.assumptions),
            "rows": len(self.rows),
            "games": {size: sum(row.amount(size) for row in self.parts(size) if row.player) for size in SIZES},
        }
