"""What the store answers with: games and runs, in the detail that was asked for."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from lab2048.records.episode import Episode, Movers
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
    movers: Movers


@dataclass(frozen=True, slots=True)
class Run:
    """Games on one set of rules that were played together, and where they come from."""

    id: int
    kind: str  # match, play, import, or what else makes games
    rules: Rules
    player: str  # whose run it is; in a match, the player of every game
    seed: int | None  # None if the games were imported one by one
    created: str
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A game as the store keeps it."""

    id: int
    run: Run
    number: int
    created: str  # when it was first kept here, UTC
    episode: Episode

    @property
    def provenance(self) -> dict[str, Any]:
        return self.run.provenance
