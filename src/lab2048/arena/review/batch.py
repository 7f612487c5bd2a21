"""Batches of games of one player that are played and reviewed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab2048.arena.batch import Batch
from lab2048.arena.review.reviewer import make_reviewer
from lab2048.arena.review.totals import Totals, total_up
from lab2048.players.spec_file import with_files
from lab2048.rules import Rules


@dataclass(frozen=True)
class ReviewBatch:
    """Games to play and to review, a unit of work for executors."""

    player: str  # canonical specs
    reviewer: str
    rules: Rules
    seed: int
    numbers: Sequence[int]
    moved_specs: tuple[str, str] | None = None  # of player and reviewer, if their files are elsewhere on this machine

    @property
    def specs(self) -> tuple[str, ...]:
        return self.player, self.reviewer

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    @property
    def home(self) -> None:
        return None

    @property
    def is_compiled(self) -> bool:
        return False

    def moved(self, where: Mapping[str, str]) -> "ReviewBatch":
        """Return the batch for a machine where files are elsewhere."""
        return replace(self, moved_specs=(with_files(self.player, where), with_files(self.reviewer, where)))

    def run(self, is_stopped: Callable[[], bool]) -> dict[int, Totals]:
        """Return the totals of the games by number."""
        player, reviewer = self.moved_specs or self.specs
        the_reviewer, found = make_reviewer(reviewer, self.rules), dict[int, Totals]()
        for number in self.numbers:
            played = Batch(self.player, self.rules, self.seed, [number], spec=player).run(is_stopped)
            if number in played.episodes:
                found[number] = total_up(played.episodes[number], the_reviewer)
        return found
