"""What the store returns: games and runs at several levels of detail."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from lab2048.records.episode import Episode, Movers
from lab2048.rules import Rules


class Summary(NamedTuple):
    """The facts of one game that match statistics need."""

    number: int
    score: int
    n_moves: int
    max_tile: int
    moves_to_goal: int | None
    seconds: float


class Entry(NamedTuple):
    """One line of the game list: everything but the moves."""

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
    movers: Movers


@dataclass(frozen=True, slots=True)
class Run:
    """Games under the same rules that were stored together, and their provenance."""

    id: int
    kind: str  # match, play, import, ...
    rules: Rules
    player: str  # in a match, the player of every game
    seed: int | None  # None if the games were imported one by one
    created: str
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A stored game."""

    id: int
    run: Run
    number: int
    created: str  # when it was first stored here, UTC
    episode: Episode

    @property
    def provenance(self) -> dict[str, Any]:
        return self.run.provenance
