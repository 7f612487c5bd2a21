"""The review of a saved game in the terminal: made beside the screen, kept in the store, and shown move by move."""

from collections.abc import Callable

from rich.text import Text

from lab2048.arena import compile as compiler
from lab2048.arena.review.grade import FAULTS, Grade
from lab2048.arena.review.review import Review
from lab2048.arena.review.reviewer import default_reviewer, groups_of_reviewer, make_reviewer
from lab2048.arena.review.work import find_review, review_stored
from lab2048.errors import LabError, StoppedError
from lab2048.records.entry import StoredGame
from lab2048.records.store import Store
from lab2048.stop_flag import StopFlag, looking_at
from lab2048.views.review import amounts
from lab2048.views.tui.widgets import facts


class GameReview:
    """A review: `doing` says how far it is, `found` is there at its end."""

    def __init__(self, store: Store, stored: StoredGame) -> None:
        self.found: Review | None = None
        self.doing = ""
        self.is_running = False
        self._store, self._stored = store, stored
        self._flag = StopFlag()

    def run(self, on_change: Callable[[], object]) -> None:
        """Review the game from where an earlier review stopped; call it on a thread."""
        episode, id_ = self._stored.episode, self._stored.id
        n = len(episode.moves)

        def show(words: object) -> None:
            self.doing = str(words)
            on_change()
            self._flag.check()

        self.is_running = True
        try:
            with looking_at(self._flag):
                spec, game = default_reviewer(episode.rules), episode.prove()
                self.found = find_review(self._store, id_, episode, game, spec)
                if self.found is None:
                    compiler.prepare(show, *groups_of_reviewer(spec, episode.rules), begun=show)
                    reviewer = make_reviewer(spec, episode.rules)
                    self.found = review_stored(
                        self._store,
                        id_,
                        episode,
                        game,
                        reviewer,
                        lambda done: show(f"reviewing: {done:,} of {n:,} moves"),
                    )
            self.doing = ""
        except StoppedError:
            self.doing = "the review was stopped; v continues it"
        except LabError as error:
            self.doing = str(error)
        finally:
            self.is_running = False

    def stop(self) -> None:
        """Stop the review; what is reviewed is kept."""
        self._flag.set()

    def summary(self) -> str:
        """Return the review in one line."""
        assert self.found is not None
        ledger, say = self.found.ledger, amounts(self.found.unit)
        counts = ", ".join(
            f"{ledger.count(grade):,} {grade.value}{'s' * (ledger.count(grade) != 1)}" for grade in FAULTS[1:]
        )
        return f"accuracy {ledger.accuracy:.1f}%, luck {say(ledger.luck, signed=True)}, {counts}"

    def move_text(self, at: int) -> Text:
        """Return what the review says about a move, by its number."""
        if self.found is None or not 0 < at <= len(self.found.ledger.entries):
            return Text()
        entry, say = self.found.ledger.entries[at - 1], amounts(self.found.unit)
        shown = {"review": f"{entry.grade} {entry.grade.sign}".rstrip()}
        if entry.grade is not Grade.BEST:
            shown |= {"best move": self.found.name(entry.best), "lost": say(entry.loss)}
        shown |= {"luck of the tile": say(entry.luck, signed=True), "value": say(entry.value)}
        return Text("\n").append_text(facts.rows(shown))

    def next_fault(self, at: int, step: int) -> int | None:
        """Return the number of the next or the previous mistake or blunder; None if there is none."""
        assert self.found is not None
        numbers = [entry.turn.number for entry in self.found.ledger.entries if entry.grade in FAULTS[1:]]
        ahead = [each for each in numbers if (each - at) * step > 0]
        return (min(ahead) if step > 0 else max(ahead)) if ahead else None
