"""What the store answers with: games and runs, in the detail that was asked for."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from lab2048.records.episode import Episode
from lab2048.rules import Rules


class Summary(NamedTuple):
    """What the statistics of a match need of one game."""

    number: int
    score: int
    n_moves: int
    max_tile: int
    moves_to_goal: int | None
    seconds: float


class Entry(NamedTuple):
    """One line of the list of games: everything but the moves."""

    id: int
    created: str
    kind: str
    board: str
    player: str
    seed: int
    score: int
    max_tile: int
    n_moves: int
    moves_to_goal: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """One player on one set of rules with one seed, and where its games come from."""

    id: int
    kind: str  # match, play or import
    rules: Rules
    player: str
    seed: int | None  # None if the games were imported one by one
    created: str
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A game as the store keeps it."""

    id: int
    run: Run
    number: int
    episode: Episode

    @property
    def created(self) -> str:
        return self.run.created

    @property
    def provenance(self) -> dict[str, Any]:
        return self.run.provenance
